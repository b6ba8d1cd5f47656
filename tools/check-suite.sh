#!/bin/sh
# The test suite in an environment of its own (build/newest or build/oldest), with the newest versions of everything or
# with the oldest that pyproject.toml admits. Left out are the few tests whose numbers depend on the last bits of BLAS
# and SciPy (marked `rounding`): `make test` runs them.
#
#     sh tools/check-suite.sh newest|oldest [python] [options of pytest]
set -eu
versions=$1
python=${2:-python3}
shift $(($# < 2 ? $# : 2))
environment=build/$versions
rm -rf "$environment" build/lib* build/temp* build/bdist*
"$python" -m venv "$environment"
bin=$environment/bin
[ -d "$bin" ] || bin=$environment/Scripts # Windows
case $versions in
newest) : >"$environment/constraints.txt" ;;
oldest) "$bin/python" tools/requirements.py --oldest >"$environment/constraints.txt" ;;
esac
"$bin/python" -m pip --disable-pip-version-check install -q -c "$environment/constraints.txt" -e '.[test]'
"$bin/python" -m pip list
"$bin/python" -m pytest -n "${WORKERS:-2}" -p no:cacheprovider -m "not rounding" "$@"
