"""A reply that never ends its thinking: what stands in it is no answer until somebody says so."""

from __future__ import annotations

import re

from studio.core.agent.protocols.thinking import TextWithoutReasoning
from studio.core.agent.values.reading import FormatError, Repair
from studio.core.text.span import Span
from studio.core.wire.reply import Reply

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
