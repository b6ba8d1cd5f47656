"""Print requirements that stand in pyproject.toml, one a line, for pip.

python tools/requirements.py EXTRA...    what building, running and these extras need (pip install -r)
python tools/requirements.py --oldest    the oldest version admitted of everything (pip install -c)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:  # Python 3.10, where pip brings its own
    from pip._vendor import tomli as tomllib

from pip._vendor.packaging.markers import Marker
from pip._vendor.packaging.version import Version

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
BOUNDED = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\w.]+)(,<[\w.]+)?")


def needed(pyproject: dict[str, Any], extras: list[str]) -> list[str]:
    """Of the build, the package and these extras."""
    return [*pyproject["build-system"]["requires"], *_of_package(pyproject["project"], extras)]


def oldest(pyproject: dict[str, Any]) -> list[str]:
    """`name==version` of what the package and its extras need here; what has no lower bound is left to pip.

    Of several bounds for one name that hold for this Python the highest counts.
    """
    requirements = _of_package(pyproject["project"], pyproject["project"]["optional-dependencies"])
    bounds: dict[str, str] = {}
    for requirement in requirements:
        bound, _, marker = requirement.partition(";")
        found = BOUNDED.fullmatch(bound.strip())
        if found and (not marker or Marker(marker).evaluate()):
            bounds[found["name"]] = max(bounds.get(found["name"], "0"), found["version"], key=Version)
    return [f"{name}=={version}" for name, version in sorted(bounds.items())]


def _of_package(project: dict[str, Any], extras: Iterable[str]) -> list[str]:
    return project["dependencies"] + [one for extra in extras for one in project["optional-dependencies"][extra]]


def main(arguments: list[str]) -> None:
    pyproject = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    print("\n".join(oldest(pyproject) if arguments == ["--oldest"] else needed(pyproject, arguments)))


if __name__ == "__main__":
    main(sys.argv[1:])
