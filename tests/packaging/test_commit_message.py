"""The hook names each rule that the message of a commit breaks."""

from __future__ import annotations

import pytest

from tests.packaging.tool import load

MESSAGES = load("commit_message")


@pytest.mark.parametrize(
    "message",
    [
        "editor: keep the column of a YAML dash",
        "core/tools: refuse unknown arguments\n\nWhy.\n# a comment of git",
        "ui.run: bring back the step",
        'Revert "editor: keep the column"',
        "Merge branch 'main'",
    ],
)
def test_a_good_message_has_no_fault(message: str) -> None:
    assert list(MESSAGES.faults(message)) == []


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ("", "area: what changes"),
        ("The tabs are parted", "area: what changes"),
        ("Editor: keep it", "area: what changes"),
        ("tabs: the files are split", "not with 'the'"),
        ("tabs: moved the files", "not with 'moved'"),
        ("tabs: keep\nno blank line", "second line"),
        ("tabs: " + "x" * 70, "76 characters"),
    ],
)
def test_each_fault_is_named(message: str, part: str) -> None:
    (fault,) = MESSAGES.faults(message)
    assert part in fault
