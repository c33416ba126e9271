from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QImage
from PySide6.QtWidgets import QMenu, QTextBrowser
from pytestqt.qtbot import QtBot

from studio.ui.parts.text_views import ClosedText

TALL = 700
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


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


def test_a_link_shows_its_address_before_it_is_opened(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    view = ClosedText()
    qtbot.addWidget(view)
    link = QUrl("https://a.example/?q=1&r=\u202e2")
    view.anchorClicked.emit(link)
    (menu,) = view.findChildren(QMenu)
    address, opens = menu.actions()
    assert address.text() == "https://a.example/?q=1&&r=%E2%80%AE2"
    assert not address.isEnabled()
    assert opened == []
    opens.trigger()
    assert opened == [link]
    menu.close()


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "file://server/share/a.png",
        r"\\server\share",
        "javascript:a()",
        "a.md",
    ],
)
def test_what_is_no_web_page_is_never_opened(qtbot: QtBot, address: str) -> None:
    view = ClosedText()
    qtbot.addWidget(view)
    view.anchorClicked.emit(QUrl(address))
    assert view.findChildren(QMenu) == []
