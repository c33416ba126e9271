"""One button of the action bar and all of them, as values; and those that several places offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from studio.application.run.edits.in_place import EditSpec, arguments_text
from studio.application.words import tr
from studio.core.agent.values.commands import Command, StepOn
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call
from studio.core.wire.reply import Reply


@dataclass(frozen=True, slots=True)
class Offer:
    """One button."""

    label: str
    """Label of the button; with an ellipsis if it opens an editor."""

    tip: str
    """One sentence on what it does."""

    commands: tuple[Command, ...] = ()
    """Commands that are sent at once, in order; with `ask`, after it is done."""

    edit: EditSpec | None = None
    """Editor that is opened before anything is sent."""

    key: str = ""
    """The key that takes it, as it is unless the user chose another."""

    is_primary: bool = False
    """Whether it is the one that goes on."""

    ask: Literal[
        "",
        "resume",
        "rerun",
        "replay",
        "values",
        "again",
        "rewrite",
        "connections",
        "model",
        "switch",
    ] = ""
    """Request to the window if it is no command of the run: continue a past run, run the prompt
    again with a run's results, replay the run, ask for the values of missing secrets, repeat the
    effect of this place (a request, a call) as a new branch, edit its messages as a new branch,
    open the connections, choose another model, or continue with the model that the prompt asks
    for now."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The action bar."""

    title: str = ""
    """Question to the user; empty hides the bar."""

    detail: str = ""
    """More on it: the hint of an error."""

    is_error: bool = False
    """Whether it is about a problem."""

    offers: tuple[Offer, ...] = ()
    """The buttons, the most likely first."""


def go_on(label: str, tip: str) -> Offer:
    """The button that goes on to the next stop."""
    return Offer(label, tip, (StepOn("over"),), is_primary=True)


def steer(hint: str) -> Offer:
    """A message of the user, for a request; `hint` says for which."""
    spec = EditSpec(
        "steer",
        tr("Put in a message"),
        hint=hint,
        apply=tr("Put in"),
    )
    return Offer(
        tr("Put in a message…"),
        tr("Steer the run with a message of yours."),
        edit=spec,
    )


def write_reply(state: RunState, label: str, title: str) -> Offer:
    """The reply, written by the user."""
    reply = state.step.reply or state.step.partial or Reply()
    spec = EditSpec(
        "reply",
        title,
        reply.text,
        hint=tr("It is read exactly as if the model had written it."),
        reply=reply,
    )
    return Offer(
        label,
        tr("Write the reply yourself; it is marked as edited."),
        edit=spec,
    )


def edit_call(state: RunState, call: Call) -> Offer:
    """Another tool or other arguments for a call."""
    names = tuple(spec.name for spec in state.setup.tools)
    tools = names if call.tool in names else (call.tool, *names)
    spec = EditSpec(
        "arguments",
        tr("Arguments of {tool}").format(tool=call.tool),
        arguments_text(call.arguments, call.text),
        hint=tr("The assistant's message is changed with them, so that call and result agree."),
        is_json=True,
        call=state.call or 0,
        tool=call.tool,
        tools=tools,
    )
    return Offer(
        tr("Edit arguments…"),
        tr("Change what the tool is called with."),
        edit=spec,
    )


def edit_answer(state: RunState) -> Offer:
    """The answer, changed by the user."""
    spec = EditSpec(
        "answer",
        tr("Final answer"),
        state.answer or "",
        hint=tr("Kept as edited by you."),
    )
    return Offer(
        tr("Edit the answer…"),
        tr("Change it before the run ends."),
        edit=spec,
    )


def send_back_offer() -> Offer:
    """The answer sent back with a word to the model."""
    spec = EditSpec(
        "send_back",
        tr("Send it back"),
        hint=tr("The model reads it as a user message and goes on."),
        apply=tr("Send"),
    )
    return Offer(
        tr("Send back…"),
        tr("Tell the model what is missing, and go on."),
        edit=spec,
    )
