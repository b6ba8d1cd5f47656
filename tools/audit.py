"""Ask a public database for known vulnerabilities of all versions in requirements-dev.lock.

    python tools/audit.py

pip-audit asks, from build/audit, an environment of its own. It needs a package index and the database. The exit code is
0 only if every version was audited and none is vulnerable. Where no database answers, or one that knows nothing of a
version, that is said and the exit code is 1: what was not audited is not sound.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements-dev.lock"
ENVIRONMENT = ROOT / "build" / "audit"


def split(lines: Sequence[str]) -> list[list[str]]:
    """All versions of a lock file, in parts that have one version of a name each: pip-audit takes no more."""
    parts: list[dict[str, str]] = []
    for line in lines:
        version = line.partition(" ; ")[0]
        name = version.partition("==")[0]
        part = next((one for one in parts if name not in one), None)
        if part is None:
            parts.append(part := {})
        part[name] = version
    return [list(part.values()) for part in parts]


def judge(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is wrong with versions as pip-audit reports them: those that are vulnerable or were not audited."""
    skipped = [one["skip_reason"] for one in found if "skip_reason" in one]
    if len(skipped) == len(found):
        return [f"the database knows none of the {len(found)} versions, so nothing was audited"]
    vulnerable = [
        f"{one['name']} {one['version']}: {', '.join(fault['id'] for fault in one['vulns'])}"
        for one in found
        if one.get("vulns")
    ]
    return vulnerable + [f"not audited: {reason}" for reason in skipped]


def install() -> Path:
    """pip-audit in its environment."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "pip-audit"]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stderr}pip-audit cannot be installed, so nothing was audited: is a package index reachable?")
    return ENVIRONMENT / "bin" / "pip-audit"


def ask(command: Path, versions: Sequence[str]) -> list[dict[str, Any]]:
    """What pip-audit reports of these versions."""
    needed = ENVIRONMENT / "needed.txt"
    needed.write_text("\n".join(versions), encoding="utf-8")
    options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--timeout", "15", "--format", "json"]
    done = subprocess.run([command, *options, "-r", needed], capture_output=True, text=True, check=False)
    try:
        return list(json.loads(done.stdout)["dependencies"])
    except ValueError:
        last = (done.stderr.strip() or "no report").splitlines()[-1]
        sys.exit(f"{last}\npip-audit failed, so nothing was audited: is the database of vulnerabilities reachable?")


def main() -> None:
    lines = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    command = install()
    found = [one for versions in split(lines) for one in ask(command, versions)]
    wrong = judge(found)
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"no known vulnerability in {len(found)} versions")


if __name__ == "__main__":
    main()
