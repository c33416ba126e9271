"""The icons of Windows and macOS, made of the one SVG: containers of PNGs in the sizes they want.

python packaging/icons.py build
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DRAWING = ROOT / "resources" / "icons" / "prompt-studio.svg"

WINDOWS = (16, 20, 24, 32, 40, 48, 64, 128, 256)
"""Pixels; Explorer and the task bar take them at 100 to 400 percent."""

MACOS: Mapping[bytes, int] = {
    b"ic11": 32,
    b"ic12": 64,
    b"ic07": 128,
    b"ic13": 256,
    b"ic08": 256,
    b"ic14": 512,
    b"ic09": 512,
    b"ic10": 1024,
}
"""Pixels of each entry by its type, as Apple's `iconutil` writes them for a set of icons."""


def ico(pictures: Mapping[int, bytes]) -> bytes:
    """An `.ico` file.

    Args:
        pictures: PNGs by their width in pixels, 256 at most.
    """
    head = struct.pack("<HHH", 0, 1, len(pictures))
    at = len(head) + 16 * len(pictures)
    entries, data = b"", b""
    for pixels, png in sorted(pictures.items()):
        size = pixels % 256  # 0 stands for 256
        entries += struct.pack("<BBBBHHII", size, size, 0, 0, 1, 32, len(png), at + len(data))
        data += png
    return head + entries + data


def icns(pictures: Mapping[bytes, bytes]) -> bytes:
    """An `.icns` file.

    Args:
        pictures: PNGs by the type of their entry.
    """
    body = b"".join(kind + struct.pack(">I", 8 + len(png)) + png for kind, png in pictures.items())
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def drawn(pixels: int) -> bytes:
    """The drawing as a PNG of that width."""
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(DRAWING)).render(painter)
    painter.end()
    made = QByteArray()
    buffer = QBuffer(made)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(made.data())


def write(folder: Path) -> tuple[Path, Path]:
    """Write both files; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    windows, macos = folder / "prompt-studio.ico", folder / "prompt-studio.icns"
    windows.write_bytes(ico({pixels: drawn(pixels) for pixels in WINDOWS}))
    macos.write_bytes(icns({kind: drawn(pixels) for kind, pixels in MACOS.items()}))
    return windows, macos


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    for made in write(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"):
        print(f"{made} ({made.stat().st_size:,} bytes)")
