from __future__ import annotations

from dataclasses import replace

from studio.application.run.cards.card import BADGES, badge_word
from studio.application.run.cards.timeline import Timeline, cards_of_step, timeline_of
from studio.core.agent.loop.machine import advance
from studio.core.agent.values.events import (
    AnswerEdited,
    CallDecided,
    Forked,
    MessagesEdited,
    Steered,
    Stopped,
)
from studio.core.wire.reply import Reply, Usage
from studio.viewmodels.run.controller import CARD_ROLE, StepListModel
from tests.application.run import examples as run
from tests.support.counted import calls_of


def _titles(timeline: Timeline) -> list[str]:
    return [card.title for card in timeline.cards]


def test_a_step_is_prompt_thought_action_observation() -> None:
    timeline = timeline_of(run.at_result())

    assert _titles(timeline) == ["Iteration 1 · Prompt", "Thought", "Action", "Observation"]
    assert timeline.cards[1].summary == "I need to look it up."
    assert timeline.cards[1].badges == ("warned",)
    assert timeline.cards[2].summary == 'lookup(fact="capital of France")'
    assert timeline.cards[3].summary == "Paris"
    assert timeline.cards[3].phase == "paused"


def test_the_final_answer_has_a_card_of_its_own() -> None:
    last = timeline_of(run.done()).cards[-1]

    assert (last.kind, last.phase) == ("final", "done")
    assert last.summary == "The answer is Paris, and 25."


def test_an_error_is_told_where_it_stands() -> None:
    cards = timeline_of(run.at_broken_reply()).cards

    assert [card.title for card in cards[-2:]] == ["Unreadable reply", "The reply is invalid"]
    assert cards[-1].phase == "error"


def test_a_stopped_reply_waits_for_nothing() -> None:
    cut = advance(run.answering(), Stopped(partial=Reply("Thought: I thi")))[0]
    broken = timeline_of(cut).cards[-1]
    silent = timeline_of(advance(run.answering(), Stopped())[0]).cards

    assert (broken.title, broken.summary) == ("Broken reply", "Thought: I thi")
    assert [card.kind for card in silent] == ["prompt"]


def test_a_badge_stands_on_the_card_that_was_touched() -> None:
    asked = run.Fold()
    asked.ask()
    asked.take(MessagesEdited(messages=run.messages()))
    asked.reply(run.FIRST)
    asked.read()
    asked.check()
    asked.take(CallDecided(call=0, decision="answer", text="Paris", by="person"))
    cards = {card.kind: card.badges for card in timeline_of(asked.state).cards}
    assert cards["prompt"] == ("edited",)
    assert cards["thought"] == ("warned",)
    assert cards["observation"] == ("answered",)

    ended = advance(run.at_answer(), AnswerEdited(text="Mine"))[0]
    last = timeline_of(ended).cards
    assert [card.kind for card in last if "edited" in card.badges] == ["final"]

    back = advance(run.at_call(), Forked(checkpoint=4))[0]
    assert [card.kind for card in timeline_of(back).cards if "forked" in card.badges] == ["action"]


def test_a_message_that_was_put_in_stands_among_those_it_joins() -> None:
    joined = advance(run.at_request(), Steered(text="Be brief.", joins=True))[0]
    waiting = advance(run.at_reply(), Steered(text="Be brief."))[0]

    first, later = timeline_of(joined).cards, timeline_of(waiting).cards
    assert [(card.kind, card.summary, card.facts) for card in first[1:]] == [
        ("message", "Be brief.", "")
    ]
    assert first[0].summary.startswith("3 messages")
    assert (later[1].kind, later[1].facts) == ("message", "for the next request")


def test_a_limit_is_told_after_the_last_step() -> None:
    last = timeline_of(run.at_limit()).cards[-1]

    assert (last.kind, last.title, last.phase) == ("error", "A limit was reached", "paused")


def test_a_streaming_reply_shows_its_newest_words() -> None:
    last = timeline_of(run.answering(), streaming=Reply("Thought: I look")).cards[-1]
    assert last.facts == "≈3 tok"

    assert (last.summary, last.phase) == ("Thought: I look", "live")


def test_cards_of_finished_steps_are_taken_over() -> None:
    first = timeline_of(run.long_run(3))
    grown = run.long_run(3)
    timeline = timeline_of(grown, timeline_of(grown))
    again = timeline_of(grown, timeline)

    assert _titles(timeline) == _titles(first)
    assert all(
        a is b
        for a, b in zip(
            timeline.cards[: timeline.settled], again.cards[: again.settled], strict=True
        )
    )


def test_a_thousand_steps_cost_only_the_newest() -> None:
    state = run.long_run(1000)
    before = timeline_of(state)

    assert calls_of(lambda: timeline_of(state, before)) < calls_of(lambda: timeline_of(state)) / 20


def test_the_model_tells_views_only_what_changed() -> None:
    model = StepListModel()
    model.show_timeline(timeline_of(run.at_call()))
    inserted: list[tuple[int, int]] = []
    changed: list[tuple[int, int]] = []
    model.rowsInserted.connect(lambda _, first, last: inserted.append((first, last)))
    model.dataChanged.connect(lambda first, last: changed.append((first.row(), last.row())))

    model.show_timeline(timeline_of(run.at_result()))

    assert inserted == [(3, 3)]
    assert changed == [(2, 2)]
    assert model.index(3).data(CARD_ROLE).summary == "Paris"


def test_the_model_forgets_rows_that_are_gone() -> None:
    model = StepListModel()
    model.show_timeline(timeline_of(run.done()))
    model.show_timeline(timeline_of(run.at_request()))

    assert [card.title for card in model.cards] == ["Iteration 1 · Prompt"]
    assert model.rowCount() == 1
    assert model.live_row() == 0


def test_a_reply_tells_its_tokens_time_and_cost() -> None:
    state = run.done()
    step = state.steps[0]
    assert step.reply is not None
    paid = replace(step.reply, usage=Usage(100, 20, cost=0.0125))
    live = replace(step, reply=paid, seconds_model=1.5, reply_origin="live")
    (card,) = [one for one in cards_of_step(live) if one.kind == "thought"]
    assert card.facts == "20 tok · 1.5 s · 13 tok/s · $0.0125"
    (again,) = [
        one
        for one in cards_of_step(replace(live, reply_origin="recorded"))
        if one.kind == "thought"
    ]
    assert again.facts == "20 tok · 1.5 s"


def test_every_badge_of_a_card_is_among_those_that_are_translated() -> None:
    states = (run.at_result(), run.done(), run.at_bad_arguments())
    worn = {badge for state in states for card in timeline_of(state).cards for badge in card.badges}

    assert {"warned", "invalid"} <= worn <= set(BADGES)
    assert [badge_word(badge) for badge in ("warned", "edited")] == ["warned", "edited"]
