from __future__ import annotations

import json

import pytest

from studio.core.text.values import DEEPEST, JsonBoundError, parse_json
from studio.core.tools.openapi.loading import parse_sliced_json

WHOLE = (
    "{}",
    "[]",
    " { } ",
    "[ ]",
    "1",
    "-0.5e3",
    '"a\\u00e4\\n"',
    "null",
    "true",
    "NaN",
    '{"a": 1, "a": 2}',
    '{"": {"": {"": {"": {"": {"": []}}}}}}',
    "[[[[[[1, 2], []]]]]]",
    '\r\n\t{"a" : [ {"b":\n{"c": [1 ,2]}} , "x" ],"d":{}}\n',
    '{"\\u0061": "ü", "b": 1e400}',
)
BROKEN = (
    "",
    " ",
    "{",
    "[",
    "{,}",
    "[,]",
    "[1,]",
    '{"a":1,}',
    '{"a" 1}',
    '{"a":}',
    "{a: 1}",
    "[1 2]",
    "[1]]",
    '{"a": [1, {"b": nul}]}',
    '{"a": "x\ny"}',
    '{"a": {"b": {"c": {"d": [1 2]}}}}',
    '"a',
    '{"a": tru',
    "[1, 2",
    '{"a\ud800": ',
    '{"a": 1} x',
)


@pytest.mark.parametrize("text", WHOLE)
def test_it_reads_what_the_reader_of_python_reads(text: str) -> None:
    assert repr(parse_sliced_json(text, lambda done: None)) == repr(json.loads(text))


@pytest.mark.parametrize("text", BROKEN)
def test_it_refuses_at_the_same_place_in_the_same_words(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as wanted:
        json.loads(text)
    with pytest.raises(json.JSONDecodeError) as found:
        parse_sliced_json(text, lambda done: None)
    assert str(found.value) == str(wanted.value)


def test_its_bounds_are_those_of_all_foreign_json() -> None:
    within, beyond = ("[" * levels + "]" * levels for levels in (DEEPEST, DEEPEST + 1))
    assert parse_sliced_json(within, lambda done: None) == parse_json(within)
    for text in (beyond, "[" * 100_000, '{"a": {"b": ' + "7" * 5000 + "}}"):
        with pytest.raises(JsonBoundError) as wanted:
            parse_json(text)
        with pytest.raises(JsonBoundError) as found:
            parse_sliced_json(text, lambda done: None)
        assert str(found.value) == str(wanted.value)


def test_it_says_how_far_it_is_and_can_be_ended() -> None:
    text = json.dumps({"paths": {f"/{number}": {"get": {"a": 1}} for number in range(50)}})
    reached: list[int] = []
    parse_sliced_json(text, reached.append)
    assert len(reached) == 50
    assert reached == sorted(reached)
    assert len(text) - 5 <= reached[-1] < len(text)

    def stop(done: int) -> None:
        reached.append(done)
        raise InterruptedError

    reached.clear()
    with pytest.raises(InterruptedError):
        parse_sliced_json(text, stop)
    assert len(reached) == 1
