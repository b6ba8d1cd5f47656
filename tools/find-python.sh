#!/bin/sh
# Print the path of a Python of this version (3.10, say), from PATH or from pyenv; exit code 1 where there is none.
set -eu
for candidate in "$(command -v "python$1" || true)" "$HOME"/.pyenv/versions/"$1".*/bin/python; do
    if "$candidate" -c "" 2>/dev/null; then # a shim of pyenv may be there without its Python
        echo "$candidate"
        exit
    fi
done
echo "python$1: not installed" >&2
exit 1
