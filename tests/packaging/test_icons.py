"""The icons of Windows and macOS are read by Qt in each size, and are the drawing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QImageReader

from tests.packaging.tool import load

ICONS = load("icons")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    windows, macos = ICONS.write(tmp_path_factory.mktemp("icons"))
    return windows, macos


def sizes(path: Path) -> dict[int, float]:
    """The pictures of a file: their width, and how much of each is not transparent."""
    reader = QImageReader(str(path))
    found = {}
    for index in range(reader.imageCount()):
        reader.jumpToImage(index)
        image = reader.read()
        assert not image.isNull(), reader.errorString()
        assert image.width() == image.height()
        steps = range(0, image.width(), max(1, image.width() // 16))
        solid = [image.pixelColor(x, y).alpha() > 0 for x in steps for y in steps]
        found[image.width()] = sum(solid) / len(solid)
    return found


def test_both_hold_every_size(made: tuple[Path, Path]) -> None:
    windows, macos = (sizes(path) for path in made)
    assert set(windows) == set(ICONS.WINDOWS)
    assert set(macos) == set(ICONS.MACOS.values())
    assert all(share > 0.5 for share in (*windows.values(), *macos.values()))
