#!/bin/sh
# The test suite with the oldest versions that pyproject.toml admits, for every supported Python installed here.
#
#     PYTHONS="3.10 3.12" sh tools/check-oldest.sh [options of pytest]
set -eu
found=0
for version in ${PYTHONS:-3.10 3.11 3.12 3.13}; do
    python=$(sh tools/find-python.sh "$version") || continue
    found=$((found + 1))
    sh tools/check-suite.sh oldest "$python" "$@"
    echo "ok: the oldest versions with python$version"
done
[ "$found" -gt 0 ] || { echo "no supported Python found"; exit 1; }
