"""The code in docs/costs.md is run as it stands there."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "costs.md"


def test_the_code_of_the_page_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(block, names)
    assert names["opt"].best.y > -0.01
    assert names["result"].costs[1].cost > names["result"].costs[0].cost
