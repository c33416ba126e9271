"""Make the README's pictures and animated tour: `make tour`. It drives the real window.

    python tests/tour.py OUT.webp

Needs Pillow, which nothing else here needs: Qt reads animated pictures and writes none.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from studio.core.agent.values.step import PausePoint

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from PySide6.QtCore import QRect, Qt  # noqa: E402
from PySide6.QtGui import QColor, QImage, QPainter  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QApplication, QDialog, QWidget  # noqa: E402

from studio.ui.app.workbench import Workbench  # noqa: E402
from studio.ui.style.theme import DARK, ui_font  # noqa: E402
from tests.shots import open_workbench, stands_at, wait, wait_until  # noqa: E402
from tests.support.tool_ids import tool_id  # noqa: E402

SIZE = (1280, 800)
CAPTION_HEIGHT = 44
QUALITY = 44
MOST_BYTES = 3_000_000
READ_MS, LOOK_MS, KEY_MS = 2600, 1400, 160


class Film:
    """Frames, each with its caption and how long it stands."""

    def __init__(self) -> None:
        self.frames: list[tuple[Image.Image, int]] = []
        self.caption = ""

    def take(self, window: QWidget, milliseconds: int, over: QWidget | None = None) -> None:
        """Add a frame of the window, with a dialog over it where there is one."""
        picture = window.grab().toImage()
        frame = QImage(SIZE[0], SIZE[1] + CAPTION_HEIGHT, QImage.Format.Format_RGB888)
        frame.fill(QColor("#1c2230"))
        painter = QPainter(frame)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRect(0, 0, *SIZE), picture)
        if over is not None:
            painter.fillRect(QRect(0, 0, *SIZE), QColor(0, 0, 0, 90))
            shown = over.grab().toImage()
            left, top = (SIZE[0] - shown.width()) // 2, (SIZE[1] - shown.height()) // 2
            painter.drawImage(left, top, shown)
        painter.setPen(QColor("#f2f4f8"))
        painter.setFont(ui_font(14))
        below = QRect(0, SIZE[1], SIZE[0], CAPTION_HEIGHT)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, self.caption)
        painter.end()
        data = bytes(frame.constBits())
        image = Image.frombuffer(
            "RGB", (frame.width(), frame.height()), data, "raw", "RGB", frame.bytesPerLine(), 1
        )
        self.frames.append((image.copy(), milliseconds))

    def save(self, out: Path) -> None:
        """Write the film, for ever repeated."""
        out.parent.mkdir(parents=True, exist_ok=True)
        first, *rest = [image for image, _ in self.frames]
        first.save(
            out,
            save_all=True,
            append_images=rest,
            duration=[milliseconds for _, milliseconds in self.frames],
            loop=0,
            quality=QUALITY,
            method=6,
        )


def shoot(workbench: Workbench, film: Film, home: Path, pictures: Path) -> None:
    """The tour of the README, in the window; two of its pictures stand alone, too."""
    window = workbench.window
    window.tabs.open(home / "data" / "examples" / "react-agent.prompty")
    wait_until(lambda: workbench.is_settled, "the example stands")
    film.caption = "An agent in a file: its text, its tools, and what the model will get"
    film.take(window, READ_MS)
    _type(workbench, film)
    film.caption = "The exact request, for every provider; each value leads to where it was written"
    workbench.preview_pane.tabs.setCurrentIndex(1)
    wait(300)
    film.take(window, READ_MS)
    workbench.preview_pane.tabs.setCurrentIndex(0)
    film.caption = "Its tools: see how each protocol describes them to the model, and try one"
    window.docks.show("tools")
    workbench.tools_pane.choose(tool_id(workbench.tools_pane.registry, "calculator"))
    wait(400)
    film.take(window, READ_MS)
    window.docks.show("outline")
    _step(workbench, film, pictures)
    film.caption = "Export: checked and read back; what a form cannot carry is named first"
    window.actions_by_id["file.export"].trigger()
    wait_until(lambda: isinstance(_dialog(), QDialog), "the export stands")
    wait(800)
    film.take(window, READ_MS + 600, over=_dialog())
    dialog = _dialog()
    if dialog is not None:
        dialog.close()
    film.caption = "Light and dark; everything works from the keyboard"
    window.set_theme(DARK)
    wait(500)
    film.take(window, READ_MS)
    window.grab().save(str(pictures / "studio-dark.png"))


def _type(workbench: Workbench, film: Film) -> None:
    film.caption = "The preview follows every key, before the file is saved"
    page = workbench.window.tabs.current
    if page is None:
        raise SystemExit("no tab is open")
    line = page.editor.text()[: page.editor.text().index("Question:")].count("\n") + 1
    page.editor.go_to_line(line)
    QTest.keyClick(page.editor, Qt.Key.Key_End)
    for char in " Be exact.":
        QTest.keyClick(page.editor, char)
        wait(250)
        film.take(workbench.window, KEY_MS)
    wait_until(lambda: workbench.is_settled, "the preview stands")
    film.take(workbench.window, LOOK_MS)


def _step(workbench: Workbench, film: Film, pictures: Path) -> None:
    window = workbench.window
    window.docks.show("run")
    for place, caption in (
        (PausePoint.BEFORE_REQUEST, "Step through the loop: the prompt, before it is sent"),
        (
            PausePoint.REPLY,
            "… the model's reply, read as thought, action, arguments; edit it here if you like",
        ),
        (PausePoint.TOOL_CALL, "… the call, before the tool runs"),
        (PausePoint.OBSERVATION, "… the observation, before it goes to the model"),
    ):
        film.caption = caption
        window.actions_by_id["run.into"].trigger()
        wait_until(stands_at(workbench, place), f"the run stands at {place}")
        wait(500)
        film.take(window, READ_MS)
        if place is PausePoint.TOOL_CALL:
            window.grab().save(str(pictures / "studio-light.png"))
    film.caption = (
        "… and on to the final answer. Every step stays: go back, branch, compare, replay"
    )
    window.actions_by_id["run.start"].trigger()
    wait_until(
        lambda: workbench.run.state is not None and workbench.run.state.is_over, "the run ends"
    )
    wait(600)
    film.take(window, READ_MS)


def _dialog() -> QWidget | None:
    return QApplication.activeModalWidget()


def main() -> None:
    """Film, and say how large it is."""
    out = Path(sys.argv[1])
    application = QApplication.instance() or QApplication([])
    film = Film()
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        workbench = open_workbench(home, SIZE)
        shoot(workbench, film, home, out.parent)
        for page in workbench.window.tabs.pages():
            page.editor.document().setModified(False)
        workbench.window.close()
        workbench.close()
    film.save(out)
    size = out.stat().st_size
    print(
        f"{out}: {len(film.frames)} frames, {size / 1e6:.2f} MB (target ≤ {MOST_BYTES / 1e6:.0f})"
    )
    application.processEvents()
    if size > MOST_BYTES:
        sys.exit(1)


if __name__ == "__main__":
    main()
