"""A server's prompts and resources are opened, completed, and put into the prompt."""

from __future__ import annotations

import base64

import pytest
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.core.tools.registry import SourceStatus
from studio.core.tools.source import OfferArgument, OfferContent, ServerOffer, ToolPicture
from studio.ui.tools.offers_dialog import OffersDialog
from studio.ui.tools.try_panel import PicturesView

GREET = ServerOffer(
    "prompt",
    "greet",
    "Greets.",
    (OfferArgument("name", "Whom", required=True), OfferArgument("how")),
)
NOTE = ServerOffer("resource", "note://one", "A note")
SERVER = SourceStatus("mcp:s", "mcp: s", "ready", offers=(GREET, NOTE))


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def picture(height: int) -> ToolPicture:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image = QImage(400, height, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    image.save(buffer, "PNG")
    return ToolPicture("image/png", base64.b64encode(buffer.data().data()).decode())


def test_a_prompt_is_opened_with_its_arguments_and_put_in(qtbot: QtBot, parent: QWidget) -> None:
    dialog = OffersDialog(SERVER, parent)
    dialog.open()
    with qtbot.assertNotEmitted(dialog.request_open):
        dialog.open_button.click()
    assert "name" in dialog.about.text()
    dialog.fields["name"].setText("Ada")
    with qtbot.waitSignal(dialog.request_open) as asked:
        dialog.open_button.click()
    assert asked.args == ["mcp:s", GREET, {"name": "Ada", "how": ""}]
    content = OfferContent((("user", "Hello\u202e Ada"),), (picture(10),))
    dialog.show_content(NOTE, OfferContent((("", "another"),)), "")
    assert not dialog.insert_button.isEnabled()
    dialog.show_content(GREET, content, "")
    assert dialog.text.toPlainText() == "user:\nHello⟨U+202E⟩ Ada"
    assert dialog.pictures.isVisible()
    assert not dialog.keep_button.isEnabled()  # messages with roles are no text of an input
    with qtbot.waitSignal(dialog.request_insert) as put:
        dialog.insert_button.click()
    assert put.args == [content]


def test_a_resource_may_be_kept_as_a_file(qtbot: QtBot, parent: QWidget) -> None:
    dialog = OffersDialog(SERVER, parent)
    dialog.open()
    dialog.list.setCurrentRow(1)
    content = OfferContent((("", "A note."),))
    dialog.show_content(NOTE, content, "")
    with qtbot.waitSignal(dialog.request_keep) as kept:
        dialog.keep_button.click()
    assert kept.args == [NOTE, content]


def test_what_the_server_proposes_is_offered(qtbot: QtBot, parent: QWidget) -> None:
    dialog = OffersDialog(SERVER, parent)
    dialog.open()
    with qtbot.waitSignal(dialog.request_complete) as asked:
        qtbot.keyClicks(dialog.fields["name"], "A")
    assert asked.args == ["mcp:s", GREET, "name", "A", {"name": "A", "how": ""}]
    dialog.show_proposals(GREET, "name", ("Ada", "Alan"))
    completer = dialog.fields["name"].completer()
    assert completer is not None
    assert completer.completionCount() == 2
    dialog.reject()


def test_a_refusal_is_told(parent: QWidget) -> None:
    dialog = OffersDialog(SERVER, parent)
    dialog.open()
    dialog.list.setCurrentRow(1)
    assert not dialog.fields
    dialog.show_content(NOTE, OfferContent(()), "no such note")
    assert dialog.about.text() == "no such note"
    assert not dialog.insert_button.isEnabled()
    dialog.reject()


def test_a_picture_is_a_picture_and_anything_else_is_told(qtbot: QtBot) -> None:
    view = PicturesView()
    qtbot.addWidget(view)
    assert view.isHidden()
    view.show_pictures((picture(1000), ToolPicture("image/png", "bm8="), ToolPicture("a/b", "?")))
    assert view.labels[0].pixmap().height() == 180
    assert "400 × 1000" in view.labels[0].toolTip()
    assert "cannot be shown" in view.labels[1].text()
    assert "cannot be shown" in view.labels[2].text()
