"""One line of the history: what a run was, kept beside its events for the list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from studio.core.agent.loop.steps import status_after
from studio.core.agent.values.events import (
    AnswerChecked,
    Event,
    Failed,
    ModelCalled,
    ModelReplied,
    ReplyRead,
    Started,
    Stopped,
    ToolCalled,
)
from studio.core.agent.values.reading import Final, Refused
from studio.core.agent.values.state import PauseReason, Status
from studio.core.agent.values.user_events import (
    AnswerEdited,
    AnswerReturned,
    Forked,
    ModelChosen,
    TreatedAsFinal,
)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run of the history."""

    id: str
    """The run's id."""

    started: float = 0.0
    """When it began, in seconds since 1970 UTC."""

    updated: float = 0.0
    """When its last event was written."""

    prompt: str = ""
    """The prompt's name."""

    path: str = ""
    """The prompt file."""

    protocol: str = "native"
    """The protocol."""

    model: str = ""
    """The model's name for people."""

    question: str = ""
    """What was asked."""

    status: Status = "running"
    """How it stands or ended."""

    calls_model: int = 0
    """Model calls, over all branches."""

    calls_tool: int = 0
    """Tool calls, over all branches."""

    tokens: int = 0
    """Tokens of all model calls that were really made."""

    cost: float | None = None
    """US dollars, where known."""

    answer: str = ""
    """The answer, its beginning."""

    events: int = 0
    """Length of the journal."""

    branches: int = 0
    """How often it was forked."""

    tags: tuple[str, ...] = ()
    """The user's tags."""

    note: str = ""
    """The user's note."""

    pinned: bool = False
    """Whether it is kept from being tidied away."""

    waits: PauseReason | Literal[""] = ""
    """Why a run that is under way stands still and waits for the user; empty where it goes on."""


_LONGEST_SUMMARY = 300


def summarize(before: RunSummary, event: Event) -> RunSummary:  # noqa: C901, PLR0912 - arms
    """The line after one more event; an event that changes nothing of it gives only its time."""
    line = replace(before, updated=event.at, events=event.seq)
    match event:
        case Started(setup=setup):
            return replace(
                line,
                started=event.at,
                prompt=setup.prompt,
                path=setup.path,
                model=setup.model,
                protocol=setup.protocol,
                question=setup.question[:_LONGEST_SUMMARY],
            )
        case ModelChosen(model=model) if model.name not in line.model.split(", "):
            return replace(line, model=f"{line.model}, {model.name}")
        case ModelCalled():
            return replace(line, calls_model=line.calls_model + 1)
        case ToolCalled():
            return replace(line, calls_tool=line.calls_tool + 1)
        case ModelReplied(reply=reply, origin="live") if reply.usage is not None:
            cost = line.cost
            if reply.usage.cost is not None:
                cost = (cost or 0.0) + reply.usage.cost
            return replace(line, tokens=line.tokens + reply.usage.total_tokens, cost=cost)
        case ReplyRead(reading=Final(answer=answer)):
            return replace(line, answer=answer[:_LONGEST_SUMMARY])
        case ReplyRead(reading=Refused(text=text)):
            return replace(line, status="refused", answer=text[:_LONGEST_SUMMARY])
        case AnswerEdited(text=text) | TreatedAsFinal(text=text):
            return replace(line, answer=text[:_LONGEST_SUMMARY])
        case AnswerChecked(problems=problems, accepted=accepted) if accepted or not problems:
            return replace(line, status="done")
        case Failed(error=error):
            return replace(line, status=status_after(error))
        case Stopped(interrupted=interrupted):
            return replace(line, status="interrupted" if interrupted else "stopped")
        case Forked():
            return replace(line, status="running", branches=line.branches + 1)
        case AnswerReturned():
            return replace(line, status="running")
        case _:
            return line
