from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from studio.application.run.text import Block, Blocks, Piece, body, json_block, title
from studio.ui.run.styled_text import StyledText
from studio.ui.style.theme import DARK
from tests.support.themes import wear


def _shown(qtbot: QtBot, blocks: Blocks) -> StyledText:
    view = StyledText("Text", "Nothing here.")
    qtbot.addWidget(view)
    view.show_blocks(blocks)
    return view


def test_blocks_are_lines_of_text(qtbot: QtBot) -> None:
    view = _shown(qtbot, (title("Head"), body("one\ntwo"), Block("added", (Piece("a\nb"),))))

    assert view.toPlainText() == "Head\none\ntwo\na\nb"


@pytest.mark.parametrize(
    "after",
    [
        (body("one two"),),
        (body("one"), body("more")),
        (body("other"),),
        (Block("body", (Piece("one"), Piece(" bold", "strong"))),),
        (),
        (title("first"), body("one")),
    ],
)
def test_changing_shows_the_same_as_showing_anew(qtbot: QtBot, after: Blocks) -> None:
    changed = _shown(qtbot, (body("one"),))
    changed.show_blocks(after)
    anew = _shown(qtbot, after)

    assert changed.toPlainText() == anew.toPlainText()
    assert changed.toHtml() == anew.toHtml()


def test_a_stream_is_appended_to(qtbot: QtBot) -> None:
    text = "Thought: I will look it up, as the question asks. 😀\nAction: lookup"
    view = _shown(qtbot, (body(""),))
    changes: list[tuple[int, int, int]] = []
    view.document().contentsChange.connect(lambda *change: changes.append(change))
    for end in range(0, len(text) + 1, 5):
        view.show_blocks((body(text[:end]),))

    assert view.toPlainText() == text[:end]
    assert all(removed == 0 for _, removed, _ in changes)


def test_a_theme_changes_colours_and_nothing_else(qtbot: QtBot) -> None:
    view = _shown(qtbot, (json_block({"a": [1, "x", None]}),))
    before, html = view.toPlainText(), view.toHtml()
    wear(DARK)

    assert view.toPlainText() == before
    assert view.toHtml() != html


def test_finding_goes_round(qtbot: QtBot) -> None:
    view = _shown(qtbot, (body("one two one"),))

    assert view.find_next("one")
    first = view.textCursor().selectionStart()
    assert view.find_next("one")
    assert view.textCursor().selectionStart() != first
    assert view.find_next("one")
    assert view.textCursor().selectionStart() == first
    assert not view.find_next("nowhere")


def test_a_character_that_turns_the_text_round_is_shown_by_its_code(qtbot: QtBot) -> None:
    view = _shown(qtbot, (body("safe \u202egnp.exe"),))
    assert view.toPlainText() == "safe ⟨U+202E⟩gnp.exe"


def test_a_selection_ends_with_the_text_that_it_was_made_in(qtbot: QtBot) -> None:
    view = _shown(qtbot, (body("one two three"),))
    view.selectAll()
    view.show_blocks((body("something else"),))
    assert not view.textCursor().hasSelection()


def test_a_line_of_megabytes_is_cut_and_says_so(qtbot: QtBot) -> None:
    view = _shown(qtbot, (body("short\n" + "9" * 4_000_000 + "\nlast"),))
    first, long, last = view.toPlainText().split("\n")
    assert (first, last) == ("short", "last")
    assert len(long) < 51_000
    assert long.endswith("[shortened; Copy copies the whole line]")
