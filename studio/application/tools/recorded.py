"""Results of a tool in earlier runs, for the mock "recorded answers"."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from studio.core.agent.values.state import PersistentList, RunState
from studio.core.agent.values.step import Step
from studio.core.prompty.document import ToolSpec
from studio.core.runs.codec import JournalError
from studio.core.runs.opened import StoredSteps
from studio.core.runs.store import RunFilter, RunStore
from studio.core.tools.registry import RecordedAnswer

_RUNS_READ = 40
"""Runs that are looked at, the newest."""

_RUNS_FOUND = 12
"""Runs that are offered."""


@dataclass(frozen=True, slots=True)
class ToolRecording:
    """The answers that one tool gave in one run."""

    run: str
    """The run's id."""

    started: float
    """When it began, in seconds since the epoch."""

    question: str
    """Question of the run."""

    answers: tuple[RecordedAnswer, ...]
    """In the order they were given."""


def find_recordings(
    history: Path, tool: ToolSpec, prompt: Path | None
) -> tuple[ToolRecording, ...]:
    """Find the newest runs in which a tool really answered, those of the prompt first.

    Args:
        history: the file of runs.
        tool: the tool.
        prompt: the prompt file that the tool belongs to now.
    """
    if not history.exists():
        return ()
    found: list[ToolRecording] = []
    with closing(RunStore(history)) as store:
        called = store.runs(RunFilter(), lambda line: line.calls_tool > 0)
        lines = sorted(called, key=lambda line: line.path != str(prompt))
        for line in lines[:_RUNS_READ]:
            try:
                answers = _answers(store.open(line.id).state, tool)
            except (JournalError, ValueError):
                continue
            if answers:
                found.append(ToolRecording(line.id, line.started, line.question, answers))
            if len(found) == _RUNS_FOUND:
                break
    return tuple(found)


def _answers(state: RunState | None, wanted: ToolSpec) -> tuple[RecordedAnswer, ...]:
    names = [each.name for each in state.setup.tools if _is_same(each, wanted)] if state else []
    if state is None or not names:
        return ()
    [tool, *_] = names
    current = () if state.step in state.steps[-1:] else (state.step,)
    return tuple(
        RecordedAnswer(call.arguments, call.observation, call.is_error)
        for step in (*_steps_with(state.steps, tool), *current)
        for call in step.calls
        if call.tool == tool
        and call.arguments is not None
        and call.observation is not None
        and call.status in ("done", "answered")
    )


def _is_same(past: ToolSpec, tool: ToolSpec) -> bool:
    """Return whether a run's tool is this one; older runs kept the tool's and source's names."""
    if past.id.name:
        return past.id == tool.id
    return past.name in (tool.name, tool.id.name) and past.source == tool.source


def _steps_with(steps: PersistentList[Step], tool: str) -> Iterator[Step]:
    """Yield the steps that called a tool; of a long run only these are read."""
    root, kept = steps.root, steps.rooted
    for index in range(len(steps)):
        is_kept = isinstance(root, StoredSteps) and index < kept
        seen = (
            root.step_summary(index) if isinstance(root, StoredSteps) and is_kept else steps[index]
        )
        if any(call.tool == tool for call in seen.calls):
            yield steps[index]
