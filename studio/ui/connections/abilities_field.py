"""Abilities and prices of a model, with the user's corrections."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QWidget,
)

from studio.application.words import tr
from studio.core.models.capabilities import ModelFacts
from studio.core.text.values import Json, JsonObject
from studio.ui.parts.fields import Choices, FieldForm
from studio.ui.parts.labels import push_button
from studio.ui.style.colors import paint_text

_ABILITIES = ("tools", "vision", "json_schema", "stop", "parallel")
_PRICES = ("input", "output")


class AbilitiesField(QWidget):
    """Each line is as known, or as the user says."""

    changed = Signal()
    request_prices = Signal()  # the newest table of prices

    def __init__(self) -> None:
        super().__init__()
        yes_no: Choices = ((None, ""), (True, tr("Yes")), (False, tr("No")))
        self.form = FieldForm("abilities", choices=dict.fromkeys(_ABILITIES, yes_no))
        self.form.changed.connect(self.changed)
        grid = QGridLayout(self)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setContentsMargins(0, 0, 0, 0)
        for at, (key, widget) in enumerate(self.form.widgets.items()):
            grid.addWidget(QLabel(self.form.fields[key].label), at // 2, at % 2 * 2)
            grid.addWidget(widget, at // 2, at % 2 * 2 + 1)
            grid.setColumnStretch(at % 2 * 2 + 1, 1)
        self.source, self.table = QLabel(wordWrap=True), QLabel(wordWrap=True)
        self.update_prices = push_button(tr("Update prices"), self._on_update, takes_enter=False)
        self.update_prices.setToolTip(tr("Fetch the newest table that genai-prices published"))
        row = grid.rowCount()
        grid.addWidget(self.table, row, 0, 1, 3)
        grid.addWidget(self.update_prices, row, 3)
        grid.addWidget(self.source, row + 1, 0, 1, 4)
        for label in (self.source, self.table):
            paint_text(label, "muted")

    def value(self) -> JsonObject:
        """Return the corrections alone."""
        given: dict[str, Json] = {**self.form.given()}
        prices = {way: given.pop(way) for way in _PRICES if way in given}
        if prices:
            given["price"] = dict.fromkeys(_PRICES, 0.0) | prices
        return given

    def set_value(self, corrections: JsonObject) -> None:
        """Show corrections."""
        prices = corrections.get("price")
        self.form.set_values({**corrections, **(prices if isinstance(prices, dict) else {})})

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
        for ability in _ABILITIES:
            yes = getattr(facts.capabilities, ability)
            self.form.set_hint(ability, tr("Yes (as known)") if yes else tr("No (as known)"))
        window = facts.capabilities.context_window
        known = tr("{window:,} tokens (as known)").format(window=window or 0)
        self.form.set_hint("context_window", known if window else tr("not known"))
        prices = facts.price.per_million() if facts.price is not None else (None, None, None)
        for way, price in zip(_PRICES, prices, strict=False):
            known = tr("{price:g} (as known)").format(price=price or 0)
            self.form.set_hint(way, known if price is not None else tr("not known"))
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
