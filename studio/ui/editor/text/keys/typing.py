"""Automatic insertions while typing: pure rules on the line around the caret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

from studio.ui.editor.text.keys.key_moves import is_command

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView


CommentKind: TypeAlias = Literal["#", "body", "delimiter"]
"""Comment syntax of a line: `#` in YAML, that of the template in the body, or none."""

PAIRS = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "`": "`"}
"""Opening characters and the closing ones that are inserted after them."""

_LIST = re.compile(
    r"(?P<indent>\s*)(?P<mark>[-*+]|(?P<number>\d+)(?P<dot>[.)]))(?P<gap>\s+)(?P<rest>.*)$"
)
_DASH = re.compile(r"-[ ]+")
_ITEM_KEY = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s"'#\[\]{}][^#:]*):(?:\s|$)""")
_OPENS_TEXT = re.compile(r"[|>][+-]?\d?\s*$")
_OPENS_BLOCK = re.compile(r"[^#]*:\s*(?:[|>][+-]?\d?)?\s*$")


@dataclass(frozen=True, slots=True)
class TypedEdit:
    """An edit that replaces the plain key."""

    insert: str
    """Text to insert at the caret (replacing a selection)."""

    back: int = 0
    """Number of characters by which the caret moves back afterwards."""

    overwrite: int = 0
    """Number of characters after the caret that are removed first."""

    erase: int = 0
    """Number of characters before the caret that are removed first."""

    select: int = 0
    """Number of characters before the final caret that are selected."""


def on_character(
    char: str, before: str, after: str, *, selected: str = "", yaml: bool, expressions: bool = True
) -> TypedEdit | None:
    """Return the edit for a typed character, or None for the plain character.

    Args:
        char: the character typed.
        before: the line up to the caret.
        after: the line from the caret on.
        selected: the selected text, which a pair encloses; it stays selected, so that a second
            brace makes it an expression and any other character replaces it.
        yaml: whether the line is front matter or another YAML part.
        expressions: whether `{{` opens an expression here; not in format strings.
    """
    if selected:
        if char in PAIRS and "\n" not in selected:
            opens = expressions and before.endswith("{") and after.startswith("}")
            return _put_around(char, selected, is_expression=opens)
        before = after = ""
    if after.startswith(char) and char in ")]}\"'`" and _is_open(char, before):
        return TypedEdit(char, overwrite=1)
    within = _inside_braces(char, before, after) if expressions and char in " %#}" else None
    if within is not None:
        return within
    if expressions and char not in " }%#-+" and _is_space_typed_over(before, after):
        pair = PAIRS.get(char, "")
        return TypedEdit(f"{char}{pair} ", back=len(pair) + 1)
    if expressions and char in "%#{" and before.endswith("{") and after.startswith("}"):
        opened = _second_of_two(char, before)
        if opened is not None:
            return opened
    if char not in PAIRS:
        return None
    if after and not after[0].isspace() and after[0] not in ")]},:;.\"'`":
        return None
    if char in "\"'`" and not yaml and char == "'":
        return None  # an apostrophe in prose
    if char in "\"'`" and before and (before[-1].isalnum() or before[-1] in "\"'`\\"):
        return None
    return TypedEdit(char + PAIRS[char], back=1)


def _second_of_two(char: str, before: str) -> TypedEdit | None:
    """Open an expression, a tag or a comment, and add its second closing character."""
    if char != "{":
        return TypedEdit(f"{char}  {char}", back=2)
    return None if before.endswith("{{") else TypedEdit("{  }", back=2)


def _put_around(char: str, selected: str, *, is_expression: bool) -> TypedEdit:
    """Enclose the selection in a pair and keep it; a second brace makes it an expression."""
    gap = " " if char == "{" and is_expression else ""
    return TypedEdit(
        f"{char}{gap}{selected}{gap}{PAIRS[char]}", back=1 + len(gap), select=len(selected)
    )


def on_return(before: str, after: str, *, yaml: bool) -> TypedEdit | None:
    """Return the edit for Return: a line with the block's indentation, deeper after an opening.

    A list in the body is continued. In YAML, the next line keeps the column of the dash and is
    deeper only in an item with keys, a block of text or an open bracket. A line with only an
    indentation loses it.
    """
    indent = before[: len(before) - len(before.lstrip())]
    if before and indent == before and not after.strip():
        return TypedEdit(f"\n{indent}", erase=len(before), overwrite=len(after))
    item = _LIST.match(before)
    if item and not yaml:
        if not item["rest"].strip() and not after.strip():
            return TypedEdit("", erase=len(before) - len(item["indent"]))  # ends the list
        mark = f"{int(item['number']) + 1}{item['dot']}" if item["number"] else item["mark"]
        return TypedEdit(f"\n{item['indent']}{mark}{item['gap']}")
    if yaml:
        indent += _deeper(before[len(indent) :])
    return TypedEdit("\n" + indent) if indent else None


def empty_item(before: str, after: str) -> str:
    """Return the marker of a list and its gap if it is alone on a line; otherwise ""."""
    item = _LIST.match(before)
    alone = item is not None and not item["rest"] and not after.strip()
    return before.lstrip() if alone else ""


def _deeper(line: str) -> str:
    """Return the additional indentation of the line after a line of YAML."""
    item = _DASH.match(line)
    if item is not None:
        rest = line[item.end() :]
        keeps = not (_ITEM_KEY.match(rest) or _DASH.match(rest) or _OPENS_TEXT.match(rest))
        if keeps and not _is_bracket_open(rest):
            return ""
        return " " * item.end() + _deeper(rest)
    return "  " if _OPENS_BLOCK.match(line) else ""


def _is_bracket_open(text: str) -> bool:
    """Return whether a value of YAML starts a flow list or mapping that its line does not close."""
    return text[:1] in ("[", "{") and sum(map(text.count, "[{")) > sum(map(text.count, "]}"))


def on_backspace(before: str, after: str) -> TypedEdit | None:
    """Return the edit that removes an empty pair as a whole, or an indentation of two."""
    if before and after and PAIRS.get(before[-1]) == after[0]:
        return TypedEdit("", overwrite=1, erase=1)
    if before and not before.strip(" ") and len(before) > 1:
        return TypedEdit("", erase=2 - len(before) % 2)
    return None


def comment_lines(
    lines: list[str], *, yaml: bool, template: str = "jinja2", out: bool | None = None
) -> list[str]:
    """Comment lines out or in.

    YAML uses `#`; a body uses the comments of its template language, and format strings have none.

    Args:
        lines: whole lines.
        yaml: whether they are YAML.
        template: the language of the body's expressions.
        out: whether to comment out or in; None: in if all lines are comments.
    """
    if template == "fstring" and not yaml:
        return lines
    opening, closing = _comment_signs(yaml=yaml, template=template)
    inner = [_commented(line, opening, closing) for line in lines]
    if out is None:
        out = any(text is None for line, text in zip(lines, inner, strict=True) if line.strip())
    if not out:
        return [line if text is None else text for line, text in zip(lines, inner, strict=True)]
    # Comments of templates cannot be nested.
    fresh = [
        bool(line.strip()) and (yaml or text is None)
        for line, text in zip(lines, inner, strict=True)
    ]
    indents = [len(line) - len(line.lstrip()) for line in lines]
    depth = min(
        (each for each, is_fresh in zip(indents, fresh, strict=True) if is_fresh), default=0
    )
    return [
        _comment_out(line, opening, closing, depth if yaml else indent) if is_fresh else line
        for line, indent, is_fresh in zip(lines, indents, fresh, strict=True)
    ]


def comment_parts(
    lines: Sequence[str],
    kinds: Sequence[CommentKind],
    *,
    template: str = "jinja2",
    out: bool | None = None,
) -> list[str]:
    """Comment lines of several kinds out or in; delimiters stay unchanged.

    Args:
        lines: whole lines.
        kinds: kind of each line.
        template: the language of the body's expressions.
        out: whether to comment out or in; None: in if all lines are comments.
    """
    parts = [
        (kind, [line for line, _ in part])
        for kind, part in groupby(zip(lines, kinds, strict=True), key=itemgetter(1))
    ]
    if out is None:
        out = any(
            line.strip()
            and _commented(line, *_comment_signs(yaml=kind == "#", template=template)) is None
            for kind, part in parts
            if kind == "#" or (kind == "body" and template != "fstring")
            for line in part
        )
    return [
        line
        for kind, part in parts
        for line in (
            part
            if kind == "delimiter"
            else comment_lines(part, yaml=kind == "#", template=template, out=out)
        )
    ]


def _commented(line: str, opening: str, closing: str) -> str | None:
    """Return the text of a line that is one whole comment; None for another line."""
    start, end = opening.strip(), closing.strip()
    found = re.match(
        rf"^(\s*){re.escape(start)} ?(.*?)" + (rf" ?{re.escape(end)}(\s*)$" if end else r"(\s*)$"),
        line,
    )
    if found is None:
        return None
    indent, text, blank = found.groups()
    if end:
        text = text.replace(end + start, end)
        depth = 0
        for sign in re.findall(rf"{re.escape(start[:2])}|{re.escape(end)}", text):
            depth += -1 if sign == end else 1
            if depth < 0:  # comments and other text in one line
                return None
    return f"{indent}{text}{blank}"


def _comment_signs(*, yaml: bool, template: str) -> tuple[str, str]:
    if yaml:
        return "# ", ""
    return ("{{! ", " }}") if template == "mustache" else ("{# ", " #}")


def _comment_out(line: str, opening: str, closing: str, depth: int) -> str:
    """Return a line as a comment; if its text contains `#}`, a new comment is opened after it."""
    text = line.rstrip() if closing else line
    end = closing.strip()
    inner = text[depth:].replace(end, end + opening.strip()) if end else text[depth:]
    return f"{line[:depth]}{opening}{inner}{closing}{line[len(text) :]}"


def _inside_braces(char: str, before: str, after: str) -> TypedEdit | None:
    """Return the edit for a key of a typed `{{ name }}` that overwrites inserted characters."""
    closed = after[:3] in (" }}", " %}", " #}")
    if char == " " and closed:
        fresh = before.endswith(("{{ ", "{% ", "{# "))
        return TypedEdit("") if fresh else TypedEdit(" ", overwrite=1)
    if char in "}%#" and closed and char == after[1]:
        return TypedEdit(char, overwrite=2)
    if char in "%#" and after.startswith(f"{char}}}") and f"{{{char}" in before:
        return TypedEdit(char, overwrite=1)
    return None


def _is_space_typed_over(before: str, after: str) -> bool:
    """Return whether the space before the closing braces was typed over and must be inserted."""
    if not before.endswith(" ") or not after.startswith(("}}", "%}", "#}")):
        return False
    opened = max(before.rfind(each) for each in ("{{", "{%", "{#"))
    closed = max(before.rfind(each) for each in ("}}", "%}", "#}"))
    return opened > closed


def _is_open(char: str, before: str) -> bool:
    """Return whether the closing character ahead was inserted for one open before the caret."""
    opening = {value: key for key, value in PAIRS.items()}[char]
    if opening == char:
        return before.count(char) % 2 == 1
    return before.count(opening) > before.count(char)


# Applies the typing rules to keys and writes their edits into the text.

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True, slots=True)
class _OfferedMark:
    """A list marker that the editor inserted, and how much of it the user typed again."""

    rest: str = ""
    """Part of the marker and its gap that is not typed yet."""

    revision: int = 0
    """Revision of the document after the marker was inserted."""

    position: int = 0
    """Position after the marker in UTF-16 units."""

    eaten: str = ""
    """Typed part that was not inserted again."""


class TypingKeys:
    """Handles keys before the text widget."""

    def __init__(self, editor: PromptView) -> None:
        self._editor = editor
        self._offered = _OfferedMark()

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; return False to leave it to the text widget."""
        if is_command(event) or self._editor.isReadOnly():
            return False
        if self._open_front(event):
            return True
        cursor = self._editor.textCursor()
        if self._eats(event, cursor):
            return True
        if not self.write(event, cursor):
            return False
        self._editor.setTextCursor(cursor)
        if event.key() in _ENTER:
            self.offer_mark()
        return True

    def offer_mark(self) -> None:
        """Record the inserted list marker before the caret, which the user may type again."""
        cursor = self._editor.textCursor()
        mark = empty_item(*_around(cursor))
        self._offered = _OfferedMark(mark, cursor.document().revision(), cursor.position())

    def _eats(self, event: QKeyEvent, cursor: QTextCursor) -> bool:
        """Return whether a key types the next character of the inserted marker."""
        mark = self._offered
        if not mark.rest or not event.text():
            return False
        if (cursor.document().revision(), cursor.position()) != (mark.revision, mark.position):
            return False
        if cursor.hasSelection() or event.text() != mark.rest[0]:
            cursor.insertText(mark.eaten)  # another word starts with this character
            self._offered = _OfferedMark()
            return False
        self._offered = replace(mark, rest=mark.rest[1:], eaten=mark.eaten + mark.rest[0])
        return True

    def write(self, event: QKeyEvent, cursor: QTextCursor) -> bool:
        """Write the edit for a key at a cursor; return False for the plain character."""
        char = event.text()
        if len(char) == 1 and char.isprintable():
            return self._character(char, cursor)
        match event.key():
            case Qt.Key.Key_Tab:
                column = len(_around(cursor)[0])
                cursor.insertText(" " * (2 - column % 2))
                return True
            case key if key in _ENTER:
                before, after = _around(cursor)
                return _do(on_return(before, after, yaml=self._is_yaml(cursor)), cursor)
            case Qt.Key.Key_Backspace if not cursor.hasSelection():
                before, after = _around(cursor)
                return _do(on_backspace(before, after), cursor)
        return False

    def _open_front(self, event: QKeyEvent) -> bool:
        """Unfold the front matter for a key that writes into it; Enter only unfolds it.

        Text before its first line would turn all of it into prompt text.
        """
        editor = self._editor
        if not editor.folding.is_any_closed:
            return False
        is_enter = event.key() in _ENTER
        writes = is_enter or (event.text().isprintable() and bool(event.text()))
        line = editor.textCursor().blockNumber()
        if not writes or not editor.folding.is_closed(line):
            return False
        if line == 0 or is_enter:
            editor.toggle_fold(line)
            return True
        return False

    def _character(self, char: str, cursor: QTextCursor) -> bool:
        if char.isalnum() and cursor.atBlockEnd():
            return False  # the most frequent case, at 1/16 of a key's time
        selected = cursor.selectedText().replace("\u2029", "\n")
        block = cursor.document().findBlock(cursor.selectionStart()) if selected else cursor.block()
        state = self._editor.highlighter.state_before(block)
        before, after = _around(cursor)
        typed = on_character(
            char,
            before,
            after,
            selected=selected,
            yaml=state.zone in ("front", "yaml"),
            expressions=state.template != "fstring",
        )
        return _do(typed, cursor)

    def _is_yaml(self, cursor: QTextCursor) -> bool:
        state = self._editor.highlighter.state_before(cursor.block())
        return state.zone in ("front", "yaml")


def _do(typed: TypedEdit | None, cursor: QTextCursor) -> bool:
    if typed is None:
        return False
    cursor.beginEditBlock()
    move = QTextCursor.MoveOperation
    if typed.overwrite or typed.erase:
        cursor.clearSelection()
        cursor.movePosition(move.Left, QTextCursor.MoveMode.MoveAnchor, typed.erase)
        keep = QTextCursor.MoveMode.KeepAnchor
        cursor.movePosition(move.Right, keep, typed.erase + typed.overwrite)
    cursor.insertText(typed.insert)
    cursor.movePosition(move.Left, QTextCursor.MoveMode.MoveAnchor, typed.back)
    if typed.select:
        end, last = cursor.position(), len(typed.insert) - typed.back
        chosen = typed.insert[last - typed.select : last]
        cursor.setPosition(end - len(chosen.encode("utf-16-le")) // 2)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    cursor.endEditBlock()
    return True


def _around(cursor: QTextCursor) -> tuple[str, str]:
    if not cursor.hasSelection():
        text, at = cursor.block().text(), cursor.positionInBlock()
        return _units(text, 0, at), _units(text, at, None)
    document = cursor.document()
    first = document.findBlock(cursor.selectionStart())
    last = document.findBlock(cursor.selectionEnd())
    before = _units(first.text(), 0, cursor.selectionStart() - first.position())
    return before, _units(last.text(), cursor.selectionEnd() - last.position(), None)


def _units(text: str, start: int, end: int | None) -> str:
    """Return a part of a line by UTF-16 positions."""
    if text.isascii() or all(char <= "\uffff" for char in text):
        return text[start:end]
    raw = text.encode("utf-16-le", "surrogatepass")
    stop = None if end is None else end * 2
    return raw[start * 2 : stop].decode("utf-16-le", "surrogatepass")
