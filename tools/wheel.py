"""Say what a wheel contains that is compiled, and fail unless all of it is ours.

    python tools/wheel.py WHEEL

A wheel of mfopt holds our own code under our own licence and nothing else. BLAS and LAPACK are called through SciPy at
run time; the C library, with its vector mathematics, is the system's. So a shared library that a tool has copied into
the wheel, or one that an extension wants and no system is sure to have, is an error: its licence would have to come
along.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SYSTEM = re.compile(r"(libc|libm|libmvec|libpthread|libdl|librt|ld-linux[\w-]*)\.so\.\d+")
COMPILED = re.compile(r"\.(so|pyd|dll|dylib)(\.|$)")
OURS = re.compile(r"mfopt_core/_\w+\.[\w.-]+\.(so|pyd)|mfopt_core/_\w+\.(so|pyd)")


def foreign_files(names: list[str]) -> list[str]:
    """Compiled files that are not extensions of mfopt_core."""
    return [name for name in names if COMPILED.search(name) and not OURS.fullmatch(name)]


def licences(names: list[str]) -> list[str]:
    """The licence files among the metadata."""
    return [name for name in names if re.search(r"\.dist-info/(licenses/)?LICENSE$", name)]


def wanted(library: Path) -> list[str]:
    """The shared libraries that an ELF file wants to be loaded."""
    listing = subprocess.run(["readelf", "-d", str(library)], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listing)


def main(path: str) -> int:
    """The exit code: 0 if everything compiled is ours."""
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        names = wheel.namelist()
        wrong = [f"{name}: not ours" for name in foreign_files(names)]
        wrong += [] if licences(names) else ["no licence in the metadata"]
        needed: set[str] = set()
        if sys.platform == "linux":
            for name in filter(OURS.fullmatch, names):
                libraries = wanted(Path(wheel.extract(name, folder)))
                needed.update(libraries)
                wrong += [f"{name}: wants {one}" for one in libraries if not SYSTEM.fullmatch(one)]
    count = sum(bool(OURS.fullmatch(name)) for name in names)
    print(f"{Path(path).name}: {count} extensions of our own, which want {', '.join(sorted(needed)) or 'nothing'}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
