"""`<think>` blocks: shown as reasoning, never parsed.

A reply that never ends its thinking: what stands in it is no answer until somebody says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from studio.core.agent.values.reading import FormatError, Repair
from studio.core.text.span import Span
from studio.core.wire.reply import Reply

_OPEN = re.compile(r"(?:^|(?<=\n))[ \t]*<(think|thinking|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextWithoutReasoning:
    """A text with its reasoning blanked out; offsets stay as they were."""

    text: str
    """The same length as the raw text."""

    reasoning: str
    """What stood in the blocks, joined by blank lines."""

    spans: tuple[Span, ...]
    """Where the blocks stand, tags included."""

    is_open: bool = False
    """Whether the last block never ends."""

    def piece(self, start: int, end: int) -> str:
        """The text between two places, blocks left out."""
        pieces: list[str] = []
        for span in self.spans:
            if span.end <= start or span.start >= end:
                continue
            pieces.append(self.text[start : max(start, span.start)])
            start = min(end, span.end)
        pieces.append(self.text[start:end])
        return "".join(pieces)


def blank_reasoning(raw: str) -> TextWithoutReasoning:
    """Blank out reasoning blocks that begin at the start of a line.

    A text whose template opened the block already has only the closing tag: all before it is
    reasoning. A block that never ends takes the rest.
    """
    spans: list[Span] = []
    pieces: list[str] = []
    at, is_open = 0, False
    if (bare := _bare_close(raw)) is not None:
        spans.append(Span(0, bare.end()))
        pieces.append(raw[: bare.start()].strip())
        at = bare.end()
    while (found := _OPEN.search(raw, at)) is not None:
        close = re.compile(f"</{found.group(1)}>", re.IGNORECASE).search(raw, found.end())
        end = close.end() if close else len(raw)
        pieces.append(raw[found.end() : close.start() if close else end].strip())
        spans.append(Span(found.start(), end))
        at, is_open = end, close is None
    if not spans:
        return TextWithoutReasoning(raw, "", ())
    blanked: list[str] = []
    done = 0
    for span in spans:
        blanked += (raw[done : span.start], " " * len(span))
        done = span.end
    blanked.append(raw[done:])
    return TextWithoutReasoning("".join(blanked), "\n\n".join(pieces), tuple(spans), is_open)


def _bare_close(raw: str) -> re.Match[str] | None:
    close = re.search(r"</(?:think|thinking|reasoning)>[ \t]*(?=\n|\Z)", raw, re.IGNORECASE)
    if close is None:
        return None
    opened = re.search(r"<(?:think|thinking|reasoning)>", raw[: close.start()], re.IGNORECASE)
    stands_alone = raw[raw.rfind("\n", 0, close.start()) + 1 : close.start()].strip() == ""
    return close if opened is None and (stands_alone or not _has_label(raw, close)) else None


def _has_label(raw: str, close: re.Match[str]) -> bool:
    return re.search(r"(?m)^\s*(?:Action|Final Answer|\{)", raw[: close.start()]) is not None


_DECISION = re.compile(r"(?m)^[ \t*]{0,9}(?:Thought|Action|Final Answer)[ \t*]{0,9}:|^[ \t]{0,9}\{")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def open_thinking(
    reply: Reply, thinking: TextWithoutReasoning, *, decides: bool
) -> FormatError | None:
    """The error of a reply that is nothing but thinking without an end, with a way to end it.

    Args:
        reply: the reply.
        thinking: its text without the thinking.
        decides: whether labels or JSON in it may be what the reply decides.
    """
    if not thinking.is_open or thinking.text.strip():
        return None
    if reply.finish_reason == "length":
        return FormatError(code="truncated", message="The reply was cut off in its thinking")
    start, end = thinking.spans[-1].start, len(reply.text)
    inside = reply.text.find(">", start) + 1
    decision = _DECISION.search(reply.text, inside) if decides else None
    if decision is not None:
        place, after = decision.start(), "</think>\n"
    else:
        paragraphs = [found.end() for found in _BLANK_LINE.finditer(reply.text.rstrip(), inside)]
        place, after = (paragraphs[-1] if paragraphs else inside), "</think>\n\n"
    words = reply.text[place:end].strip()
    message = "The reply never ends its thinking"
    if not words:
        return FormatError(code="thought_only", message=message)
    title = "End the thinking before the action" if decision else "End the thinking before the end"
    tag = re.match(r"<(\w+)>", reply.text[start:].lstrip())
    closing = after.replace("think", tag.group(1)) if tag else after
    repair = Repair("unclosed_think", title, "", closing, Span(place, place))
    return FormatError(code="thought_only", message=message, answer=words, repairs=(repair,))
