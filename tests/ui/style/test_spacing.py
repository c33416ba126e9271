"""Distances between parts stand on a grid of four pixels."""

from __future__ import annotations

import re
from pathlib import Path

import studio.ui

_CALLS = re.compile(
    r"set(?:(?:Horizontal|Vertical)?Spacing|ContentsMargins)\([0-9, ]+\)"
    r"|\b(?:margins|spacing)=(?:\([0-9, ]+\)|\d+\b)"
)
_TOGETHER = 2
"""Between two lines that are read as one."""


def test_distances_are_whole_steps_of_the_grid() -> None:
    checked, off = 0, []
    for path in sorted(Path(studio.ui.__path__[0]).rglob("*.py")):
        for found in _CALLS.finditer(path.read_text(encoding="utf-8")):
            checked += 1
            distances = [int(each) for each in re.findall(r"\d+", found[0])]
            if any(each % 4 and each != _TOGETHER for each in distances):
                off.append(f"{path.name}: {found[0]}")
    assert checked > 200
    assert off == []
