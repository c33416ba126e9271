"""The answer of a run: the questions and answers before it, and a long one in parts.

A window shows a long answer part by part, without standing still.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from studio.application.run.cards.timeline import answer_of
from studio.core.agent.loop.composing import leaves_words
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step

_MOST_STEPS = 500
"""A run with more steps is not a conversation with a user; looking for one would read all of it."""

_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~])")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One question and its answer."""

    question: str
    """What the user asked."""

    answer: str = ""
    """What the model answered; empty while it has not."""


def turns_of(state: RunState) -> tuple[ChatTurn, ...]:
    """All turns, the last one with the answer of now; one for a run that was never gone on with."""
    question = state.setup.question
    made: list[ChatTurn] = []
    if len(state.steps) <= _MOST_STEPS:
        steps: Sequence[Step] = (*state.steps, state.step)
        for step, after in pairwise(steps):
            is_answered = answer_of(step) is not None and after.number > step.number
            if is_answered and not leaves_words(state.setup, step.reading):
                made.append(ChatTurn(question, _answered(step)))
                question = _asked(after)
    return (*made, ChatTurn(question, state.answer or ""))


def _answered(step: Step) -> str:
    texts = [message.text for message in step.appended if message.role == "assistant"]
    if texts:
        return texts[-1]
    return answer_of(step) or ""


def _asked(step: Step) -> str:
    asked = [message.text for message in step.messages if message.role == "user"]
    return asked[-1] if asked else ""


def thread_markdown(state: RunState) -> str:
    """The turns before the last answer, and its question, as Markdown; empty without any."""
    turns = turns_of(state)
    if len(turns) < 2:
        return ""
    parts: list[str] = []
    for turn in turns[:-1]:
        parts += [_quoted(turn.question), turn.answer or "*(empty)*", "---"]
    return "\n\n".join([*parts, _quoted(turns[-1].question)]) + "\n\n"


def _quoted(text: str) -> str:
    """The user's words as a quotation; they are text and no Markdown."""
    lines = text.strip().splitlines() or ["…"]
    words = [_MARKS.sub(lambda found: "\\" + found[0], line.strip()) for line in lines]
    return "\n".join(f"> **{line}**" if line else ">" for line in words)


PART_CHARACTERS = 1_500
"""About how long a part is, a screenful; Qt takes some five milliseconds to make its paragraphs."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class _Fence:
    """A fence of code that is open."""

    opening: str
    """Its first line."""

    mark: str
    """The backticks or tildes that close it."""


def markdown_parts(text: str, most: int = PART_CHARACTERS) -> Iterator[str]:
    """Cut Markdown where a paragraph ends, outside of fenced code.

    What grows to twice that length without such a place is cut all the same: fenced code between
    two lines, with a fence of its own in each part; a paragraph at a line or a space.

    Args:
        text: Markdown.
        most: length from which on a part ends at the next good place, characters.
    """
    part: list[str] = []
    length = 0
    fence: _Fence | None = None
    for line in text.splitlines(keepends=True):
        for piece in _pieces(line, 2 * most):
            part.append(piece)
            length += len(piece)
            fence = _fence_after(piece, fence)
            if length >= most and fence is None and not piece.strip():
                yield "".join(part)
                part, length = [], 0
            elif length >= 2 * most:
                yield "".join(part) + (f"\n{fence.mark}\n" if fence is not None else "")
                part, length = ([fence.opening] if fence is not None else []), 0
    if part:
        yield "".join(part)


def _fence_after(line: str, fence: _Fence | None) -> _Fence | None:
    """The fence that is open behind a line."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if fence is None:
        return _Fence(line, match[1])
    closes = match[1].startswith(fence.mark) and not line[match.end() :].strip()
    return None if closes else fence


def _pieces(line: str, most: int) -> Iterator[str]:
    """A line, cut at spaces where it is very long."""
    while len(line) > most:
        space = _SPACE.search(line, most)
        at = space.end() if space is not None and space.end() < 2 * most else most
        yield line[:at]
        line = line[at:]
    yield line
