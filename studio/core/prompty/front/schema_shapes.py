"""The keys of files: every mapping with its keys, types and help, read from a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from studio.core.paths import resource_table
from studio.core.prompty.front.declarations import INPUT_KINDS

_ROW = re.compile(
    r"(?P<types>[a-z]+(?: [a-z]+)*)(?: > (?P<shape>\w+)(?P<many>\[\]|\{\})?)?"
    r"(?:, (?P<choice>one of|such as) (?P<words>\S+(?: \S+)*))?  +(?P<help>.+)"
)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a mapping."""

    name: str
    """As it is written."""

    help: str
    """One or two sentences for hover and completion."""

    types: tuple[str, ...] = ("text",)
    """Types of its value: text, number, integer, boolean, list, mapping, any."""

    values: tuple[str, ...] = ()
    """The words that it is chosen from, where there is a choice."""

    shape: str | None = None
    """The keys of the mapping that it holds: a name in `SHAPES`."""

    container: Literal["one", "named", "list"] = "one"
    """`one`: the value itself has that shape; `named`: a list of them, or a mapping from names to
    them; `list`: a list of them."""

    closed: bool = False
    """Whether another word than `values` is an error."""


_CONTAINERS: Mapping[str | None, Literal["one", "named", "list"]] = MappingProxyType(
    {None: "one", "{}": "named", "[]": "list"}
)


def read_shapes(table: str, **words: tuple[str, ...]) -> Mapping[str, tuple[Key, ...]]:
    """Read the keys of every mapping of a kind of file, by the mapping's name.

    Args:
        table: Name of the table in `resources/schema`, which says itself how it is written.
        words: The choices that the table names with `@`.

    Raises:
        ValueError: A row of the table cannot be read.
    """
    return {
        shape: tuple(_key(name, rest, words) for name, rest in rows.items())
        for shape, rows in resource_table("schema", table).items()
    }


def _key(name: str, rest: str, words: Mapping[str, tuple[str, ...]]) -> Key:
    found = _ROW.fullmatch(rest)
    if found is None:
        raise ValueError(f"the key {name!r} cannot be read from {rest!r}")
    named = found["words"] or ""
    return Key(
        name,
        found["help"],
        tuple(found["types"].split()),
        words[named[1:]] if named.startswith("@") else tuple(named.split()),
        found["shape"],
        _CONTAINERS[found["many"]],
        closed=found["choice"] == "one of",
    )


SHAPES = read_shapes("prompty.keys", kinds=INPUT_KINDS)
"""Every mapping of the front matter with its keys."""

OPEN_SHAPES = frozenset({"metadata", "connection"})
"""Mappings that may hold any further key."""

LEGACY_KEYS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "root": frozenset({"sample", "authors", "tags", "version", "base"}),
        "model": frozenset({"api", "configuration", "parameters", "response"}),
        "options": frozenset(
            """
            max_tokens max_completion_tokens top_p top_k frequency_penalty presence_penalty stop
            tools tool_choice response_format n logit_bias user logprobs parallel_tool_calls
        """.split()
        ),
        "property": frozenset({"type", "json_schema", "enum"}),
        "tool": frozenset({"function"}),
        "template": frozenset({"type", "strict", "content"}),
    }
)
"""Keys of Prompty 1, by their mapping."""
