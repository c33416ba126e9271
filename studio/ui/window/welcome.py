"""The page shown when no prompt is open: examples, recent files, templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.core.resource_files import resource
from studio.ui.style.icons import icon

_FIELD = re.compile(r"^(name|description):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_ORDER = (
    "chat", "react-agent", "tool-calling-agent", "json-action-agent",
    "prompt-section", "react-agent-trustgraph", "instructions-prompt-cheshire-cat",
)  # fmt: skip
_ICONS = {
    "chat": "message-square",
    "react-agent": "brain",
    "tool-calling-agent": "wrench",
    "json-action-agent": "braces",
    "prompt-section": "messages-square",
    "react-agent-trustgraph": "brain",
    "instructions-prompt-cheshire-cat": "braces",
}
_MOST_RECENT = 6
_TWO_COLUMNS = 680


@dataclass(frozen=True, slots=True)
class BundledPrompt:
    """A prompt that comes with the studio."""

    path: Path
    """Where it is."""

    name: str
    """Its `name`."""

    description: str
    """Its `description`."""


def bundled(folder: str) -> tuple[BundledPrompt, ...]:
    """The prompts of `resources/<folder>`, the simplest first."""
    found = []
    for path in resource(folder).glob("*.prompty"):
        # Only two lines are wanted here; the parser is not needed before the first paint.
        head = path.read_text(encoding="utf-8")[:2000].split("\n---", 1)[0]
        fields = dict(reversed(_FIELD.findall(head)))
        name = fields.get("name", path.stem).removeprefix("New ")
        found.append(
            BundledPrompt(path, name[:1].upper() + name[1:], fields.get("description", ""))
        )
    order = {stem: number for number, stem in enumerate(_ORDER)}
    return tuple(sorted(found, key=lambda each: (order.get(each.path.stem, 99), each.name)))


class WelcomePage(QScrollArea):
    """Every way to begin."""

    request_example = Signal(Path)  # Path of the bundled example
    request_template = Signal(Path)  # Path of the bundled template
    request_open = Signal(Path)
    request_new = Signal()
    request_open_dialog = Signal()
    request_folder = Signal()
    request_action = Signal(str)  # id of an action of the window

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setAccessibleName(self.tr("Welcome"))
        self._names: tuple[str, ...] = ()
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(32)

    def _build(self) -> None:
        """Make the page; only when it is first shown, since most starts open a file."""
        inside = QWidget()
        inside.setMaximumWidth(920)
        column = QVBoxLayout(inside)
        column.setContentsMargins(40, 40, 40, 32)
        column.setSpacing(8)
        title = QLabel("Prompt Studio")
        title.setProperty("scale", "display")
        column.addWidget(title)
        intro = QLabel(
            self.tr(
                "Write prompts and agents as files, see what the model gets, step through the run."
            )
        )
        intro.setProperty("muted", True)
        intro.setWordWrap(True)
        column.addWidget(intro)
        column.addSpacing(16)
        column.addLayout(self._buttons())
        column.addSpacing(20)
        self._columns.addLayout(self._examples(), 3)
        self._columns.addLayout(self._right(), 2)
        column.addLayout(self._columns)
        column.addStretch(1)
        outside = QWidget()
        row = QHBoxLayout(outside)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(inside, 100)
        row.addStretch(1)
        self.setWidget(outside)
        self._fill_recent()

    def showEvent(self, event: QShowEvent) -> None:
        """Make the page when it is wanted."""
        if self.widget() is None:
            self._build()
        super().showEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Two columns where there is room for them."""
        direction = QBoxLayout.Direction
        wide = event.size().width() >= _TWO_COLUMNS
        self._columns.setDirection(direction.LeftToRight if wide else direction.TopToBottom)
        super().resizeEvent(event)

    def set_recent(self, names: Sequence[str]) -> None:
        """Show the files opened lately."""
        self._names = tuple(names[:_MOST_RECENT])
        if self.widget() is not None:
            self._fill_recent()

    def _fill_recent(self) -> None:
        while self._recent.count():
            item = self._recent.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        for name in self._names:
            path = Path(name)
            self._recent.addWidget(
                self._line(
                    path.name,
                    "file-text",
                    str(path),
                    partial(self.request_open.emit, path),
                )
            )
        if not self._names:
            empty = QLabel(self.tr("Files you open show up here."))
            empty.setProperty("muted", True)
            self._recent.addWidget(empty)

    def _buttons(self) -> QLayout:
        from studio.ui.parts.flow_layout import FlowLayout

        row = FlowLayout(spacing=8)
        for text, name, signal, primary in (
            (self.tr("New prompt"), "file-plus", self.request_new, True),
            (self.tr(" Open…"), "folder-open", self.request_open_dialog, False),
            (self.tr(" Open folder…"), "folder", self.request_folder, False),
        ):
            button = QPushButton(text)
            if not primary:
                button.setIcon(icon(name))
            button.setProperty("primary", primary)
            button.clicked.connect(signal)
            row.addWidget(button)
        return row

    def _examples(self) -> QVBoxLayout:
        box = QVBoxLayout()
        box.setSpacing(8)
        box.addWidget(_heading(self.tr("Try an example")))
        note = QLabel(
            self.tr(
                "They run at once on the small model that comes with the studio; no account needed."
            )
        )
        note.setProperty("muted", True)
        note.setWordWrap(True)
        box.addWidget(note)
        for example in bundled("examples"):
            button = _Card(example)
            button.clicked.connect(
                lambda _=False, path=example.path: self.request_example.emit(path)
            )
            box.addWidget(button)
        box.addStretch(1)
        return box

    def _right(self) -> QVBoxLayout:
        box = QVBoxLayout()
        box.setSpacing(2)
        box.addWidget(_heading(self.tr("Recent")))
        box.addSpacing(6)
        box.addLayout(self._recent)
        box.addSpacing(20)
        box.addWidget(_heading(self.tr("New from template")))
        box.addSpacing(6)
        for template in bundled("templates"):
            box.addWidget(
                self._line(
                    template.name,
                    "file-plus",
                    template.description,
                    partial(self.request_template.emit, template.path),
                )
            )
        box.addSpacing(20)
        box.addWidget(_heading(self.tr("Learn")))
        box.addSpacing(6)
        for text, name, tip, action in (
            (self.tr("Tour of the window"), "flag", self.tr("Seven steps; Esc ends"), "help.tour"),
            (self.tr("User guide"), "circle-help", self.tr("It opens in a window"), "help.guide"),
            (
                self.tr("What is stored where"),
                "database",
                self.tr("Settings, runs and unsaved text: which folders hold them"),
                "help.storage",
            ),
        ):
            box.addWidget(
                self._line(
                    text,
                    name,
                    tip,
                    partial(self.request_action.emit, action),
                )
            )
        box.addStretch(1)
        return box

    def _line(self, text: str, name: str, tip: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName("line")
        button.setIcon(icon(name))
        button.setToolTip(f"{text}: {tip}" if tip else text)
        # A long name is cut at the side of a narrow window, and never makes the page wider.
        button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda _checked: act())
        return button


class _Mark(QWidget):
    """An icon, drawn when it is painted.

    A label's picture keeps the colours that it was made in, and stays empty when it was made before
    the first paint of the window.
    """

    def __init__(self, drawing: str) -> None:
        super().__init__()
        self._icon = icon(drawing)
        self.setFixedSize(20, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()


class _Card(QPushButton):
    """An example with its name and what it shows."""

    def __init__(self, example: BundledPrompt) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(self.tr("Example: {name}").format(name=example.name))
        self.setAccessibleDescription(example.description)
        mark = _Mark(_ICONS.get(example.path.stem, "file-text"))
        name = QLabel(example.name)
        name.setProperty("title", True)
        name.setWordWrap(True)
        text = QLabel(example.description)
        text.setProperty("muted", True)
        text.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(name)
        words.addWidget(text)
        row = QHBoxLayout(self)
        self._row = row
        row.setContentsMargins(14, 10, 14, 10)
        row.setSpacing(12)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        for label in (mark, name, text):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        """What the labels need."""
        return self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """What the labels need at least; a button's own is its whole text on one line."""
        return self._row.minimumSize()

    def hasHeightForWidth(self) -> bool:
        """The description wraps."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of the labels in that width."""
        return self._row.totalHeightForWidth(width)


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("scale", "section")
    return label
