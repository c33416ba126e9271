"""Lines above the tools that say how far the reading of a large description is, and can end it."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from studio.core.text.invisible import reveal
from studio.core.tools.openapi.progress import ReadingProgress
from studio.ui.style.colors import paint_text

_MEGABYTE = 1_000_000


class ReadingBars(QWidget):
    """A line for each description that is being read; nothing where none is."""

    request_stop = Signal(str)  # key of the source whose description is no longer wanted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: dict[str, ReadingBar] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.hide()

    @property
    def shown(self) -> tuple[ReadingBar, ...]:
        """The lines, from the top."""
        return tuple(self._bars.values())

    def show_progress(self, key: str, progress: ReadingProgress) -> None:
        """Say how far the reading of a source's description is."""
        bar = self._bars.get(key)
        if bar is None:
            bar = self._bars[key] = ReadingBar(self)
            bar.stop_button.clicked.connect(partial(self._stop, key))
            self._column.addWidget(bar)
            self.show()
        bar.show_progress(progress)

    def end(self, key: str) -> None:
        """The description is read, or its reading was stopped."""
        bar = self._bars.pop(key, None)
        if bar is not None:
            self._column.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        self.setVisible(bool(self._bars))

    def clear(self) -> None:
        """Another document is shown."""
        for key in [*self._bars]:
            self.end(key)

    def _stop(self, key: str) -> None:
        self.request_stop.emit(key)


class ReadingBar(QWidget):
    """How far one reading is: in words, as a bar, and a button that stops it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.stop_button = QPushButton(self.tr("Stop"), self)
        self.stop_button.setAutoDefault(False)
        paint_text(self.words, "muted")
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(self.words)
        column.addWidget(self.progress)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 8)
        row.setSpacing(8)
        row.addLayout(column, 1)
        row.addWidget(self.stop_button)

    def show_progress(self, progress: ReadingProgress) -> None:
        """Say how far it is."""
        done, whole, name = progress.done, progress.whole, reveal(progress.name, lines=False)
        self.stop_button.setAccessibleName(self.tr("Stop reading {name}").format(name=name))
        self.progress.setMaximum(whole)  # 0 of 0 is shown as a bar that runs to and fro
        self.progress.setValue(done if whole else 0)
        match progress.stage:
            case "fetched" if not whole:
                words = self.tr("Fetching {name}: {done} MB")
            case "fetched":
                words = self.tr("Fetching {name}: {done} of {whole} MB")
            case "read":
                words = self.tr("Reading {name}: {done} of {whole} MB")
            case "operations":
                words = self.tr("Reading {name}: {done} of {whole} operations")
            case _:
                assert_never(progress.stage)
        is_counted = progress.stage == "operations"
        shown = [f"{each:,}" if is_counted else _megabytes(each) for each in (done, whole)]
        said = words.format(name=name, done=shown[0], whole=shown[1])
        self.words.setText(said)
        self.progress.setAccessibleName(said)


def _megabytes(letters: int) -> str:
    """As many as a user wants to know: 0.4, 13."""
    count = letters / _MEGABYTE
    return f"{count:.0f}" if count >= 10 else f"{count:.1f}"
