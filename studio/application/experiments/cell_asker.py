"""Who asks the cells of an experiment, and what comes of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from studio.application.experiments.limited_model import STALE_CELL
from studio.application.experiments.turns import LeasedCell, Turns
from studio.core.agent.values.state import RunState
from studio.core.experiments.assertions.result import CellAnswer, MadeCall
from studio.core.experiments.identity import SentCell
from studio.core.experiments.limiter import ConnectionLimiter
from studio.core.experiments.values import ExperimentRow


@dataclass(frozen=True)
class AskedCell:
    """What came of asking."""

    answer: CellAnswer | None
    """The answer; None where there is none."""

    error: str
    """Why there is none, one sentence."""

    journal: bytes
    """The run, as lines of JSON."""

    refused: int = 0
    """Tool calls that were refused, because nobody allowed them."""

    is_stale: bool = False
    """Whether the server refused an option that the cell's identity counts on."""


class CellAsker(Protocol):
    """Who asks the cells of an experiment: this process, or workers."""

    @property
    def room(self) -> int:
        """How many cells are worth having under way."""
        ...

    @property
    def price_share(self) -> float:
        """What a request costs, of what it costs by itself."""
        ...

    @property
    def turns(self) -> Turns:
        """Decides when judges ask."""
        ...

    def limiter(self, connection: str, *, is_local: bool = False) -> ConnectionLimiter:
        """The room for embeddings at a connection."""
        ...

    async def open(self) -> None:
        """Open what says what would be sent."""
        ...

    async def start(self, result: int) -> None:
        """Get ready to ask the cells of a result."""
        ...

    async def sent(self, at: int, row: ExperimentRow) -> SentCell | str:
        """What a cell would send first; a text says why it cannot be rendered."""
        ...

    def begin_cell(self) -> None:
        """A cell begins; called for each before any of those that begin with it is asked."""
        ...

    def end_cell(self) -> None:
        """A cell is over: marked and kept, or given up."""
        ...

    async def ask(self, cell: LeasedCell, row: ExperimentRow) -> AskedCell:
        """Run a cell to its end."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


def asked_cell(state: RunState, journal: bytes, waited: float, *, is_timed: bool) -> AskedCell:
    """The end of a run as a cell: an answer, or why there is none.

    Args:
        state: of the run.
        journal: the run, as lines of JSON.
        waited: seconds that were no latency.
        is_timed: whether its time says something.
    """
    steps = [*state.steps, *([] if state.step in state.steps[-1:] else [state.step])]
    steps = [each for each in steps if each.number]
    refused = sum(call.status == "rejected" for step in steps for call in step.calls)
    if state.status in ("failed", "stopped", "interrupted"):
        error = state.error
        words = error.message if error is not None else f"The run ended as {state.status}."
        is_stale = error is not None and error.code == STALE_CELL
        return AskedCell(None, words, journal, refused, is_stale)
    last = steps[-1].reply if steps else None
    calls = tuple(
        MadeCall(
            call.tool,
            dict(call.arguments or {}),
            is_error=call.is_error,
            is_valid=not call.problems,
        )
        for step in steps
        for call in step.calls
    )
    errors = sum(call.is_error for call in calls) + sum(bool(each.observation) for each in steps)
    usage = state.usage
    text = state.answer if state.answer is not None else (last.text if last is not None else "")
    answer = CellAnswer(
        text or (last.refusal if last is not None else ""),
        latency_ms=max(0.0, state.seconds - waited) * 1000,
        cost=usage.cost,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        steps=len(steps),
        calls=calls,
        finish_reason=(last.finish_reason or "") if last is not None else "",
        is_refusal=state.status == "refused" or bool(last is not None and last.refusal),
        errors=errors,
        left_out=tuple(
            dict.fromkeys(
                option.name for step in steps if step.reply for option in step.reply.left_out
            )
        ),
        is_timed=is_timed,
    )
    return AskedCell(answer, "", journal, refused)
