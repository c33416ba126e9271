"""What the tabs ask about files: which to open, where to save, and what to do with changes."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from studio.ui.base.marked_text import QT_TRANSLATE_NOOP

PROMPT_FILTER = QT_TRANSLATE_NOOP(
    "Tabs",
    "Prompts (*.prompty);;Markdown and text (*.md *.txt);;Python tools (*.py);;All files (*)",
)


class Unsaved(Enum):
    """What to do with changes that are not saved."""

    SAVE = auto()
    DISCARD = auto()
    STAY = auto()


def ask_open(parent: QWidget, folder: str) -> list[Path]:
    """Files to open; none where the person thinks better of it."""
    names, _ = QFileDialog.getOpenFileNames(
        parent,
        QCoreApplication.translate("EditorTabs", "Open prompt"),
        folder,
        QCoreApplication.translate("Tabs", PROMPT_FILTER),
    )
    return [Path(name) for name in names]


def ask_save(parent: QWidget, start: Path) -> Path | None:
    """Where to save, with the format's ending where none was given."""
    name, _ = QFileDialog.getSaveFileName(
        parent,
        QCoreApplication.translate("EditorTabs", "Save prompt"),
        str(start),
        QCoreApplication.translate("Tabs", PROMPT_FILTER),
    )
    if not name:
        return None
    path = Path(name)
    return path if path.suffix else path.with_suffix(".prompty")


def ask_unsaved(parent: QWidget, title: str) -> Unsaved:
    """What to do with the changes of a document that is to be closed."""
    button = QMessageBox.StandardButton
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(QCoreApplication.translate("EditorTabs", "Unsaved changes"))
    box.setText(
        QCoreApplication.translate("EditorTabs", "Save the changes to {title}?").format(title=title)
    )
    box.setInformativeText(
        QCoreApplication.translate("EditorTabs", "Without saving they are lost.")
    )
    box.setStandardButtons(button.Save | button.Discard | button.Cancel)
    box.setDefaultButton(button.Save)
    answer = box.exec()
    if answer == button.Save:
        return Unsaved.SAVE
    return Unsaved.DISCARD if answer == button.Discard else Unsaved.STAY
