"""Data files of the real problems: where they are, whether they are the right ones, and where to get them.

A file is looked for in the directory of the environment variable MFOPT_DATA, or, where that is not set, in the user's
cache. One that is missing there is taken from a Python package that brings it, where there is one and it is installed,
or downloaded, where the very file is published; otherwise the error says where the data come from.
"""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path

from mfopt.errors import DataMissing

_BLOCK = 1 << 16  # bytes read at once
_PATIENCE = 30.0  # seconds without an answer


@dataclass(frozen=True)
class DataFile:
    """A published file: its SHA-256, where it comes from, and how to get the very file, where that is possible."""

    name: str
    sha256: str
    origin: str
    url: str | None = None
    package: str | None = None  # one that has it in its folder `data`,
    extra: str | None = None  # and the extra of mfopt that installs that package

    def find(self, directory: str | None = None) -> Path:
        """Its path, in `directory` or where the module says; a DataMissing error where it cannot be had."""
        folder = Path(directory) if directory is not None else find_directory()
        path = folder / self.name
        if not path.is_file():
            packed = self._find_packed()
            if packed is not None:
                return packed
            self._download(path)
        if (found := digest(path)) != self.sha256:
            raise DataMissing(f"{path} must have the SHA-256 {self.sha256}, got {found}; it comes from {self.origin}")
        return path

    def _find_packed(self) -> Path | None:
        """Its path in the package that brings it, which is not imported; None where it is missing or another one."""
        spec = find_spec(self.package) if self.package is not None else None
        for place in (spec and spec.submodule_search_locations) or []:
            path = Path(place) / "data" / self.name
            if path.is_file() and digest(path) == self.sha256:
                return path
        return None

    def _download(self, path: Path) -> None:
        """Get the file; it has its name only once it is complete and right."""
        place = f"put it into the directory that MFOPT_DATA names, as {self.name}"
        if self.extra is not None:
            place += f", or install what brings it: pip install 'mfopt[{self.extra}]'"
        if self.url is None:
            raise DataMissing(f"{path} must be there, got no such file; it comes from {self.origin}: {place}")
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                _fetch(self.url, part)
            except (OSError, HTTPException) as error:
                why = f"{path} must be there or be downloaded from {self.url}, got {error}"
                raise DataMissing(f"{why}; without a network {place}") from error
            if (found := digest(part)) != self.sha256:
                raise DataMissing(f"{self.url} must have the SHA-256 {self.sha256}, got {found}")
            part.replace(path)
        finally:
            if part.is_file():
                part.unlink()


def find_directory() -> Path:
    """Where data files are looked for."""
    given = os.environ.get("MFOPT_DATA")
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "mfopt"


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _fetch(url: str, path: Path) -> None:
    """Download, with a line of progress on a terminal."""
    shows = sys.stderr.isatty()
    with urllib.request.urlopen(url, timeout=_PATIENCE) as answer, open(path, "wb") as file:
        total, done = answer.headers.get("Content-Length"), 0
        while block := answer.read(_BLOCK):
            file.write(block)
            done += len(block)
            if shows:
                of = f" of {int(total) / 1e6:.1f}" if total else ""
                print(f"\r{url}: {done / 1e6:.1f}{of} MB", end="", file=sys.stderr, flush=True)
    if shows:
        print(file=sys.stderr)


MAGIC = DataFile(
    "magic04.data",
    "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
    "the UCI Machine Learning Repository, MAGIC Gamma Telescope (data set 159, CC BY 4.0)",
    "https://archive.ics.uci.edu/ml/machine-learning-databases/magic/magic04.data",
)
POWER_PLANT = DataFile(
    "ccpp.csv",
    "51848da3c8b8c29f709f159fad95443eaa8ff2e95c721a00bba582048cd207e4",
    "the UCI Machine Learning Repository, Combined Cycle Power Plant (data set 294, CC BY 4.0), its first sheet as CSV "
    "with columns AT,V,AP,RH,PE",
)
SUPERNOVAE = DataFile(
    "davis2007.csv",
    "8bc36efdec4c6dd40d07423fa847f0df12f74ffc8e28197059a9b160959a173d",
    "Davis et al., Scrutinizing exotic cosmological models using ESSENCE supernova data (2007), its table of 192 "
    "supernovae as CSV with columns z,mu,sigma",
)
CLOUD = DataFile(
    "cloud_cnn.csv",
    "e1f3f37118e7317c260a0bd20d7db4b03fe38bba9dac1188ba9501bef2c99120",
    "the measurements published with TrimTuner (Mendes et al., 2020), the CNN's as CSV with their costs in dollars",
)
FACES = DataFile(
    "faces.npz",
    "f90d54e1c23730a1cc61205d32d74b69a6e39fd4ad04a9f04c00f8665f62e865",
    "public face-detection training patches of 24 × 24 grey pixels, as arrays face and nonface of 3,000 each, of the "
    "latter first 1,500 hard ones (mined with OpenCV's cascade), then 1,500 random ones",
)
CASCADE = DataFile(
    "haarcascade_frontalface_alt.xml",
    "6281df13459cc218ff047d02b2ae3859b12ff14a93ffe8952f7b33fad7b9697b",
    "OpenCV 4, data/haarcascades",
    "https://raw.githubusercontent.com/opencv/opencv/4.9.0/data/haarcascades/haarcascade_frontalface_alt.xml",
    package="cv2",
    extra="opencv",
)
