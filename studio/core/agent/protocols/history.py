"""The steps so far, as templates and scratchpads show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.reading import Action, FormatError
from studio.core.agent.values.state import RunState, Step
from studio.core.prompty.messages import Message, TextPart
from studio.core.text.values import Json


def history_rows(steps: Sequence[Step]) -> list[Json]:
    """One row `thought`, `action`, `arguments`, `observation` per call (published ReAct prompt)."""
    rows: list[Json] = []
    for step in steps:
        thought = step.reading.thought if step.reading is not None else ""
        for call in step.calls:
            rows.append({
                "thought": thought,
                "action": call.tool,
                "arguments": call.arguments or {},
                "observation": call.observation or "",
                "is_error": call.is_error,
            })  # fmt: skip
            thought = ""
    return rows


def react_scratchpad(steps: Sequence[Step]) -> str:
    """The steps as ReAct text, ending where the next thought begins."""
    lines: list[str] = []
    for step in steps:
        if isinstance(step.reading, Action):
            if step.reading.thought:
                lines.append(f"Thought: {step.reading.thought}")
            for call in step.calls:
                lines.append(f"Action: {call.tool}")
                lines.append(f"Args: {json_text(call.arguments or {})}")
                lines.append(f"Observation: {call.observation or ''}")
        elif isinstance(step.reading, FormatError):
            lines += (step.reading.kept, step.observation)
    return "\n".join(lines)


def json_scratchpad(steps: Sequence[Step]) -> str:
    """The steps as fenced JSON actions, each with its output (published JSON-action prompt)."""
    blocks: list[str] = []
    for step in steps:
        if isinstance(step.reading, Action):
            for call in step.calls:
                arguments: Json = call.arguments or None
                done: Json = {"action": call.tool, "action_input": arguments}
                blocks += (_fenced(done), _fenced({"action_output": call.observation or ""}))
        elif isinstance(step.reading, FormatError):
            blocks += (step.reading.kept, _fenced({"action_output": step.observation}))
    return "\n\n".join(blocks)


def _fenced(value: Json) -> str:
    return f"```json\n{json_text(value)}\n```"


def chat_lines(state: RunState) -> str:
    """The conversation with the person as lines `- Human: …` and `- AI: …`."""
    lines = [f"- Human: {state.setup.question}"] if state.setup.question else []
    for message in state.injected:
        lines.append(f"- {'AI' if message.role == 'assistant' else 'Human'}: {message.text}")
    return "\n".join(lines)


def bad_exchanges(steps: Sequence[Step], most: int) -> Iterator[Message]:
    """The unreadable replies since the last good step, each with what was said to it.

    Args:
        steps: the steps that are done.
        most: how many there may be (`RunState.format_errors`); no step before them is looked at.
    """
    last = len(steps)
    first = max(0, last - most)
    while last > first and isinstance(steps[last - 1].reading, FormatError):
        last -= 1
    for step in steps[last:]:
        if step.reading is not None and step.reading.kept:
            yield Message("assistant", (TextPart(step.reading.kept),))
        yield Message("user", (TextPart(step.observation),))
