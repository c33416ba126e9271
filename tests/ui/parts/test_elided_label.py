from __future__ import annotations

from pytestqt.qtbot import QtBot

from studio.ui.parts.kit import ElidedLabel


def test_a_word_is_cut_at_its_end_and_goes_before_a_letter_is_left_of_it(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.show_text("2 messages, 4 pictures")
    label.show()
    whole = label.fontMetrics().horizontalAdvance(label.whole)
    label.resize(whole + 4, 20)
    assert label.text() == label.whole
    label.resize(whole * 2 // 3, 20)
    assert label.text().startswith("2 messages")
    assert label.text().endswith("…")
    label.resize(label.fontMetrics().horizontalAdvance("2 …") + 1, 20)
    assert label.text() == ""
    assert label.toolTip() == label.whole
