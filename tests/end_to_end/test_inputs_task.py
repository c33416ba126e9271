"""Inputs in the whole window: typed, kept, loaded, declared, compared; the preview follows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QTextCursor
from pytestqt.qtbot import QtBot

from studio.application.preview.requests import request_of
from studio.core.prompty.parse import parse
from studio.ui.app.workbench import Workbench
from studio.ui.inputs.compound import ListField, ObjectField, ThreadField
from studio.ui.inputs.fields import ChoiceField, FileField, JsonField, NumberField, TextField
from studio.ui.parts.kit import Chip
from tests.support.menus import choose

Open = Callable[[Path], Workbench]
DOC = """---
name: trip
template:
  parser: {kind: section}
inputs:
  city: {kind: string, sample: Lisbon}
  days: {kind: integer}
  tone: {kind: string, enum: [warm, dry]}
  home: {kind: object, properties: {street: {kind: string}, geo: {kind: object, properties: {lat: {kind: float}}}}}
  stops: {kind: array, items: {kind: string}}
  more: {kind: object}
  photo: {kind: image}
  talk: {kind: thread}
---
system:
{{ tone }} guide to {{ city }}, {{ days }} days, {{ home.street }} at {{ home.geo.lat }}.
{{ stops | join("; ") }} {{ more.x }} {{ stranger }}

![thread]

user:
{{ photo }}
"""  # noqa: E501


@pytest.fixture
def workbench(tmp_path: Path, open_workbench: Open) -> Workbench:
    path = tmp_path / "trip.prompty"
    path.write_text(DOC, encoding="utf-8")
    picture = QImage(8, 8, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.green)
    picture.save(str(tmp_path / "cat.png"))
    made = open_workbench(path)
    made.window.docks.show("inputs")
    return made


def sent(workbench: Workbench) -> str:
    """The body that the preview shows, as text."""
    preview = workbench.preview.preview
    return request_of(preview, "openai-chat").text if preview is not None else ""


def test_every_kind_of_input_is_filled_by_hand_and_sent(
    qtbot: QtBot, workbench: Workbench, tmp_path: Path
) -> None:
    rows = workbench.inputs_pane.form.rows
    city, days, tone = (rows[name].editor for name in ("city", "days", "tone"))
    home, stops, more = (rows[name].editor for name in ("home", "stops", "more"))
    photo, talk = rows["photo"].editor, rows["talk"].editor
    assert isinstance(city, TextField)
    assert isinstance(days, NumberField)
    assert isinstance(tone, ChoiceField)
    assert isinstance(home, ObjectField)
    assert isinstance(stops, ListField)
    assert isinstance(more, JsonField)
    assert isinstance(photo, FileField)
    assert isinstance(talk, ThreadField)
    for name in ("home", "stops", "talk"):
        assert not rows[name].editor.isVisible()  # one line each
        qtbot.mouseClick(rows[name].fold, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(city.text, "Rome")
    qtbot.keyClicks(days.line, "5")
    tone.combo.setCurrentText("dry")
    tone.combo.activated.emit(tone.combo.currentIndex())
    street, geo = (row.editor for row in home.rows)
    assert isinstance(street, TextField)
    assert isinstance(geo, ObjectField)
    qtbot.keyClicks(street.text, "Main Road")
    qtbot.keyClicks(geo.rows[0].editor.line, "41.5")  # type: ignore[attr-defined]
    for stop in ("Forum", "Tiber"):
        qtbot.mouseClick(stops.add_button, Qt.MouseButton.LeftButton)
        qtbot.keyClicks(stops.items[-1].editor.text, stop)  # type: ignore[attr-defined]
    more.text.setPlainText('{"x": "extra"}')
    photo.choose(tmp_path / "cat.png")
    qtbot.mouseClick(talk.add_button, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(talk.turns[0].text, "Hello there")
    qtbot.keyClicks(rows["stranger"].editor.text, "unknown")  # type: ignore[attr-defined]
    expected = "dry guide to Rome, 5 days, Main Road at 41.5.\\nForum; Tiber extra unknown"
    qtbot.waitUntil(lambda: expected in sent(workbench))
    size = (tmp_path / "cat.png").stat().st_size
    qtbot.waitUntil(lambda: f"data:image/png;base64,… {size} bytes …" in sent(workbench))
    assert '"Hello there"' in sent(workbench)
    assert workbench.inputs_pane.values()["photo"] == "cat.png"


def test_values_are_kept_as_samples_and_a_variable_is_declared(
    qtbot: QtBot, workbench: Workbench
) -> None:
    pane, page = workbench.inputs_pane, workbench.window.tabs.current
    assert page is not None
    pane.set_values({"city": "Rome", "days": 5, "stops": ["Forum"], "stranger": "x"})
    qtbot.waitUntil(lambda: "Rome, 5 days" in sent(workbench))
    with qtbot.waitSignal(workbench.window.services.messages.noticed) as noticed:
        choose(pane.sets, "Save as samples in the prompt")
    assert "stranger" in noticed.args[0].what
    document = parse(page.editor.text())
    assert [document.input(name).sample for name in ("city", "days", "stops")] == [  # type: ignore[union-attr]
        "Rome",
        5,
        ["Forum"],
    ]
    page.editor.undo()
    assert page.editor.text() == DOC
    qtbot.waitUntil(lambda: workbench.is_settled)
    qtbot.mouseClick(pane.form.rows["stranger"].declare, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: parse(page.editor.text()).input("stranger") is not None)
    qtbot.waitUntil(lambda: pane.form.rows["stranger"].spec.declared)
    assert pane.values()["stranger"] == "x"


FILES = {
    "rows.csv": 'city,days,stops\nOslo,7,"[""Fjord""]"\n',
    "rows.jsonl": '{"city": "Oslo", "days": 7, "stops": ["Fjord"]}\n',
    "one.json": '{"city": "Oslo", "days": 7, "stops": ["Fjord"]}',
    "one.yaml": "city: Oslo\ndays: 7\nstops: [Fjord]\n",
}


def test_values_are_loaded_from_files(qtbot: QtBot, workbench: Workbench, tmp_path: Path) -> None:
    pane = workbench.inputs_pane
    for name, text in FILES.items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        pane.clear()
        qtbot.waitUntil(lambda: "guide to Oslo" not in sent(workbench))
        pane.library.load(path)
        assert pane.values() == {"city": "Oslo", "days": 7, "stops": ["Fjord"]}, name
        qtbot.waitUntil(lambda: "guide to Oslo, 7 days" in sent(workbench))


def test_a_run_keeps_what_was_written_for_up_and_down(
    qtbot: QtBot, workbench: Workbench, scripted: Callable[..., None]
) -> None:
    city = workbench.inputs_pane.form.rows["city"].editor
    assert isinstance(city, TextField)
    city.text.setFocus()
    qtbot.keyClicks(city.text, "Rome")
    qtbot.keyClick(city.text, Qt.Key.Key_F10)  # the keyboard stays in the field
    qtbot.waitUntil(lambda: workbench.run.state is not None)
    city.text.selectAll()
    qtbot.keyClicks(city.text, "Oslo")
    qtbot.keyClick(city.text, Qt.Key.Key_Up)
    assert workbench.inputs_pane.values()["city"] == "Rome"
    qtbot.keyClick(city.text, Qt.Key.Key_Down)
    assert workbench.inputs_pane.values()["city"] == "Oslo"


def test_a_value_of_the_request_leads_to_its_place_and_its_field(
    qtbot: QtBot, workbench: Workbench
) -> None:
    pane, page = workbench.preview_pane, workbench.window.tabs.current
    assert page is not None
    workbench.window.docks.show("preview")
    pane.tabs.setCurrentIndex(1)
    view = pane.request.view
    qtbot.waitUntil(pane.request.samples.isVisible)
    assert "Lisbon" not in view.toPlainText()
    chip = next(each for each in pane.request.samples.findChildren(Chip) if "city" in each.text())
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    assert workbench.inputs_pane.values() == {"city": "Lisbon"}
    qtbot.waitUntil(lambda: "Lisbon" in view.toPlainText() and view.isVisible())
    cursor = QTextCursor(view.document())
    cursor.setPosition(view.toPlainText().index("Lisbon") + 3)
    view.setTextCursor(cursor)
    view.ensureCursorVisible()
    place = view.cursorRect(cursor).center() + QPoint(1, 0)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert "guide to {{ city }}" in page.editor.textCursor().block().text()
    assert page.editor.textCursor().selectedText() in ("", "{{ city }}")
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, control, place)
    city = workbench.inputs_pane.form.rows["city"].editor
    assert isinstance(city, TextField)
    qtbot.waitUntil(lambda: city.text.hasFocus() and city.text.isVisible())
    tip = pane.request.source_tip("openai-chat", cursor.position())
    assert "“city”" in tip
    offset = view.toPlainText().index('"stream"') + 12
    assert "Not from the prompt" in pane.request.source_tip("openai-chat", offset)


def test_two_kept_sets_are_compared_in_the_window(
    qtbot: QtBot, tmp_path: Path, open_workbench: Open
) -> None:
    path = tmp_path / "trip.prompty"
    path.write_text(DOC, encoding="utf-8")
    sets = {"Italy": {"city": "Rome"}, "Norway": {"city": "Oslo"}}
    (tmp_path / "trip.inputs.json").write_text(json.dumps(sets), encoding="utf-8")
    workbench = open_workbench(path)
    pane = workbench.preview_pane
    pane.tabs.setCurrentIndex(2)
    for combo, title in (
        (pane.diff.before, "Inputs “Italy”"),
        (pane.diff.after, "Inputs “Norway”"),
    ):
        combo.setCurrentIndex(combo.findText(title))
        combo.activated.emit(combo.currentIndex())
    qtbot.waitUntil(lambda: "guide to Oslo" in pane.diff.view.toPlainText())
    assert "guide to Rome" in pane.diff.view.toPlainText()
    assert pane.diff.sentence.startswith("1 differs")
