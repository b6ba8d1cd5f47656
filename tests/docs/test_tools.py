"""The scripts in tools/ that stand behind the packaging."""

import json
import re
import sys
import zipfile
from pathlib import Path

import pytest

from tools import audit, lock, requirements, wheel

ROOT = Path(__file__).resolve().parents[2]


def test_the_oldest_versions_are_the_highest_bounds_that_hold_for_this_python():
    marked = "b>=2; python_version >= '3.0'"
    project = {"dependencies": ["a>=1.9", "b>=1", marked], "optional-dependencies": {"x": ["a>=1.10", "c", "d[e]>=3"]}}
    assert requirements.oldest({"project": project}) == ["a==1.10", "b==2", "d==3"]
    project["dependencies"][2] = "b>=2; python_version < '3.0'"
    assert requirements.oldest({"project": project}) == ["a==1.10", "b==1", "d==3"]
    project["dependencies"][2] = "e>=4.1,<5"
    assert requirements.oldest({"project": project}) == ["a==1.10", "b==1", "d==3", "e==4.1"]


def test_nlopt_is_not_admitted_with_a_numpy_that_it_cannot_be_imported_with():
    """nlopt 2.8 is the first that works with NumPy 2, and the first that demands it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    versions = {name: re.search(rf'"{name}>=([\d.]+)"', text)[1] for name in ("numpy", "nlopt")}
    assert tuple(map(int, versions["nlopt"].split(".")[:2])) >= (2, 8)
    assert int(versions["numpy"].split(".")[0]) == 2


def test_a_lock_has_markers_only_where_pythons_differ():
    resolved = {"3.10": {"a": "1", "b": "1", "c": "1"}, "3.11": {"a": "1", "b": "2"}}
    assert lock.merge(resolved) == [
        "a==1",
        'b==1 ; python_version == "3.10"',
        'b==2 ; python_version == "3.11"',
        'c==1 ; python_version == "3.10"',
    ]


def test_the_lock_file_has_one_version_of_every_dependency_for_each_python():
    lines = lock.LOCK.read_text(encoding="utf-8").splitlines()[1:]
    for python in ("3.10", "3.11", "3.12", "3.13"):
        here = [line.split("==")[0] for line in lines if ";" not in line or f'"{python}"' in line]
        assert len(here) == len(set(here))
        assert {"numpy", "scipy", "nlopt", "distributed", "psycopg-binary", "ruff", "mypy", "cython"} <= set(here)
    assert not [line for line in lines if "://" in line or " @ " in line]


SOUND = {"name": "a", "version": "1", "vulns": []}
UNKNOWN = {"name": "b", "skip_reason": "Dependency not found on PyPI and could not be audited: b (2)"}
VULNERABLE = {"name": "c", "version": "3", "vulns": [{"id": "CVE-1"}, {"id": "CVE-2"}]}


def test_an_audit_passes_only_if_everything_was_audited_and_nothing_is_vulnerable():
    assert audit.judge([SOUND]) == []
    assert audit.judge([SOUND, UNKNOWN, VULNERABLE]) == ["c 3: CVE-1, CVE-2", f"not audited: {UNKNOWN['skip_reason']}"]
    assert audit.judge([UNKNOWN]) == ["the database knows none of the 1 versions, so nothing was audited"]


def test_an_audit_asks_for_every_version_of_the_lock_file():
    parts = audit.split(["a==1", 'b==1 ; python_version == "3.10"', 'b==2 ; python_version == "3.11"'])
    assert parts == [["a==1", "b==1"], ["b==2"]]


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("requests.exceptions.ConnectionError: no route", "no route\npip-audit failed, so nothing was audited"),
        (json.dumps({"dependencies": [UNKNOWN]}), "knows none of the"),
    ],
)
def test_an_audit_without_a_database_says_so_and_fails(tmp_path, monkeypatch, report, said):
    command = tmp_path / "pip-audit"
    command.write_text(f"#!/bin/sh\ncat <<'END' >&{1 if report.startswith('{') else 2}\n{report}\nEND\n")
    command.chmod(0o755)
    monkeypatch.setattr(audit, "install", lambda: command)
    monkeypatch.setattr(audit, "ENVIRONMENT", tmp_path)
    with pytest.raises(SystemExit, match=said) as stopped:
        audit.main()
    assert stopped.value.code not in (0, None)


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["mfopt.libs/libopenblas-1f2a.so.0"], "not ours"),
        (["mfopt_core/libgomp.dll"], "not ours"),
        ([], "no licence in the metadata"),
    ],
)
def test_a_wheel_with_foreign_libraries_or_without_its_licence_is_refused(tmp_path, capsys, monkeypatch, names, why):
    monkeypatch.setattr(wheel, "wanted", lambda library: ["libc.so.6"])
    path = tmp_path / "mfopt.whl"
    licence = ["mfopt-1.dist-info/licenses/LICENSE"] if names else []
    with zipfile.ZipFile(path, "w") as archive:
        for name in ["mfopt_core/_gp.cpython-312-x86_64-linux-gnu.so", *names, *licence]:
            archive.writestr(name, "")
    assert wheel.main(str(path)) == 1
    assert why in capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")
def test_the_extensions_want_nothing_but_the_c_library():
    import mfopt_core

    extensions = list(Path(mfopt_core.__file__).parent.glob("*.so"))
    assert extensions
    assert all(wheel.SYSTEM.fullmatch(one) for extension in extensions for one in wheel.wanted(extension))
