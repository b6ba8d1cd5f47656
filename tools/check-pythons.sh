#!/bin/sh
# Plain `pip install .` and a smoke test with every supported Python that is installed.
set -eu
found=0
for version in 3.10 3.11 3.12 3.13; do
    python=$(command -v "python$version" || true)
    for candidate in "$HOME"/.pyenv/versions/$version.*/bin/python; do
        if [ -z "$python" ] && [ -x "$candidate" ]; then python=$candidate; fi
    done
    if [ -z "$python" ]; then
        echo "python$version: not installed, not tested"
        continue
    fi
    found=$((found + 1))
    env=build/python$version
    rm -rf "$env" build/lib* build/temp* build/bdist*
    "$python" -m venv "$env"
    "$env/bin/python" -m pip install -q --disable-pip-version-check '.[all]' pytest hypothesis mpmath
    mkdir -p "$env/run" && cp -r tests "$env/run/"
    (cd "$env/run" && ../bin/python ../../../tools/smoke.py && ../bin/python -m pytest -q -p no:cacheprovider tests/core tests/optimizer tests/domains tests/run tests/plugins -m "not slow")
    echo "ok: python$version"
done
[ "$found" -gt 0 ] || { echo "no supported Python found"; exit 1; }
