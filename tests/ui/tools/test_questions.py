"""What a server wants to know is filled in by the user, refused, or left."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.core.tools.mcp.connection import InputGiven, InputWanted
from studio.ui.tools.questions import InputDialog
from studio.viewmodels.tools.calls import InputQuestion

SEAT = {
    "type": "object",
    "properties": {
        "row": {"type": "integer", "description": "Which row"},
        "side": {"type": "string", "enum": ["left", "right"]},
        "window": {"type": "boolean", "default": True},
    },
    "required": ["row"],
}


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def opened(parent: QWidget, wanted: InputWanted) -> tuple[InputDialog, list[InputGiven]]:
    dialog = InputDialog(InputQuestion(7, wanted), parent)
    given: list[InputGiven] = []
    dialog.given.connect(lambda number, each: given.append(each) if number == 7 else None)
    dialog.open()
    return dialog, given


def test_a_form_is_given_once_it_is_filled_in(parent: QWidget) -> None:
    dialog, given = opened(parent, InputWanted("Which\u202e seat?", SEAT, server="booking"))
    assert "U+202E" in dialog.message.text()
    dialog.accept_button.click()
    assert not given
    assert "attention" in dialog.remark.text()
    dialog.form.set_values({"row": 3, "side": "left"})
    dialog.accept_button.click()
    assert given == [InputGiven("accept", {"row": 3, "side": "left"})]


def test_it_can_be_refused_or_left(parent: QWidget) -> None:
    dialog, given = opened(parent, InputWanted("Which seat?", SEAT))
    dialog.decline_button.click()
    other, left = opened(parent, InputWanted("Which seat?", SEAT))
    other.reject()
    assert (given, left) == ([InputGiven("decline")], [InputGiven("cancel")])


def test_one_that_nobody_waits_for_answers_nothing(parent: QWidget) -> None:
    dialog, given = opened(parent, InputWanted("Which seat?", SEAT))
    dialog.withdraw()
    assert not given


@pytest.mark.parametrize(
    ("address", "may"), [("https://example.com/pay?x=1", True), ("file:///etc/passwd", False)]
)
def test_only_a_page_of_the_web_can_be_opened(parent: QWidget, address: str, may: bool) -> None:
    dialog, _ = opened(parent, InputWanted("Log in", url=address))
    assert address in dialog.remark.text()
    assert dialog.accept_button.isEnabled() is may
    dialog.withdraw()
