"""Checking the calls of a step before any of them runs."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.toolbox import RunToolbox
from studio.core.agent.values.breakpoints import environment_of
from studio.core.agent.values.events import CallCheck, CallsChecked
from studio.core.agent.values.expressions import ExpressionError, parse_expression
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.text.values import Json


def check_calls(
    state: RunState,
    toolbox: RunToolbox,
    options: RunOptions,
    ran: AbstractSet[tuple[str, str]],
) -> CallsChecked:
    """What is wrong with each call, which need the user's word, and whether all may run at once.

    Where one of them waits for the user, none runs beside it: what the user sees of the first may
    change what is allowed of the next.
    """
    calls = state.step.calls
    checks = tuple(_check(state, index, toolbox, options, ran) for index in range(len(calls)))
    waits = any(
        check.needs_approval or (call.needs_approval and call.status != "asked")
        for call, check in zip(calls, checks, strict=True)
    )
    return CallsChecked(checks, at_once=not waits)


def _check(
    state: RunState,
    index: int,
    toolbox: RunToolbox,
    options: RunOptions,
    ran: AbstractSet[tuple[str, str]],
) -> CallCheck:
    call = state.step.calls[index]
    if call.status != "asked":
        return CallCheck()
    specs = {tool.name: tool for tool in toolbox.specs}
    spec = specs.get(call.tool)
    if spec is None:
        return CallCheck((f"There is no tool {call.tool!r}.",), "unknown_tool")
    if call.arguments is None:
        return CallCheck(call.problems or ("The arguments cannot be read.",), "format")
    denied = _denied(state, index, options)
    if denied is not None:
        return CallCheck((denied,), "guardrail")
    problems = toolbox.check(call.tool, call.arguments, state.released)
    if problems:
        return CallCheck(problems, "schema")
    # A tool that changes something is never run again unasked (docs/design/agent-loop.md).
    again = spec.has_effects and call_key(call) in ran
    needs = options.approve != "always" and (toolbox.needs_approval(call.tool) or spec.dynamic)
    return CallCheck(
        needs_approval=needs or again,
        why=toolbox.why_approval(call.tool) if needs else "",
        again=again,
        bound=tuple(spec.bindings),
    )


def _denied(state: RunState, index: int, options: RunOptions) -> str | None:
    """The reason of the first guard that forbids a call."""
    call = state.step.calls[index]
    return _forbidden("call", options, {"tool": call.tool, "args": call.arguments}, state)


def denied_request(state: RunState, options: RunOptions) -> str | None:
    """The reason of the first guard that forbids what is about to be sent."""
    if not any(guard.on == "request" for guard in options.guards):
        return None
    prompt = "\n".join(message.text for message in state.step.messages)
    return _forbidden("request", options, {"prompt": prompt}, state)


def denied_reply(state: RunState, options: RunOptions) -> str | None:
    """The reason of the first guard that forbids a reply."""
    return _forbidden("reply", options, {}, state)


def _forbidden(
    on: str, options: RunOptions, more: Mapping[str, Json], state: RunState
) -> str | None:
    """The reason of the first guard that holds; a guard that cannot be read forbids too."""
    guards = [guard for guard in options.guards if guard.on == on]
    if not guards:
        return None
    environment = {**environment_of(state), **more}
    for guard in guards:
        try:
            if parse_expression(guard.forbid).holds(environment):
                return guard.reason
        except ExpressionError as error:
            return f"the rule {guard.forbid!r} cannot be read: {error}"
    return None
