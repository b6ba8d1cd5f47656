#!/bin/sh
# Plain `pip install .`, a smoke test and the tests that need no source tree, with every supported Python installed here.
set -eu
found=0
for version in ${PYTHONS:-3.10 3.11 3.12 3.13}; do
    python=$(sh tools/find-python.sh "$version") || continue
    found=$((found + 1))
    env=build/python$version
    rm -rf "$env" build/lib* build/temp* build/bdist*
    "$python" -m venv "$env"
    "$env/bin/python" -m pip --disable-pip-version-check install -q '.[all]' pytest pytest-xdist hypothesis mpmath
    mkdir -p "$env/run" && cp -r tests "$env/run/"
    # Left out: the tests of the pages and of the source tree itself, and those that build environments.
    (cd "$env/run" && ../bin/python ../../../tools/smoke.py &&
        ../bin/python -m pytest -n "${WORKERS:-2}" -p no:cacheprovider -m "not slow" \
            --ignore tests/docs --ignore tests/architecture --ignore tests/storage --ignore tests/parallel)
    echo "ok: python$version"
done
[ "$found" -gt 0 ] || { echo "no supported Python found"; exit 1; }
