"""Choosing and writing a stand-in for a tool."""

from __future__ import annotations

import json
from typing import assert_never

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from studio.bridge.inputs import ABSENT
from studio.bridge.inputs_check import read_json
from studio.core.text.values import Json
from studio.core.tools.mock import (
    MOCK_TITLES,
    AskMock,
    FixedMock,
    Mock,
    RecordedMock,
    SequenceMock,
    TemplateMock,
)
from studio.ui.inputs.growing_text import GrowingText
from studio.ui.parts.colours import paint_text
from studio.ui.theme import Theme

_KINDS: tuple[type[Mock] | None, ...] = (None, FixedMock, SequenceMock, TemplateMock, AskMock)
_HINTS = {
    FixedMock: "The answer to every call: JSON, or plain text",
    SequenceMock: "One answer a line, given one call after the other",
    TemplateMock: "It is sunny in {city}",
}


class MockEditor(QWidget):
    """A combo, placed by the owner, and where the stand-in has one, its text."""

    mock_changed = Signal(object)  # Mock | None

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Mock | None = None
        self.kind = QComboBox()
        self.kind.setAccessibleName("What answers the calls")
        for kind in _KINDS:
            self.kind.addItem("The tool itself" if kind is None else f"Mock: {MOCK_TITLES[kind]}")
        self.text = GrowingText()
        self.text.setAccessibleName("What the mock answers")
        self._label = QLabel("Answered by")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.text)
        self.kind.activated.connect(self._chosen)
        self.text.textChanged.connect(self._typed)
        self.set_theme(theme)
        self.show_mock(None)

    @property
    def chooser(self) -> tuple[QWidget, QWidget]:
        """Label and combo, for the owner to place among its other switches."""
        return self._label, self.kind

    def show_mock(self, mock: Mock | None) -> None:
        """Show a tool's stand-in, without telling of a change."""
        if mock == self._shown and self.kind.currentIndex() == self._index(mock):
            self._arrange(mock)
            return
        self._shown = mock
        if isinstance(mock, RecordedMock) and self.kind.count() == len(_KINDS):
            self.kind.addItem(f"Mock: {MOCK_TITLES[RecordedMock]}")
        self.kind.setCurrentIndex(self._index(mock))
        self.text.blockSignals(True)
        self.text.setPlainText(_text_of(mock))
        self.text.blockSignals(False)
        self._arrange(mock)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        paint_text(self._label, theme.muted)
        self.text.setStyleSheet(
            f"QPlainTextEdit {{ background: {theme.surface}; border: 1px solid {theme.border};"
            f" border-radius: 5px; padding: 1px 3px; }}"
            f"QPlainTextEdit:focus {{ border-color: {theme.accent}; }}"
        )

    def _arrange(self, mock: Mock | None) -> None:
        hint = _HINTS.get(type(mock)) if mock is not None else None
        self.setHidden(hint is None)
        self.text.setPlaceholderText(hint or "")

    def _index(self, mock: Mock | None) -> int:
        if mock is None:
            return 0
        return _KINDS.index(type(mock)) if type(mock) in _KINDS else len(_KINDS)

    def _chosen(self, index: int) -> None:
        if index >= len(_KINDS):
            return
        mock = _mock_of(_KINDS[index], self.text.toPlainText())
        self._shown = mock
        self._arrange(mock)
        self.mock_changed.emit(mock)

    def _typed(self) -> None:
        index = self.kind.currentIndex()
        if 0 < index < len(_KINDS):
            mock = _mock_of(_KINDS[index], self.text.toPlainText())
            self._shown = mock
            self.mock_changed.emit(mock)


def _mock_of(kind: type[Mock] | None, text: str) -> Mock | None:
    if kind is FixedMock:
        return FixedMock(_read(text))
    if kind is SequenceMock:
        return SequenceMock(tuple(_read(line) for line in text.splitlines() if line.strip()))
    if kind is TemplateMock:
        return TemplateMock(text)
    return AskMock() if kind is AskMock else None


def _read(text: str) -> Json:
    """JSON where it is some, else the text itself."""
    entry = read_json(text)
    return text if entry.problem or entry.value is ABSENT else entry.value


def _text_of(mock: Mock | None) -> str:
    match mock:
        case None | AskMock() | RecordedMock():
            return ""
        case FixedMock(value):
            return _write(value)
        case SequenceMock(values):
            return "\n".join(_write(value) for value in values)
        case TemplateMock(template):
            return template
        case _:
            assert_never(mock)


def _write(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
