"""What functions say that they give: the schema, and values in that form."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypedDict

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from studio.core.tools.python_server import callables
from studio.core.tools.python_server.callables import returned


class Color(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: float = 0.5


@dataclass
class Node:
    value: int
    children: list[Node]


class Day(TypedDict):
    sky: str


class Report(BaseModel):
    title: str
    when: dt.timedelta = dt.timedelta(minutes=1)


PLAIN = [
    (int, 3),
    (str, "a"),
    (bool, True),
    (list[int], [1, 2]),
    (dict[str, float], {"a": 1.5}),
    (dict, {"a": [1]}),
    (Day, {"sky": "clear"}),
    (Color, Color.RED),
    (int | None, None),
    (Iterator[int], [1, 2]),
    (AsyncIterator[str], ["a"]),
    (Awaitable[int], 2),
]
RICH = [
    *PLAIN,
    (Point, Point(1)),
    (Node, Node(1, [Node(2, [])])),
    (Awaitable[Point], Point(2)),
    (set[int], {1}),
    (Report, Report(title="x")),
    (dt.timedelta, dt.timedelta(1)),
    (dt.datetime, dt.datetime(2026, 7, 28, 12)),
]


@pytest.mark.parametrize(("annotation", "value"), RICH, ids=lambda each: str(each)[:30])
def test_a_value_is_what_its_schema_says(annotation: Any, value: Any) -> None:
    found = returned(annotation)
    assert found is not None
    Draft202012Validator.check_schema(found.output_schema)
    assert found.output_schema["type"] == "object"
    Draft202012Validator(found.output_schema).validate(found.structured(value))


def test_bytes_may_be_a_picture_and_say_nothing() -> None:
    assert returned(bytes) is None


@pytest.mark.parametrize(("annotation", "value"), PLAIN, ids=lambda each: str(each)[:30])
def test_without_pydantic_too(annotation: Any, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callables, "has_pydantic", lambda: False)
    found = returned(annotation)
    assert found is not None
    Draft202012Validator(found.output_schema).validate(found.structured(value))


@pytest.mark.parametrize(
    "annotation", [None, type(None), Any, object, NoReturn, object(), Exception]
)
def test_what_says_nothing_has_no_schema(annotation: Any) -> None:
    assert returned(annotation) is None


def test_another_value_is_refused() -> None:
    found = returned(list[int])
    assert found is not None
    with pytest.raises(ValueError, match="1: Input should be a valid integer"):
        found.structured([1, "x"])


def test_without_pydantic_a_type_of_several_spellings_has_no_schema(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(callables, "has_pydantic", lambda: False)
    assert returned(dict[str, dt.datetime]) is None
