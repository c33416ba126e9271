from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from studio.ui.dialogs.about import AboutDialog
from studio.ui.dialogs.export import ExportDialog
from studio.ui.dialogs.settings import SettingsDialog
from studio.ui.theme import DARK
from studio.ui.window import MainWindow

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def shown(window: MainWindow, kind: type[QDialog]) -> QDialog:
    """The dialog of that kind that is open."""
    (dialog,) = [each for each in window.findChildren(kind) if each.isVisible()]
    return dialog


def test_settings_hold_at_once(window: MainWindow) -> None:
    window.actions_by_id["file.settings"].trigger()
    dialog = shown(window, SettingsDialog)
    assert isinstance(dialog, SettingsDialog)
    dialog.theme.setCurrentIndex(dialog.theme.findData("dark"))
    dialog.theme.activated.emit(dialog.theme.currentIndex())
    assert window.theme is DARK
    dialog.size.setValue(15)
    dialog.wrap.setChecked(False)
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


def test_export_shows_checks_and_writes_what_it_shows(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("system:\nHi {{ town }}\n", encoding="utf-8")
    with qtbot.waitSignal(window.document_changed, check_params_cb=lambda doc: doc is not None):
        window.open_path(path)
    window.actions_by_id["file.export"].trigger()
    dialog = shown(window, ExportDialog)
    assert isinstance(dialog, ExportDialog)
    qtbot.waitUntil(dialog.save.isEnabled)
    assert dialog.checks.count() == 1
    assert "town" in dialog.checks.item(0).text()
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
    qtbot.waitUntil(lambda: window.document is not None)
    window.actions_by_id["file.export"].trigger()
    dialog = shown(window, ExportDialog)
    assert isinstance(dialog, ExportDialog)
    qtbot.waitUntil(lambda: dialog.checks.count() > 0)
    assert dialog.state.text().startswith("Cannot be exported")
    assert not dialog.save.isEnabled()
    assert not dialog.write(tmp_path / "no.prompty")
    assert not (tmp_path / "no.prompty").exists()
    dialog.close()


def test_about_says_what_it_is(window: MainWindow) -> None:
    window.actions_by_id["help.about"].trigger()
    dialog = shown(window, AboutDialog)
    assert dialog.windowTitle() == "About Prompt Studio"
    dialog.close()
