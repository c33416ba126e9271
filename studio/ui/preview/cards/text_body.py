"""A part of a message's text: Markdown or raw, with colored values and links to the source.

It converts Markdown with marked values to the HTML of a `QTextBrowser`, without Qt.

The values of inputs must stay recognizable in Markdown. Each line of a value is enclosed in two
private-use characters before the Markdown is parsed, and the enclosed text is wrapped in the HTML
afterwards: only in text, never across a tag, so that the result is well formed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from typing import TYPE_CHECKING, Any

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from studio.application.preview.variables import TextRun
from studio.application.words import tr
from studio.core.text.invisible import plain_tip
from studio.core.text.source import SourceText, Span
from studio.core.text.values import parse_json
from studio.ui.base.menus import ON_CARD, add_actions, text_menu
from studio.ui.parts.text_views import ClosedText
from studio.ui.style.theme import (
    SOFT_TINT,
    Theme,
    blend,
    fixed_font,
    icon,
    input_color,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


_OPEN, _CLOSE = "\ue000", "\ue001"
_DIGITS = "".join(chr(0xE010 + digit) for digit in range(10))
_TO_DIGITS = str.maketrans("0123456789", _DIGITS)
_FROM_DIGITS = str.maketrans(_DIGITS, "0123456789")
_OWN = re.compile(f"[{_OPEN}{_CLOSE}{_DIGITS}]")
_ENCODED = re.compile(r"%EE%80%(?:80|81|9[0-9])", re.IGNORECASE)
_MARK = re.compile(f"{_OPEN}([{_DIGITS}]+)|{_CLOSE}")
_TAG = re.compile(r"(<[^>]*>)")
# Characters that may precede the first word of a line without being part of it.
_PREFIX = re.compile(r"[ \t]*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6}|>)[ \t]+)*")
# A line whose meaning a mark would change: fences, rules, table delimiter rows.
_STRUCTURE = re.compile(r"[ \t]*(?:`{3,}|~{3,}|[-=*_ \t|:]+$)")

LINE_ANCHOR = "line-"
"""Prefix of anchors with the line of the text from which a block was made."""


@dataclass(frozen=True, slots=True)
class ValueStyle:
    """The style of one value in HTML."""

    color: str
    """Color of its text, `#rrggbb`."""

    tint: str
    """Color of its background, `#rrggbb`."""

    is_new: bool = False
    """Whether it is underlined because the shown run did not have it."""

    is_sample: bool = False
    """Whether it is italic because a run does not send it."""


def value_anchor(index: int) -> str:
    """Return the link target of the text run with an index."""
    return f"value:{index}"


def markdown_to_html(runs: Sequence[TextRun], style: Callable[[TextRun], ValueStyle]) -> str:
    """Return the HTML of a text made of `runs`; raw HTML in it is shown as text.

    Line breaks are preserved, since they have a meaning in a prompt.
    """
    marked = "".join(
        _mark(run.text, index)
        if run.value is not None or run.is_new
        else _OWN.sub("\ufffd", run.text)
        for index, run in enumerate(runs)
    )
    html = _reader().render(marked)
    return _unmark(html, runs, style)


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    reader.enable(["table", "strikethrough"])
    reader.add_render_rule("image", _image_as_text)
    for rule in ("paragraph_open", "list_item_open"):
        reader.add_render_rule(rule, _with_line)
    reader.add_render_rule("heading_open", _heading_open)
    reader.add_render_rule("heading_close", _heading_close)
    reader.add_render_rule("fence", _code)
    reader.add_render_rule("code_block", _code)
    return reader


def _image_as_text(renderer: object, tokens: Any, index: int, options: object, env: object) -> str:  # noqa: ANN401
    """Return a picture in Markdown as text, which it is for the model."""
    token = tokens[index]
    return escape(f"![{token.content}]({token.attrGet('src') or ''})")


def _with_line(renderer: Any, tokens: Any, index: int, options: object, env: object) -> str:  # noqa: ANN401
    token = tokens[index]
    opened: str = renderer.renderToken(tokens, index, options, env)
    if token.map is None or token.hidden:
        return opened
    return f'{opened}<a name="{LINE_ANCHOR}{token.map[0]}"></a>'


def _heading_open(renderer: object, tokens: Any, index: int, options: object, env: object) -> str:  # noqa: ANN401
    """Return a paragraph with a class: Qt doubles the size of `h1` despite style sheets."""
    token = tokens[index]
    return f'<p class="{token.tag}"><a name="{LINE_ANCHOR}{token.map[0]}"></a>'


def _heading_close(
    renderer: object, tokens: object, index: int, options: object, env: object
) -> str:
    return "</p>\n"


def _code(renderer: object, tokens: Any, index: int, options: object, env: object) -> str:  # noqa: ANN401
    token = tokens[index]
    first = token.map[0] + (1 if token.type == "fence" else 0) if token.map else 0
    text = escape(token.content.removesuffix("\n"))
    return (
        '<table class="code" width="100%" cellspacing="0" cellpadding="8"><tr><td>'
        f'<pre><a name="{LINE_ANCHOR}{first}"></a>{text}</pre></td></tr></table>\n'
    )


def _mark(text: str, index: int) -> str:
    """Return `text` with each of its lines enclosed in marks with an index."""
    opening = _OPEN + str(index).translate(_TO_DIGITS)
    lines = []
    for line in _OWN.sub("\ufffd", text).split("\n"):
        if not line.strip() or _STRUCTURE.match(line):
            lines.append(line)
            continue
        prefix = _PREFIX.match(line)
        start = prefix.end() if prefix else 0
        body = line[start:].rstrip()
        rest = line[start + len(body) :]
        lines.append(f"{line[:start]}{opening}{body}{_CLOSE}{rest}" if body else line)
    return "\n".join(lines)


def _unmark(html: str, runs: Sequence[TextRun], style: Callable[[TextRun], ValueStyle]) -> str:
    pieces: list[str] = []
    inside_link = False
    index: int | None = None
    for piece in _TAG.split(html):
        if piece.startswith("<"):
            if piece.startswith("<a "):
                inside_link = "href=" in piece
            elif piece == "</a>":
                inside_link = False
            pieces.append(_ENCODED.sub("", _OWN.sub("", piece)))
            continue
        done = 0
        for mark in _MARK.finditer(piece):
            pieces.append(_wrap(piece[done : mark.start()], index, runs, style, inside_link))
            index = int(mark[1].translate(_FROM_DIGITS)) if mark[1] else None
            done = mark.end()
        pieces.append(_wrap(piece[done:], index, runs, style, inside_link))
    # White space after the last block would be shown as a space.
    return "".join(pieces).rstrip()


def _wrap(
    text: str,
    index: int | None,
    runs: Sequence[TextRun],
    style: Callable[[TextRun], ValueStyle],
    inside_link: bool,
) -> str:
    if index is None or not text.strip("\n") or index >= len(runs):
        return text
    look = style(runs[index])
    line = "underline" if look.is_new else "none"
    slant = "italic" if look.is_sample else "normal"
    css = f"color:{look.color};background-color:{look.tint};text-decoration:{line}"
    css += f";font-style:{slant}"
    if inside_link or runs[index].value is None:
        return f'<span style="{css}">{text}</span>'
    return f'<a href="{value_anchor(index)}" style="{css}">{text}</a>'


MARKDOWN_LIMIT = 40_000
"""Maximum characters of Markdown; longer texts are shown raw, since it would take too long."""


class TextBody(ClosedText):
    """Shows a text without loading files, network addresses or links."""

    place_clicked = Signal(Span)  # source of the clicked text
    input_clicked = Signal(str, QRect)  # input name, rectangle to edit its value in; null: field

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[TextRun, ...] = ()
        self._later: Callable[[], Sequence[TextRun]] | None = None
        self._colors: dict[str, int] = {}
        self._raw = False
        self._pressed: QPoint | None = None
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click goes to the source only
        self.setAccessibleName(tr("Message text"))
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)

    def show_runs(
        self, runs: Sequence[TextRun], colors: dict[str, int], theme: Theme, *, raw: bool
    ) -> None:
        """Show a text; `colors` maps an input to the number of its color."""
        self._runs, self._colors = tuple(runs), dict(colors)
        self._later = None
        self._raw = raw or sum(len(run.text) for run in runs) > MARKDOWN_LIMIT
        if self._raw:
            self._fill_raw(theme)
        else:
            self.document().setDefaultStyleSheet(_style_sheet(theme, self.font().pointSizeF()))
            self.setHtml(markdown_to_html(runs, partial(_value_style, theme, self._colors)))
        self._fit()

    def move_runs(self, later: Callable[[], Sequence[TextRun]]) -> None:
        """Set other source spans for the same text, which are computed on a click."""
        self._later = later

    def _newest(self) -> tuple[TextRun, ...]:
        if self._later is not None:
            self._runs, self._later = tuple(self._later()), None
        return self._runs

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Keep the height equal to the text's own."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Leave scrolling to the conversation."""
        event.ignore()

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Record the start of a click, to distinguish it from a selection."""
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Go to the source of the clicked text; a drag only selects."""
        super().mouseReleaseEvent(event)
        event.accept()  # the text browser ignores it, and the card would go elsewhere
        place = event.position().toPoint()
        still = self._pressed is not None and (place - self._pressed).manhattanLength() < 4
        if not still and self.textCursor().hasSelection():
            self.setFocus(Qt.FocusReason.MouseFocusReason)  # Ctrl+C copies the selection
        if event.button() == Qt.MouseButton.LeftButton and still:
            self._click(place, to_input=_is_control_held(event))

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        """Edit the value under the pointer; select a word in other text."""
        if not self._edit(self.anchorAt(event.position().toPoint())):
            super().mouseDoubleClickEvent(event)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Show a menu to go to the source and to copy, followed by the items of the card."""
        menu = text_menu(self)
        before = menu.actions()[0]
        if name := _input_of(self.run_at(event.pos())):
            field = menu.addAction(tr("Go to the field of {name}").format(name=name))
            field.triggered.connect(partial(self.input_clicked.emit, name, QRect()))
            menu.insertAction(before, field)
        place = menu.addAction(icon("pencil"), tr("Go to its text"))
        place.triggered.connect(partial(self._click, event.pos(), to_input=False))
        menu.insertAction(before, place)
        menu.insertSeparator(before)
        menu.addSeparator()
        add_actions(menu, self.window(), ON_CARD)
        menu.popup(event.globalPos())

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Edit the focused value on Enter; otherwise, Enter acts like a click."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            held, cursor = _is_control_held(event), self.textCursor()
            anchor = cursor.charFormat().anchorHref()
            if held or not self._edit(anchor):
                self._reveal(self._run_of(anchor), cursor, held)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Show on hover which input a value comes from."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QtGui.QHelpEvent):
            run = self.run_at(self.viewport().mapFromGlobal(event.globalPos()))
            tip = _tip(run)
            if tip:
                QToolTip.showText(event.globalPos(), plain_tip(tip), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def run_at(self, place: QPoint) -> TextRun | None:
        """Return the value under a point of the viewport, if it is one."""
        return self._run_of(self.anchorAt(place))

    def _run_of(self, anchor: str) -> TextRun | None:
        if anchor.startswith("value:"):
            index = int(anchor.removeprefix("value:"))
            runs = self._newest()
            return runs[index] if index < len(runs) else None
        return None

    def _edit(self, anchor: str) -> bool:
        """Request an edit of an anchor's value over its first line; return False without one."""
        name, cursor = _input_of(self._run_of(anchor)), QtGui.QTextCursor(self.document())
        if not name:
            return False
        while cursor.charFormat().anchorHref() != anchor:
            if not cursor.movePosition(QtGui.QTextCursor.MoveOperation.NextCharacter):
                return False
        place = self.cursorRect(cursor)
        place.setRight(self.viewport().width())
        place.moveTopLeft(self.viewport().mapToGlobal(place.topLeft()))
        self.input_clicked.emit(name, place)
        return True

    def _click(self, place: QPoint, *, to_input: bool) -> None:
        self._reveal(self.run_at(place), self.cursorForPosition(place), to_input)

    def _reveal(self, run: TextRun | None, cursor: QtGui.QTextCursor, to_input: bool) -> None:
        if run is not None and run.value is not None:
            span = run.value.span
            if run.value.input and (to_input or span is None):
                self.input_clicked.emit(run.value.input, QRect())
                return
        else:
            span = self._source_at(cursor)
        if span is not None:
            self.place_clicked.emit(span)

    def _source_at(self, cursor: QtGui.QTextCursor) -> Span | None:
        """Return the source span of the text at a cursor."""
        runs = self._newest()
        text = SourceText("".join(run.text for run in runs))
        if self._raw:
            return self._span_of(text.from_utf16(cursor.position()))
        line = _line_of_block(cursor)
        if line is None:
            return next((run.span for run in runs if run.span is not None), None)
        starts = text.line_starts
        return self._span_of(starts[min(line, len(starts) - 1)])

    def _span_of(self, offset: int) -> Span | None:
        """Return the source span of a character; exact within the author's text."""
        done = 0
        for run in self._runs:
            if offset < done + len(run.text):
                if run.span is None or run.value is not None:
                    return run.span
                at = min(run.span.start + offset - done, run.span.end)
                return Span(at, at)
            done += len(run.text)
        last = next((run.span for run in reversed(self._runs) if run.span is not None), None)
        return Span(last.end, last.end) if last is not None else None

    def _fill_raw(self, theme: Theme) -> None:
        document = self.document()
        document.clear()
        document.setDefaultFont(fixed_font(self.font()))
        cursor = QtGui.QTextCursor(document)
        cursor.beginEditBlock()
        for index, run in enumerate(self._runs):
            cursor.insertText(run.text.replace("\r\n", "\n"), self._raw_format(theme, index, run))
        cursor.endEditBlock()

    def _raw_format(self, theme: Theme, index: int, run: TextRun) -> QtGui.QTextCharFormat:
        look = QtGui.QTextCharFormat()
        look.setForeground(QtGui.QColor(theme.text))
        if run.value is not None or run.is_new:
            style = _value_style(theme, self._colors, run)
            look.setForeground(QtGui.QColor(style.color))
            look.setBackground(QtGui.QColor(style.tint))
            look.setFontUnderline(style.is_new)
            look.setFontItalic(style.is_sample)
        if run.value is not None:
            look.setAnchor(True)
            look.setAnchorHref(f"value:{index}")
        return look

    def _fit(self, *_: object) -> None:
        height = max(1, round(self.document().size().height() + 0.49))
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)


_LONGEST_TINTED = 40
"""Maximum characters of a value with a background; longer ones only have the text color."""


def _value_style(theme: Theme, colors: dict[str, int], run: TextRun) -> ValueStyle:
    if run.value is not None and run.value.warning:
        return ValueStyle(theme.warning, blend(theme.warning, theme.surface, 0.16))
    color = input_color(theme, colors.get(run.value.input)) if run.value else theme.text
    is_sample = run.value is not None and run.value.is_sample
    if run.is_new and not is_sample:
        return ValueStyle(color, blend(theme.accent, theme.surface, SOFT_TINT), is_new=True)
    is_plain = is_sample or len(run.text) > _LONGEST_TINTED or "\n" in run.text
    tint = blend(color, theme.surface, 0.0 if is_plain else 0.12)
    return ValueStyle(color, tint, is_sample=is_sample)


def _is_control_held(event: QtGui.QKeyEvent | QtGui.QMouseEvent) -> bool:
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


def _input_of(run: TextRun | None) -> str:
    return run.value.input if run is not None and run.value is not None else ""


def _tip(run: TextRun | None) -> str:
    if run is None or run.value is None:
        return ""
    if run.value.warning:
        return run.value.warning
    if not run.value.input:
        return tr("Computed by an expression")
    if run.value.is_sample:
        return tr("Sample, not sent: double-click to give {input!r} a value").format(
            input=run.value.input
        )
    return tr("Value of the input {input!r}; double-click to edit it").format(input=run.value.input)


def _line_of_block(cursor: QtGui.QTextCursor) -> int | None:
    """Return the line of the text from which the block at a cursor was made."""
    block = cursor.block()
    extra = 0
    while block.isValid():
        fragment = block.begin()
        while not fragment.atEnd():
            for name in fragment.fragment().charFormat().anchorNames():
                if name.startswith(LINE_ANCHOR):
                    return int(name.removeprefix(LINE_ANCHOR)) + extra
            fragment += 1
        block = block.previous()
        extra += 1
    return None


def _style_sheet(theme: Theme, points: float) -> str:
    mono = fixed_font(QtGui.QFont()).family()
    panel = blend(theme.raised, theme.surface, 0.75)
    h1, h2 = f"{1.3 * points}pt", f"{1.2 * points}pt"
    return f"""
        body, p, li, td, th {{ color: {theme.text}; }}
        p {{ margin-top: 0; margin-bottom: 8px; }}
        p.h1 {{ font-size: {h1}; font-weight: 600; margin-top: 8px; margin-bottom: 6px; }}
        p.h2 {{ font-size: {h2}; font-weight: 600; margin-top: 8px; margin-bottom: 4px; }}
        p.h3, p.h4, p.h5, p.h6 {{ font-weight: 600; margin-top: 6px; margin-bottom: 4px; }}
        ul, ol {{ margin-top: 0; margin-bottom: 8px; margin-left: -18px; }}
        li {{ margin-bottom: 2px; }}
        a {{ color: {theme.accent}; }}
        code {{ font-family: '{mono}'; background-color: {panel}; }}
        pre {{ font-family: '{mono}'; white-space: pre-wrap; margin: 0; }}
        table.code {{ background-color: {panel}; margin-top: 6px; margin-bottom: 8px; }}
        th {{ font-weight: 600; padding: 4px 8px; }}
        td {{ padding: 4px 8px; }}
        blockquote {{ color: {theme.muted}; margin-left: 12px; }}
    """


# Parts of a message that are not plain text: tool calls and ends of long texts.


class LinkedPart(QWidget):
    """A part of a message with a link to its source."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Go to the source on a click."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()


def pretty_json(text: str) -> str:
    """Return indented JSON text; any other text unchanged."""
    try:
        return json.dumps(parse_json(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text
