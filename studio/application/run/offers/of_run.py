"""Actions for a run: while it is active, at a pause, or after its end."""

from dataclasses import replace

from studio.application.run.edits.in_place import COMMAND_OF_EDIT, EditSpec
from studio.application.run.offers.offer import (
    Offer,
    Offers,
    choose_model,
    detail_of,
    edit_answer,
    edit_call,
    go_on,
    is_of_model,
    offers_at_problem,
    send_back_offer,
    steer,
    write_reply,
)
from studio.application.run.words import call_at, error_title, place_in_group
from studio.application.words import tr
from studio.core.agent.run.requests import allowed
from studio.core.agent.values.commands import (
    Approve,
    ChooseModel,
    Continue,
    PauseRun,
    SkipCall,
    StopRun,
)
from studio.core.agent.values.events import LimitRaised
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, PausePoint, RunModel
from studio.core.text.amounts import one_line

# Actions at the current pause, as values: the buttons of the action bar.


def offers_of(state: RunState | None, *, can_reply: bool = True) -> Offers:
    """Return the actions that are possible; empty while the run is busy or cannot be changed.

    Args:
        state: the run.
        can_reply: whether a finished run can be continued (not one opened read-only).
    """
    if state is None:
        return Offers()
    if state.is_over:
        if state.status in ("done", "incomplete") and can_reply:
            spec = EditSpec(
                "send_back",
                tr("Continue with a message"),
                hint=tr("Sent in the same thread."),
                apply=tr("Send"),
            )
            offer = Offer(
                tr("Continue with a message…"),
                tr("Ask the next question in this thread."),
                edit=spec,
            )
            if state.status == "done" or state.error is None:
                return Offers(tr("The run is done."), offers=(offer,))
            ways = offers_at_problem(state)
            wanted = tuple(item for item in ways.offers if _fits(item, allowed(state)))
            return replace(ways, offers=(*wanted, offer))
        return _after_end(state)
    if state.pause is None:
        return Offers()
    asked = _at_place(state, state.pause.place)
    if state.pause.reason == "exception" and state.pause.place != PausePoint.ERROR:
        asked = replace(asked, detail=one_line(state.pause.text, 400), is_error=True)
    possible = allowed(state)
    return replace(asked, offers=tuple(item for item in asked.offers if _fits(item, possible)))


def _fits(offer: Offer, possible: frozenset[type]) -> bool:
    """Return whether the state machine accepts an offer's command, or that of its request."""
    if offer.ask:
        return True
    if offer.edit is not None:
        return COMMAND_OF_EDIT[offer.edit.kind] in possible
    if any(isinstance(command, LimitRaised) for command in offer.commands):
        return LimitRaised in possible  # raising the limit removes the reason for the pause
    return all(type(command) in possible for command in offer.commands)


def _at_place(state: RunState, place: PausePoint) -> Offers:
    match place:
        case PausePoint.BEFORE_REQUEST:
            return _at_request(state)
        case PausePoint.REPLY:
            return _at_reply(state)
        case PausePoint.TOOL_CALL:
            return _at_call(state)
        case PausePoint.OBSERVATION:
            return _at_result(state)
        case PausePoint.STEP_END:
            return Offers(
                tr("The iteration has ended."),
                offers=(
                    go_on(tr("Next iteration"), tr("Send the next request to the model.")),
                    steer(tr("It is added to the request of the next iteration.")),
                ),
            )
        case PausePoint.ANSWER:
            return _at_answer(state)
        case PausePoint.ERROR:
            return offers_at_problem(state)


def _after_end(state: RunState) -> Offers:
    """Return the offers for a run that ended without an answer."""
    if state.error is not None and state.status in ("failed", "incomplete", "refused", "limit"):
        ways = _after_refusal() if state.status == "refused" else ()
        return Offers(
            f"{error_title(state.error)}.", detail_of(state.error), state.status == "failed", ways
        )
    if state.status == "interrupted":
        return Offers(
            tr("The program ended during this run."),
            tr("The run is complete up to its last event."),
        )
    if state.status == "stopped":
        return Offers(tr("The run was stopped."))
    return Offers()


def _after_refusal() -> tuple[Offer, ...]:
    """Return the offers after a refusal: another attempt, another wording, another model."""
    return (
        Offer(
            tr("Ask again"),
            tr("Send the same request again, on a new branch."),
            (Continue(),),
            ask="again",
            is_primary=True,
        ),
        Offer(
            tr("Change the messages…"),
            tr("Go back to the request on a new branch and change it."),
            ask="rewrite",
        ),
        choose_model(),
    )


def _at_request(state: RunState) -> Offers:
    spec = EditSpec(
        "messages",
        tr("Messages of this iteration"),
        hint=tr("Changed for this iteration only, unless you also apply it to the prompt file."),
        messages=state.step.messages,
    )
    options = EditSpec(
        "options",
        tr("Options of this request"),
        '{"temperature": 0}',
        hint=tr("Set in the program's body for this request; null removes an option."),
        is_json=True,
    )
    return Offers(
        tr("The request is ready."),
        offers=(
            go_on(tr("Send the request"), tr("Send the request, and pause at the reply.")),
            Offer(
                tr("Edit messages…"), tr("Change the messages, for this iteration only."), edit=spec
            ),
            Offer(tr("Set options…"), tr("Change other options of the request."), edit=options),
            write_reply(state, tr("Answer in its place…"), tr("Write the model's reply")),
            steer(tr("It is added to the request that will be sent next.")),
        ),
    )


def _at_reply(state: RunState) -> Offers:
    edit = write_reply(state, tr("Edit the reply…"), tr("Reply of the model"))
    if state.step.stopped_by == "user":
        use = go_on(tr("Use this part"), tr("Use it like a complete reply, up to the next pause."))
        tip = tr("Send the same request again, on a new branch.")
        again = Offer(tr("Try again"), tip, ask="again")
        return Offers(
            tr("You cut off the reply; nothing was done yet."), "", offers=(use, edit, again)
        )
    read = go_on(tr("Parse the reply"), tr("Parse it, up to the next pause."))
    return Offers(tr("The reply has arrived; nothing was done yet."), offers=(read, edit))


def _at_call(state: RunState) -> Offers:
    call = call_at(state)
    row = state.call or 0
    if call is None:
        return Offers()
    reject = EditSpec(
        "reject",
        tr("Reject {tool}").format(tool=call.tool),
        hint=tr("The model gets this reason. May be empty."),
        apply=tr("Reject"),
        call=row,
    )
    answer = EditSpec(
        "answer_call",
        tr("Answer in place of {tool}").format(tool=call.tool),
        hint=tr("The tool does not run; the model gets this as its result."),
        apply=tr("Answer", "verb"),
        call=row,
    )
    effects = next((s.has_effects for s in state.setup.tools if s.name == call.tool), False)
    detail = tr("This tool has side effects.") if effects else ""
    detail = "\n".join(text for text in (detail, call.why) if text)
    return Offers(
        _call_title(state, call),
        detail,
        offers=(
            *_ways_to_run(state, call),
            edit_call(state, call),
            Offer(tr("Reject…"), tr("Do not run it, and tell the model the reason."), edit=reject),
            Offer(tr("Answer myself…"), tr("Do not run it, and give its result."), edit=answer),
            Offer(tr("Skip"), tr("Do not run it, and tell the model."), (SkipCall(row),)),
        ),
    )


def _call_title(state: RunState, call: Call) -> str:
    """Return the question about a call."""
    number, count = place_in_group(state)
    if count == 1:
        return tr("Run {tool}?").format(tool=call.tool)
    return tr("Approve {tool}, call {number} of {count}?").format(
        tool=call.tool, number=number, count=count
    )


def _ways_to_run(state: RunState, call: Call) -> tuple[Offer, ...]:
    """Return the buttons that run a call; parallel calls are approved one by one first."""
    row = state.call or 0
    number, count = place_in_group(state)
    every = tr("Run all {count}").format(count=count)
    label, tip = tr("Run {tool}").format(tool=call.tool), tr("Run the call unchanged.")
    if call.needs_approval:
        label = tr("Approve")
    elif 1 < count == number:
        label, tip = every, tr("Approve this call and run it with the others.")
    elif count > 1:
        label = tr("Approve {number} of {count}").format(number=number, count=count)
        tip = tr("Nothing runs until the last call is approved.")
    first = Offer(label, tip, (Approve(row),), key="Ctrl+Shift+A", is_primary=True)
    if number == count:
        return (first,)
    tip = tr("Also approve the other calls, and run all at the same time.")
    return first, Offer(every, tip, (Approve(row, others=True),))


def _at_result(state: RunState) -> Offers:
    call = call_at(state)
    if call is None:
        return Offers()
    spec = EditSpec(
        "observation",
        tr("Observation of {tool}").format(tool=call.tool),
        call.observation or "",
        hint=tr("The result for the model; the tool's own result stays in the run."),
        call=state.call or 0,
        is_error=call.is_error,
    )
    change = Offer(tr("Edit observation…"), tr("Change the result for the model."), edit=spec)
    offers: tuple[Offer, ...] = (_after_result(state), change)
    if call.is_error and call.outcome is not None:
        tip = tr("Call the tool with the same arguments again, on a new branch.")
        offers = (offers[0], Offer(tr("Try this call again"), tip, ask="again"), change)
    return Offers(_result_title(call), is_error=call.is_error, offers=offers)


def _result_title(call: Call) -> str:
    """Describe the outcome of a call, as a sentence."""
    if call.outcome is not None and call.outcome.status == "timeout":
        words = tr("{tool} took too long and was stopped.")
    elif call.is_error:
        words = tr("{tool} failed.")
    else:
        words = tr("{tool} has returned a result.")
    return words.format(tool=call.tool)


def _after_result(state: RunState) -> Offer:
    """Return the offer to continue after a result: to the next call or result, or to the model."""
    calls, row = state.step.calls, state.call or 0
    waiting = next((call for call in calls if call.status == "asked"), None)
    if waiting is not None:
        words = tr("Go to {tool}").format(tool=waiting.tool)
        return go_on(words, tr("The next call of this reply; the model needs the results of all."))
    later = [call for call in calls[row + 1 :] if call.outcome is not None]
    if state.runs_at_once and later:
        words = tr("Go to the result of {tool}").format(tool=later[0].tool)
        return go_on(words, tr("The next result of this reply."))
    if len(calls) == 1:
        return go_on(tr("Send the result to the model"), tr("Continue with this observation."))
    words = tr("Send {count} results to the model").format(count=len(calls))
    return go_on(words, tr("Continue with these observations."))


def _at_answer(state: RunState) -> Offers:
    return Offers(
        tr("The model has answered."),
        offers=(
            Offer(
                tr("Accept"), tr("End the run with this answer."), (Continue(),), is_primary=True
            ),
            edit_answer(state),
            send_back_offer(),
        ),
    )


def _resume() -> Offer:
    return Offer(
        tr("Continue from here"),
        tr(
            "Continue from this point with the model and the tools, on a new branch. The old one "
            "is kept."
        ),
        is_primary=True,
        ask="resume",
    )


def _rerun() -> Offer:
    return Offer(
        tr("Run again with these results"),
        tr(
            "Run the prompt of the editor with the inputs of this run. Equal tool calls get the "
            "recorded results; then both runs are compared."
        ),
        ask="rerun",
    )


def _replay() -> Offer:
    return Offer(
        tr("Replay exactly"),
        tr(
            "Replay this run with its replies, its tools' results and your edits. No model and no "
            "tool runs; breakpoints pause it."
        ),
        ask="replay",
    )


def offers_for(
    state: RunState,
    *,
    is_record: bool,
    is_pausing: bool = False,
    asked: RunModel | None = None,
    can_keep: bool = True,
) -> Offers:
    """Return the actions of a run at its place, or those of a finished run.

    Args:
        state: the run.
        is_record: whether it was opened from history.
        is_pausing: whether a pause was requested and running work is awaited.
        asked: the model that the user must accept or reject first.
        can_keep: whether the run's model is available here.
    """
    if is_pausing:
        return _while_pausing(state)
    made = _without_model_asked(state, is_record=is_record)
    if state.setup.program:
        return _of_program(state, made)
    if asked is not None and (state.pause is not None or ChooseModel in allowed(state)):
        return _with_model_asked(made, state, asked, can_keep=can_keep)
    return made


_OF_A_PROMPT = frozenset(("resume", "rerun", "replay", "switch", "steer", "send_back"))
"""Requests and edits that do not apply to the run of a program: it brings its own messages."""


def _of_program(state: RunState, made: Offers) -> Offers:
    kept = (
        each
        for each in made.offers
        if not {each.ask, each.edit.kind if each.edit is not None else ""} & _OF_A_PROMPT
    )
    words = tr("These are calls of a program. Start the program for another run.")
    return replace(
        made,
        detail=made.detail or (words if state.is_over else ""),
        offers=tuple(kept),
    )


def _without_model_asked(state: RunState, *, is_record: bool) -> Offers:
    if not is_record:
        made = offers_of(state)
        again = (_rerun(), _replay()) if _is_whole(state, made) else ()
        return replace(made, offers=(*made.offers, *again))
    known = offers_of(state, can_reply=False) if state.is_over else Offers()
    title = known.title or tr("A past run.")
    return replace(known, title=title, offers=(_resume(), _rerun(), _replay()))


def _while_pausing(state: RunState) -> Offers:
    """Describe the time between a request to pause and the pause."""
    if any(call.status == "running" for call in state.step.calls):
        return Offers(tr("The run pauses when the tool has returned."))
    if state.step.reply is not None:
        return Offers(tr("The run pauses at the next point."))
    cut = Offer(
        tr("Cut the reply off"),
        tr("Stop waiting; the received part of the reply is kept."),
        (PauseRun(abort=True),),
    )
    return Offers(tr("The run pauses when the reply has arrived."), offers=(cut,))


def _is_whole(state: RunState, made: Offers) -> bool:
    """Return whether the run is over and has steps or a reply."""
    return state.is_over and bool(made.title) and bool(state.steps or state.step.reply)


def model_to_ask_about(
    state: RunState | None, now: RunModel | None, *, can_keep: bool = True
) -> RunModel | None:
    """Return the prompt's model if the run uses another one without the user's choice.

    Args:
        state: the run.
        now: the model that a new run of the prompt would use; None if unknown.
        can_keep: whether the run's model is available here; if not, an earlier rejection is
            ignored.
    """
    if state is None or now is None or now.is_same(state.answered_by):
        return None
    return None if can_keep and state.declined is not None and now.is_same(state.declined) else now


def _with_model_asked(offers: Offers, state: RunState, now: RunModel, *, can_keep: bool) -> Offers:
    """Return the offers when a model must be chosen first.

    Args:
        offers: the offers without that question.
        state: the run.
        now: the model that its prompt requests.
        can_keep: whether the run's model is available here.
    """
    has, other = state.answered_by, now.name
    same_name = has.name == other
    if same_name:
        other = f"{other}, {now.server}"
    keep = Offer(
        tr("Continue with {model}").format(model=has.name),
        tr("The run keeps its model."),
        (ChooseModel(has, now),),
        is_primary=True,
    )
    is_fault = is_of_model(state)
    change_to = tr("Change to {model} and try again") if is_fault else tr("Change to {model}")
    change = Offer(
        change_to.format(model=other),
        tr("Later requests are sent to it, with the conversation so far."),
        ask="switch",
        is_primary=not can_keep,
    )
    stop = Offer(tr("Stop"), tr("End the run here."), (StopRun(),))
    words = tr("The prompt now requests {other}; this run uses {model}.")
    if not can_keep:
        words = tr("The prompt now requests {other}; {model} is not configured here.")
    detail = words.format(other=other, model=has.name)
    ways: tuple[Offer, ...] = (keep, change) if can_keep else (change,)
    if can_keep and is_fault:
        ways = (replace(change, is_primary=True), replace(keep, is_primary=False))
    if state.is_over:
        others = (
            each for each in offers.offers if each.edit is None or each.edit.kind != "send_back"
        )
        ways = tuple(replace(each, is_primary=False) for each in ways)
        return replace(offers, detail=detail, offers=(*ways, *others))
    return Offers(tr("Which model continues?"), detail, offers=(*ways, stop))
