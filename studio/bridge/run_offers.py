"""What a person can do where a run stands, as values: the buttons of the action bar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from PySide6.QtCore import QCoreApplication

from studio.bridge.run_edits import COMMAND_OF_EDIT, EditSpec, arguments_text
from studio.bridge.run_words import call_at, error_title
from studio.core.agent.commands import (
    Approve,
    Command,
    Continue,
    RaiseLimit,
    SkipCall,
    StepOn,
    StopRun,
    TakeRepair,
    TellOutcome,
)
from studio.core.agent.requests import allowed
from studio.core.agent.state import Call, LimitName, Place, RunState, StepError
from studio.core.wire.reply import Reply

_tr = partial(QCoreApplication.translate, "RunOffers")

_MORE_ITERATIONS = 5


@dataclass(frozen=True, slots=True)
class Offer:
    """One button."""

    label: str
    """What it says; an ellipsis where it opens an editor."""

    tip: str
    """One sentence on what it does."""

    commands: tuple[Command, ...] = ()
    """What is sent at once, in order."""

    edit: EditSpec | None = None
    """What is opened for writing, in place of sending."""

    is_primary: bool = False
    """Whether it is the one that goes on."""

    ask: Literal["", "resume", "rerun", "replay"] = ""
    """What the window is asked for, where it is no command of the run: to go on with a run of the
    past, to run the prompt again with a run's results, or to go through the run once more."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The action bar."""

    title: str = ""
    """What the person is asked; empty hides the bar."""

    detail: str = ""
    """More on it: the hint of an error."""

    is_error: bool = False
    """Whether it is about a problem."""

    offers: tuple[Offer, ...] = ()
    """The buttons, the most likely first."""


def offers_of(state: RunState | None, *, can_reply: bool = True) -> Offers:
    """What can be done now; empty while the run is under way or cannot be changed any more.

    Args:
        state: the run.
        can_reply: whether a run that is over can be gone on with (not one opened to be read).
    """
    if state is None:
        return Offers()
    if state.is_over:
        if state.status == "done" and can_reply:
            spec = EditSpec(
                "send_back",
                _tr("Go on with a message"),
                hint=_tr("Asked in the same thread."),
                apply=_tr("Send"),
            )
            offer = Offer(
                _tr("Go on with a message…"),
                _tr("Ask the next question in this thread."),
                edit=spec,
            )
            return Offers(_tr("The run is done."), offers=(offer,))
        return _after_end(state)
    if state.pause is None:
        return Offers()
    asked = _at_place(state, state.pause.place)
    possible = allowed(state)
    return replace(asked, offers=tuple(item for item in asked.offers if _fits(item, possible)))


def _fits(offer: Offer, possible: frozenset[type]) -> bool:
    """Whether the machine takes what a button would send."""
    if offer.edit is not None:
        return COMMAND_OF_EDIT[offer.edit.kind] in possible
    return all(type(command) in possible for command in offer.commands)


def _at_place(state: RunState, place: Place) -> Offers:
    match place:
        case "P1":
            return _at_request(state)
        case "P2":
            return _at_reply(state)
        case "P3":
            return _at_call(state)
        case "P4":
            return _at_result(state)
        case "P5":
            return _at_step_end()
        case "P6":
            return _at_answer(state)
        case "PX":
            return _at_error(state)


def _after_end(state: RunState) -> Offers:
    """What is said of a run that ended without an answer."""
    if state.error is not None and state.status in ("failed", "refused", "limit"):
        return Offers(
            f"{error_title(state.error)}.", _detail(state.error), state.status == "failed"
        )
    if state.status == "interrupted":
        return Offers(
            _tr("The program ended while this run was under way."),
            _tr("Everything up to its last event is here."),
        )
    if state.status == "stopped":
        return Offers(_tr("The run was stopped."))
    return Offers()


def _go_on(label: str, tip: str) -> Offer:
    return Offer(label, tip, (StepOn("over"),), is_primary=True)


def _steer() -> Offer:
    spec = EditSpec(
        "steer",
        _tr("Put in a message"),
        hint=_tr("The model reads it before it goes on."),
        apply=_tr("Put in"),
    )
    return Offer(
        _tr("Put in a message…"),
        _tr("Steer the run with a message of yours."),
        edit=spec,
    )


def _write_reply(state: RunState, label: str, title: str) -> Offer:
    reply = state.step.reply or state.step.partial or Reply()
    spec = EditSpec(
        "reply",
        title,
        reply.text,
        hint=_tr("It is read exactly as if the model had written it."),
        reply=reply,
    )
    return Offer(
        label,
        _tr("Write the reply yourself; it is marked as edited."),
        edit=spec,
    )


def _at_request(state: RunState) -> Offers:
    spec = EditSpec(
        "messages",
        _tr("Messages of this iteration"),
        hint=_tr("Changed for this iteration; the prompt file stays as it is unless you say so."),
        messages=state.step.messages,
    )
    return Offers(
        _tr("The request is ready."),
        offers=(
            _go_on(
                _tr("Send it"),
                _tr("Ask the model, and stop with its reply."),
            ),
            Offer(
                _tr("Edit messages…"),
                _tr("Change what is sent, for this iteration only."),
                edit=spec,
            ),
            _write_reply(
                state,
                _tr("Answer in its place…"),
                _tr("Reply in the model's place"),
            ),
            _steer(),
        ),
    )


def _at_reply(state: RunState) -> Offers:
    return Offers(
        _tr("The reply is here; nothing was done yet."),
        offers=(
            _go_on(
                _tr("Go on"),
                _tr("Do what the reply asks for, up to the next stop."),
            ),
            _write_reply(
                state,
                _tr("Edit the reply…"),
                _tr("Reply of the model"),
            ),
        ),
    )


def _at_call(state: RunState) -> Offers:
    call = call_at(state)
    row = state.call or 0
    if call is None:
        return Offers()
    reject = EditSpec(
        "reject",
        _tr("Reject {tool}").format(tool=call.tool),
        hint=_tr("The model is told why. May be empty."),
        apply=_tr("Reject"),
        call=row,
    )
    answer = EditSpec(
        "answer_call",
        _tr("Answer in place of {tool}").format(tool=call.tool),
        hint=_tr("The tool does not run; the model gets this as its result."),
        apply=_tr("Answer"),
        call=row,
    )
    effects = next((s.has_effects for s in state.setup.tools if s.name == call.tool), False)
    detail = _tr("This tool changes something outside.") if effects else ""
    return Offers(
        _tr("Run {tool}?").format(tool=call.tool),
        detail,
        offers=(
            Offer(
                _tr("Approve"),
                _tr("Run the call as it stands."),
                (Approve(row),),
                is_primary=True,
            ),
            _edit_call(state, call),
            Offer(
                _tr("Reject…"),
                _tr("Do not run it, and tell the model why."),
                edit=reject,
            ),
            Offer(
                _tr("Answer myself…"),
                _tr("Do not run it, and give its result."),
                edit=answer,
            ),
            Offer(
                _tr("Skip"),
                _tr("Do not run it; the model is told so."),
                (SkipCall(row),),
            ),
        ),
    )


def _edit_call(state: RunState, call: Call) -> Offer:
    names = tuple(spec.name for spec in state.setup.tools)
    tools = names if call.tool in names else (call.tool, *names)
    spec = EditSpec(
        "arguments",
        _tr("Arguments of {tool}").format(tool=call.tool),
        arguments_text(call.arguments, call.text),
        hint=_tr("The assistant's message is changed with them, so that call and result agree."),
        is_json=True,
        call=state.call or 0,
        tool=call.tool,
        tools=tools,
    )
    return Offer(
        _tr("Edit arguments…"),
        _tr("Change what the tool is called with."),
        edit=spec,
    )


def _at_result(state: RunState) -> Offers:
    call = call_at(state)
    if call is None:
        return Offers()
    spec = EditSpec(
        "observation",
        _tr("Observation of {tool}").format(tool=call.tool),
        call.observation or "",
        hint=_tr("What the model is told; the tool's own result stays in the record."),
        call=state.call or 0,
        is_error=call.is_error,
    )
    return Offers(
        _tr("{tool} has answered.").format(tool=call.tool),
        offers=(
            _go_on(
                _tr("Tell the model"),
                _tr("Go on with this observation."),
            ),
            Offer(
                _tr("Edit observation…"),
                _tr("Change what the model is told."),
                edit=spec,
            ),
        ),
    )


def _at_step_end() -> Offers:
    return Offers(
        _tr("The iteration is done."),
        offers=(
            _go_on(
                _tr("Next iteration"),
                _tr("Ask the model again, with what is known now."),
            ),
            _steer(),
        ),
    )


def _at_answer(state: RunState) -> Offers:
    edit = EditSpec(
        "answer",
        _tr("Final answer"),
        state.answer or "",
        hint=_tr("Kept as edited by you."),
    )
    return Offers(
        _tr("The model has answered."),
        offers=(
            Offer(
                _tr("Accept"),
                _tr("End the run with this answer."),
                (Continue(),),
                is_primary=True,
            ),
            Offer(
                _tr("Edit the answer…"),
                _tr("Change it before the run ends."),
                edit=edit,
            ),
            _send_back(),
        ),
    )


def _send_back() -> Offer:
    spec = EditSpec(
        "send_back",
        _tr("Send it back"),
        hint=_tr("The model reads it as a user message and goes on."),
        apply=_tr("Send"),
    )
    return Offer(
        _tr("Send back…"),
        _tr("Tell the model what is missing, and go on."),
        edit=spec,
    )


def _at_error(state: RunState) -> Offers:
    error = state.error
    if error is None:
        return Offers(
            _tr("Something went wrong."),
            is_error=True,
            offers=(
                _go_on(
                    _tr("Go on"),
                    _tr("Go on."),
                ),
            ),
        )
    match error.kind:
        case "limit":
            offers = _limit_offers(state, error)
        case "outcome_unknown":
            offers = _outcome_offers(state)
        case "output" | "refusal":
            offers = (
                _go_on(_tr("Accept as it is"), _tr("End the run here.")),
                *_answer_offers(error),
                _send_back(),
            )
        case _:
            offers = _mending_offers(state, error)
    return Offers(error_title(error) + ".", _detail(error), error.kind != "limit", offers)


def _detail(error: StepError) -> str:
    return " ".join(part for part in (error.message.strip(), error.hint.strip()) if part)


def _mending_offers(state: RunState, error: StepError) -> tuple[Offer, ...]:
    offers: list[Offer] = []
    for repair in error.repairs:
        command = TakeRepair(repair.name, call=repair.call)
        offers.append(
            Offer(
                repair.title,
                _tr("From  {before}\nto  {after}").format(before=repair.before, after=repair.after),
                (command,),
            )
        )
    if error.observation:
        offers.insert(0, _go_on(_tr("Tell the model"), error.observation))
        spec = EditSpec(
            "told",
            _tr("What the model is told"),
            error.observation,
            hint=_tr("It reads this as the observation of its reply."),
        )
        offers.append(
            Offer(
                _tr("Edit what it is told…"),
                _tr("Change the remark."),
                edit=spec,
            )
        )
    elif error.kind in ("model", "render"):
        tip = _tr("Do the same once more, and go on.")
        offers.insert(
            0,
            Offer(
                _tr("Try again"),
                tip,
                (Continue(),),
                is_primary=True,
            ),
        )
    else:
        offers.insert(
            0,
            _go_on(
                _tr("Go on"),
                _tr("Go on all the same."),
            ),
        )
    call = call_at(state)
    if call is not None and error.kind in ("unknown_tool", "schema", "format", "guardrail"):
        offers.append(_edit_call(state, call))
    elif error.kind in ("format", "model"):
        label = _tr("Edit the reply…") if error.kind == "format" else _tr("Answer in its place…")
        offers.append(_write_reply(state, label, _tr("Reply of the model")))
    offers += _answer_offers(error)
    return tuple(offers)


def _answer_offers(error: StepError) -> tuple[Offer, ...]:
    if not error.answer:
        return ()
    spec = EditSpec(
        "treat_as_final",
        _tr("Treat as the answer"),
        error.answer,
        hint=_tr("The run ends with this answer."),
        apply=_tr("Take as answer"),
    )
    return (
        Offer(
            _tr("Treat as answer…"),
            _tr("Take what came as the final answer."),
            edit=spec,
        ),
    )


def _limit_offers(state: RunState, error: StepError) -> tuple[Offer, ...]:
    names: dict[str, LimitName] = {
        "iterations": "iterations",
        "tokens": "tokens",
        "cost": "cost",
        "seconds": "seconds",
    }
    name = names.get(error.code, "iterations")
    now = getattr(state.limits, name)
    base = float(now or 0)
    to = base + _MORE_ITERATIONS if name == "iterations" else max(base * 2, base + 1)
    more = (
        _tr("Allow {more_iterations} more").format(more_iterations=_MORE_ITERATIONS)
        if name == "iterations"
        else _tr("Allow twice as much")
    )
    return (
        Offer(
            more,
            _tr("Raise the limit and go on."),
            (RaiseLimit(name, to), Continue()),
            is_primary=True,
        ),
        Offer(
            _tr("No limit"), _tr("Go on without this limit."), (RaiseLimit(name, None), Continue())
        ),
        Offer(_tr("Stop"), _tr("End the run here."), (StopRun(),)),
    )


def _outcome_offers(state: RunState) -> tuple[Offer, ...]:
    row = state.call
    if row is None:
        unknown = [i for i, call in enumerate(state.step.calls) if call.status == "unknown"]
        row = unknown[0] if unknown else 0
    spec = EditSpec(
        "outcome",
        _tr("What the tool answered"),
        call=row,
        apply=_tr("Take as result"),
        hint=_tr("The model gets this as the tool's result."),
    )
    return (
        Offer(
            _tr("It did not run"),
            _tr("It is run again."),
            (TellOutcome(row, "did-not-run"),),
        ),
        Offer(
            _tr("It ran"),
            _tr("Its work is done; the result is not known."),
            (TellOutcome(row, "ran"),),
        ),
        Offer(
            _tr("Its result is…"),
            _tr("You know what it answered."),
            edit=spec,
        ),
    )
