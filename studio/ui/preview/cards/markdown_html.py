"""Markdown with marked values → the HTML that a `QTextBrowser` shows. Pure; no Qt.

The values of inputs must stay recognisable through Markdown. Each line of a value is put between
two private-use characters before Markdown is read, and what stands between them is wrapped in the
HTML afterwards: in text only, never across a tag, so that the result is always well formed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from studio.application.preview.cards import TextRun

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
# What may stand before the first word of a line without being part of it.
_PREFIX = re.compile(r"[ \t]*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6}|>)[ \t]+)*")
# A line of which a mark would change the meaning: fences, rules, table delimiter rows.
_STRUCTURE = re.compile(r"[ \t]*(?:`{3,}|~{3,}|[-=*_ \t|:]+$)")

LINE_ANCHOR = "line-"
"""Prefix of the anchors that say from which line of the text a block was made."""


@dataclass(frozen=True, slots=True)
class ValueStyle:
    """How one value is written in HTML."""

    color: str
    """Color of its text, `#rrggbb`."""

    tint: str
    """Color behind it, `#rrggbb`."""


def value_anchor(index: int) -> str:
    """The link target of the run numbered `index`."""
    return f"value:{index}"


def markdown_to_html(runs: Sequence[TextRun], style: Callable[[TextRun], ValueStyle]) -> str:
    """The HTML of a text made of `runs`; raw HTML in it is shown as text.

    Line breaks are kept as the author wrote them: in a prompt they carry meaning.
    """
    marked = "".join(
        _mark(run.text, index) if run.value is not None else _OWN.sub("\ufffd", run.text)
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


def _image_as_text(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:  # noqa: ANN401
    """A picture inside Markdown is text to the model, so it is shown as text here."""
    token = tokens[index]
    return escape(f"![{token.content}]({token.attrGet('src') or ''})")


def _with_line(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:  # noqa: ANN401
    token = tokens[index]
    opened: str = renderer.renderToken(tokens, index, options, env)
    if token.map is None or token.hidden:
        return opened
    return f'{opened}<a name="{LINE_ANCHOR}{token.map[0]}"></a>'


def _heading_open(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:  # noqa: ANN401
    """A paragraph with a class: Qt makes `h1` twice as large, whatever the style sheet says."""
    token = tokens[index]
    return f'<p class="{token.tag}"><a name="{LINE_ANCHOR}{token.map[0]}"></a>'


def _heading_close(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:  # noqa: ANN401
    return "</p>\n"


def _code(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:  # noqa: ANN401
    token = tokens[index]
    first = token.map[0] + (1 if token.type == "fence" else 0) if token.map else 0
    text = escape(token.content.removesuffix("\n"))
    return (
        '<table class="code" width="100%" cellspacing="0" cellpadding="8"><tr><td>'
        f'<pre><a name="{LINE_ANCHOR}{first}"></a>{text}</pre></td></tr></table>\n'
    )


def _mark(text: str, index: int) -> str:
    """`text` with each of its lines between marks that carry `index`."""
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
    # White space after the last block would be shown as a space of the text.
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
    css = f"color:{look.color};background-color:{look.tint};text-decoration:none"
    if inside_link:
        return f'<span style="{css}">{text}</span>'
    return f'<a href="{value_anchor(index)}" style="{css}">{text}</a>'
