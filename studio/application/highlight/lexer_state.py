"""What the lexer says of a line, and what it must know of the lines before.

Apart from the lexer, whose tables take long to load: the window shows a text before it has colors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Zone: TypeAlias = Literal["start", "front", "body", "yaml", "fence"]
Template: TypeAlias = Literal["jinja2", "mustache", "fstring"]


@dataclass(frozen=True, slots=True)
class Token:
    """A run of characters of one look, inside one line."""

    start: int
    """First code point in the line."""

    end: int
    """One past the last."""

    style: str
    """A key of `Theme.syntax`."""


@dataclass(frozen=True, slots=True)
class State:
    """Everything that a line must know of the lines before it; hashable, to be told apart fast."""

    zone: Zone = "start"
    """Where the line is; `yaml` is a body section whose content is YAML."""

    delimiter: str = ""
    """The front matter's delimiter line."""

    template: Template = "jinja2"
    """Template language, as the front matter said."""

    stack: tuple[str, ...] = ()
    """Pygments states of an expression left open; empty when none is."""

    scalar: int = -1
    """Indent of the key whose block scalar (`|`, `>`) the line may be in; -1 outside one."""

    fence: str = ""
    """The run of backticks or tildes that opened the fenced code."""

    language: str = ""
    """What the fence said it holds."""

    code: tuple[str, ...] = ()
    """Pygments states of the language inside the fence."""


START = State()
"""The state before the first line."""

YAML_FILE = State(zone="front", delimiter="\0")
"""The state before the first line of a file that is YAML to its end."""

PYTHON_FILE = State(zone="fence", fence="\0", language="python")
"""The state before the first line of a Python file: code, in a fence that no line closes."""
