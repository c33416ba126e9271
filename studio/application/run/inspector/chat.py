"""The questions and answers of a run so far, where it went on after its first answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from studio.application.run.cards.timeline import answer_of
from studio.core.agent.loop.composing import leaves_words
from studio.core.agent.values.state import RunState, Step

_MOST_STEPS = 500
"""A run with more steps is no conversation with a user; looking for one would read all of it."""

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
    said = [message.text for message in step.appended if message.role == "assistant"]
    if said:
        return said[-1]
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
