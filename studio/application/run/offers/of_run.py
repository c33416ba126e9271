"""What can be done with a run that is shown: at its place, or with one that is over."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from studio.application.run.offers.at_pause import offers_of
from studio.application.run.offers.offer import Offer, Offers
from studio.application.words import translate
from studio.core.agent.values.state import RunState

_tr = partial(translate, "RunOffers")


def _resume() -> Offer:
    return Offer(
        _tr("Go on from here"),
        _tr(
            "Run on from this place with the model and the tools, as a new branch. "
            "What was is kept."
        ),
        is_primary=True,
        ask="resume",
    )


def _rerun() -> Offer:
    return Offer(
        _tr("Run again with these results"),
        _tr(
            "Run the prompt as it stands in the editor, with the inputs of this run. A tool call "
            "that it made already gets the same result without running; then both are compared."
        ),
        ask="rerun",
    )


def _replay() -> Offer:
    return Offer(
        _tr("Replay exactly"),
        _tr(
            "Go through this run again, with its replies, its tools' results and your own edits. "
            "No model is asked and no tool runs; breakpoints stop it."
        ),
        ask="replay",
    )


def offers_for(state: RunState, *, is_record: bool) -> Offers:
    """What can be done with a run: that of its place, or what can be made of one that is over."""
    if not is_record:
        made = offers_of(state)
        again = (_rerun(), _replay()) if _is_whole(state, made) else ()
        return replace(made, offers=(*made.offers, *again))
    told = offers_of(state, can_reply=False) if state.is_over else Offers()
    title = told.title or _tr("A run of the past.")
    return replace(told, title=title, offers=(_resume(), _rerun(), _replay()))


def _is_whole(state: RunState, made: Offers) -> bool:
    """Whether it is over and anything came of it."""
    return state.is_over and bool(made.title) and bool(state.steps or state.step.reply)
