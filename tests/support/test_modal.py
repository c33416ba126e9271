from __future__ import annotations

import pytest
from PySide6.QtWidgets import QDialog, QInputDialog, QLineEdit, QMessageBox, QVBoxLayout
from pytestqt.qtbot import QtBot

from tests.support import modal
from tests.support.modal import answering

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def dialog_with_field(qtbot: QtBot) -> QDialog:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    QVBoxLayout(dialog).addWidget(QLineEdit())
    return dialog


def test_an_answer_closes_the_dialog(qtbot: QtBot) -> None:
    dialog = dialog_with_field(qtbot)
    with answering(QDialog, QDialog.accept):
        assert dialog.exec() == QDialog.DialogCode.Accepted


def test_a_dialog_that_stays_is_closed_and_told(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modal, "_SECONDS", 0.2)
    dialog = dialog_with_field(qtbot)
    with (
        pytest.raises(TimeoutError, match="left open"),
        answering(QDialog, lambda _: None),
    ):
        dialog.exec()


def test_a_dialog_of_another_kind_is_closed_and_told(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modal, "_SECONDS", 0.2)
    dialog = dialog_with_field(qtbot)
    with pytest.raises(TimeoutError), answering(QInputDialog, QInputDialog.accept):
        dialog.exec()


def test_an_answer_that_fails_closes_the_dialog(qtbot: QtBot) -> None:
    def fail(_: QDialog) -> None:
        raise LookupError("no such field")

    dialog = dialog_with_field(qtbot)
    with pytest.raises(LookupError, match="no such field"), answering(QDialog, fail):
        dialog.exec()


def test_a_dialog_that_never_comes_is_told(qtbot: QtBot) -> None:
    with (
        pytest.raises(AssertionError, match="no QMessageBox came"),
        answering(QMessageBox, QMessageBox.accept),
    ):
        pass
