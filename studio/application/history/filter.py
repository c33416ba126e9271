"""The filter of the history: plain words, or an expression over what a run is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studio.core.prompty.templates.jinja.conditions import ConditionError, compile_condition
from studio.core.runs.summary import Fits, RunSummary
from studio.core.text.values import Json

NAMES = tuple(
    """
    prompt question answer model protocol status tokens cost seconds calls tools branches tags
    note pinned waits
""".split()
)
"""What an expression can see of a run."""

_SIGNS = ("<", ">", "==", "!=", " in ", " contains ", " startswith ", " matches ")


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """What was written into the filter."""

    words: str = ""
    """Words that all stand in a run; empty for an expression."""

    expression: str = ""
    """An expression over `NAMES`; empty for words."""

    problem: str = ""
    """Why the expression cannot be read; the list is then left as it is."""

    @classmethod
    def read(cls, text: str) -> HistoryFilter:
        """Tell words and expressions apart: an expression compares something."""
        if not any(sign in text for sign in _SIGNS):
            return cls(words=text)
        try:
            compile_condition(text, NAMES)
        except ConditionError as error:
            return cls(expression=text, problem=str(error))
        return cls(expression=text)


def holds_of(expression: str) -> Fits:
    """Whether an expression holds of a run; one that has no value for the run does not."""
    value = compile_condition(expression, NAMES)

    def holds(run: RunSummary) -> bool:
        try:
            return bool(value(_values(run)))
        except ConditionError:
            return False

    return holds


def _values(run: RunSummary) -> Mapping[str, Json]:
    return {
        "prompt": run.prompt,
        "question": run.question,
        "answer": run.answer,
        "model": run.model,
        "protocol": run.protocol,
        "status": run.status,
        "tokens": run.tokens,
        "cost": run.cost or 0.0,
        "seconds": max(0.0, run.updated - run.started),
        "calls": run.calls_model,
        "tools": run.calls_tool,
        "branches": run.branches,
        "tags": list(run.tags),
        "note": run.note,
        "pinned": run.pinned,
        "waits": run.waits,
    }
