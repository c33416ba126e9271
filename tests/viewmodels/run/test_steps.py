from __future__ import annotations

from studio.application.run.cards.timeline import timeline_of
from tests.application.run.examples import at_second_request, done
from tests.support.run_rows import rows_with


def kinds(qtbot, state, words):
    cards = timeline_of(state).cards
    return [(cards[row].step, cards[row].kind) for row in rows_with(qtbot, state, cards, words)]


def test_words_are_found_wherever_they_were_said(qtbot) -> None:
    state = done()
    assert (1, "action") in kinds(qtbot, state, "CAPITAL of  france")
    assert kinds(qtbot, state, "Both are known")[0][0] == 2
    assert kinds(qtbot, state, "Rule 7") == [(1, "prompt")]
    assert kinds(qtbot, state, "nowhere") == []
    assert kinds(qtbot, state, "  ") == []
    assert rows_with(qtbot, None, (), "x") == ()


def test_what_a_prompt_repeats_is_not_found_again(qtbot) -> None:
    state = at_second_request()
    assert kinds(qtbot, state, "Observation: Paris") == [(2, "prompt")]
    assert (2, "prompt") not in kinds(qtbot, state, "Question:")
