"""Export a run as a `.tracy` trace (Prompty 2 §3.6.1) for Prompty's VS Code extension.

Usage is summed over model calls only, so that wrappers do not count it again. Values under keys
that name a secret are masked, also inside JSON texts.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from studio.core.agent.loop.machine import fold
from studio.core.agent.loop.steps import messages_of
from studio.core.agent.values.events import Event
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import Step
from studio.core.masking.redact import redact
from studio.core.prompty.document import MediaPart, Message, ToolCallPart
from studio.core.text.values import Json, JsonDict, JsonObject
from studio.core.wire.reply import Reply, Usage


def trace(events: Sequence[Event], version: str) -> JsonDict:
    """Return the trace of a branch: `events` is `tree.branch_path` of its last event.

    Args:
        events: The branch, from `Started`.
        version: The studio's version.
    """
    state = fold(events)
    setup = state.setup
    frames = [_step_frame(state, step) for step in steps_of(state)]
    result: Json = {"status": state.status, "answer": state.answer}
    if state.error is not None and state.status != "done":
        result = {"status": state.status, "exception": state.error.message}
    root = _frame(
        setup.prompt or "run",
        "studio.run",
        (events[0].at, events[-1].at),
        {"inputs": setup.inputs, "protocol": setup.protocol, "model": setup.model},
        result,
        frames,
        _usage(state.usage),
    )
    return {"runtime": "python", "version": version, "trace": root}


def trace_name(prompt: str, at: float, run: str) -> str:
    """Return a unique file name with the time in UTC."""
    clean = re.sub(r"[^\w.-]+", "_", prompt).strip("._") or "run"
    when = datetime.fromtimestamp(at, UTC).strftime("%Y%m%d.%H%M%S")
    return f"{clean}.{when}.{run}.tracy"


def _step_frame(state: RunState, step: Step) -> JsonDict:
    frames: list[JsonDict] = []
    if step.model_span is not None:
        messages: Json = [chat_message(item) for item in messages_of(state, step.number)]
        reply = step.reply or step.partial
        frames.append(
            _frame(
                (step.model or state.setup.answered_by).name or "model",
                "studio.model",
                step.model_span,
                {"messages": messages},
                chat_reply(reply) if reply is not None else None,
                [],
                _usage(reply.usage) if reply is not None and reply.usage is not None else None,
                kind="LLM",
            )
        )
    for call in step.calls:
        if call.began:
            frames.append(
                _frame(
                    call.tool,
                    f"studio.tool.{call.tool}",
                    call.span,
                    dict(call.arguments or {}),
                    call.observation,
                    [],
                    None,
                    kind="tool",
                )
            )
    used = step.reply.usage if step.reply is not None else None
    result: JsonDict = {
        "warnings": [item.code for item in step.warnings],
        "marks": sorted(step.marks),
    }
    if step.touches:
        result["touches"] = [touch.line for touch in step.touches]
    return _frame(
        f"step {step.number}",
        "studio.step",
        _span(step),
        {"number": step.number},
        result,
        frames,
        _usage(used) if used is not None else None,
    )


def _span(step: Step) -> tuple[float, float]:
    """Return the start and end of a step's calls and the user's edits."""
    spans = [step.model_span or (0.0, 0.0), *(call.span for call in step.calls)]
    spans += [(touch.at, touch.at) for touch in step.touches]
    known = [span for span in spans if span[0]] or [(0.0, 0.0)]
    return min(began for began, _ in known), max(ended for _, ended in known)


def _frame(
    name: str,
    signature: str,
    when: tuple[float, float],
    inputs: JsonObject,
    result: Json,
    frames: Sequence[JsonDict],
    usage: JsonDict | None,
    *,
    kind: str = "",
) -> JsonDict:
    began, ended = when
    made: JsonDict = {
        "name": name,
        "__time": {
            "start": _iso(began),
            "end": _iso(ended),
            "duration": round((ended - began) * 1000),
        },
        "signature": signature,
        "inputs": redact(dict(inputs)),
        "result": redact(result),
    }
    if kind:
        made["type"] = kind
    if frames:
        made["__frames"] = list(frames)
    if usage:
        made["__usage"] = usage
    return made


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _usage(usage: Usage) -> JsonDict:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }


def chat_message(message: Message) -> JsonDict:
    """Return a message in chat completions' form; media only as their kind."""
    made: JsonDict = {"role": message.role, "content": message.text, **message.attributes}
    calls: list[Json] = [
        {
            "id": part.id,
            "type": "function",
            "function": {"name": part.name, "arguments": part.arguments},
        }
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    if calls:
        made["tool_calls"] = calls
    media: list[Json] = [part.kind for part in message.parts if isinstance(part, MediaPart)]
    if media:
        made["media"] = media
    return made


def chat_reply(reply: Reply) -> JsonDict:
    """Return a reply in chat completions' form."""
    made: JsonDict = {"content": reply.text, "finish_reason": reply.finish_reason}
    if reply.tool_calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in reply.tool_calls
        ]
    if reply.refusal:
        made["refusal"] = reply.refusal
    return made
