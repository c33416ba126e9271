from __future__ import annotations

import pytest

from studio.core.prompty.body.sections import read_marker
from tests.support.soon import soon

PROMPTY_YES = [
    "system:",
    "System:",
    "USER[A=TRUE]:",
    "# system:",
    "#system:",
    " user:",
    "user :",
    "user:   ",
    'user[name="Seth"]:',
    "user[name=Seth]:",
    'user[a="x]y"]:',
    "user[a=1,b=2,]:",
    "developer:",
    "user[a=1 b=2]:",
]
PROMPTY_NO = [
    "## system:",
    "system: hello",
    "**system:**",
    "user [a=1]:",
    "user[]:",
    "user[name]:",
    "user[ name=x ]:",
    "user[my-key=1]:",
    "tool:",
    "function:",
    "thread:",
    "tools:",
    "system：",
    "\u200bsystem:",
    "",
    ":",
    "user",
    "ſystem:",
    "user[a=1:",
    'user[a="1]:',
]


@pytest.mark.parametrize("line", PROMPTY_YES)
def test_prompty_markers(line: str) -> None:
    marker = read_marker(line, "prompty")
    assert marker is not None
    assert line[marker.role_span.start : marker.role_span.end].lower() == marker.role


@pytest.mark.parametrize("line", PROMPTY_NO)
def test_lines_that_are_text_in_prompty(line: str) -> None:
    assert read_marker(line, "prompty") is None


@pytest.mark.parametrize("role", ["tool", "function", "tools", "thread", "developer"])
def test_section_roles(role: str) -> None:
    marker = read_marker(f"{role}:", "section")
    assert marker is not None
    assert marker.role == role


def test_section_attributes_have_places() -> None:
    line = 'user[ my-key = \'a, b\' , n=1.5, e="{{ x | default("]:") }}" ]:'
    marker = read_marker(line, "section")
    assert marker is not None
    values = [(item.key, item.value) for item in marker.attributes]
    assert values == [("my-key", "a, b"), ("n", 1.5), ("e", '{{ x | default("]:") }}')]
    for item in marker.attributes:
        assert line[item.key_span.start : item.key_span.end] == item.key
        assert line[item.value_span.start : item.value_span.end] == str(item.value)


def test_prompty_types_quoted_values_too() -> None:
    marker = read_marker('user[a="5", b="true", c="x", d=01, nonce="0123"]:', "prompty")
    assert marker is not None
    assert [item.value for item in marker.attributes] == [5, True, "x", 1, "0123"]


@pytest.mark.parametrize(
    "line",
    [
        "user[" + "a=1 " * 50_000 + ":",
        "user[" + 'a="' * 50_000,
        " " * 200_000 + "x",
        "user[" + "a" * 200_000,
        "user[a={{" * 30_000,
        "user[a='" + "{{" * 50_000 + "'",
        "# " * 100_000,
    ],
)
@pytest.mark.parametrize("dialect", ["prompty", "section", "legacy"])
def test_hostile_lines_cost_no_more_than_their_length(line: str, dialect: str) -> None:
    with soon():
        assert read_marker(line, dialect) is None
