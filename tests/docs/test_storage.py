"""The programs of docs/storage.md are run as they stand there, and its table names every error."""

import re
import subprocess
import sys
from pathlib import Path

import mfopt
from mfopt import Study
from mfopt.storage import schema

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "storage.md").read_text(encoding="utf-8")


def test_the_programs_of_the_page_work(tmp_path):
    programs = dict(re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
    assert list(programs) == ["run.py", "look.py", "worker.py"]
    for name, text in programs.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("run.py", "run.py", "look.py", "worker.py"):
        done = subprocess.run([sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
    study = Study.open(tmp_path / "study.db")
    assert study.name == "wing"
    assert study.done


def test_every_error_of_a_storage_is_explained():
    errors = [one for one in vars(mfopt).values() if isinstance(one, type) and issubclass(one, mfopt.StorageError)]
    assert len(errors) > 5
    for error in [*errors, mfopt.StudyMismatch]:
        assert f"| `{error.__name__}`" in PAGE


def test_every_table_and_column_is_named():
    for table in schema.TABLES:
        found = re.match(r"CREATE TABLE (\w+)", table)
        if found:
            row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{found[1]}`"))
            for column in re.findall(r"^ {8}(\w+) (?:BIGINT|TEXT|BLOB|DOUBLE)", table, re.MULTILINE):
                assert f"`{column}`" in row
    assert f"Schema version {schema.VERSION}:" in PAGE
