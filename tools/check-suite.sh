#!/bin/sh
# The test suite in an environment of its own (build/newest-3.12, say), with the newest versions of everything or with
# the oldest that pyproject.toml admits for this Python. Left out are the few tests whose numbers depend on the last
# bits of BLAS and SciPy (marked `rounding`): `make test` runs them.
#
#     sh tools/check-suite.sh newest|oldest [python] [options of pytest]
set -eu
versions=$1
python=${2:-python3}
shift $(($# < 2 ? $# : 2))
environment=build/$versions-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
rm -rf "$environment" build/lib* build/temp* build/bdist*
"$python" -m venv "$environment"
bin=$environment/bin
[ -d "$bin" ] || bin=$environment/Scripts # Windows
case $versions in
newest) : >"$environment/constraints.txt" ;;
oldest) "$bin/python" tools/requirements.py --oldest >"$environment/constraints.txt" ;;
esac
# The core in place is compiled for one Python at a time, so this environment gets a copy of the tree.
mkdir "$environment/tree"
tar --exclude ./build --exclude './.venv*' --exclude ./.git --exclude './.*_cache' --exclude ./out --exclude '*.so' \
    -cf - . | tar -xf - -C "$environment/tree"
"$bin/python" -m pip --disable-pip-version-check install -q -c "$environment/constraints.txt" -e "$environment/tree[test]"
"$bin/python" -m pip list
python=$PWD/$bin/python
cd "$environment/tree"
"$python" -m pytest -n "${WORKERS:-2}" -p no:cacheprovider -m "not rounding" "$@"
