"""What `prompt-studio run` writes of a run that goes by: words for a person, or events as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from studio.core.agent.events import Event, ModelFailed, ReplyRead, ToolEnded
from studio.core.agent.reading import Action
from studio.core.agent.state import RunState
from studio.core.runs.codec import encode_event
from studio.core.wire.reply import Notice, Reply, ReplyDelta


def event_printer(*, as_json: bool, times: bool) -> Callable[[Event], None]:
    """What writes each fact.

    Args:
        as_json: one event a line, complete; else what a person wants to see.
        times: with `as_json`, also the times and the run's id.
    """
    if not as_json:
        return _print_step

    def print_line(event: Event) -> None:
        data: Any = encode_event(event)
        if not times:
            data = _without_clock(data)
        print(json.dumps(data, ensure_ascii=False), flush=True)

    return print_line


def _without_clock(data: dict[str, Any]) -> dict[str, Any]:
    """An event without what differs from run to run by the clock (and the run's id) alone."""
    kept = {key: value for key, value in data.items() if key not in ("at", "seconds")}
    for part, clock in (("setup", "run"), ("outcome", "duration")):
        if isinstance(kept.get(part), dict):
            kept[part] = {key: value for key, value in kept[part].items() if key != clock}
    return kept


def _print_step(event: Event) -> None:
    """What a person wants to see of a run that goes by."""
    if isinstance(event, ReplyRead):
        if event.reading.thought:
            print(f"Thought: {event.reading.thought}")
        if isinstance(event.reading, Action):
            for call in event.reading.calls:
                print(f"Action: {call.tool} {call.text}")
    elif isinstance(event, ToolEnded):
        print(f"Observation: {event.outcome.text}")
    elif isinstance(event, ModelFailed):
        print(f"prompt-studio: {event.message} {event.hint}".rstrip(), file=sys.stderr)


def print_notice(delta: ReplyDelta, _reply: Reply) -> None:
    """Say on standard error what the model's connection has to say."""
    if isinstance(delta, Notice):
        print(f"({delta.text})", file=sys.stderr)


def print_end(state: RunState, *, as_json: bool) -> None:
    """Write how the run ended."""
    done = state.status == "done"
    error = state.error.message if state.error is not None and not done else ""
    if as_json:
        result = {"t": "Result", "status": state.status, "answer": state.answer, "error": error}
        print(json.dumps(result, ensure_ascii=False))
    elif done:
        print(state.answer or "")
    if error:
        print(f"prompt-studio: {error}", file=sys.stderr)
