from __future__ import annotations

import base64
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QColor, QImage, QTextDocument
from pytestqt.qtbot import QtBot

from studio.core.prompty.document import MediaPart
from studio.ui.preview.cards.card import MediaView, read_picture
from studio.ui.preview.cards.text_body import TextBody

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


@pytest.fixture
def picture(qtbot: QtBot, tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    image = QImage(300, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("#3377aa"))
    assert image.save(str(folder / "pic.png"))
    return folder / "pic.png"


def test_a_picture_in_the_folder_is_read(picture: Path) -> None:
    read = read_picture("pic.png", picture.parent)
    assert read.image is not None
    assert read.note.startswith("300 × 200")


def test_nothing_else_is_touched(picture: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.png"
    outside.write_bytes(picture.read_bytes())
    (picture.parent / "link.png").symlink_to(outside)
    for source, why in (
        ("../secret.png", "outside"),
        (str(outside), "outside"),
        ("link.png", "outside"),
        ("https://example.com/a.png", "not loaded"),
        ("file:///etc/passwd", "not loaded"),
        ("gone.png", "No such file"),
        ("a\0.png", "NUL character"),
    ):
        read = read_picture(source, picture.parent)
        assert read.image is None
        assert why in read.note
    assert "not trusted" in read_picture("pic.png", None).note
    assert "larger than 10 bytes" in read_picture("pic.png", picture.parent, limit=10).note


def test_data_uris(picture: Path) -> None:
    data = base64.b64encode(picture.read_bytes()).decode()
    assert read_picture(f"data:image/png;base64,{data}", None).image is not None
    assert "base64" in read_picture("data:image/png;base64,%%%", None).note
    assert "too large" in read_picture("data:image/png;base64," + "A" * 100, None, limit=10).note
    assert read_picture("data:image/png;base64,AAAA", None).image is None
    assert read_picture("data:image/png;base64,AAAA", None).note.startswith("3 bytes")


def test_the_view_shows_the_picture_once_it_is_read(qtbot: QtBot, picture: Path) -> None:
    view = MediaView(MediaPart("image", "pic.png"), picture.parent)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitUntil(view._picture.isVisible)
    assert "300" in view._note.text()


def test_message_text_loads_nothing(qtbot: QtBot) -> None:
    body = TextBody()
    qtbot.addWidget(body)
    kind = QTextDocument.ResourceType.ImageResource.value
    nothing = body.loadResource(kind, QUrl("file:///etc/passwd"))
    assert isinstance(nothing, QImage)  # with None Qt opens the file itself
    assert (nothing.width(), nothing.height()) == (1, 1)
    assert not body.openLinks()
