"""Sections of pages that programs write: what stands between <!-- name --> and <!-- end of name -->."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def read_section(page: Path, name: str) -> str:
    """What the section holds now."""
    _, inside, _ = _split(page, name)
    return inside.strip("\n")


def write_section(page: Path, name: str, text: str) -> None:
    """Put `text` in the place of what the section holds."""
    before, _, after = _split(page, name)
    page.write_text(f"{before}\n{text}\n{after}", encoding="utf-8")


def _split(page: Path, name: str) -> tuple[str, str, str]:
    """What comes before the section's inside (with its opening marker), the inside, and the rest."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    text = page.read_text(encoding="utf-8")
    if text.count(start) != 1 or text.count(end) != 1:
        raise SystemExit(f"{page} must hold {start} and {end} once each")
    before, rest = text.split(start)
    inside, after = rest.split(end)
    return before + start, inside, end + after
