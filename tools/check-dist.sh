#!/bin/sh
# Build sdist and wheel in isolation; install each into an environment of its own; use it outside the source tree.
set -eu
python=${PYTHON:-python3}
out=build/dist-check
rm -rf "$out"
mkdir -p "$out"
rm -rf build/lib* build/temp* build/bdist*
"$python" -m build --outdir "$out" . >"$out/build.log" 2>&1 || { tail -n 40 "$out/build.log"; exit 1; }
for archive in "$out"/*.tar.gz "$out"/*.whl; do
    rm -rf "$out/env"
    "$python" -m venv "$out/env"
    "$out/env/bin/python" -m pip install -q --disable-pip-version-check "$archive"
    (cd "$out" && env/bin/python ../../tools/smoke.py)
    echo "ok: $(basename "$archive")"
done
