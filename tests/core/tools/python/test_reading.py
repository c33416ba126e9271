"""Without pydantic a tool has the schema, and takes the arguments, that it has with it."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NewType, TypedDict

import pytest
from annotated_types import Ge, MaxLen

from studio.core.tools.python_server.callables import PlainReader
from studio.core.tools.python_server.schemas import (
    UNKNOWN,
    TakenArgument,
    inline_references,
    without_titles,
)
from studio.core.tools.python_server.with_pydantic import PydanticReader


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    x: int
    y: float = 0.5


class Day(TypedDict):
    sky: str


Name = NewType("Name", str)

TYPES = [
    str,
    int,
    float,
    bool,
    dict,
    list,
    Any,
    None,
    Color,
    Level,
    Name,
    list[int],
    dict[str, float],
    Sequence[str],
    Mapping[str, int],
    Literal["a", "b"],
    Literal[1, 2],
    int | None,
    int | str,
    Annotated[int, "how many"],
    "number",
]

VALUES = [
    None,
    True,
    0,
    1,
    3,
    [1, "a"],
    1.0,
    2.5,
    "",
    "x",
    "red",
    "a",
    "5",
    "2.5",
    "true",
    "2026-01-02",
    "2026-01-02T03:04:05",
    "03:04",
    "6b9f1f38-8d3c-4c0e-9f5c-2f0b7d1d6a10",
    [],
    [1],
    [1, 2, 3, 4],
    ["a"],
    {},
    {"a": 1},
    {"x": 1},
    {"left": "l"},
    {"name": "n"},
    [{"x": 2, "y": 1}],
]


def readers(annotation: Any) -> tuple[PlainReader, PydanticReader]:
    unsaid = annotation == "number"
    kind = None
    each = TakenArgument("p", UNKNOWN if unsaid else annotation, 1 if unsaid else UNKNOWN, "", kind)
    return PlainReader([each]), PydanticReader("f", [each])


@pytest.mark.parametrize("annotation", TYPES, ids=str)
def test_the_schema_is_the_same(annotation: Any) -> None:
    plain, peer = readers(annotation)
    shown = without_titles(inline_references(plain.schema))
    expected = without_titles(inline_references(peer.schema))
    assert shown == expected


@pytest.mark.parametrize("annotation", TYPES, ids=str)
def test_what_is_taken_comes_to_the_same_and_the_rest_is_refused(annotation: Any) -> None:
    plain, peer = readers(annotation)
    agreed = 0
    for value in VALUES:
        try:
            expected = peer.read({"p": value})
        except ValueError:
            continue  # where pydantic refuses, being milder is no fault: the function decides
        try:
            made = plain.read({"p": value})
        except ValueError:
            # Pydantic makes a whole number of `true`, and a time of a number; we do not.
            assert isinstance(value, bool | int | float | str), value
            continue
        assert made == expected, value
        agreed += 1
    assert agreed


@pytest.mark.parametrize(
    ("annotation", "value", "words"),
    [
        (int, "many", "p: Input should be a valid integer"),
        (list[dict[str, int]], [{"x": 1}, {"x": "q"}], "p.1.x: Input should be a valid integer"),
        (dict[str, int], 5, "p: Input should be an object"),
        (Literal["a", "b"], "c", "p: Input should be 'a' or 'b'"),
        (Color, "green", "p: Input should be 'red' or 'blue'"),
    ],
)
def test_a_refusal_says_where_and_what(annotation: Any, value: object, words: str) -> None:
    plain = PlainReader([TakenArgument("p", annotation, UNKNOWN, "", None)])
    with pytest.raises(ValueError, match="^" + words.replace(".", r"\.") + "$"):
        plain.read({"p": value})


def test_missing_and_unknown_arguments_are_refused() -> None:
    plain, _ = readers(int)
    with pytest.raises(ValueError, match="p: Field required; q: Extra inputs are not permitted"):
        plain.read({"q": 1})


def test_a_typed_dictionary_needs_no_other_package() -> None:
    # Pydantic refuses those of `typing` before Python 3.12.
    plain = PlainReader([TakenArgument("p", Day, UNKNOWN, "", None)])
    assert plain.read({"p": {"sky": "clear"}}) == ({"p": {"sky": "clear"}}, {})
    with pytest.raises(ValueError, match=r"p\.sky: Input should be a valid string"):
        plain.read({"p": {"sky": 1}})
    with pytest.raises(ValueError, match=r"p\.sky: Field required"):
        plain.read({"p": {}})


@pytest.mark.parametrize("annotation", [complex, dt.date, set[int], tuple[int, str], Point])
def test_a_type_that_only_pydantic_knows_is_named(annotation: Any) -> None:
    with pytest.raises(TypeError, match="has no JSON schema without pydantic"):
        PlainReader([TakenArgument("p", annotation, UNKNOWN, "", None)])


@pytest.mark.parametrize("bound", [Ge(0), MaxLen(3)])
def test_bounds_of_an_annotation_are_never_left_out(bound: object) -> None:
    with pytest.raises(TypeError, match="need pydantic"):
        PlainReader([TakenArgument("p", Annotated[list[int], bound], UNKNOWN, "", None)])
