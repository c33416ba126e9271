"""Abilities and prices of a model, with the user's corrections."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from studio.application.words import marked, tr
from studio.core.models.capabilities import ModelFacts
from studio.core.text.values import Json, JsonObject
from studio.ui.parts.fields import ComboBox, DoubleSpinBox, SpinBox
from studio.ui.style.colors import paint_text

_ABILITIES = (
    ("tools", marked("Native tools")),
    ("vision", marked("Images")),
    ("json_schema", marked("Schema for the answer")),
    ("stop", marked("Stop sequences")),
    ("parallel", marked("Several calls at once")),
)
_MOST_TOKENS = 100_000_000


class AbilitiesField(QWidget):
    """Each line is as known, or as the user says."""

    changed = Signal()
    request_prices = Signal()  # the newest table of prices

    def __init__(self) -> None:
        super().__init__()
        self.abilities: dict[str, ComboBox] = {}
        self.window_size = SpinBox()
        self.prices = {"input": DoubleSpinBox(), "output": DoubleSpinBox()}
        self.source = QLabel(wordWrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        for index, (ability, name) in enumerate(_ABILITIES):
            combo = ComboBox()
            combo.addItem("", None)
            combo.addItem(tr("Yes"), True)
            combo.addItem(tr("No"), False)
            combo.activated.connect(self.changed)
            self.abilities[ability] = combo
            self._place(
                grid,
                index // 2,
                index % 2,
                tr(name),
                combo,
            )
        self.window_size.setRange(0, _MOST_TOKENS)
        self.window_size.setSingleStep(1024)
        self.window_size.setGroupSeparatorShown(True)
        self.window_size.setSuffix(tr(" tokens"))
        self.window_size.editingFinished.connect(self.changed)
        self._place(grid, 3, 0, tr("Context window"), self.window_size, 3)
        for column, (way, name) in enumerate((("input", tr("in")), ("output", tr("out")))):
            spin = self.prices[way]
            # The least value stands for "as known": nobody charges below zero.
            spin.setRange(-0.01, 10_000)
            spin.setDecimals(2)
            spin.editingFinished.connect(self.changed)
            self._place(grid, 4, column, tr("$ per million {name}").format(name=name), spin)
        self.table = QLabel(wordWrap=True)
        self.update_prices = QPushButton(tr("Update prices"), autoDefault=False)
        self.update_prices.setToolTip(tr("Fetch the newest table that genai-prices published"))
        self.update_prices.clicked.connect(self._on_update)
        grid.addWidget(self.table, 5, 0, 1, 3)
        grid.addWidget(self.update_prices, 5, 3)
        grid.addWidget(self.source, 6, 0, 1, 4)
        for label in (self.source, self.table):
            paint_text(label, "muted")

    def value(self) -> JsonObject:
        """The corrections alone."""
        abilities: dict[str, Json] = {
            ability: combo.currentData()
            for ability, combo in self.abilities.items()
            if combo.currentData() is not None
        }
        if self.window_size.value():
            abilities["context_window"] = self.window_size.value()
        prices = {way: spin.value() for way, spin in self.prices.items()}
        if max(prices.values()) >= 0:
            abilities["price"] = {way: max(0.0, value) for way, value in prices.items()}
        return abilities

    def set_value(self, said: JsonObject) -> None:
        """Show corrections."""
        for ability, combo in self.abilities.items():
            combo.setCurrentIndex(max(0, combo.findData(said.get(ability))))
        window = said.get("context_window")
        self.window_size.setValue(window if isinstance(window, int) else 0)
        price = said.get("price")
        for way, spin in self.prices.items():
            value = price.get(way) if isinstance(price, dict) else None
            spin.setValue(float(value) if isinstance(value, int | float) else spin.minimum())

    def set_prices(self, name: str, fault: str) -> None:
        """Say which table of prices is used, or why no newer one is."""
        used = tr("Prices: {name}.").format(name=name) if name else ""
        self.table.setText(" ".join(filter(None, (fault, used))))
        self.update_prices.setEnabled(True)

    def _on_update(self) -> None:
        self.update_prices.setEnabled(False)
        self.table.setText(tr("Fetching …"))
        self.request_prices.emit()

    def set_known(self, facts: ModelFacts, model: str) -> None:
        """Say what is known of the model without the corrections."""
        for ability, combo in self.abilities.items():
            yes = getattr(facts.capabilities, ability)
            combo.setItemText(0, tr("Yes (as known)") if yes else tr("No (as known)"))
        window = facts.capabilities.context_window
        self.window_size.setSpecialValueText(
            tr("{window:,} tokens (as known)").format(window=window) if window else tr("not known")
        )
        known = facts.price.per_million() if facts.price is not None else (None, None, None)
        for spin, price in zip(self.prices.values(), known, strict=False):
            spin.setSpecialValueText(
                tr("{price:g} (as known)").format(price=price)
                if price is not None
                else tr("not known")
            )
        about = (
            tr("What is known of {model!r}").format(model=model) if model else tr("What is known")
        )
        self.source.setText(
            tr("Nothing is known of this model: all but images is sent until its server refuses.")
            if facts.source == "unknown"
            else tr("{about} comes from {source}. Your corrections count more.").format(
                about=about, source=facts.source
            )
        )

    def _place(
        self, grid: QGridLayout, row: int, column: int, name: str, field: QWidget, span: int = 1
    ) -> None:
        field.setAccessibleName(name)
        field.setMinimumHeight(26)
        grid.addWidget(QLabel(name), row, 2 * column)
        grid.addWidget(field, row, 2 * column + 1, 1, span)
