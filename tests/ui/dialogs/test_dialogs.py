from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from studio.core.tools.trust.store import TrustStore
from studio.ui.app.main_window import MainWindow
from studio.ui.dialogs.export.dialog import ExportDialog
from studio.ui.dialogs.help import AboutDialog
from studio.ui.dialogs.settings.dialog import FieldsPage, SettingsDialog
from studio.ui.style.application import finish_restyling
from studio.ui.style.theme import DARK, LIGHT, theme_in_use

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def shown(window: MainWindow, kind: type[QDialog]) -> QDialog:
    """The dialog of that kind that is open."""
    (dialog,) = [each for each in window.findChildren(kind) if each.isVisible()]
    return dialog


def test_settings_hold_at_once(window: MainWindow) -> None:
    window.actions_by_id["file.settings"].trigger()
    dialog = shown(window, SettingsDialog)
    assert isinstance(dialog, SettingsDialog)
    dialog.looks.form.widgets["theme"].setCurrentIndex(
        dialog.looks.form.widgets["theme"].findData("dark")
    )
    dialog.looks.form.widgets["theme"].activated.emit(
        dialog.looks.form.widgets["theme"].currentIndex()
    )
    assert theme_in_use() is DARK
    dialog.editor.form.widgets["editor_font_size"].setValue(15)
    dialog.editor.form.widgets["word_wrap"].setChecked(False)
    value = window.services.settings.value
    assert (value.editor_font_size, value.word_wrap) == (15.0, False)
    dialog.close()


def test_a_key_is_rebound_taken_away_and_given_back(window: MainWindow) -> None:
    window.actions_by_id["help.shortcuts"].trigger()
    dialog = shown(window, SettingsDialog)
    assert isinstance(dialog, SettingsDialog)
    action = window.actions_by_id["file.new"]
    dialog.keys.setKeySequence(QKeySequence("Ctrl+S"))
    dialog.apply_keys.click()
    assert action.shortcut().toString() == "Ctrl+S"
    assert "Ctrl+S: New prompt and Save" in dialog.note.text()
    dialog.clear_keys.click()
    assert action.shortcut().isEmpty()
    dialog.reset_keys.click()
    assert action.shortcut().toString() == "Ctrl+N"
    assert window.services.settings.value.shortcuts == {}
    dialog.filter.setText("palette of nothing")
    assert all(
        dialog.list.topLevelItem(row).isHidden() for row in range(dialog.list.topLevelItemCount())
    )
    dialog.close()


def settings(window: MainWindow) -> SettingsDialog:
    """The settings, opened as a person does."""
    window.actions_by_id["file.settings"].trigger()
    dialog = shown(window, SettingsDialog)
    assert isinstance(dialog, SettingsDialog)
    return dialog


def test_a_search_leaves_the_settings_that_hold_the_words(window: MainWindow) -> None:
    dialog = settings(window)

    def pages() -> list[str]:
        rows = [dialog.sections.item(row) for row in range(dialog.sections.count())]
        return [item.text() for item in rows if not item.isHidden()]

    assert pages() == [
        "Appearance",
        "Editor",
        "Keyboard",
        "Connections",
        "Trust",
        "Privacy",
        "Storage",
    ]
    dialog.search.setText("telemetry")
    assert pages() == ["Privacy"]
    dialog.search.setText("theme dark")
    assert "Appearance" in pages()
    assert dialog.looks.form.widgets["theme"].isVisible()
    assert not dialog.looks.form.widgets["interface_font"].isVisible()
    dialog.search.setText("shortcuts")
    assert "Keyboard" in pages()
    dialog.search.setText("keys save all")
    assert pages() == ["Keyboard"]
    tree = dialog.list
    items = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    assert [each.text(0) for each in items if each and not each.isHidden()] == ["Save all"]
    dialog.search.setText("no such thing at all")
    assert pages() == []
    assert dialog._nothing.isVisible()
    dialog.search.clear()
    assert len(pages()) == 7
    dialog.close()


def test_the_cost_of_cases_is_a_setting(window: MainWindow) -> None:
    dialog = settings(window)
    dialog.search.setText("cost cases")
    page = dialog._pages.currentWidget()
    assert isinstance(page, FieldsPage)
    field = page.form.widgets["cases_cents"]
    assert field.value() == window.services.settings.value.cases_cents
    field.setValue(40)
    field.editingFinished.emit()
    assert window.services.settings.value.cases_cents == 40
    dialog.close()


def test_fonts_hold_at_once_in_window_and_editor(window: MainWindow, tmp_path: Path) -> None:
    page = window.tabs.new("system:\nHi\n")
    dialog = settings(window)
    font = dialog.editor.form.widgets["editor_font"]
    dialog.looks.form.widgets["interface_font_size"].setValue(13)
    assert QGuiApplication.font().pointSizeF() == 13
    font.addItem("Inter", "Inter")
    font.setCurrentIndex(font.count() - 1)
    font.activated.emit(font.currentIndex())
    assert page.editor.font().families()[0] == "Inter"
    assert "editor_font" in window.services.settings.path.read_text(encoding="utf-8")
    dialog.looks.form.widgets["interface_font_size"].setValue(10)
    dialog.close()


def test_the_spelling_is_chosen_and_taught_on_the_settings_page(window: MainWindow) -> None:
    store = window.services.settings
    store.set(replace(store.value, own_words=("Prompty",)))
    page = window.tabs.new("system:\nYou are agentic.\n")
    dialog = settings(window)
    spelling = dialog.editor.form.widgets["spelling"]
    dialog.search.setText("spelling")
    assert spelling.isVisible()
    assert dialog.own_words.isVisible()
    assert (spelling.currentData(), dialog.own_words.text()) == (
        "",
        "Prompty",
    )
    spelling.setCurrentIndex(spelling.findData("en_US"))
    spelling.activated.emit(spelling.currentIndex())
    assert store.value.spelling == "en_US"
    page.assist.word_learned.emit("agentic")  # while the dialog is open
    dialog.own_words.editingFinished.emit()
    assert store.value.own_words == ("Prompty", "agentic")
    dialog.own_words.selectAll()
    QTest.keyClicks(dialog.own_words, "Jinja, Jinja  YAML")
    QTest.keyClick(dialog.own_words, Qt.Key.Key_Return)
    assert store.value.own_words == ("Jinja", "YAML")
    assert dialog.own_words.text() == "Jinja YAML"
    assert dialog.isVisible(), "Return ends the field, not the dialog"
    dialog.close()


def test_a_key_that_is_taken_is_said_while_it_is_pressed(window: MainWindow) -> None:
    dialog = settings(window)
    dialog.show_shortcuts()
    dialog.keys.setKeySequence(QKeySequence("Ctrl+S"))
    assert dialog.note.text() == "Ctrl+S is already used by Save."
    assert window.services.settings.value.shortcuts == {}
    for theme in (DARK, LIGHT):
        window.set_theme(theme)
        finish_restyling()
        assert dialog.keys_page.note.palette().windowText().color().name() == theme.error
    dialog.keys.setKeySequence(QKeySequence("Ctrl+Alt+F9"))
    assert dialog.note.text() == ""
    dialog.close()


def test_a_trusted_folder_is_listed_and_forgotten(window: MainWindow, tmp_path: Path) -> None:
    store = TrustStore(window.services.paths.data / "trust.json")
    store.trust(tmp_path)
    dialog = settings(window)
    told: list[bool] = []
    window.commands.trust_changed.connect(lambda: told.append(True))
    assert dialog.trusted.list.count() == 1
    dialog.trusted.list.setCurrentRow(0)
    dialog.trusted.forget.click()
    assert not store.is_trusted(tmp_path)
    assert told == [True]
    assert dialog.trusted.list.count() == 0
    dialog.close()


def test_the_welcome_page_leads_to_what_is_stored_where(window: MainWindow) -> None:
    learn = [
        button
        for button in window.welcome.findChildren(QPushButton)
        if button.text() in {"Tour of the window", "User guide", "Storage locations"}
    ]
    assert len(learn) == 3
    learn[2].click()
    dialog = shown(window, SettingsDialog)
    assert isinstance(dialog, SettingsDialog)
    page = dialog._pages.currentWidget()
    words = " ".join(label.text() for label in page.findChildren(QLabel))
    for folder in (window.services.paths.config, window.services.paths.data):
        assert str(folder) in words
    dialog.close()


def test_export_shows_checks_and_writes_what_it_shows(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("system:\nHi {{ town }}\n", encoding="utf-8")
    with qtbot.waitSignal(
        window.page_coordinator.document_changed, check_params_cb=lambda doc: doc is not None
    ):
        window.tabs.open(path)
    window.actions_by_id["file.export"].trigger()
    dialog = shown(window, ExportDialog)
    assert isinstance(dialog, ExportDialog)
    qtbot.waitUntil(dialog.save.isEnabled)
    assert dialog.checks.count() == 1
    assert "town" in dialog.checks.text(0)
    assert dialog.write(tmp_path / "out.prompty")
    assert (tmp_path / "out.prompty").read_bytes() == path.read_bytes()
    dialog.choose("messages-jsonl")
    qtbot.waitUntil(lambda: dialog.text.toPlainText().startswith('{"messages"'))
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == dialog.text.toPlainText()
    assert not dialog.write(tmp_path / "missing" / "out.jsonl")
    assert window.notices.notices[-1].weight == "error"
    dialog.close()


def test_export_of_a_broken_prompt_is_refused_with_the_reason(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.tabs.new("---\nname: [\n---\nsystem:\n{% if %}\n")
    qtbot.waitUntil(lambda: window.tabs.document is not None)
    window.actions_by_id["file.export"].trigger()
    dialog = shown(window, ExportDialog)
    assert isinstance(dialog, ExportDialog)
    qtbot.waitUntil(lambda: dialog.checks.count() > 0)
    assert dialog.state.text().startswith("Fix the errors below")
    assert not dialog.save.isEnabled()
    assert not dialog.write(tmp_path / "no.prompty")
    assert not (tmp_path / "no.prompty").exists()
    dialog.close()


def test_about_says_what_it_is(window: MainWindow) -> None:
    window.actions_by_id["help.about"].trigger()
    dialog = shown(window, AboutDialog)
    assert dialog.windowTitle() == "About Prompt Studio"
    dialog.close()
