"""Schemas of functions, and the values that reach them."""

from __future__ import annotations

import datetime as dt
import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from studio.core.tools.python_server.callables import SignatureError, describe


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Node(BaseModel):
    title: str
    children: list[Node] = []


def everything(
    text: str,
    count: Annotated[int, Field(ge=1, le=9)],
    mode: Literal["a", "b"] = "a",
    colour: Colour = Colour.RED,
    point: Point | None = None,
    words: list[str] | None = None,
    told: Annotated[str, "said by annotation"] = "",
    schema: float = 1.5,
    _hidden: dict[str, int] | None = None,
) -> None:
    """Do everything.

    Args:
        text: Some text.
        told: said by docstring
    """


def test_schema_of_a_rich_signature() -> None:
    tool = describe(everything)
    properties = tool.parameters["properties"]
    assert tool.description == "Do everything."
    assert tool.parameters["required"] == ["text", "count"]
    assert tool.parameters["additionalProperties"] is False
    assert properties["text"] == {"type": "string", "description": "Some text."}
    assert properties["count"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert properties["mode"] == {"type": "string", "enum": ["a", "b"], "default": "a"}
    assert properties["colour"]["enum"] == ["red", "blue"]
    assert properties["colour"]["default"] == "red"
    assert properties["point"]["anyOf"][0]["properties"]["y"]["type"] == "integer"
    assert properties["words"]["anyOf"][0] == {"type": "array", "items": {"type": "string"}}
    assert properties["told"]["description"] == "said by annotation"
    assert properties["schema"]["type"] == "number"
    assert "_hidden" in properties
    assert "$defs" not in tool.parameters
    assert "title" not in str(tool.parameters)


def test_values_are_converted_and_defaults_left_to_the_function() -> None:
    positional, named = describe(everything).bind(
        {"text": "x", "count": 2, "colour": "blue", "point": {"x": 1}}
    )
    assert positional == []
    assert named == {"text": "x", "count": 2, "colour": Colour.BLUE, "point": Point(1, 0)}


def test_wrong_values_are_named() -> None:
    with pytest.raises(ValueError, match="count: Input should be less than or equal to 9"):
        describe(everything).bind({"text": "x", "count": 10})
    with pytest.raises(ValueError, match=r"count: Field required.*more: Extra"):
        describe(everything).bind({"text": "x", "more": 1})


def test_recursive_models_keep_their_definition_and_a_property_called_title() -> None:
    def tree(root: Node) -> None: ...

    schema = describe(with_globals(tree)).parameters
    assert "title" in schema["$defs"]["Node"]["properties"]


def with_globals(function: Any) -> Any:
    function.__annotations__ = {"root": Node, "return": None}
    return function


def test_positional_only_and_open_ended() -> None:
    def call(first: int, /, *rest: int, named: str = "n", **more: Any) -> None: ...

    call.__annotations__ = {"first": int, "named": str}
    tool = describe(call)
    assert tool.parameters["additionalProperties"] is True
    assert set(tool.parameters["properties"]) == {"first", "rest", "named"}
    assert tool.bind({"first": 1, "extra": 2}) == ([1], {"extra": 2})
    assert tool.bind({"first": 1, "rest": [2, 3]}) == ([1, 2, 3], {})


def test_no_annotations_take_the_type_of_the_default() -> None:
    def loose(a, b=3, c=None): ...

    properties = describe(loose).parameters["properties"]
    assert properties["a"] == {}
    assert properties["b"] == {"type": "number", "default": 3}


def test_dates_have_their_format() -> None:
    def when(day: dt.date) -> None: ...

    when.__annotations__ = {"day": dt.date}
    tool = describe(when)
    assert tool.parameters["properties"]["day"] == {"type": "string", "format": "date"}
    assert tool.bind({"day": "2026-01-02"})[1] == {"day": dt.date(2026, 1, 2)}


def test_what_has_no_schema_is_refused() -> None:
    def bad(stream: object) -> None: ...

    class Opaque:
        def __init__(self) -> None:
            self.x = 1

    bad.__annotations__ = {"stream": Opaque}
    with pytest.raises(SignatureError, match="bad"):
        describe(bad)


def test_a_pattern_with_look_around_works() -> None:
    def call(word: str) -> None: ...

    call.__annotations__ = {"word": Annotated[str, Field(pattern="^(?!no).*$")]}
    tool = describe(call)
    assert tool.parameters["properties"]["word"]["pattern"] == "^(?!no).*$"
    assert tool.bind({"word": "yes"})[1] == {"word": "yes"}
    with pytest.raises(ValueError, match="word: "):
        tool.bind({"word": "none"})
