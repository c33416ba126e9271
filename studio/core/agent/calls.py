"""Checking the calls of a step before any of them runs."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from studio.core.agent.breakpoints import environment_of
from studio.core.agent.events import CallCheck
from studio.core.agent.expressions import ExpressionError, parse_expression
from studio.core.agent.options import RunOptions
from studio.core.agent.state import RunState
from studio.core.agent.steps import call_key
from studio.core.agent.toolbox import RunToolbox


def check_calls(
    state: RunState,
    toolbox: RunToolbox,
    options: RunOptions,
    ran: AbstractSet[tuple[str, str]],
) -> tuple[CallCheck, ...]:
    """What is wrong with each call, and which need the person's word."""
    return tuple(
        _check(state, index, toolbox, options, ran) for index in range(len(state.step.calls))
    )


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
    problems = toolbox.check(call.tool, call.arguments)
    if problems:
        return CallCheck(problems, "schema")
    # A tool that changes something is never run again unasked (LOOPS.md, "Fork choices").
    again = spec.has_effects and call_key(call) in ran
    needs = options.approve != "always" and (toolbox.needs_approval(call.tool) or spec.dynamic)
    return CallCheck(needs_approval=needs or again, bound=tuple(spec.bindings))


def _denied(state: RunState, index: int, options: RunOptions) -> str | None:
    """The reason of the first guard that forbids the call; a guard that is broken forbids."""
    call = state.step.calls[index]
    environment = environment_of(state) | {"tool": call.tool, "args": call.arguments}
    for guard in options.guards:
        if guard.on != "call":
            continue
        try:
            if parse_expression(guard.forbid).holds(environment):
                return guard.reason
        except ExpressionError as error:
            return f"the rule {guard.forbid!r} cannot be read: {error}"
    return None
