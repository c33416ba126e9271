"""Editor for the mock of a tool."""

import time
from typing import assert_never

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from studio.application.inputs.fields import ABSENT, read_json
from studio.application.tools.saved_calls import ToolRecording
from studio.application.words import marked, tr
from studio.core.text.amounts import by_count
from studio.core.text.values import Json, text_or_json
from studio.core.tools import registry
from studio.ui.inputs.fields import GrowingText
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import column_of, named, toned_label
from studio.ui.style.theme import FollowsTheme, theme_in_use

_KINDS: tuple[type[registry.Mock] | None, ...] = (None, *registry.MOCK_TITLES)
_HINTS = {
    registry.FixedMock: marked("The answer to every call: JSON, or plain text"),
    registry.SequenceMock: marked("One answer per line, for one call after another"),
    registry.TemplateMock: marked("It is sunny in {city}"),
}


class MockEditor(FollowsTheme, QWidget):
    """A combo box, which the owner places, and the text of the mock if it has one."""

    mock_changed = Signal()
    request_recordings = Signal()  # find the tool's answers in earlier runs

    def __init__(self) -> None:
        super().__init__()
        self.mock: registry.Mock | None = None
        """Mock that answers instead of the tool, if there is one."""
        self._saved: tuple[registry.RecordedAnswer, ...] = ()
        self.kind = named(ComboBox(), tr("Who answers the calls"))
        for kind in _KINDS:
            self.kind.addItem(
                tr("The tool itself")
                if kind is None
                else tr("Mock: {mock_titles}").format(mock_titles=registry.MOCK_TITLES[kind])
            )
        self.text = named(GrowingText(), tr("Answer of the mock"))
        self._label = toned_label("muted", tr("Answered by"))
        self.runs = named(ComboBox(self), tr("Run with the recorded answers"))
        self.runs.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.runs.setMinimumContentsLength(18)
        self.runs.activated.connect(self._run_chosen)
        column_of(self.text, self.runs, on=self, margins=0)
        self.kind.activated.connect(self._chosen)
        self.text.textChanged.connect(self._typed)
        self.follow_theme()
        self.show_mock(None)

    @property
    def chooser(self) -> tuple[QWidget, QWidget]:
        """Label and combo box, for the owner to place among its other switches."""
        return self._label, self.kind

    def show_mock(self, mock: registry.Mock | None) -> None:
        """Show a tool's mock without a change signal."""
        if mock == self.mock and self.kind.currentIndex() == self._index(mock):
            self._arrange(mock)
            return
        self.mock = mock
        self.kind.setCurrentIndex(self._index(mock))
        self.text.blockSignals(True)
        self.text.setPlainText(_text_of(mock))
        self.text.blockSignals(False)
        self._arrange(mock)

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme = theme_in_use()
        self.text.setStyleSheet(
            f"QPlainTextEdit {{ background: {theme.surface}; border: 1px solid {theme.border};"
            f" border-radius: 5px; padding: 1px 3px; }}"
            f"QPlainTextEdit:focus {{ border-color: {theme.accent}; }}"
        )

    def offer_saved(self, answers: tuple[registry.RecordedAnswer, ...]) -> None:
        """Offer the answers of the tool's saved calls, before those of runs."""
        self._saved = answers
        if answers:
            self.show_recordings(())

    def show_recordings(self, found: tuple[ToolRecording, ...]) -> None:
        """Offer the runs with answers of the tool, and select the first."""
        if self.kind.currentIndex() != _KINDS.index(registry.RecordedMock):
            return
        self.runs.clear()
        if self._saved:
            words = by_count(len(self._saved), tr("The saved call"), tr("The {count} saved calls"))
            self.runs.addItem(words, registry.RecordedMock(self._saved))
        for each in found:
            when = time.strftime("%d %b %H:%M", time.localtime(each.started))
            words = tr("{when}: {answers}, {question}").format(
                when=when,
                answers=self._answers(len(each.answers)),
                question=" ".join(each.question.split()),
            )
            self.runs.addItem(words[:120], registry.RecordedMock(each.answers))
        self.runs.setEnabled(bool(self.runs.count()))
        if not self.runs.count():
            self.runs.addItem(tr("No earlier run has an answer of this tool"))
            self._tell(registry.RecordedMock(()))
            return
        rows = range(self.runs.count())
        held = next((row for row in rows if self.runs.itemData(row) == self.mock), None)
        self.runs.setCurrentIndex(held or 0)
        if held is None:
            self._run_chosen(0)

    def _answers(self, count: int) -> str:
        return by_count(count, tr("1 recorded answer"), tr("{count} recorded answers"))

    def _run_chosen(self, row: int) -> None:
        mock = self.runs.itemData(row)
        if isinstance(mock, registry.RecordedMock):
            self._tell(mock)

    def _tell(self, mock: registry.Mock | None) -> None:
        self.mock = mock
        self.mock_changed.emit()

    def _arrange(self, mock: registry.Mock | None) -> None:
        hint = _HINTS.get(type(mock)) if mock is not None else None
        is_recorded = isinstance(mock, registry.RecordedMock)
        if isinstance(mock, registry.RecordedMock) and not self.runs.count():
            self.runs.addItem(self._answers(len(mock.answers)), mock)
        self.setHidden(hint is None and not is_recorded)
        self.text.setHidden(hint is None)
        self.runs.setHidden(not is_recorded)
        self.text.setPlaceholderText(tr(hint) if hint else "")

    def _index(self, mock: registry.Mock | None) -> int:
        if mock is None:
            return 0
        return _KINDS.index(type(mock))

    def _chosen(self, index: int) -> None:
        mock = _mock_of(_KINDS[index], self.text.toPlainText())
        self.runs.clear()
        self._arrange(mock)
        self._tell(mock)
        if isinstance(mock, registry.RecordedMock):
            self.request_recordings.emit()

    def _typed(self) -> None:
        index = self.kind.currentIndex()
        if 0 < index < len(_KINDS):
            self._tell(_mock_of(_KINDS[index], self.text.toPlainText()))


def _mock_of(kind: type[registry.Mock] | None, text: str) -> registry.Mock | None:
    if kind is registry.FixedMock:
        return registry.FixedMock(_read(text))
    if kind is registry.SequenceMock:
        return registry.SequenceMock(
            tuple(_read(line) for line in text.splitlines() if line.strip())
        )
    if kind is registry.TemplateMock:
        return registry.TemplateMock(text)
    if kind is registry.RecordedMock:
        return registry.RecordedMock(())
    return registry.AskMock() if kind is registry.AskMock else None


def _read(text: str) -> Json:
    """Parse the text as JSON; return it unchanged if it is not JSON."""
    entry = read_json(text)
    return text if entry.problem or entry.value is ABSENT else entry.value


def _text_of(mock: registry.Mock | None) -> str:
    match mock:
        case None | registry.AskMock() | registry.RecordedMock():
            return ""
        case registry.FixedMock(value):
            return text_or_json(value)
        case registry.SequenceMock(values):
            return "\n".join(text_or_json(value) for value in values)
        case registry.TemplateMock(template):
            return template
        case _:
            assert_never(mock)
