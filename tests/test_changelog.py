"""`CHANGELOG.md`: its versions lead to that of the program, and an entry is one line."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from studio import __version__

LOG = (Path(__file__).resolve().parent.parent / "CHANGELOG.md").read_text(encoding="utf-8")
VERSIONS = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", LOG, re.MULTILINE)


def test_the_newest_version_is_that_of_the_program() -> None:
    assert VERSIONS[0][0] == __version__


def test_versions_stand_from_the_newest_to_the_oldest() -> None:
    numbers = [tuple(map(int, number.split("."))) for number, _ in VERSIONS]
    days = [date.fromisoformat(day) for _, day in VERSIONS]
    assert numbers == sorted(set(numbers), reverse=True)
    assert days == sorted(days, reverse=True)
    headings = re.findall(r"^## .*$", LOG, re.MULTILINE)
    assert headings == ["## [Unreleased]", *(f"## [{name}] - {day}" for name, day in VERSIONS)]


def test_changes_stand_under_the_kinds_of_keep_a_changelog() -> None:
    kinds = set(re.findall(r"^### (.*)$", LOG, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_an_entry_is_one_line_that_can_be_read() -> None:
    lines = LOG.partition("## [Unreleased]")[2].splitlines()
    assert [line for line in lines if line.startswith(" ")] == []
    assert [line for line in lines if len(line) > 200] == []
