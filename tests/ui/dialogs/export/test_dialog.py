"""The export gate in a real window: every target once, and everything that holds it back."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QDialog, QPushButton
from pytestqt.qtbot import QtBot

from studio.application.exchange.judge import judge_of
from studio.core.export.target import ExportSource
from studio.core.export.targets import TARGETS
from studio.core.prompty.parse import parse
from studio.ui.app.main_window import MainWindow
from studio.ui.dialogs.export.dialog import ExportDialog
from studio.ui.dialogs.import_prompt import ImportDialog
from studio.ui.style.application import finish_restyling
from studio.ui.style.theme import DARK, LIGHT, theme_in_use
from tests.support.drop import drop_files
from tests.support.patience import MS

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

PROMPT = """---
name: trip
model: {id: m, provider: openai}
inputs:
  city: {kind: string, default: Oslo}
tools:
  - name: find
    kind: function
    parameters:
      - {name: q, kind: string}
template:
  format: {kind: jinja2}
  parser: {kind: prompty}
---
system:
Be kind.

user:
Tell me about {{ city }}.
"""


def shown(window: MainWindow, kind: type[QDialog]) -> QDialog:
    (dialog,) = [each for each in window.findChildren(kind) if each.isVisible()]
    return dialog


def open_prompt(window: MainWindow, qtbot: QtBot, path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    with qtbot.waitSignal(
        window.page_coordinator.document_changed, check_params_cb=lambda doc: doc is not None
    ):
        window.tabs.open(path)


def export_dialog(window: MainWindow, qtbot: QtBot) -> ExportDialog:
    window.actions_by_id["file.export"].trigger()
    dialog = shown(window, ExportDialog)
    assert isinstance(dialog, ExportDialog)
    qtbot.waitUntil(lambda: dialog.made is not None)
    return dialog


def choose(dialog: ExportDialog, name: str, qtbot: QtBot) -> None:
    dialog.choose(name)
    qtbot.waitUntil(
        lambda: dialog.target is not None and dialog.target.name == name and dialog.made is not None
    )


def test_each_target_is_exported_once_from_the_window(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_prompt(window, qtbot, tmp_path / "trip.prompty", PROMPT)
    for target in TARGETS:
        dialog = export_dialog(window, qtbot)
        choose(dialog, target.name, qtbot)
        export_it(dialog, tmp_path / f"{target.name}{target.suffix}")
        assert not dialog.isVisible(), target.name
        assert window.notices.notices[-1].weight == "success"
    body = json.loads((tmp_path / "anthropic.json").read_text(encoding="utf-8"))
    assert "Oslo" in json.dumps(body)
    assert "trip.prompty" in zipfile.ZipFile(tmp_path / "bundle.zip").namelist()


def test_a_form_is_found_by_its_words(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """Enter in the search writes nothing; it leads to the forms that were found."""
    open_prompt(window, qtbot, tmp_path / "trip.prompty", PROMPT)
    dialog = export_dialog(window, qtbot)
    forms = dialog.forms
    heads = [forms.item(at) for at in range(forms.count()) if not forms.item(at).flags()]
    assert [head.text() for head in heads] == [
        "Give to a colleague",
        "Use in code",
        "Other prompt formats",
    ]
    qtbot.keyClicks(dialog.search, "curl anthr")
    assert dialog.target is not None
    assert dialog.target.name == "curl-anthropic"
    assert [head.isHidden() for head in heads] == [True, False, True]
    qtbot.waitUntil(lambda: dialog.made is not None)
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    qtbot.waitUntil(forms.hasFocus)
    assert dialog.isVisible()
    dialog.search.clear()
    assert not any(forms.item(at).isHidden() for at in range(forms.count()))
    assert dialog.target.name == "curl-anthropic"
    dialog.close()


def export_it(dialog: ExportDialog, out: Path) -> None:
    """Agree to what is lost, where anything is, and press the button."""
    target, made = dialog.target, dialog.made
    assert target is not None
    assert made is not None
    assert dialog.round_trips.count() >= 1
    assert dialog.heading.text() == target.label
    dialog.place.setText(str(out))
    if made.needs_consent:
        assert not dialog.save.isEnabled()
        assert not dialog.copy.isEnabled()
        dialog.save.click()
        assert not out.exists()
        assert dialog.checks.count() >= len(made.losses)
        dialog.consent.setChecked(True)
    assert dialog.save.isEnabled()
    assert dialog.copy.isEnabled() is (made.data is None)
    dialog.save.click()
    assert out.read_bytes() == made.content


def test_a_fix_is_one_click_and_lands_in_the_editor(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    text = PROMPT.replace("default: Oslo", "sample: Oslo, required: true")
    open_prompt(window, qtbot, tmp_path / "trip.prompty", text)
    dialog = export_dialog(window, qtbot)
    choose(dialog, "openai-chat", qtbot)
    assert dialog.state.text().startswith("Fix the errors")
    assert not dialog.save.isEnabled()
    assert not dialog.write(tmp_path / "no.json")
    dialog.place.setText(str(tmp_path / "no.json"))
    (box,) = dialog.errors.boxes.values()
    assert "'city'" in box.text()
    box.setChecked(True)
    assert dialog.save.isEnabled()
    box.setChecked(False)
    assert not dialog.save.isEnabled()
    (button,) = [each for row in dialog.checks.rows for each in row.findChildren(QPushButton)]

    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    qtbot.waitUntil(lambda: dialog.made is not None and not dialog.made.blocked)
    page = window.tabs.current
    assert page is not None
    assert parse(page.editor.text()).inputs[0].default == "Oslo"
    assert "Tell me about Oslo." in dialog.text.toPlainText()
    page.editor.undo()
    assert page.editor.text() == text
    dialog.close()


def test_a_file_that_is_there_is_compared_and_replaced_whole(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_prompt(window, qtbot, tmp_path / "trip.prompty", PROMPT)
    out = tmp_path / "old.md"
    out.write_text("# trip\n\nOld.\n", encoding="utf-8")
    dialog = export_dialog(window, qtbot)
    choose(dialog, "markdown", qtbot)
    dialog.place.setText(str(out))

    assert dialog.save.text() == "Replace"
    qtbot.waitUntil(lambda: "Compared with current old.md" in dialog.diff.toPlainText())
    assert "− Old." in dialog.diff.toPlainText()
    dialog.place.setText(str(tmp_path / "missing" / "x.md"))
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    assert dialog.isVisible()
    assert "could not be written" in dialog.state.text()
    assert out.read_text(encoding="utf-8") == "# trip\n\nOld.\n"
    dialog.close()


def test_the_proof_names_each_saved_set(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    sets = {"north": {"city": "Tromsø"}, "south": {"city": "Bari"}}
    source = ExportSource(parse(PROMPT, tmp_path / "trip.prompty"), sets=sets)
    dialog = ExportDialog(source, "trip.prompty", window.services.messages, window)
    dialog.open()
    choose(dialog, "langchain", qtbot)
    rows = [dialog.round_trips.item(row).text() for row in range(dialog.round_trips.count())]
    assert rows == [
        f"{name}: the same (2 messages, 1 tool)" for name in ("Current values", "north", "south")
    ]
    assert dialog.tabs.tabText(2) == "Round trip 3/3"
    assert colors_of(dialog.round_trips.item(0).icon().pixmap(16, 16)) == {theme_in_use().success}
    dialog.close()


def test_a_tick_needs_another_program(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    open_prompt(window, qtbot, tmp_path / "a.prompty", "---\nname: a\n---\nsystem:\nHi\n")
    dialog = export_dialog(window, qtbot)
    for target in TARGETS:
        choose(dialog, target.name, qtbot)
        made = dialog.made
        assert made is not None
        if not made.needs_consent and not made.blocked:
            said = dialog.state.text()
            assert ("by the rules of" in said) is bool(made.judge), (target.name, said)
            assert made.judge or "this program only" in said or "No program" in said
        assert dialog.tabs.ask.isVisible() is (judge_of(target.name) is not None)
    dialog.close()


def test_the_program_itself_is_asked_in_the_dialog(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    pytest.importorskip("prompty")
    open_prompt(window, qtbot, tmp_path / "a.prompty", "---\nname: a\n---\nsystem:\nHi\n")
    dialog = export_dialog(window, qtbot)
    choose(dialog, "prompty", qtbot)
    qtbot.mouseClick(dialog.tabs.ask, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "read the file" in dialog.state.text(), timeout=MS)
    assert dialog.state.text().startswith("prompty 2.1")
    assert colors_of(dialog.round_trips.item(0).icon().pixmap(16, 16)) == {theme_in_use().success}
    dialog.close()


def colors_of(picture: QPixmap) -> set[str]:
    """The colours of an icon where it is wholly opaque."""
    image = picture.toImage()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    found = (image.pixelColor(*place) for place in places)
    return {color.name() for color in found if color.alpha() == 255}


def test_another_theme_reaches_what_is_already_shown(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    text = PROMPT.replace("Be kind.", "Be {{ mood }}.")
    open_prompt(window, qtbot, tmp_path / "trip.prompty", text)
    (tmp_path / "old.md").write_text("# Old\n", encoding="utf-8")
    dialog = export_dialog(window, qtbot)
    choose(dialog, "markdown", qtbot)
    dialog.place.setText(str(tmp_path / "old.md"))
    qtbot.waitUntil(lambda: "− # Old" in dialog.diff.toPlainText())
    tests = tmp_path / "promptfooconfig.yaml"
    tests.write_text("prompts: ['A {{x}}']\ntests:\n  - assert: [1]\n", encoding="utf-8")
    taken = ImportDialog(tests, window.services.messages, window)
    assert taken.read()
    assert dialog.checks.count() > 0
    assert taken.notes.count() > 0

    for theme in (DARK, LIGHT):
        window.set_theme(theme)
        finish_restyling()

        heading, form = dialog.forms.item(0), dialog.forms.item(1)
        assert heading.foreground().color().name() == theme.muted
        assert colors_of(form.icon().pixmap(16, 16)) == {theme.muted}
        assert colors_of(dialog.round_trips.item(0).icon().pixmap(16, 16)) == {theme.muted}
        assert colors_of(dialog.state.mark.pixmap()) <= {theme.muted, theme.warning}
        assert colors_of(dialog.state.mark.pixmap())
        row = dialog.checks.rows[0]
        assert colors_of(row.mark.pixmap()) <= {theme.warning, theme.hint}
        assert colors_of(row.mark.pixmap())
        assert f"color:{theme.error}" in dialog.diff.toHtml().replace(" ", "")
        assert colors_of(taken.notes.item(0).icon().pixmap(16, 16)) == {theme.warning}
        assert colors_of(taken.state.mark.pixmap()) == {theme.warning}
    taken.close()
    dialog.close()
    qtbot.waitUntil(lambda: not window.findChildren(ExportDialog))
    window.set_theme(DARK)  # the closed dialogs hear nothing of it
    finish_restyling()


def test_import_by_drop_opens_what_the_file_becomes(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "request.json"
    body = {
        "model": "m",
        "top_k": 3,
        "messages": [{"role": "user", "content": "Hi {{x}}"}],
        "stream": True,
    }
    path.write_text(json.dumps(body), encoding="utf-8")
    drop_files(window, path)

    dialog = shown(window, ImportDialog)
    assert isinstance(dialog, ImportDialog)
    assert "OpenAI chat completions request" in dialog.state.text()
    assert "stream" in dialog.notes.item(0).text()
    qtbot.mouseClick(dialog.take, Qt.MouseButton.LeftButton)
    page = window.tabs.current
    assert page is not None
    assert page.title == "request.prompty"
    assert dialog.imported is not None
    assert page.editor.text() == dialog.imported.text


def test_import_saves_the_prompt_with_its_sets(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text("prompts: ['A {{x}}', 'B {{x}}']\ntests:\n  - vars: {x: 1}\n", encoding="utf-8")
    window.commands.exchange.import_path(path)
    dialog = shown(window, ImportDialog)
    assert isinstance(dialog, ImportDialog)
    assert dialog.choice.count() == 2
    dialog.choice.setCurrentIndex(1)
    dialog.choice.activated.emit(1)
    assert "B {{x}}" in dialog.text.toPlainText()

    assert dialog.write(tmp_path / "b.prompty")

    assert json.loads((tmp_path / "b.inputs.json").read_text(encoding="utf-8")) == {
        "test 1": {"x": 1}
    }
    page = window.tabs.current
    assert page is not None
    assert page.controller.path == tmp_path / "b.prompty"
    assert not dialog.write(tmp_path / "b.prompty")  # its input sets are there already
    assert window.notices.notices[-1].weight == "error"
    dialog.close()


def test_a_dropped_file_of_settings_is_opened_as_text(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {}}', encoding="utf-8")
    assert not window.commands.exchange.take_dropped(path)


def test_the_dialogs_fit_a_small_screen(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    open_prompt(window, qtbot, tmp_path / "a.prompty", PROMPT)
    dialog = export_dialog(window, qtbot)
    room = dialog.screen().availableGeometry()
    assert dialog.width() < room.width()
    assert dialog.height() < room.height()
    assert dialog.minimumSizeHint().width() <= 860
    assert dialog.minimumSizeHint().height() <= 560
    dialog.close()
