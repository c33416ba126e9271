"""What is dropped or pasted from the desktop: files of this machine."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData

_LARGEST = 1_000_000
"""Bytes of a text that a field takes over."""


def dropped_files(data: QMimeData) -> list[Path]:
    """Every file and folder of this machine in it; none where something else is among them."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return paths if len(paths) == len(data.urls()) else []


def dropped_file(data: QMimeData) -> Path | None:
    """The first file of this machine among what is dropped."""
    paths = (Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return next((path for path in paths if path.is_file()), None)


def text_of(path: Path) -> str | None:
    """The text of a file; None where it is none, too long or cannot be read."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text.replace("\r\n", "\n")
