"""Output of `prompt-studio run`: text for a user, or events as JSON."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from studio.application.run.words import rate_of
from studio.cli.terminal import printable, tell
from studio.core.agent.values import events
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import Action, FormatError
from studio.core.models.connections import is_local
from studio.core.runs.codec import encode_event
from studio.core.text.amounts import counted, duration, money
from studio.core.text.values import Json
from studio.core.wire.reply import RefusedOption, Reply, ReplyDelta, ReplyNotice


def event_printer(*, as_json: bool, times: bool) -> Callable[[events.Event], None]:
    """Return a function that prints events.

    Args:
        as_json: print each event completely as a line of JSON; otherwise as text for a user.
        times: with `as_json`, include the times and the id of the run.
    """
    if not as_json:
        return _print_step

    def print_line(event: events.Event) -> None:
        data: Any = encode_event(event)
        if not times:
            data = _without_clock(data)
        print(json_line(data), flush=True)

    return print_line


def _without_clock(data: dict[str, Any]) -> dict[str, Any]:
    """Return an event without the values that differ in each run: times and run id."""
    kept = {key: value for key, value in data.items() if key not in _CLOCK}
    for part in ("setup", "outcome"):
        if isinstance(kept.get(part), dict):
            kept[part] = {key: value for key, value in kept[part].items() if key not in _CLOCK}
    return kept


_CLOCK = frozenset(("at", "seconds", "first_seconds", "duration", "recorded_seconds", "run"))


def json_line(value: Json) -> str:
    """Format a value as one line of JSON; use ASCII if it contains a lone surrogate."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or not _SURROGATE.search(text) else json.dumps(value)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _print_step(event: events.Event) -> None:
    """Print an event for a user."""
    if isinstance(event, events.ModelFailed):
        if event.retry_in is not None:  # the last failure is printed as the end of the run
            tell(f"prompt-studio: {event.message}")
        return
    for line in _lines(event):
        print(printable(line))


def _lines(event: events.Event) -> list[str]:
    """Return the lines of an event, including reasons why a call or a reply was rejected."""
    match event:
        case events.ReplyRead(reading=reading):
            lines = [f"Thought: {reading.thought}"] if reading.thought else []
            if isinstance(reading, Action):
                lines += [f"Action: {call.tool} {call.text}".rstrip() for call in reading.calls]
            elif isinstance(reading, FormatError):
                lines.append(f"Error: {reading.message}")
            # What was dropped from the reply: a second action, an answer beside an action, …
            return lines + [f"({warning.message})" for warning in reading.warnings]
        case events.CallsChecked(checks=checks):
            return [f"Error: {problem}" for check in checks for problem in check.problems]
        case events.ToolEnded(outcome=outcome):
            return [f"Observation: {outcome.text}"]
        case events.ObservationEdited(text=text):
            return [f"Observation (edited): {text}"]
        case events.ModelChosen(model=model, over=over):
            return [f"Model: {model.name}, not {over.name}"]
        case events.CallDecided(decision="answer", text=text):
            return [f"Observation (given): {text}"]
        case events.CallDecided(decision="reject" | "skip" as decision, text=text):
            done = "Refused" if decision == "reject" else "Skipped"
            return [f"{done}: {text}" if text else done]
        case _:
            return []


class LiveAnswer:
    """Prints the text of a native reply to a terminal as it arrives."""

    def __init__(self) -> None:
        self.shown = ""
        """Printed part of the current or last reply."""

    def show(self, delta: ReplyDelta, reply: Reply) -> None:
        """Print the next piece; notices of the connection go to standard error."""
        print_notice(delta, reply)
        if reply.text.startswith(self.shown) and len(reply.text) > len(self.shown):
            print(printable(reply.text[len(self.shown) :]), end="", flush=True)
            self.shown = reply.text

    def follow(self, event: events.Event) -> None:
        """End the line if the reply was not the answer: tool calls or a retry follow."""
        is_over = isinstance(event, events.ModelFailed) or (
            isinstance(event, events.ReplyRead) and isinstance(event.reading, Action | FormatError)
        )
        if is_over and self.shown:
            print(flush=True)
            self.shown = ""


def print_notice(delta: ReplyDelta, _reply: Reply) -> None:
    """Print notices of the model's connection to standard error."""
    if isinstance(delta, ReplyNotice):
        tell(f"({delta.text})")
    elif isinstance(delta, RefusedOption):
        tell(f"prompt-studio: {delta.sentence}")


def print_end(state: RunState, *, as_json: bool, shown: str = "") -> None:
    """Print how the run ended.

    Args:
        state: the run at its end.
        as_json: print one line of JSON.
        shown: text of the last reply that is already on the terminal.
    """
    failed = state.error if state.status != "done" else None
    error = failed.message if failed is not None else ""
    if as_json:
        result = {"t": "Result", "status": state.status, "answer": state.answer, "error": error}
        print(json_line(result))
    elif state.answer is not None and state.status in ("done", "incomplete"):
        is_shown = bool(shown) and shown.strip() == state.answer.strip()
        print("" if is_shown else printable(state.answer))
        if not state.answer.strip() and failed is None:
            tell("prompt-studio: the answer is empty.")
    used, price = state.usage, state.setup.price
    if used.total_tokens:
        words = f"{counted(used.input_tokens, 'token')} in, {used.output_tokens:,} out"
        if used.cached_tokens:
            words += f", {used.cached_tokens:,} from the cache"
        unpriced = "free" if is_local(state.setup.server) else "cost unknown"
        cost = money(used.cost) or (unpriced if price else "")
        source = f" ({price})" if price and used.cost is not None else ""
        text = "; ".join(filter(None, (words, cost + source, _pace(state))))
        tell(f"({text})")
    made = Counter(name for step in steps_of(state) for name in step.repairs)
    if made:
        names = ", ".join(f"{name} ({count})" for name, count in made.items())
        tell(f"prompt-studio: repaired in the replies: {names}")
    if failed is not None:
        tell(f"prompt-studio: {error} {failed.hint}".rstrip())


def _pace(state: RunState) -> str:
    """Return the speed of the last reply; empty if it was not measured."""
    step = state.step
    rate = rate_of(step)
    if step.first_seconds is None or not rate:
        return ""
    return f"first word after {duration(step.first_seconds)}, {rate}"
