"""Named calls of tools, to repeat, test and mock them, and results in earlier runs.

They are stored in a file beside the prompt, one per line, as `prompt-studio tools record` writes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from studio.application.words import tr
from studio.core.agent.values.state import PersistentList, RunState
from studio.core.agent.values.step import Step
from studio.core.experiments.datasets import DatasetError, read_dataset
from studio.core.experiments.values import DatasetReference, ExperimentCase
from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.runs.codec import JournalError
from studio.core.runs.opened import StoredSteps
from studio.core.runs.store import RunFilter, RunStore
from studio.core.text.amounts import shortened
from studio.core.text.diff import ABSENT, json_difference
from studio.core.text.files import read_bounded, write_atomically
from studio.core.text.naming import unique_names
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, parse_json, reason_of
from studio.core.tools.registry import RecordedAnswer, ToolRegistry
from studio.core.tools.source import ToolOutcome

CALLS_SUFFIX = ".calls.jsonl"

Comparison: TypeAlias = Literal["answer", "shape", "status"]
"""Part of a new answer that must be equal: all of it; the names and types of its values, if it is
JSON; or only the outcome of the call.
"""

_OWN_KEYS = ("name", "tool", "source", "arguments", "status", "text", "compare")
_LONGEST_SHOWN = 60


class SavedCallsError(Exception):
    """Raised when a file of calls cannot be used; the message names the line and the remedy."""


@dataclass(frozen=True, slots=True)
class SavedCall:
    """A call with its expected answer."""

    name: str
    """The user's name for it, unique in the file."""

    tool: ToolId
    """The tool; without a source, any tool of that name, as older studios stored it."""

    arguments: JsonObject
    """Its arguments."""

    status: str = "ok"
    """Outcome (`ToolOutcome.status`)."""

    text: str = ""
    """The expected answer."""

    compare: Comparison = "answer"
    """Part of a new answer that must be equal."""

    more: JsonObject = field(default_factory=dict)
    """Other keys of its line, stored unchanged."""


def calls_file(document: Path) -> Path:
    """Return the file with the calls of a prompt, or of a Python file of tools."""
    return document.with_name(document.stem + CALLS_SUFFIX)


def read_calls(path: Path) -> tuple[SavedCall, ...]:
    """Read the calls of a file; none if there is no such file.

    Raises:
        SavedCallsError: it cannot be read, or a line of it is no call.
    """
    try:
        text = read_bounded(path).decode("utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise SavedCallsError(f"{path.name} cannot be read: {reason_of(error)}") from None
    return calls_of_text(text, path.name, path.parent)


def calls_of_text(text: str, name: str, folder: Path) -> tuple[SavedCall, ...]:
    """Return the calls of a file's text.

    Args:
        text: the text.
        name: the file's name, for the error.
        folder: the file's folder, to which the paths of its tools are relative.

    Raises:
        SavedCallsError: a line of it is no call.
    """
    return with_own_names(
        _read_line(line, f"{name}, line {number}", folder)
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    )


def write_calls(path: Path, calls: Iterable[SavedCall]) -> None:
    """Write a new file of calls.

    Raises:
        SavedCallsError: it cannot be written; the old file is unchanged.
    """
    lines = (call_line(call, path.parent) for call in calls)
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    try:
        write_atomically(path, text)
    except (OSError, UnicodeEncodeError) as error:
        raise SavedCallsError(f"{path.name} cannot be written: {reason_of(error)}") from None


CallChange: TypeAlias = tuple[SavedCall | None, SavedCall | None]
"""A call as it was read (None: a new one), and as it is to be written (None: removed)."""


@dataclass(frozen=True, slots=True)
class CallsWritten:
    """A file of calls after a change."""

    calls: tuple[SavedCall, ...]
    """All calls in the file now."""

    met: tuple[str, ...] = ()
    """Names of calls that another program has changed meanwhile: its version is kept, and a change
    of such a call is added to the file as another call.
    """


def change_calls(path: Path, changes: Iterable[CallChange]) -> CallsWritten:
    """Change calls of a file; edits made by others since it was read are kept.

    Raises:
        SavedCallsError: it cannot be read or written; the old file is unchanged.
    """
    held = [*read_calls(path)]
    met: list[str] = []
    for before, after in changes:
        place = len(held)
        if before in held:
            place = held.index(before)
            del held[place]
        elif before is not None and before.name in {call.name for call in held}:
            met.append(before.name)
        if after is not None:
            held.insert(place, after)
    calls = with_own_names(held)
    write_calls(path, calls)
    return CallsWritten(calls, tuple(met))


def call_line(call: SavedCall, folder: Path) -> JsonDict:
    """Return the line of a call in a file of `folder`."""
    kind, _, place = call.tool.source.partition(":")
    if kind == "python" and Path(place).is_relative_to(folder):
        place = Path(place).relative_to(folder).as_posix()
    line: JsonDict = {
        "name": call.name,
        "tool": call.tool.name,
        "source": f"{kind}:{place}" if kind else "",
        "arguments": call.arguments,
        "status": call.status,
        "text": call.text,
        "compare": call.compare,
    }
    defaults = {"name": "", "source": "", "compare": "answer"}
    kept = {key: value for key, value in line.items() if defaults.get(key) != value}
    return {**kept, **call.more}


def with_own_names(calls: Iterable[SavedCall]) -> tuple[SavedCall, ...]:
    """Return the calls with a unique name for each."""
    calls = tuple(calls)
    names = unique_names(call.name.strip() or call.tool.name for call in calls)
    return tuple(
        call if name == call.name else replace(call, name=name)
        for call, name in zip(calls, names, strict=True)
    )


def saved(call: SavedCall, outcome: ToolOutcome) -> SavedCall:
    """Return a call with its current answer."""
    more = {key: value for key, value in call.more.items() if key not in ("value", "seconds")}
    return replace(call, status=outcome.status, text=outcome.whole or outcome.text, more=more)


def calls_of(
    calls: Iterable[SavedCall], registry: ToolRegistry, tool: ToolId
) -> tuple[SavedCall, ...]:
    """Return the saved calls of a tool; a name in several sources needs its source."""
    return tuple(call for call in calls if called_tool(call, registry) == tool)


def called_tool(call: SavedCall, registry: ToolRegistry) -> ToolId:
    """Return the registry's tool for a saved call; the saved one if there is none."""
    entry = registry.find(call.tool.name, call.tool.source)
    return entry.id if entry is not None else call.tool


def answers_of(calls: Iterable[SavedCall]) -> tuple[RecordedAnswer, ...]:
    """Return the answers for a mock: those of the tool's saved calls."""
    return tuple(RecordedAnswer(call.arguments, call.text, call.status != "ok") for call in calls)


def difference(call: SavedCall, outcome: ToolOutcome) -> str:
    """Describe the difference of a new answer in a sentence; empty if there is none."""
    if outcome.status != call.status:
        return tr("it ended as {now}, not as {before}").format(
            now=outcome.status, before=call.status
        )
    if call.compare == "status":
        return ""
    text = outcome.whole or outcome.text
    if text == call.text:
        return ""
    try:
        before, now = parse_json(call.text), parse_json(text)
    except ValueError:
        return "" if call.compare == "shape" else tr("the text has changed")
    found = json_difference(before, now, "$", by_shape=call.compare == "shape")
    if found is None:
        return ""
    if found.new is ABSENT:
        return tr("{place} was removed").format(place=found.path)
    if found.old is ABSENT:
        return tr("{place} is new").format(place=found.path)
    return tr("{place} is {now}, not {before}").format(
        place=found.path, now=_shown(found.new), before=_shown(found.old)
    )


def _shown(value: object) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), _LONGEST_SHOWN)


def _read_line(line: str, where: str, folder: Path) -> SavedCall:
    try:
        whole = parse_json(line)
    except ValueError as error:
        raise SavedCallsError(f"{where}: it is not JSON: {reason_of(error)}") from None
    if not isinstance(whole, Mapping):
        raise SavedCallsError(f"{where}: a call is an object")
    tool, arguments = whole.get("tool"), whole.get("arguments", {})
    if not isinstance(tool, str) or not tool:
        raise SavedCallsError(f"{where}: 'tool' is missing")
    if not isinstance(arguments, Mapping):
        raise SavedCallsError(f"{where}: 'arguments' is not an object")
    compare = next((each for each in get_args(Comparison) if each == whole.get("compare")), None)
    if compare is None and "compare" in whole:
        raise SavedCallsError(f"{where}: 'compare' is one of {', '.join(get_args(Comparison))}")
    text = whole.get("text", "")
    kind, _, place = str(whole.get("source") or "").partition(":")
    source = f"python:{folder / place}" if kind == "python" else f"{kind}:{place}" if kind else ""
    return SavedCall(
        str(whole.get("name") or ""),
        ToolId(source, tool),
        arguments,
        str(whole.get("status") or "ok"),
        text if isinstance(text, str) else json.dumps(text, ensure_ascii=False),
        compare or "answer",
        {key: value for key, value in whole.items() if key not in _OWN_KEYS},
    )


# The rows of a file as calls of one tool: each column is the argument of the same name.


def calls_of_rows(path: Path, tool: ToolId, schema: JsonObject) -> tuple[SavedCall, ...]:
    """Return the calls that the rows of a CSV, JSONL, JSON or YAML file describe.

    Args:
        path: the file.
        tool: the tool.
        schema: schema of its arguments; text of a CSV file is converted to the schema's types.

    Raises:
        SavedCallsError: the file cannot be read, or no column of it is an argument.
    """
    try:
        cases = read_dataset(DatasetReference(path.name), path).cases
    except DatasetError as error:
        raise SavedCallsError(str(error)) from None
    properties = object_of(schema.get("properties"))
    calls = tuple(
        SavedCall(case.id or f"{path.stem} {number}", tool, _arguments(case, properties))
        for number, case in enumerate(cases, 1)
    )
    if not any(call.arguments for call in calls):
        names = ", ".join(properties) or "none"
        raise SavedCallsError(
            f"{path.name}: no column is an argument of {tool.name}; its arguments are {names}"
        )
    return calls


def _arguments(case: ExperimentCase, properties: JsonObject) -> JsonDict:
    """Return the cells of a row by column, including special columns of experiments."""
    own: JsonDict = {"id": case.id, "expected": case.expected, "tags": list(case.tags)}
    cells = {**{name: value for name, value in own.items() if value}, **case.variables}
    return {
        name: _typed(value, properties[name])
        for name, value in cells.items()
        if name in properties and value != ""
    }


def _typed(value: Json, schema: Json) -> Json:
    """Return a text's JSON value if the schema has another type than string."""
    if not isinstance(value, str) or not isinstance(schema, Mapping):
        return value
    kinds = schema.get("type")
    wanted = kinds if isinstance(kinds, list) else [kinds]
    if "string" in wanted or (wanted == [None] and "enum" in schema):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


_RUNS_READ = 40
"""Maximum runs that are searched, the newest first."""

_RUNS_FOUND = 12
"""Maximum runs that are offered."""


@dataclass(frozen=True, slots=True)
class ToolRecording:
    """The answers that one tool gave in one run."""

    run: str
    """The run's id."""

    started: float
    """Time when it began, in seconds since the epoch."""

    question: str
    """Question of the run."""

    answers: tuple[RecordedAnswer, ...]
    """The answers, in order."""


def find_recordings(
    history: Path, tool: ToolSpec, prompt: Path | None
) -> tuple[ToolRecording, ...]:
    """Find the newest runs in which a tool was really called, those of the prompt first.

    Args:
        history: the database of runs.
        tool: the tool.
        prompt: the prompt file that the tool belongs to now.
    """
    if not history.exists():
        return ()
    found: list[ToolRecording] = []
    with closing(RunStore(history)) as store:
        called = store.runs(RunFilter(), lambda line: line.calls_tool > 0)
        for line in sorted(called, key=lambda line: line.path != str(prompt))[:_RUNS_READ]:
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
    """Return whether a run's tool is this one; older runs stored the tool's and source's names."""
    if past.id.name:
        return past.id == tool.id
    return past.name in (tool.name, tool.id.name) and past.source == tool.source


def _steps_with(steps: PersistentList[Step], tool: str) -> Iterator[Step]:
    """Yield the steps that called a tool; in a long run only these are read."""
    root, kept = steps.root, steps.rooted
    for index in range(len(steps)):
        is_kept = isinstance(root, StoredSteps) and index < kept
        seen = (
            root.step_summary(index) if isinstance(root, StoredSteps) and is_kept else steps[index]
        )
        if any(call.tool == tool for call in seen.calls):
            yield steps[index]
