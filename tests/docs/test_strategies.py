"""docs/strategies.md speaks of every strategy, with a picture that is there."""

from pathlib import Path

import pytest

from mfopt.registry import STRATEGIES, plugins

DOCS = Path(__file__).resolve().parents[2] / "docs"
BUILT_IN = [p.name for p in plugins() if p.group == STRATEGIES and p.origin.startswith("mfopt_plugins.")]


def test_all_methods_of_the_comparison_are_installed():
    single = {"gp-ucb", "gp-ei", "gp-pi", "direct", "random"}
    several = {"mf-gp-ucb", "mf-naive", "mf-naive-random", "mf-sko", "co-kriging"}
    assert set(BUILT_IN) == single | several


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_strategy_has_a_section_a_row_and_a_picture(name):
    page = (DOCS / "strategies.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in page
    assert f"| [`{name}`](#{name}) |" in page
    assert f"(strategies/{name}.png)" in page
    assert (DOCS / "strategies" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
