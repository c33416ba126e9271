"""What the injection probe found."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.application.preview.probe import ProbeReport
from studio.core.text.span import Span
from studio.ui.parts.drawing import Drawing
from studio.ui.style.icons import icon

_MOST_ROWS = 6


class ProbePanel(QFrame):
    """One line when all is well; otherwise the holes, each leading to its place."""

    place_chosen = Signal(Span)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report: ProbeReport | None = None
        self._is_outdated = False
        self._picture = Drawing("shield-check", 16)
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        close = QToolButton()
        close.setIcon(icon("x"))
        close.setIconSize(QSize(14, 14))
        close.setToolTip(self.tr("Close"))
        close.setAccessibleName(self.tr("Close the probe's report"))
        close.clicked.connect(self.hide)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Holes found by the probe"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemActivated.connect(self._activate)
        self.list.itemClicked.connect(self._activate)
        row = QHBoxLayout()
        row.setContentsMargins(12, 4, 8, 4)
        row.setSpacing(8)
        row.addWidget(self._picture)
        row.addWidget(self.summary, 1)
        row.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(row)
        layout.addWidget(self.list)
        self.hide()

    def show_report(self, report: ProbeReport) -> None:
        """Show what was found."""
        self._report = report
        self._is_outdated = False
        self._draw()
        self.show()

    def mark_outdated(self) -> None:
        """Say that the prompt was changed since."""
        if self._report is not None and not self._is_outdated:
            self._is_outdated = True
            self._draw()

    def _draw(self) -> None:
        report = self._report
        if report is None:
            return
        good = not report.holes
        tone = "muted" if self._is_outdated else "success" if good else "error"
        self._picture.draw("shield-check" if good else "triangle-alert", tone)
        said = self.tr("{summary} The prompt was changed since: probe again.")
        self.summary.setText(
            said.format(summary=report.summary) if self._is_outdated else report.summary
        )
        self.list.clear()
        for hole in report.holes:
            item = QListWidgetItem(f"{hole.input}: {hole.attack.name}. {hole.change}")
            item.setData(Qt.ItemDataRole.UserRole, hole.span)
            item.setToolTip(self.tr("Tried with:\n{text}").format(text=hole.attack.text))
            self.list.addItem(item)
        self.list.setVisible(not good)
        if not good:
            rows = min(_MOST_ROWS, self.list.count())
            self.list.setFixedHeight(rows * max(24, self.list.sizeHintForRow(0)) + 4)

    def _activate(self, item: QListWidgetItem) -> None:
        span = item.data(Qt.ItemDataRole.UserRole)
        if span is not None:
            self.place_chosen.emit(span)
