from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QTextBrowser
from pytestqt.qtbot import QtBot

from studio.ui.parts.closed_text import ClosedText

TALL = 700


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "tall.png"
    image = QImage(10, TALL, QImage.Format.Format_RGB32)
    image.fill(0)
    assert image.save(str(path))
    return path


def _height(view: QTextBrowser, qtbot: QtBot, text: str, *, markdown: bool) -> float:
    qtbot.addWidget(view)
    view.resize(900, 300)
    (view.setMarkdown if markdown else view.setHtml)(text)
    view.show()
    return view.document().size().height()


@pytest.mark.parametrize("markdown", [True, False])
@pytest.mark.parametrize("by", ["path", "address"])
def test_no_local_picture_is_read(qtbot: QtBot, picture: Path, by: str, *, markdown: bool) -> None:
    name = str(picture) if by == "path" else QUrl.fromLocalFile(str(picture)).toString()
    text = f"![b]({name})" if markdown else f'<img src="{name}">'

    assert _height(QTextBrowser(), qtbot, text, markdown=markdown) >= TALL  # what Qt does itself
    assert _height(ClosedText(), qtbot, text, markdown=markdown) < TALL


def test_no_style_sheet_is_read(qtbot: QtBot, tmp_path: Path) -> None:
    sheet = tmp_path / "a.css"
    sheet.write_text("p { font-size: 70pt }", encoding="utf-8")
    text = f'<head><link rel="stylesheet" href="{sheet}"></head><p>word</p>'
    small = _height(ClosedText(), qtbot, "<p>word</p>", markdown=False)
    assert _height(ClosedText(), qtbot, text, markdown=False) == small
