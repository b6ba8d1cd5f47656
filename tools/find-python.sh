#!/bin/sh
# Print the path of a Python of this version (3.10, say), from PATH or from pyenv; exit code 1 where there is none.
set -eu
command -v "python$1" && exit
for candidate in "$HOME"/.pyenv/versions/"$1".*/bin/python; do
    if [ -x "$candidate" ]; then
        echo "$candidate"
        exit
    fi
done
echo "python$1: not installed" >&2
exit 1
