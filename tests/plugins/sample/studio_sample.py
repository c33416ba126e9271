"""A sample package for Prompt Studio: one plug-in of each kind, and two that fail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from studio.plugins import (
    Connection,
    ExportResult,
    ExportSource,
    Fix,
    Imported,
    ImportFailure,
    ImportSource,
    JsonObject,
    Preset,
    Problem,
    PromptDocument,
    Severity,
    Span,
    TextEdit,
    ToolOutcome,
    ToolSource,
    ToolSpec,
)


class Outline:
    """An export form: the roles and lengths of the messages."""

    name = "outline"
    label = "Outline"
    group = "Give to a colleague"
    suffix = ".txt"
    needs_values = True
    about = "The roles of the messages and how long each is."

    def make(self, source: ExportSource) -> ExportResult:
        messages = source.prepared.messages.messages
        return ExportResult("".join(f"{each.role}\n" for each in messages))


class BrokenForm(Outline):
    """An export form that fails."""

    name = "broken"
    label = "Broken"

    def make(self, source: ExportSource) -> ExportResult:
        raise ZeroDivisionError("the oven is cold")


class Recipe:
    """An importer for `.recipe` files: the first line is the system message."""

    name = "Recipe"
    suffixes = (".recipe",)

    def accepts(self, source: ImportSource) -> bool:
        return source.text.startswith("Recipe:")

    def read(self, source: ImportSource, choose: int) -> Imported:
        first, _, rest = source.text.removeprefix("Recipe:").strip().partition("\n")
        if not rest.strip():
            raise ImportFailure(
                "This recipe has no second line, which would be the user's message."
            )
        return Imported(
            f"---\nname: recipe\n---\nsystem:\n{first}\n\nuser:\n{rest.strip()}\n", "Recipe"
        )


class Dice:
    """A source of tools: each declared tool of `kind: dice` gives its `sides`."""

    kind = "dice"

    def open(self, name: str, options: JsonObject, folder: Path) -> ToolSource:
        return _OneDie(name, options)


class _OneDie:
    def __init__(self, name: str, options: JsonObject) -> None:
        self._name = name
        self._sides = options.get("sides", 6)

    label = "dice"

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        nothing: JsonObject = {"type": "object", "properties": {}}
        return (ToolSpec(self._name, "The number of sides.", nothing),)

    def place_of(self, name: str) -> str:
        return "dice"

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        return ToolOutcome(f"{self._sides} sides", "ok")

    async def close(self) -> None:
        pass


def check_shouting(document: PromptDocument) -> Iterator[Problem]:
    """A check: words of five capital letters or more, with a fix; it fails at one word."""
    for found in re.finditer(r"[A-Z]{5,}", document.source.text):
        if found[0] == "CRASH":
            raise RuntimeError("it crashed")
        span = Span(found.start(), found.end())
        fix = Fix("Write it in small letters", (TextEdit(span, found[0].lower()),))
        yield Problem("shouting", Severity.HINT, f"{found[0]!r} shouts.", span, (fix,))


outline, broken_form, recipe, dice = Outline(), BrokenForm(), Recipe(), Dice()
example_host = Preset(
    "example-host",
    "Example host",
    Connection("Example host", "compatible", base_url="https://models.example/v1"),
    "An OpenAI-compatible provider in one row.",
)
