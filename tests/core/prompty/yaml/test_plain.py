"""Large YAML as plain values: what the reader with places reads, and its bounds."""

from __future__ import annotations

import pytest

from studio.core.prompty.yaml import reader
from studio.core.prompty.yaml.reader import YamlTextError, read_plain_yaml, read_yaml

TEXTS = {
    "scalars": "a: 1\nb: 1.5\nc: yes\nd: ~\ne: '1'\nf: !!str 2\ng: 2024-01-01\n",
    "nested": "a: [1, {b: [c, {d: e}]}]\nf:\n- g: h\n  i: |\n    j\n    k\n",
    "anchors": "a: &x {b: 1}\nc: *x\nd: [&y z, *y]\n",
    "one anchor twice in a list": "a: &x [1]\nb: [*x, *x]\nc:\n- &z {d: 1}\n- *z\n- *z\n",
    "merged": "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\ne: {<<: [*x, {f: 4}]}\n",
    "keys that are no text": "1: a\ntrue: b\n",
    "one scalar": "text",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_values_are_those_of_the_reader_with_places(text: str) -> None:
    assert read_plain_yaml(text) == read_yaml(text).value


def test_an_empty_text_has_no_value() -> None:
    assert read_plain_yaml("") is None
    assert read_plain_yaml("# a note\n") is None


@pytest.mark.parametrize("opened", ["[", "{a: "])
def test_depth_is_bounded_and_every_level_below_is_read(opened: str) -> None:
    closed = {"[": "]", "{a: ": "}"}[opened]
    value = read_plain_yaml(opened * 200 + "1" + closed * 200)
    for _ in range(200):
        assert isinstance(value, list | dict)
        value = value[0] if isinstance(value, list) else value["a"]
    assert value == 1
    with pytest.raises(YamlTextError, match="line 1: it is nested more than 200 levels deep"):
        read_plain_yaml(opened * 201 + "1" + closed * 201)


def test_an_alias_counts_with_all_that_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: &x [1, 2, 3]\nb: &y [*x, *x]\nc: [*y, *y]\n"
    # The mapping and its keys are 4; a list is its own and its items': a 4; b 1 + 2·(1 + 4);
    # c 1 + 2·(1 + 11). An alias is counted beside what it stands for.
    monkeypatch.setattr(reader, "MOST_NODES", 4 + 4 + 11 + 25)
    assert read_plain_yaml(text) == read_yaml(text).value
    monkeypatch.setattr(reader, "MOST_NODES", 4 + 4 + 11 + 25 - 1)
    with pytest.raises(YamlTextError, match="it contains more than 43 values"):
        read_plain_yaml(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: *b", "line 1: .*b"),
        ("a: 1\nb: [", "line"),
        ("a: 1\nb: *c\nc: &c 1", "line 2: "),
        ("a: [1\n---\n", "line 2: "),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(YamlTextError, match=said):
        read_plain_yaml(text)
