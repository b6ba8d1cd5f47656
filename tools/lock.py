"""Write requirements-dev.lock: one version of everything that development needs, for each supported Python.

    python tools/lock.py [PYTHON...]    paths of the Pythons to resolve for; all supported ones must be given

It is a constraints file (pip install -c). What pip would install now is asked of each Python; a version that differs
between them gets a marker. There are no hashes: each platform has wheels of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements-dev.lock"
EXTRAS = ("plot", "dataframe", "dask", "postgres", "opencv", "test", "lint", "dev")
HEAD = "# Written by `make lock` (tools/lock.py). Constraints: pip install -c requirements-dev.lock -e '.[dev]'\n"


def resolve(python: str) -> tuple[str, dict[str, str]]:
    """The version of this Python, and of each distribution that pip would install for it."""
    version = _call(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    with tempfile.TemporaryDirectory() as folder:
        needed, report = Path(folder, "needed.txt"), Path(folder, "report.json")
        needed.write_text(_call(python, str(ROOT / "tools" / "requirements.py"), *EXTRAS))
        own = [line for line in needed.read_text().splitlines() if not line.startswith("mfopt[")]
        needed.write_text("\n".join(own))
        options = ["--quiet", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", str(report)]
        _call(python, "-m", "pip", "--disable-pip-version-check", "install", *options, "-r", str(needed))
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    names = {one["metadata"]["name"].lower().replace("_", "-"): one["metadata"]["version"] for one in found}
    return version, names


def merge(resolved: Mapping[str, Mapping[str, str]]) -> list[str]:
    """`name==version`, with the Pythons for which it holds unless that is all of them."""
    lines = []
    for name in sorted({name for names in resolved.values() for name in names}):
        by_version: dict[str, list[str]] = {}
        for python, names in resolved.items():
            if name in names:
                by_version.setdefault(names[name], []).append(python)
        for version, pythons in by_version.items():
            marker = " or ".join(f'python_version == "{python}"' for python in pythons)
            lines.append(f"{name}=={version}" + ("" if len(pythons) == len(resolved) else f" ; {marker}"))
    return lines


def _call(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout


def main(pythons: list[str]) -> None:
    lines = merge(dict(resolve(python) for python in pythons))
    LOCK.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {LOCK.name}: {len(lines)} lines for {len(pythons)} Pythons")


if __name__ == "__main__":
    main(sys.argv[1:])
