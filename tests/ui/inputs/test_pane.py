from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QRect, Qt, QUrl
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QInputDialog, QLabel
from pytestqt.qtbot import QtBot

from studio.application.inputs.fields import FieldSpec
from studio.core.prompty.parse import parse
from studio.ui.inputs.compound import ListField, ObjectField, ThreadField, make_editor
from studio.ui.inputs.fields import ChoiceField, FileField, TextField
from studio.ui.inputs.pane import InputsPane, ValueEditor
from studio.ui.inputs.row import FieldRow
from studio.ui.style.theme import DARK
from tests.support.drop import drop_files
from tests.support.labels import PLANTED, labels_read_as_rich
from tests.support.menus import choose, menu_texts
from tests.support.themes import wear

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

DOC = """---
template:
  parser: {kind: section}
inputs:
  city: {kind: string, sample: Lisbon}
  chat:
    kind: thread
    sample: [{role: user, content: Hi}, {role: assistant, content: Hello}]
---
system:
{{ city }} {{ stranger }} {{ history }}

![thread]
"""


@pytest.fixture
def pane(qtbot: QtBot) -> InputsPane:
    made = InputsPane()
    qtbot.addWidget(made)
    made.fold_button.setChecked(False)
    made.resize(420, 900)
    with qtbot.waitSignal(made.request_height):
        made.show()
    return made


def summary_of(pane: InputsPane) -> str:
    """The count in the strip, as it reads."""
    return QTextDocumentFragment.fromHtml(pane._summary.text()).toPlainText()


def test_the_strip_counts_values_and_leads_to_the_first_that_waits(
    qtbot: QtBot, pane: InputsPane
) -> None:
    pane.fold_button.setChecked(True)
    assert summary_of(pane) == "none"
    text = (
        "---\ninputs:\n  must: {kind: string, required: true}\n  a: {kind: string, sample: A}\n"
        "  b: {kind: string, sample: B}\n  c: {kind: string, default: C}\n---\nuser:\n{{ a }}\n"
    )
    pane.set_document(parse(text))
    assert summary_of(pane) == "0 of 4 given · 2 samples · 1 missing"
    assert not pane.form.isVisible()
    assert pane.height() == pane.maximumHeight() or pane.maximumHeight() <= 40
    with qtbot.waitActive(pane):
        pane.activateWindow()
    pane._summary.linkActivated.emit("must")
    field = pane.form.rows["must"].editor
    assert isinstance(field, TextField)
    assert field.text.hasFocus()
    qtbot.keyClicks(field.text, "x")
    assert summary_of(pane) == "1 of 4 given · 2 samples"


def test_the_arrows_go_through_the_sets_and_a_changed_one_says_so(
    pane: InputsPane, tmp_path: Path
) -> None:
    pane.set_document(parse(DOC, tmp_path / "a.prompty"))
    assert not pane.after.isVisible()
    for name in ("Rome", "Oslo"):
        pane.library.keep(name, {"city": name})
    pane.after.click()
    assert pane.values() == {"city": "Rome"}
    pane.before.click()
    assert pane.values() == {"city": "Oslo"}
    assert pane.sets.text() == "Oslo"
    pane.set_values({"city": "Bergen"})
    assert pane.sets.text() == "Oslo, edited"


def test_the_pane_asks_for_the_height_that_its_values_need(qtbot: QtBot, pane: InputsPane) -> None:
    wanted = [0]
    pane.request_height.connect(wanted.append)
    pane.set_document(parse(DOC))
    pane.set_values({"city": "Lisbon"})
    qtbot.waitUntil(lambda: wanted[-1] > pane.form.sizeHint().height())
    low = wanted[-1]
    pane.set_values({"city": "Lisbon\nPorto\nFaro"})
    qtbot.waitUntil(lambda: wanted[-1] > low + 16)
    pane.fold_button.setChecked(True)
    qtbot.waitUntil(lambda: 0 < wanted[-1] < low)


def test_typing_gives_only_what_was_typed(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    city = pane.form.rows["city"].editor
    assert isinstance(city, TextField)
    assert city.text.placeholderText() == "Lisbon"
    seen: list[dict[str, object]] = []
    pane.given_changed.connect(seen.append)
    qtbot.keyClicks(city.text, "Rome")
    assert seen[-1] == {"city": "Rome"}
    pane.clear()
    assert seen[-1] == {}


def test_a_text_being_typed_survives_edits_of_the_document(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    city = pane.form.rows["city"].editor
    assert isinstance(city, TextField)
    city.text.setFocus()
    qtbot.keyClicks(city.text, "Ro")
    pane.set_document(parse(DOC.replace("---\ntemplate", "---\nname: more\ntemplate", 1)))
    assert pane.form.rows["city"].editor is city
    assert pane.values() == {"city": "Ro"}


def test_undeclared_variables_can_be_declared(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    row = pane.form.rows["stranger"]
    qtbot.waitUntil(row.declare.isVisible)
    with qtbot.waitSignal(pane.request_declare) as blocker:
        row.declare.click()
    assert blocker.args == ["stranger"]
    assert not pane.form.rows["history"].declare.isVisible()


def test_a_thread_is_edited_as_a_conversation(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    chat = pane.form.rows["chat"].editor
    assert isinstance(chat, ThreadField)
    assert pane.values() == {}
    with qtbot.waitSignal(pane.form.request_sample) as asked:
        chat.start_button.click()
    assert asked.args == ["chat"]
    pane.library.add({"chat": chat.spec.fallback})
    chat.add_button.click()
    qtbot.keyClicks(chat.turns[2].text, "And now?")
    assert pane.values()["chat"] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "And now?"},
    ]
    qtbot.keyClick(chat.turns[2].text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [turn.role.currentText() for turn in chat.turns[2:]] == ["user", "assistant"]
    qtbot.keyClicks(chat.turns[3].text, "It is late.")
    assert pane.values()["chat"][3] == {"role": "assistant", "content": "It is late."}  # type: ignore[index,call-overload]
    chat.turns[0].role.setCurrentText("system")
    assert pane.values()["chat"][0] == {"role": "system", "content": "Hi"}  # type: ignore[index,call-overload]
    kept = [{"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "x"}]}]
    chat.set_value(kept)
    assert chat.value() == kept


def test_the_json_switch_edits_the_same_values(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    pane.set_values({"city": "Rome"})
    pane.sets.as_json.trigger()
    assert '"city": "Rome"' in pane.raw.text.toPlainText()
    pane.raw.text.setPlainText('{"city": "Oslo", "more": 1}')
    assert pane.values() == {"city": "Oslo", "more": 1}
    pane.raw.text.setPlainText('{"city": ')
    assert pane.raw_problem.text().startswith("Line 1")
    assert pane.values() == {"city": "Oslo", "more": 1}
    pane.raw.text.setPlainText("[1]")
    assert "object" in pane.raw_problem.text()
    pane.raw.text.setPlainText('{"city": "Bern"}')
    pane.sets.as_json.trigger()
    city = pane.form.rows["city"].editor
    assert city.value() == "Bern"
    wear(DARK)
    assert pane.values() == {"city": "Bern"}


def test_focus_comes_to_the_field_of_an_input(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    with qtbot.waitActive(pane):
        pane.activateWindow()
    pane.focus_input("stranger")
    field = pane.form.rows["stranger"].editor
    assert isinstance(field, TextField)
    assert field.text.hasFocus()


def test_what_a_run_supplies_stands_below_and_closed(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    group = pane.form.supplied
    history = pane.form.rows["history"]
    assert group.isVisible()
    assert group.minimumSizeHint().width() < 100  # a long list of names makes no scroll bar
    assert not history.isVisible()
    assert summary_of(pane).startswith("0 of 3 given")
    own = [pane.form.rows[name] for name in ("city", "chat", "stranger")]

    def is_below() -> bool:
        top = group.mapTo(pane, group.rect().topLeft()).y()
        return all(row.mapTo(pane, row.rect().bottomLeft()).y() < top for row in own)

    qtbot.waitUntil(is_below)
    qtbot.mouseClick(group.heading, Qt.MouseButton.LeftButton)
    assert history.isVisible()
    qtbot.mouseClick(group.heading, Qt.MouseButton.LeftButton)
    pane.focus_input("history")
    assert history.isVisible()
    pane.set_values({"history": [], "city": "Rome"})
    assert summary_of(pane).startswith("1 of 3 given")
    assert "1 given" in group.heading.text()
    pane.set_document(parse("system:\n{{ city }}\n"))
    assert not group.isVisible()


def test_parameters_stand_in_a_group_of_their_own(qtbot: QtBot, pane: InputsPane) -> None:
    text = (
        "---\ninputs: {city: {kind: string}}\n---\nuser:\n{{ city }} ${params:who} {{ history }}\n"
    )
    pane.set_document(parse(text))
    group, who = pane.form.parameters, pane.form.rows["who"]
    assert group.heading.text() == "Parameters: who"
    assert who.isVisible()
    assert group.isAncestorOf(who)
    assert not group.isAncestorOf(pane.form.rows["city"])
    assert summary_of(pane).startswith("0 of 2 given")
    pane.set_values({"who": "Ann"})
    assert group.heading.text() == "Parameters: who · 1 given"
    assert pane.values() == {"who": "Ann"}
    qtbot.mouseClick(group.heading, Qt.MouseButton.LeftButton)
    assert not who.isVisible()
    pane.focus_input("who")
    assert who.isVisible()
    pane.set_document(parse("user:\n{{ city }}\n"))
    assert not group.isVisible()


def test_sets_are_kept_taken_and_removed(qtbot: QtBot, pane: InputsPane, tmp_path: Path) -> None:
    prompt = tmp_path / "trip.prompty"
    pane.set_document(parse(DOC, prompt))
    assert pane.sets.accessibleName() == "Input sets"
    pane.set_values({"city": "Rome"})
    choose(pane.sets, "Save as a set…")
    dialog = pane.sets.findChild(QInputDialog)
    dialog.setTextValue("Italy")
    dialog.accept()
    assert (tmp_path / "trip.inputs.json").exists()
    assert pane.sets.text() == "Italy"
    assert pane.sets.accessibleName() == "Input sets: Italy"
    pane.set_values({"city": "Oslo"})
    choose(pane.sets, "Update “Italy”")
    pane.clear()
    choose(pane.sets, "Italy")
    assert pane.values() == {"city": "Oslo"}
    pane.set_document(parse(DOC, tmp_path / "other.prompty"))
    assert "Italy" not in menu_texts(pane.sets)
    pane.set_document(parse(DOC, prompt))
    choose(pane.sets, "Italy")
    choose(pane.sets, "Delete “Italy”")
    assert not (tmp_path / "trip.inputs.json").exists()


def test_a_broken_file_of_sets_is_named_and_never_written_over(
    pane: InputsPane, tmp_path: Path
) -> None:
    kept = tmp_path / "trip.inputs.json"
    kept.write_text("{ broken", encoding="utf-8")
    said: list[str] = []
    pane.refused.connect(said.append)
    pane.set_document(parse(DOC, tmp_path / "trip.prompty"))
    assert "trip.inputs.json" in said[0]
    assert not pane.library.can_keep
    assert kept.read_text(encoding="utf-8") == "{ broken"


def test_one_row_of_a_file_is_taken_and_several_are_cases(
    qtbot: QtBot, pane: InputsPane, tmp_path: Path
) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("city,stranger,name\nOslo,2,\n", encoding="utf-8")
    pane.set_document(parse(DOC))
    pane.library.load(table)
    assert pane.values() == {"city": "Oslo", "stranger": "2"}
    table.write_text("city\nRome\nOslo\n", encoding="utf-8")
    with qtbot.waitSignal(pane.library.rows_loaded) as told:
        pane.library.load(table)
    assert told.args == [table]
    table.write_text("city\n", encoding="utf-8")
    with qtbot.waitSignal(pane.refused) as said:
        pane.library.load(table)
    assert said.args == ["rows.csv contains no rows with named values."]


def test_up_and_down_bring_earlier_values_back(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    with qtbot.waitActive(pane):
        pane.activateWindow()
    city = pane.form.rows["city"].editor
    other = pane.form.rows["stranger"].editor
    assert isinstance(city, TextField)
    assert isinstance(other, TextField)
    for text in ("Rome", "Oslo"):
        pane.clear()
        city.text.setFocus()
        qtbot.keyClicks(city.text, text)
        other.text.setFocus()
    pane.clear()
    city.text.setFocus()
    seen: list[dict[str, object]] = []
    pane.given_changed.connect(seen.append)
    qtbot.keyClick(city.text, Qt.Key.Key_Up)
    qtbot.keyClick(city.text, Qt.Key.Key_Up)
    assert seen[-1] == {"city": "Rome"}
    qtbot.keyClick(city.text, Qt.Key.Key_Down)
    assert seen[-1] == {"city": "Oslo"}


OBJECTS = """---
template:
  parser: {kind: section}
inputs:
  prefs:
    kind: object
    properties:
      unit: {kind: string, enum: [C, F], default: F}
      tags: {kind: array, items: {kind: string}}
    default: {unit: C, tags: [a, b], hidden: 1}
  place:
    kind: object
    properties:
      city: {kind: string}
      land: {kind: string, default: CH}
---
system:
{{ prefs.unit }} {{ prefs.tags }} {{ place.land }}
"""


def object_rows(pane: InputsPane, name: str) -> dict[str, FieldRow]:
    field = pane.form.rows[name].editor
    assert isinstance(field, ObjectField)
    return {row.spec.name: row for row in field.rows}


def test_what_has_parts_is_one_line_until_they_are_wanted(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(OBJECTS))
    row = pane.form.rows["prefs"]
    qtbot.waitUntil(lambda: row.isVisible() and row.height() < 40)
    assert not row.editor.isVisible()
    assert '"unit": "C"' in row._shown.whole
    pane.set_values({"prefs": {"unit": "F"}})
    assert row._shown.whole == '{"unit": "F"}'
    qtbot.mouseClick(row.fold, Qt.MouseButton.LeftButton)
    assert row.editor.isVisible()
    row.fold.click()
    assert not row.editor.isVisible()
    pane.form.focus_field("prefs")
    assert row.editor.isVisible()


def test_an_object_shows_what_its_default_holds_and_keeps_it(pane: InputsPane) -> None:
    pane.set_document(parse(OBJECTS))
    rows = object_rows(pane, "prefs")
    assert pane.values() == {}
    unit, tags = rows["unit"].editor, rows["tags"].editor
    assert isinstance(unit, ChoiceField)
    assert isinstance(tags, ListField)
    assert unit.combo.itemText(0) == "— (default: C)"
    assert rows["tags"].state.text() == "default"
    unit.combo.setCurrentIndex(2)
    unit.combo.activated.emit(2)
    assert pane.values() == {"prefs": {"unit": "F", "tags": ["a", "b"], "hidden": 1}}
    rows["unit"].reset.click()
    assert pane.values() == {}


def test_a_default_of_a_property_counts_once_its_object_is_given(
    qtbot: QtBot, pane: InputsPane
) -> None:
    pane.set_document(parse(OBJECTS))
    rows = object_rows(pane, "place")
    assert rows["land"].state.text() == "not set"
    city = rows["city"].editor
    assert isinstance(city, TextField)
    qtbot.keyClicks(city.text, "Bern")
    assert rows["land"].state.text() == "default"
    assert pane.values() == {"place": {"city": "Bern", "land": "CH"}}
    pane.set_values({"place": {"city": "Rome"}})
    assert rows["land"].state.text() == "not set"
    assert pane.values() == {"place": {"city": "Rome"}}


def test_no_label_reads_what_others_wrote_as_html(pane: InputsPane) -> None:
    text = OBJECTS.replace("[a, b]", f'["{PLANTED}"]').replace(
        "  place:", f'  odd: {{kind: "{PLANTED}", description: "{PLANTED}"}}\n  place:'
    )
    pane.set_document(parse(text))
    shown = [each.text() for each in pane.findChildren(QLabel) if "PLANTED" in each.text()]
    assert len(shown) >= 2
    assert PLANTED not in pane.form.rows["odd"]._name.toolTip()
    assert labels_read_as_rich(pane) == []


def test_a_thread_says_what_stands_in_for_it(pane: InputsPane) -> None:
    text = DOC.replace("sample: [{role: user, content: Hi}, {", "default: [{")
    pane.set_document(parse(text))
    chat = pane.form.rows["chat"].editor
    assert isinstance(chat, ThreadField)
    words = [label.text() for label in chat.findChildren(QLabel)]
    assert "1 message is shown in the preview." in words
    assert pane.form.rows["chat"].state.text() == "default"
    assert chat.start_button.text() == "Edit the default"


def test_the_name_of_a_set_is_shown_whole(pane: InputsPane, tmp_path: Path) -> None:
    prompt = tmp_path / "trip.prompty"
    (tmp_path / "trip.inputs.json").write_text('{"R&D": {"city": "Rome"}}', encoding="utf-8")
    pane.set_document(parse(DOC, prompt))
    assert "R&&D" in menu_texts(pane.sets)  # Qt shows && as one &, and takes a lone one away
    choose(pane.sets, "R&&D")
    assert pane.sets.text() == "R&&D"
    assert pane.library.current == "R&D"


def test_a_name_that_is_taken_is_said_before_it_is_replaced(
    pane: InputsPane, tmp_path: Path
) -> None:
    (tmp_path / "trip.inputs.json").write_text('{"R&D": {"city": "Rome"}}', encoding="utf-8")
    pane.set_document(parse(DOC, tmp_path / "trip.prompty"))
    choose(pane.sets, "Save as a set…")
    dialog = pane.sets.findChild(QInputDialog)
    dialog.setTextValue("other")
    assert dialog.okButtonText() == "Save"
    dialog.setTextValue(" R&D")
    assert dialog.okButtonText() == "Replace “R&&D”"
    dialog.reject()


def test_what_others_wrote_into_the_sets_meanwhile_stays(pane: InputsPane, tmp_path: Path) -> None:
    file = tmp_path / "trip.inputs.json"
    file.write_text('{"one": {"city": "Rome"}, "note": "mine"}', encoding="utf-8")
    pane.set_document(parse(DOC, tmp_path / "trip.prompty"))
    file.write_text('{"two": {"city": "Oslo"}, "note": "mine"}', encoding="utf-8")
    pane.library.keep("three", {"city": "Bern"})
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "two": {"city": "Oslo"},
        "note": "mine",
        "three": {"city": "Bern"},
    }
    assert list(pane.library.sets) == ["two", "three"]
    pane.library.remove("two")
    assert list(json.loads(file.read_text(encoding="utf-8"))) == ["note", "three"]
    refused: list[str] = []
    pane.library.refused.connect(refused.append)
    file.write_text("{broken", encoding="utf-8")
    pane.library.keep("four", {"city": "Nice"})
    assert refused
    assert not pane.library.can_keep
    assert file.read_text(encoding="utf-8") == "{broken"


def test_a_file_dropped_on_a_field_is_its_text_or_its_path(qtbot: QtBot, tmp_path: Path) -> None:
    letter, picture = tmp_path / "letter.txt", tmp_path / "cat.png"
    letter.write_text("Dear Ana,\nhello", encoding="utf-8")
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    text = make_editor(FieldSpec("body", "string", "text"))
    file = make_editor(FieldSpec("photo", "image", "image"))
    assert isinstance(text, TextField)
    assert isinstance(file, FileField)
    for field in (text, file):
        qtbot.addWidget(field)
        field.show()
    drop_files(text.text.viewport(), letter)
    assert text.value() == "Dear Ana,\nhello"
    with pytest.raises(AssertionError, match="wants none"):
        drop_files(text.text.viewport(), picture)
    file.set_folder(tmp_path)
    drop_files(file.line, picture)
    assert file.value() == "cat.png"


def test_a_link_is_pasted_and_dropped_as_its_text(qtbot: QtBot) -> None:
    field = make_editor(FieldSpec("body", "string", "text"))
    assert isinstance(field, TextField)
    qtbot.addWidget(field)
    link = QMimeData()  # as a browser copies the address of a page
    link.setUrls([QUrl("https://example.com/a")])
    link.setText("https://example.com/a")
    assert field.text.canInsertFromMimeData(link)
    field.text.insertFromMimeData(link)
    assert field.value() == "https://example.com/a"


def test_a_file_with_values_dropped_beside_the_fields_is_taken(
    pane: InputsPane, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"city": "Oslo"}\n', encoding="utf-8")
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG")
    pane.set_document(parse(DOC))
    drop_files(pane, rows)
    assert pane.values()["city"] == "Oslo"
    with pytest.raises(AssertionError, match="wants none"):
        drop_files(pane, picture)


def test_a_value_comes_back_with_its_input(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(parse(DOC))
    city = pane.form.rows["city"].editor
    assert isinstance(city, TextField)
    qtbot.keyClicks(city.text, "Rome")
    pane.set_document(parse(DOC.replace("city", "town")))
    assert summary_of(pane).startswith("0 of 3 given")
    pane.set_document(parse(DOC))
    assert pane.values() == {"city": "Rome"}
    assert pane.form.values() == {"city": "Rome"}


def test_a_value_that_the_new_kind_cannot_show_is_shown_as_json(
    qtbot: QtBot, pane: InputsPane
) -> None:
    kinds = {
        kind: DOC.replace("city: {kind: string", f"city: {{kind: {kind}")
        for kind in ("object", "thread", "integer", "image", "boolean")
    }
    pane.set_document(parse(kinds["object"]))
    pane.set_values({"city": {"name": "Rome"}})
    for kind, text in kinds.items():
        pane.set_document(parse(text))
        assert pane.values() == {"city": {"name": "Rome"}}, kind
        assert pane.form.values() == pane.values(), kind
    pane.set_values({"city": True})
    assert pane.form.values() == {"city": True}
    stranger = pane.form.rows["stranger"].editor
    assert isinstance(stranger, TextField)
    qtbot.keyClicks(stranger.text, "x")
    assert pane.values() == {"city": True, "stranger": "x"}


def test_a_rename_takes_the_value_and_the_sets_along_and_its_undo_brings_them_back(
    pane: InputsPane, tmp_path: Path
) -> None:
    prompt, file = tmp_path / "trip.prompty", tmp_path / "trip.inputs.json"
    file.write_text('{"Italy": {"city": "Rome"}}', encoding="utf-8")
    pane.set_document(parse(DOC, prompt))
    pane.library.take("Italy")
    pane.library.note_rename("city", "town")
    pane.set_document(parse(DOC.replace("city", "town"), prompt))
    assert pane.values() == {"town": "Rome"} == pane.form.values()
    assert pane.library.sets == {"Italy": {"town": "Rome"}}
    file.write_text('{"Italy": {"town": "Rome"}}', encoding="utf-8")  # as F2 writes it
    pane.library.reload()
    assert pane.library.sets == {"Italy": {"town": "Rome"}}
    pane.set_document(parse(DOC, prompt))
    assert pane.values() == {"city": "Rome"} == pane.form.values()
    assert pane.library.sets == {"Italy": {"city": "Rome"}}


def test_sets_that_another_program_writes_are_offered_at_once(
    qtbot: QtBot, pane: InputsPane, tmp_path: Path
) -> None:
    prompt, file = tmp_path / "trip.prompty", tmp_path / "trip.inputs.json"
    file.write_text('{"Italy": {"city": "Rome"}}', encoding="utf-8")
    pane.set_document(parse(DOC, prompt))
    pane.library.take("Italy")
    file.write_text('{"Italy": {"city": "Milano"}, "Norway": {"city": "Oslo"}}', encoding="utf-8")
    qtbot.waitUntil(lambda: list(pane.library.sets) == ["Italy", "Norway"])
    assert pane.values() == {"city": "Milano"}
    pane.set_values({"city": "Turin"})
    file.write_text('{"Italy": {"city": "Rome"}}', encoding="utf-8")
    qtbot.waitUntil(lambda: list(pane.library.sets) == ["Italy"])
    assert pane.values() == {"city": "Turin"}


def test_the_chosen_set_is_remembered(qtbot: QtBot, tmp_path: Path) -> None:
    prompt, memory = tmp_path / "trip.prompty", tmp_path / "memory" / "sets.json"
    (tmp_path / "trip.inputs.json").write_text('{"Italy": {"city": "Rome"}}', encoding="utf-8")
    first = InputsPane(memory=memory)
    qtbot.addWidget(first)
    first.set_document(parse(DOC, prompt))
    first.library.take("Italy")
    first.set_document(None)  # as while the editor is split
    first.set_document(parse(DOC, prompt))
    assert (first.sets.text(), first.values()) == ("Italy", {"city": "Rome"})
    again = InputsPane(memory=memory)
    qtbot.addWidget(again)
    again.set_document(parse(DOC, prompt))
    assert (again.sets.text(), again.values()) == ("Italy", {"city": "Rome"})


@pytest.mark.qt_log_ignore("This plugin does not support")  # a popup
def test_a_value_is_edited_over_its_card(qtbot: QtBot, pane: InputsPane) -> None:
    pane.set_document(
        parse(
            "---\ninputs:\n  city: {kind: string, sample: Lisbon}\n  days: {kind: integer}\n"
            "  who: {kind: object, sample: {name: Ann}}\n---\nuser:\n{{ city }} {{ days }}\n"
        )
    )
    place = QRect(60, 80, 300, 18)

    def edit(name: str, text: str, key: Qt.Key) -> ValueEditor:
        assert pane.edit_over(name, place)
        editor = pane.findChildren(ValueEditor)[-1]
        assert editor.isVisible()
        assert place.intersects(editor.geometry())
        target = editor.field.focusProxy()
        assert target is not None
        qtbot.keyClicks(target, text)  # in place of what is selected
        qtbot.keyClick(target, key)
        return editor

    assert not edit("city", "Rome", Qt.Key.Key_Escape).isVisible()
    assert not edit("city", "", Qt.Key.Key_Return).isVisible()
    assert pane.values() == {}  # a sample that was looked at is no value
    assert not edit("city", "Rome", Qt.Key.Key_Return).isVisible()
    assert pane.values() == {"city": "Rome"}
    assert pane.form.values() == {"city": "Rome"}
    assert not edit("days", "3", Qt.Key.Key_Return).isVisible()
    wrong = edit("days", "three", Qt.Key.Key_Return)
    assert wrong.isVisible()
    assert labels_shown(wrong)
    wrong.close()
    assert pane.values() == {"city": "Rome", "days": 3}
    assert not pane.edit_over("who", place)
    assert not pane.edit_over("city", QRect())
    pane.undo()
    assert pane.values() == {"city": "Rome"}
    pane.undo()
    assert pane.form.values() == pane.values() == {}
    pane.undo()
    edit("city", "Rome", Qt.Key.Key_Return)
    pane.set_document(parse("---\ninputs: {city: {kind: string}}\n---\nuser:\n{{ city }}\n"), "b")
    pane.undo()
    assert pane.values() == {}  # the value before was another prompt's
    pane.library.give("city", "Oslo")
    pane.undo()
    assert pane.values() == {"city": "Oslo"}


def labels_shown(editor: ValueEditor) -> list[str]:
    """The texts below the field."""
    return [each.text() for each in editor.findChildren(QLabel) if each.isVisible()]
