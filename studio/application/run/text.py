"""Styled text as a value: the contents of an inspector tab, computed without a widget."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.core.text.values import Json

Style: TypeAlias = Literal[
    "plain",
    "muted",
    "strong",
    "key",
    "string",
    "number",
    "word",
    "thought",
    "label",
    "tool",
    "args",
    "answer",
    "reasoning",
    "ignored",
    "changed",
]
"""Style of a run of characters; the theme gives it a color."""

BlockKind: TypeAlias = Literal[
    "role",
    "title",
    "body",
    "added",
    "removed",
    "gone",
    "same",
    "warning",
    "error",
    "note",
    "rule",
]
"""Kind of a paragraph: `role` and `title` are headings, `added`/`removed` are lines of a difference
in one text, `gone` lines of the first of two texts side by side, `same` a folded run of lines,
`rule` a muted remark between parts.
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters in one style."""

    text: str
    """The characters."""

    style: Style = "plain"
    """Style of the characters."""


@dataclass(frozen=True, slots=True)
class Block:
    """One or more lines with the same look."""

    kind: BlockKind
    """Kind of the paragraph."""

    pieces: tuple[Piece, ...]
    """Its text; a newline inside starts another line of the same kind."""

    role: str = ""
    """For a `role` heading: role whose color it has."""

    whole: Callable[[], str | None] | None = field(default=None, compare=False, repr=False)
    """Function that returns the text for copying, if it differs from the pieces; else None."""

    @property
    def text(self) -> str:
        """The text without styles."""
        return "".join(piece.text for piece in self.pieces)


Blocks: TypeAlias = tuple[Block, ...]
"""Contents of one tab."""


def body(text: str, style: Style = "plain") -> Block:
    """Return plain text in one style."""
    return Block("body", (Piece(text, style),))


def title(text: str, note: str = "") -> Block:
    """Return the heading of a part, with a muted remark beside it."""
    pieces = (Piece(text, "strong"),)
    return Block("title", (*pieces, Piece(f"   {note}", "muted")) if note else pieces)


def json_block(value: Json) -> Block:
    """Return a value as indented, colored JSON; long lists are kept whole."""
    return Block("body", tuple(_join(_json_pieces(value, ""))))


def json_text(value: Json) -> str:
    """Return a value as indented JSON text for editing."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def plain_text(blocks: Blocks) -> str:
    """Return all text of a tab as it is shown."""
    return "\n".join(block.text for block in blocks)


def whole_text(blocks: Blocks) -> str:
    """Return all text of a tab for copying, including the parts omitted on the screen."""
    texts = (block.whole() if block.whole else block.text for block in blocks)
    return "\n".join(text for text in texts if text is not None)


def _json_pieces(value: Json, indent: str) -> Iterator[Piece]:
    deeper = indent + "  "
    match value:
        case str():
            yield Piece(json.dumps(value, ensure_ascii=False), "string")
        case None | bool():
            yield Piece(json.dumps(value), "word")
        case int() | float():
            yield Piece(json.dumps(value), "number")
        case Mapping():
            yield from _json_items(
                [
                    (Piece(json.dumps(str(key), ensure_ascii=False), "key"), item)
                    for key, item in value.items()
                ],
                "{}",
                indent,
                deeper,
            )
        case Sequence():
            yield from _json_items([(None, item) for item in value], "[]", indent, deeper)


def _json_items(
    items: Sequence[tuple[Piece | None, Json]], brackets: str, indent: str, deeper: str
) -> Iterator[Piece]:
    if not items:
        yield Piece(brackets, "muted")
        return
    yield Piece(f"{brackets[0]}\n", "muted")
    for number, (key, item) in enumerate(items, start=1):
        yield Piece(deeper)
        if key is not None:
            yield key
            yield Piece(": ", "muted")
        yield from _json_pieces(item, deeper)
        yield Piece(",\n" if number < len(items) else "\n", "muted")
    yield Piece(f"{indent}{brackets[1]}", "muted")


def _join(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Join neighbors of one style, so that the widget has fewer pieces to insert."""
    held: Piece | None = None
    for piece in pieces:
        if held is not None and held.style == piece.style:
            held = Piece(held.text + piece.text, held.style)
        else:
            if held is not None:
                yield held
            held = piece
    if held is not None:
        yield held
