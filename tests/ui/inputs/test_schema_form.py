from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.application.inputs.fields import ABSENT
from studio.ui.inputs.compound import ListField, ObjectField
from studio.ui.inputs.fields import ChoiceField, FileField, JsonField, NumberField, TextField
from studio.ui.inputs.schema_form import SchemaForm
from studio.ui.style.theme import DARK
from tests.support.themes import wear

SCHEMA = {
    "type": "object",
    "required": ["text", "size"],
    "properties": {
        "text": {"type": "string", "description": "Any text", "pattern": "^[a-z]*$"},
        "size": {"type": "integer", "minimum": 1},
        "ratio": {"type": "number"},
        "on": {"type": "boolean", "default": True},
        "mood": {"enum": ["calm", "busy"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
        },
        "rest": {"type": "object"},
    },
}

VALUES = {
    "text": "abc",
    "size": 2**70,
    "ratio": 0.25,
    "on": False,
    "mood": "busy",
    "tags": ["a", "", "b"],
    "place": {"street": "Main", "number": 4, "unknown": [1]},
    "rest": {"deep": [None, True]},
}


@pytest.fixture
def form(qtbot: QtBot) -> SchemaForm:
    made = SchemaForm()
    qtbot.addWidget(made)
    made.set_schema(SCHEMA)
    return made


def test_every_type_round_trips(form: SchemaForm) -> None:
    form.set_values(VALUES)
    assert form.values() == VALUES
    assert form.problems() == {}
    wear(DARK)
    assert form.values() == VALUES


def test_absent_is_not_empty(qtbot: QtBot, form: SchemaForm) -> None:
    assert form.values() == {}
    field = form.rows["text"].editor
    assert isinstance(field, TextField)
    qtbot.keyClicks(field.text, "x")
    qtbot.keyClick(field.text, Qt.Key.Key_Backspace)
    assert form.values() == {"text": ""}
    form.rows["text"].reset.click()
    assert form.values() == {}
    tags = form.rows["tags"].editor
    assert isinstance(tags, ListField)
    tags.add_button.click()
    assert form.values() == {"tags": [""]}
    tags._remove(tags.items[0])
    assert form.values() == {"tags": []}


def test_typing_tells_of_each_change(qtbot: QtBot, form: SchemaForm) -> None:
    size = form.rows["size"].editor
    assert isinstance(size, NumberField)
    with qtbot.waitSignal(form.value_changed) as blocker:
        qtbot.keyClicks(size.line, "9")
    assert blocker.args == ["size"]
    assert form.values() == {"size": 9}
    place = form.rows["place"].editor
    assert isinstance(place, ObjectField)
    inner = place.rows[1].editor
    assert isinstance(inner, NumberField)
    with qtbot.waitSignal(form.value_changed) as blocker:
        qtbot.keyClicks(inner.line, "3")
    assert blocker.args == ["place"]
    assert form.values() == {"size": 9, "place": {"number": 3}}


def test_problems_are_named_where_they_are(qtbot: QtBot, form: SchemaForm) -> None:
    assert form.problems() == {"text": "A value is needed.", "size": "A value is needed."}
    assert form.rows["text"].problem == "A value is needed."
    size, rest = form.rows["size"].editor, form.rows["rest"].editor
    assert isinstance(size, NumberField)
    assert isinstance(rest, JsonField)
    qtbot.keyClicks(size.line, "0")
    qtbot.keyClicks(rest.text, "{")
    form.rows["text"].set_value("ABC")
    found = form.problems()
    assert found["size"] == "At least 1."
    assert found["rest"].startswith("Line 1")
    assert "must match" in found["text"]
    assert form.rows["size"].problem == "At least 1."


def test_a_choice_shows_values_that_are_not_offered(form: SchemaForm) -> None:
    phase = form.rows["mood"].editor
    assert isinstance(phase, ChoiceField)
    phase.set_value("wild")
    assert phase.value() == "wild"
    assert "not one of" in phase.problem()
    on = form.rows["on"].editor
    assert isinstance(on, ChoiceField)
    on.set_value(1)
    assert on.value() == 1
    assert on.value() is not True
    on.set_value(ABSENT)
    assert "default: true" in on.combo.currentText()


def test_fields_that_stay_keep_their_widgets_and_values(form: SchemaForm) -> None:
    form.set_values({"text": "kept", "size": 3})
    row = form.rows["text"]
    changed = {**SCHEMA, "properties": {**SCHEMA["properties"], "size": {"type": "string"}}}
    changed["properties"].pop("ratio")
    form.set_schema(changed, {"text": "other", "size": 3})
    assert form.rows["text"] is row
    assert form.values() == {"text": "kept", "size": 3}
    assert list(form.rows) == ["text", "size", "on", "mood", "tags", "place", "rest"]


def test_a_file_inside_the_folder_is_written_relative_to_it(qtbot: QtBot, tmp_path: Path) -> None:
    from studio.application.inputs.fields import FieldSpec

    field = FileField(FieldSpec("photo", "image"))
    qtbot.addWidget(field)
    field.set_folder(tmp_path)
    with qtbot.waitSignal(field.changed):
        field.choose(tmp_path / "pictures" / "cat.png")
    assert field.value() == "pictures/cat.png"
    field.choose(tmp_path.parent / "cat.png")
    assert field.value() == (tmp_path.parent / "cat.png").as_posix()
