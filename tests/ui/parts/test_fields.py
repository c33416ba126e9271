"""Fields: the wheel over boxes scrolls their form; forms are made from a table."""

from __future__ import annotations

import tomllib

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.core.models.connections import EMBEDDED
from studio.core.paths import resource_text
from studio.ui.parts.fields import ComboBox, DoubleSpinBox, FieldForm, SpinBox, form_fields
from tests.support.wheel import turn_wheel


def test_a_box_without_the_keyboard_leaves_the_wheel_to_the_form(qtbot: QtBot) -> None:
    choice, typed = ComboBox(), ComboBox()
    count, price = SpinBox(), DoubleSpinBox()
    typed.setEditable(True)
    for combo in (choice, typed):
        combo.addItems(["object", "float", "audio"])
        combo.setCurrentIndex(1)
    count.setValue(5)
    price.setValue(2.5)
    form = QWidget()
    qtbot.addWidget(form)
    layout = QVBoxLayout(form)
    for box in (choice, typed, count, price):
        layout.addWidget(box)
        assert not turn_wheel(box, -1)
        assert box.focusPolicy() == Qt.FocusPolicy.StrongFocus  # the wheel gives no focus either
    assert (choice.currentText(), typed.currentText()) == ("float", "float")
    assert (count.value(), price.value()) == (5, 2.5)


def test_a_number_with_the_keyboard_is_changed_by_the_wheel(qtbot: QtBot) -> None:
    count = SpinBox()
    qtbot.addWidget(count)
    count.setValue(5)
    count.show()
    count.setFocus()
    qtbot.waitUntil(count.hasFocus)
    assert turn_wheel(count, 1)
    assert count.value() == 6


@pytest.mark.parametrize("section", tomllib.loads(resource_text("words", "forms.toml")))
def test_a_form_of_the_table_names_its_fields(qtbot: QtBot, section: str) -> None:
    own = {field.key: QWidget() for field in form_fields(section) if field.kind == "own"}
    form = FieldForm(section, own=own)
    page = QWidget()
    qtbot.addWidget(page)
    layout = form.laid_out(page)
    for row, (key, widget) in enumerate(form.placed.items()):
        label = layout.labelForField(widget)
        assert label is None or label.text() == form.fields[key].label
        assert layout.getWidgetPosition(widget)[0] == row
    assert all(widget.accessibleName() for widget in form.widgets.values())


def test_values_go_through_a_form(qtbot: QtBot) -> None:
    form = FieldForm("limits")
    page = QWidget()
    qtbot.addWidget(page)
    form.laid_out(page)
    seen: list[str] = []
    form.changed.connect(seen.append)
    form.set_values({"retries": 3, "reply_megabytes": 2.5, "stall_seconds": "none"})
    found = form.written_to(EMBEDDED)
    assert (found.retries, found.reply_megabytes, found.stall_seconds) == (3, 2.5, 1.0)
    assert form.given() == {"retries": 3, "reply_megabytes": 2.5}
    form.widgets["retries"].editingFinished.emit()
    assert seen == ["retries"]
