from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QTextCursor
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.core.settings import Settings
from studio.ui.editor.page.page import EditorPage
from studio.viewmodels.app.notifications import Notifications
from studio.viewmodels.document.swap import SwapFolder
from tests.support.drop import drop_files
from tests.support.modal import answering

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

SECTION = "user:\nLook: \n"
PROMPTY = "---\nname: x\ninputs:\n  city:\n    kind: string\n---\nuser:\n{{ city }} \n"


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> Iterator[EditorPage]:
    folder = tmp_path / "prompts"
    folder.mkdir()
    path = folder / "a.prompty"
    path.write_text(SECTION, encoding="utf-8")
    page = EditorPage(Notifications(), SwapFolder(tmp_path / "swaps"), Settings())
    qtbot.addWidget(page)
    page.resize(600, 400)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    page.open(path)
    qtbot.waitUntil(lambda: page.editor.reading.now() is not None)  # it is tried apart first
    yield page
    page.close_document()
    page.editor.close()
    page.close()


def drop(page: EditorPage, *paths: Path) -> None:
    """Drop files with real events, at the caret."""
    drop_files(page.editor.viewport(), *paths, at=page.editor.cursorRect().center())


def caret_after(page: EditorPage, words: str) -> None:
    page.editor.moveCursor(QTextCursor.MoveOperation.Start)
    cursor = page.editor.textCursor()
    cursor.setPosition(page.editor.text().index(words) + len(words))
    page.editor.setTextCursor(cursor)


def test_a_dropped_picture_is_a_media_token_with_a_relative_path(
    page: EditorPage, tmp_path: Path
) -> None:
    picture = tmp_path / "my pictures" / "cat (1).png"
    picture.parent.mkdir()
    picture.touch()
    caret_after(page, "Look: ")
    drop(page, picture)
    assert page.editor.text() == "user:\nLook: ![image](../my pictures/cat (1).png)\n"
    page.editor.undo()
    assert page.editor.text() == SECTION


def test_sound_and_other_files_have_their_own_words(page: EditorPage, tmp_path: Path) -> None:
    for name in ("a.mp3", "b.pdf"):
        (tmp_path / "prompts" / name).touch()
    caret_after(page, "Look: ")
    drop(page, tmp_path / "prompts" / "a.mp3", tmp_path / "prompts" / "b.pdf")
    assert "![audio](a.mp3)![file](b.pdf)" in page.editor.text()


def test_the_prompty_dialect_gets_an_input_in_one_step(page: EditorPage, tmp_path: Path) -> None:
    picture = tmp_path / "prompts" / "City Map.png"
    picture.touch()
    page.editor.load(PROMPTY)
    caret_after(page, "{{ city }} ")
    drop(page, picture)
    text = page.editor.text()
    document = parse(text)
    declared = document.input("city_map")
    assert declared is not None
    assert (declared.kind, declared.default) == ("image", "City Map.png")
    assert text.endswith("{{ city }} {{ city_map }}\n")
    assert not document.problems
    page.editor.undo()
    assert page.editor.text() == PROMPTY


def test_what_was_pasted_at_the_end_stays_in_view(page: EditorPage, tmp_path: Path) -> None:
    """The dialect's new input stands in the front matter and pushes the text down."""
    picture = tmp_path / "cat.png"
    picture.touch()
    page.editor.load(PROMPTY + "Line\n" * 60 + "Look: ")
    page.editor.moveCursor(QTextCursor.MoveOperation.End)
    lines = page.editor.blockCount()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(picture))])
    QGuiApplication.clipboard().setMimeData(data)
    page.editor.paste()
    assert page.editor.blockCount() > lines
    assert page.editor.viewport().rect().contains(page.editor.cursorRect().center())


def test_front_matter_gets_a_reference(page: EditorPage, tmp_path: Path) -> None:
    schema = tmp_path / "prompts" / "schema.json"
    schema.touch()
    page.editor.load("---\nname: x\noutputs: \n---\nuser:\nHi\n")
    caret_after(page, "outputs: ")
    drop(page, schema)
    assert "outputs: ${file:schema.json}\n" in page.editor.text()


def test_a_dropped_prompt_is_opened(page: EditorPage, tmp_path: Path, qtbot: QtBot) -> None:
    other = tmp_path / "prompts" / "b.prompty"
    other.touch()
    with qtbot.waitSignal(page.request_open) as asked:
        drop(page, other)
    assert asked.args == [other]
    assert page.editor.text() == SECTION


@pytest.mark.parametrize("accept", [True, False])
def test_a_pasted_picture_is_saved_after_asking(
    page: EditorPage, tmp_path: Path, accept: bool
) -> None:
    image = QImage(4, 3, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    QGuiApplication.clipboard().setImage(image)
    caret_after(page, "Look: ")
    with answering(QInputDialog, QInputDialog.accept if accept else QInputDialog.reject):
        page.editor.paste()
        saved = tmp_path / "prompts" / "image-1.png"
    assert saved.exists() is accept
    assert ("![image](image-1.png)" in page.editor.text()) is accept
    if accept:
        assert QImage(str(saved)).size() == image.size()


def test_a_pasted_picture_never_takes_a_files_place(page: EditorPage, tmp_path: Path) -> None:
    kept = tmp_path / "prompts" / "cat.png"
    kept.write_bytes(b"mine")
    image = QImage(4, 3, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    QGuiApplication.clipboard().setImage(image)

    def name(dialog: QInputDialog) -> None:
        dialog.setTextValue("cat.png")
        dialog.accept()

    with answering(QInputDialog, name):
        page.editor.paste()
    assert kept.read_bytes() == b"mine"
    assert page.editor.text() == SECTION
