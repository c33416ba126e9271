"""What a screen reader says: every control has a name, in every pane and dialog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QHeaderView,
    QKeySequenceEdit,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.core.paths import resource
from studio.ui.app.main_window import MainWindow
from studio.ui.app.workbench import Workbench
from studio.ui.dialogs.crash import CrashDialog
from studio.ui.dialogs.help import AboutDialog
from tests.ui.connections import conftest

open_workbench = conftest.open_workbench

CONTROLS = (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QAbstractSpinBox,
    QAbstractItemView,
    QPlainTextEdit,
    QTextEdit,
)
SAID_BY_OWNER = (QHeaderView, QTabBar, QMenu, QAbstractSlider)


def nameless(root: QWidget) -> list[str]:
    """The controls below a widget that have no name to be read out."""
    found = []
    for widget in root.findChildren(QWidget):
        if not isinstance(widget, CONTROLS) or isinstance(widget, SAID_BY_OWNER):
            continue
        if _is_inner(widget):
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        name = interface.text(QAccessible.Text.Name) if interface is not None else ""
        if isinstance(widget, QCheckBox) and not widget.isVisible():
            continue  # it gets its words when it is shown
        if not name.strip():
            found.append(_path(widget))
    return found


def _is_inner(widget: QWidget) -> bool:
    """Whether Qt made the widget as a part of another control, which has the name."""
    if widget.objectName().startswith("qt_"):
        return True
    owner = widget.parentWidget()
    while owner is not None:
        if isinstance(owner, (QComboBox, QAbstractSpinBox, QTabBar, QLineEdit, QKeySequenceEdit)):
            return True
        owner = owner.parentWidget()
    return False


def _path(widget: QWidget) -> str:
    names: list[str] = []
    each: QWidget | None = widget
    while each is not None:
        names.append(f"{type(each).__name__}#{each.objectName()}")
        each = each.parentWidget()
    return " < ".join(names[:5])


@pytest.fixture
def workbench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    make: Callable[[Path], Workbench] = request.getfixturevalue("open_workbench")
    path = tmp_path / "agent.prompty"
    path.write_bytes(resource("examples", "tool-calling-agent.prompty").read_bytes())
    (tmp_path / "tools.py").write_bytes(resource("examples", "tools.py").read_bytes())
    return make(path)


DIALOGS = (
    "file.settings",
    "file.export",
    "run.connections",
    "help.guide",
    "help.about",
)


def test_every_control_has_a_name(workbench: Workbench, tmp_path: Path) -> None:
    window = workbench.window
    found: set[str] = set()
    for dock in ("files", "outline", "tools", "inputs", "preview", "run", "problems", "history"):
        window.docks.show(dock)
        QApplication.processEvents()
    window.actions_by_id["edit.replace_in_files"].trigger()
    found.update(nameless(window))
    assert all(action.text() for action in window.actions_by_id)
    crash = CrashDialog(tmp_path, window)
    crash.add("ValueError: a", "report")
    crash.show()
    workbench.run_marks.list_breakpoints()
    for action in DIALOGS:
        window.actions_by_id[action].trigger()
        QApplication.processEvents()
        dialogs = [each for each in window.findChildren(QDialog) if each.isVisible()]
        assert dialogs, action
        for each in dialogs:
            assert each.windowTitle(), action
            found.update(nameless(each))
            each.close()
    assert sorted(found) == []


def chain(root: QWidget) -> list[QWidget]:
    """What Tab goes through, in order, without what cannot be reached by it."""
    found = []
    each = root.nextInFocusChain()
    while each is not root:
        if (
            each.isVisible()
            and each.isEnabled()
            and each.focusPolicy() & Qt.FocusPolicy.TabFocus
            and each.window() is root.window()
        ):
            found.append(each)
        each = each.nextInFocusChain()
    return found


def test_tab_goes_through_the_settings_from_top_to_bottom(window: MainWindow) -> None:
    window.commands.settings()
    (dialog,) = [each for each in window.findChildren(QDialog) if each.isVisible()]
    QApplication.processEvents()
    order = [each for each in chain(dialog) if isinstance(each, CONTROLS)]
    tops = [each.mapTo(dialog, each.rect().topLeft()) for each in order]
    rows = [(place.x() > 190, place.y()) for place in tops if place.y() > 60]
    body = [row for row in rows if row[1] < dialog.height() - 60]
    assert body == sorted(body)
    assert len(order) >= 6
    dialog.close()


def test_esc_closes_a_dialog(window: MainWindow, qtbot: QtBot) -> None:
    window.commands.about()
    (dialog,) = window.findChildren(AboutDialog)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.findChildren(AboutDialog))
