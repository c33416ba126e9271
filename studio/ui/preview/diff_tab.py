"""The Diff tab: compares two conversations of the editor, the saved file or input sets."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from studio.application.preview.diff import ConversationComparison, ConversationSide, Pair
from studio.application.words import tr
from studio.core.text.amounts import by_count
from studio.core.text.source import Span
from studio.core.text.values import JsonObject
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import column_of, icon_button, named, row_of, toned_label
from studio.ui.parts.text_views import ComparisonView


class DiffTab(QWidget):
    """Selection of the two sides, and the messages that differ."""

    pair_chosen = Signal(Pair)
    place_chosen = Signal(Span)
    request_earlier = Signal()  # offer the last run and the commits of the prompt

    def __init__(self) -> None:
        super().__init__()
        self._sets: tuple[ConversationSide, ...] = ()
        self._earlier: tuple[ConversationSide, ...] = ()
        self._wants_run = False
        self.compared: ConversationComparison | None = None
        self._own = (
            ConversationSide(tr("Last saved version"), is_saved=True),
            ConversationSide(tr("Current: editor and inputs")),
        )
        self._sides: list[ConversationSide] = list(self._own)
        self.before = self._make_choice(tr("Compare this"), 0)
        self.after = self._make_choice(tr("with this"), 1)
        self.swap = icon_button("arrow-left-right", tr("Swap the two sides"), parent=self)
        self.swap.setAutoRaise(True)
        self.swap.clicked.connect(self._swap)
        self._said = toned_label("muted", parent=self, wraps=True, is_plain=True)
        self._said.setContentsMargins(12, 0, 12, 8)
        self.view = ComparisonView(self)
        self.view.setAccessibleName(tr("Messages that differ"))
        self.view.part_chosen.connect(self._go_to)
        bar = row_of(
            (self.before, 1), self.swap, (self.after, 1), margins=(12, 8, 12, 4), spacing=8
        )
        column_of(bar, self._said, (self.view, 1), on=self, margins=0, spacing=0)

    @property
    def pair(self) -> Pair:
        """Return the two sides of the comparison."""
        return Pair(self._side(self.before), self._side(self.after))

    @property
    def sentence(self) -> str:
        """The result in a few words."""
        return self._said.text()

    def set_input_sets(self, sets: Mapping[str, JsonObject]) -> None:
        """Set the input sets to offer besides the editor and the saved version."""
        self._sets = tuple(
            ConversationSide(tr("Inputs “{name}”").format(name=name), values)
            for name, values in sets.items()
        )
        self._offer()
        if self.isVisible():
            self.request_earlier.emit()

    def set_earlier(self, sides: Sequence[ConversationSide]) -> None:
        """Set the last run and the commits of the prompt to offer."""
        if sides or self._earlier:
            self._earlier = tuple(sides)
            self._offer()
        if sides and self._wants_run:
            self._wants_run = False
            self.before.setCurrentIndex(len(self._own) + len(self._sets))
            self.pair_chosen.emit(self.pair)

    def choose_last_run(self) -> None:
        """Compare with the last run, the first of the earlier sides, when they are available."""
        self._wants_run = True
        self.request_earlier.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Request the earlier versions when the tab is shown, since this starts Git."""
        super().showEvent(event)
        self.request_earlier.emit()

    def _offer(self) -> None:
        self._sides = [*self._own, *self._sets, *self._earlier]
        for number, choice in enumerate((self.before, self.after)):
            kept = choice.currentText()
            choice.clear()
            choice.addItems([side.title for side in self._sides])
            found = choice.findText(kept)
            choice.setCurrentIndex(found if found >= 0 else number)
        if self.isVisible():
            self.pair_chosen.emit(self.pair)

    def show_comparison(self, comparison: ConversationComparison) -> None:
        """Show the differences."""
        self.compared = found = comparison
        count = len(found.messages)
        if found.problem:
            self._said.setText(found.problem)
        elif not count:
            self._said.setText(tr("No message differs."))
        else:
            one, many = tr("1 differs, {same} the same"), tr("{count} differ, {same} the same")
            self._said.setText(by_count(count, one, many, same=found.unchanged))
        self.view.show_parts(found.messages)

    def _make_choice(self, name: str, index: int) -> ComboBox:
        choice = named(ComboBox(self), name, name)
        choice.addItems([side.title for side in self._sides])
        choice.setCurrentIndex(index)
        choice.setMinimumContentsLength(8)
        choice.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        choice.activated.connect(lambda: self.pair_chosen.emit(self.pair))
        return choice

    def _side(self, choice: ComboBox) -> ConversationSide:
        return self._sides[max(0, choice.currentIndex())]

    def _swap(self) -> None:
        before, after = self.before.currentIndex(), self.after.currentIndex()
        self.before.setCurrentIndex(after)
        self.after.setCurrentIndex(before)
        self.pair_chosen.emit(self.pair)

    def _go_to(self, number: int) -> None:
        parts = self.compared.messages if self.compared is not None else ()
        if 0 <= number < len(parts) and parts[number].span is not None:
            self.place_chosen.emit(parts[number].span)
