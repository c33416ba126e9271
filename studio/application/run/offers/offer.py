"""Buttons of the action bar, as values: those for a problem, and those used at several places."""

from dataclasses import dataclass, replace
from typing import Literal

from studio.application.run.edits.in_place import EditSpec, arguments_text
from studio.application.run.words import call_at, error_title, is_only_title
from studio.application.words import tr
from studio.core.agent.protocols.json_repair import find_repair
from studio.core.agent.run.secrets import NO_VALUE
from studio.core.agent.values.commands import (
    Command,
    Continue,
    SendBack,
    StepOn,
    StopRun,
    TakeRepair,
)
from studio.core.agent.values.events import AnswerEdited, LimitRaised, OutcomeTold
from studio.core.agent.values.state import LimitName, RunState
from studio.core.agent.values.step import Call, StepError
from studio.core.wire.reply import Reply


@dataclass(frozen=True, slots=True)
class Offer:
    """One button."""

    label: str
    """Label of the button; with an ellipsis if it opens an editor."""

    tip: str
    """One sentence on its effect."""

    commands: tuple[Command, ...] = ()
    """Commands that are sent together, in order; with `ask`, once the request is fulfilled."""

    edit: EditSpec | None = None
    """Editor that is opened before anything is sent."""

    key: str = ""
    """Key that triggers it, unless the user chose another."""

    is_primary: bool = False
    """Whether it continues the run and is the default."""

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
    open the connections, choose another model, or continue with the model that the prompt now
    requests.
    """


@dataclass(frozen=True, slots=True)
class Offers:
    """The action bar."""

    title: str = ""
    """Question to the user; empty hides the bar."""

    detail: str = ""
    """Details: the hint of an error."""

    is_error: bool = False
    """Whether it is about a problem."""

    offers: tuple[Offer, ...] = ()
    """The buttons, the most likely first."""


def go_on(label: str, tip: str) -> Offer:
    """Return the offer to continue to the next stop."""
    return Offer(label, tip, (StepOn("over"),), is_primary=True)


def steer(hint: str) -> Offer:
    """Return the offer to add a user message to the next request; `hint` names that request."""
    spec = EditSpec("steer", tr("Insert a message"), hint=hint, apply=tr("Put in"))
    return Offer(tr("Insert a message…"), tr("Guide the run with your own message."), edit=spec)


def write_reply(state: RunState, label: str, title: str) -> Offer:
    """Return the offer to write the reply."""
    reply = state.step.reply or state.step.partial or Reply()
    spec = EditSpec(
        "reply",
        title,
        reply.text,
        hint=tr("It is parsed as if the model had written it."),
        reply=reply,
    )
    return Offer(label, tr("Write the reply yourself; it is marked as edited."), edit=spec)


def edit_call(state: RunState, call: Call) -> Offer:
    """Return the offer of another tool or other arguments for a call."""
    names = tuple(spec.name for spec in state.setup.tools)
    tools = names if call.tool in names else (call.tool, *names)
    spec = EditSpec(
        "arguments",
        tr("Arguments of {tool}").format(tool=call.tool),
        arguments_text(call.arguments, call.text),
        hint=tr("The assistant's message is changed as well, so that call and result match."),
        is_json=True,
        call=state.call or 0,
        tool=call.tool,
        tools=tools,
    )
    return Offer(tr("Edit arguments…"), tr("Change the arguments of the call."), edit=spec)


def edit_answer(state: RunState) -> Offer:
    """Return the offer to change the answer."""
    spec = EditSpec(
        "answer", tr("Final answer"), state.answer or "", hint=tr("Saved as edited by you.")
    )
    return Offer(tr("Edit the answer…"), tr("Change it before the run ends."), edit=spec)


def send_back_offer() -> Offer:
    """Return the offer to send the answer back to the model with a comment."""
    spec = EditSpec(
        "send_back",
        tr("Send it back"),
        hint=tr("The model gets it as a user message and continues."),
        apply=tr("Send"),
    )
    return Offer(tr("Send back…"), tr("Tell the model what is missing, and continue."), edit=spec)


# Actions for the problem at which a run is paused, as values.

_MORE_ITERATIONS = 5


def offers_at_problem(state: RunState) -> Offers:
    """Return the actions for the problem at which a run is paused."""
    error = state.error
    if error is None:
        return Offers(
            tr("Something went wrong."), is_error=True, offers=(go_on(tr("Go on"), tr("Go on.")),)
        )
    match error.kind:
        case "limit":
            offers = _limit_offers(state, error)
        case "outcome_unknown":
            offers = _outcome_offers(state)
        case "output":
            accept = go_on(tr("Accept unchanged"), tr("End the run here."))
            offers = (*_flaw_offers(state, error), accept, edit_answer(state), send_back_offer())
        case "refusal":
            offers = (
                go_on(tr("Accept unchanged"), tr("End the run here.")),
                *_answer_offers(error),
                send_back_offer(),
            )
        case _:
            offers = _fixing_offers(state, error)
    if error.kind == "limit":
        return Offers(error.message, offers=offers)
    if is_only_title(error):
        return Offers(error.hint, is_error=True, offers=offers)  # its card has the title
    return Offers(error_title(error) + ".", detail_of(error), is_error=True, offers=offers)


def detail_of(error: StepError) -> str:
    """Return the error and its remedy as one text."""
    return " ".join(part for part in (error.message.strip(), error.hint.strip()) if part)


def _fixing_offers(state: RunState, error: StepError) -> tuple[Offer, ...]:
    offers: list[Offer] = []
    for repair in error.repairs:
        command = TakeRepair(repair.name, call=repair.call)
        offers.append(
            Offer(
                repair.title,
                tr("From  {before}\nto  {after}").format(before=repair.before, after=repair.after),
                (command,),
            )
        )
    if error.observation:
        offers.insert(0, go_on(tr("Tell the model"), error.observation))
        spec = EditSpec(
            "told",
            tr("Message to the model"),
            error.observation,
            hint=tr("The model gets this as the observation for its reply."),
        )
        offers.append(
            Offer(tr("Edit the message to the model…"), tr("Change the message."), edit=spec)
        )
    elif error.code == NO_VALUE:
        offers.insert(0, _give_values())
    elif error.kind in ("model", "render"):
        tip = tr("Repeat this step, and continue.")
        cause = _cause_offer(error)
        is_first = cause is None
        offers.insert(0, Offer(tr("Try again"), tip, (Continue(),), is_primary=is_first))
        if cause is not None:
            offers.insert(0, cause)
    else:
        offers.insert(0, go_on(tr("Go on"), tr("Continue anyway.")))
    call = call_at(state)
    if call is not None and error.kind in ("unknown_tool", "schema", "format", "guardrail"):
        offers.append(edit_call(state, call))
    elif error.kind in ("format", "model"):
        label = tr("Edit the reply…") if error.kind == "format" else tr("Answer in its place…")
        offers.append(write_reply(state, label, tr("Reply of the model")))
    if error.kind == "format" and was_cut(state):
        offers.insert(0, _longer_reply(state))
    offers += _answer_offers(error)
    return tuple(offers)


_USUAL_REPLY = 4096
"""Assumed tokens of a reply whose length is unknown."""


def was_cut(state: RunState) -> bool:
    """Return whether the current reply ended at its token limit."""
    reply = state.step.reply
    return reply is not None and reply.finish_reason == "length"


def _longer_reply(state: RunState) -> Offer:
    """Return the offer to repeat the request with twice the token limit."""
    usage = state.step.reply.usage if state.step.reply is not None else None
    lines = (
        state.limits.reply,
        state.setup.options.get("maxOutputTokens"),
        usage.output_tokens if usage is not None else None,
    )
    now = next((each for each in lines if isinstance(each, int) and each > 0), _USUAL_REPLY)
    return Offer(
        tr("Ask again with {count:,} tokens").format(count=2 * now),
        tr("Send the request again, on a new branch; this run keeps the higher limit."),
        (LimitRaised("reply", 2 * now), Continue()),
        ask="again",
    )


_GO_ON = (
    "Your answer was cut off at the token limit. Go on exactly where it ended: repeat nothing, "
    "and write nothing before it."
)


def _flaw_offers(state: RunState, error: StepError) -> tuple[Offer, ...]:
    """Return the fix for an answer that is cut, filtered, empty, or does not match the outputs."""
    if error.code == "cut_answer":
        tip = tr("The model continues where it ended; both parts form one answer.")
        goes_on = Offer(tr("Let it continue"), tip, (SendBack(_GO_ON, continues=True),))
        return (goes_on, _longer_reply(state))
    message = _ask_again(error)
    again = Offer(tr("Ask again with the errors"), message, (SendBack(message),))
    answer = state.answer or ""
    repair = find_repair(answer, 0, len(answer)) if error.code == "output" else None
    if repair is None or repair.span is None:
        return (again,)
    fixed = answer[: repair.span.start] + repair.after + answer[repair.span.end :]
    tip = tr("From  {before}\nto  {after}").format(before=repair.before, after=repair.after)
    return (Offer(repair.title, tip, (AnswerEdited(fixed),)), again)


def _ask_again(error: StepError) -> str:
    """Return the message to the model about its answer."""
    return f"Your answer cannot be used: {error.message} Answer again, with the whole answer only."


_OF_CONNECTION = frozenset(
    """
    unauthorised no-key forbidden not-found bad-address refused dns tls no-quota bad-reply moved
""".split()
)
"""Errors that are fixed in the connection."""

_OF_MODEL = frozenset(("unknown-model", "too-long", "no-model"))
"""Errors that another model does not have."""


def is_of_model(state: RunState) -> bool:
    """Return whether a run is paused at an error that another model does not have."""
    return state.pause is not None and state.error is not None and state.error.code in _OF_MODEL


def _cause_offer(error: StepError) -> Offer | None:
    """Return the most likely fix for a model's error; None if a retry is the best."""
    if error.code in _OF_MODEL:
        return replace(choose_model(), is_primary=True)
    if error.code in _OF_CONNECTION:
        label, tip = tr("Open the connection…"), tr("Fix its address, its key or its account.")
        return Offer(label, tip, is_primary=True, ask="connections")
    return None


def choose_model() -> Offer:
    """Return the offer of another model for the run."""
    tip = tr("List the available models; the run continues with the one that you choose.")
    return Offer(tr("Choose a model…"), tip, ask="model")


def _give_values() -> Offer:
    """Return the offer to enter the secrets that a past run sent."""
    return Offer(
        tr("Give the value…"),
        tr("Enter the missing secret; it is kept until the studio exits."),
        is_primary=True,
        ask="values",
    )


def _answer_offers(error: StepError) -> tuple[Offer, ...]:
    if not error.answer:
        return ()
    spec = EditSpec(
        "treat_as_final",
        tr("Treat as the answer"),
        error.answer,
        hint=tr("The run ends with this answer."),
        apply=tr("Use as answer"),
    )
    return (
        Offer(tr("Treat as answer…"), tr("Use the received part as the final answer."), edit=spec),
    )


def _limit_offers(state: RunState, error: StepError) -> tuple[Offer, ...]:
    names: dict[str, LimitName] = {
        "iterations": "iterations",
        "tokens": "tokens",
        "cost": "cost",
        "seconds": "seconds",
    }
    name = names.get(error.code, "iterations")
    base = float(getattr(state.limits, name) or 0)
    to = base + _MORE_ITERATIONS if name == "iterations" else max(base * 2, base + 1)
    more = (
        tr("Allow {more_iterations} more").format(more_iterations=_MORE_ITERATIONS)
        if name == "iterations"
        else tr("Allow twice as much")
    )
    return (
        Offer(
            more,
            tr("Raise the limit and continue."),
            (LimitRaised(name, to), Continue()),
            is_primary=True,
        ),
        Offer(
            tr("No limit"),
            tr("Continue without this limit."),
            (LimitRaised(name, None), Continue()),
        ),
        Offer(tr("Stop"), tr("End the run here."), (StopRun(),)),
    )


def _outcome_offers(state: RunState) -> tuple[Offer, ...]:
    row = state.call
    if row is None:
        unknown = [i for i, call in enumerate(state.step.calls) if call.status == "unknown"]
        row = unknown[0] if unknown else 0
    spec = EditSpec(
        "outcome",
        tr("Result of the tool"),
        call=row,
        apply=tr("Use as result"),
        hint=tr("The model gets this as the tool's result."),
    )
    return (
        Offer(tr("It did not run"), tr("It runs again."), (OutcomeTold(row, "did-not-run"),)),
        Offer(
            tr("It ran"),
            tr("The tool ran, but its result is unknown."),
            (OutcomeTold(row, "ran"),),
        ),
        Offer(tr("Its result is…"), tr("You know its result."), edit=spec),
    )
