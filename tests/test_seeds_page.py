"""Each row of docs/seeds.md names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(
    r"^\| .* \| .* \| `(?P<file>tests/[\w/.-]+)(?:::(?P<test>\w+)| § (?P<case>[^`]+))` \|$"
)
ROWS = [
    line
    for line in (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith(("| statement |", "| --- |"))
]


def test_there_is_a_row_for_each_statement() -> None:
    assert len(ROWS) > 40


@pytest.mark.parametrize("row", ROWS)
def test_the_test_of_a_row_is_there(row: str) -> None:
    found = ROW.match(row)
    assert found is not None, "the last column names a test"
    text = (ROOT / found["file"]).read_text(encoding="utf-8")
    if found["test"]:
        assert re.search(rf"^(?:async )?def {found['test']}\(", text, re.MULTILINE)
    else:
        assert f"\n## {found['case']}\n" in text
