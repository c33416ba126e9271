from __future__ import annotations

from studio.bridge.run_cards import timeline_of
from studio.bridge.run_search import rows_with
from tests.bridge.run_examples import at_second_request, done


def kinds(state, words):
    cards = timeline_of(state).cards
    return [(cards[row].step, cards[row].kind) for row in rows_with(state, cards, words)]


def test_words_are_found_wherever_they_were_said() -> None:
    state = done()
    assert (1, "action") in kinds(state, "CAPITAL of  france")
    assert kinds(state, "Both are known")[0][0] == 2
    assert kinds(state, "Rule 7") == [(1, "prompt")]
    assert kinds(state, "nowhere") == []
    assert kinds(state, "  ") == []
    assert rows_with(None, (), "x") == ()


def test_what_a_prompt_repeats_is_not_found_again() -> None:
    state = at_second_request()
    assert kinds(state, "Observation: Paris") == [(2, "prompt")]
    assert (2, "prompt") not in kinds(state, "Question:")
