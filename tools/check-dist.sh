#!/bin/sh
# Build sdist and wheel in isolation; see that the wheel holds nothing foreign; install each into an environment of its own and use it outside the source tree;
# then unpack the sdist and run the linters and the tests that look for files there: it must hold all that they need.
set -eu
python=$(command -v "${PYTHON:-python3}")
case $python in /*) ;; *) python=$PWD/$python ;; esac
out=build/dist-check
rm -rf "$out" build/lib* build/temp* build/bdist*
mkdir -p "$out"
"$python" -m build --outdir "$out" . >"$out/build.log" 2>&1 || { tail -n 40 "$out/build.log"; exit 1; }
"$python" tools/wheel.py "$out"/*.whl
for archive in "$out"/*.tar.gz "$out"/*.whl; do
    rm -rf "$out/env"
    "$python" -m venv "$out/env"
    "$out/env/bin/python" -m pip --disable-pip-version-check install -q "$archive"
    (cd "$out" && env/bin/python ../../tools/smoke.py)
    echo "ok: $(basename "$archive")"
done

source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
tar -xzf "$out"/*.tar.gz -C "$source" --strip-components 1
cp "$out"/env/lib/python*/site-packages/mfopt_core/*.so "$source/mfopt_core/"
cd "$source"
export PYTHONPATH="$source:$source/plugins"
make -n $(sed -n 's/^\([a-z-]*\):.*## .*/\1/p' Makefile) >/dev/null
"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m pytest -n "${WORKERS:-2}" -p no:cacheprovider tests/architecture tests/traces \
    tests/docs/test_links.py tests/docs/test_project.py tests/docs/test_hooks.py tests/docs/test_measured.py
echo "ok: the unpacked sdist"
