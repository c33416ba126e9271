"""The fields of an answer, also of one of which the end is still to come."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.application.run.answer import fields_so_far

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=4), st.data())
def test_what_is_whole_is_what_the_whole_answer_says(
    answer: dict[str, object], data: st.DataObject
) -> None:
    text = json.dumps(answer, ensure_ascii=False)
    assert fields_so_far(text) == (answer, "")
    cut = text[: data.draw(st.integers(0, len(text)))]
    found, begun = fields_so_far(cut)
    assert list(found) == list(answer)[: len(found)]
    assert {name: value for name, value in found.items() if name != begun} == {
        name: answer[name] for name in found if name != begun
    }


@pytest.mark.parametrize(
    ("text", "found", "begun"),
    [
        ("", {}, ""),
        ("no object", {}, ""),
        ('{"queue"', {"queue": ""}, "queue"),
        ('{"queue": "saf', {"queue": "saf"}, "queue"),
        ('{"queue": "say \\"gas\\', {"queue": 'say "gas'}, "queue"),
        ('{"n": 12', {"n": 12}, "n"),
        ('{"n": 12,', {"n": 12}, ""),
        ('```json\n{"a": [1, 2], "b": {"c', {"a": [1, 2], "b": '{"c'}, "b"),
    ],
)
def test_a_field_that_comes_is_shown_as_far_as_it_is_there(
    text: str, found: dict[str, object], begun: str
) -> None:
    assert fields_so_far(text) == (found, begun)
