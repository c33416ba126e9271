"""What the tabs ask about files: which to open, where to save, and what to do with changes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from studio.ui.base.marked_text import QT_TRANSLATE_NOOP

PROMPT_FILTER = QT_TRANSLATE_NOOP(
    "Tabs",
    "Prompts (*.prompty);;Markdown and text (*.md *.txt);;Python tools (*.py);;All files (*)",
)

EXPERIMENT_FILTER = QT_TRANSLATE_NOOP("Tabs", "Experiments (*.experiment.yaml *.experiment.yml)")

_NAMED = 12
"""So many documents are named in the question before they are only counted."""


class Unsaved(Enum):
    """What to do with changes that are not saved."""

    SAVE = auto()
    DISCARD = auto()
    STAY = auto()


def ask_open(parent: QWidget, folder: str) -> list[Path]:
    """Files to open; none where the user thinks better of it."""
    names, _ = QFileDialog.getOpenFileNames(
        parent,
        QCoreApplication.translate("EditorTabs", "Open prompt"),
        folder,
        ";;".join(
            QCoreApplication.translate("Tabs", each) for each in (PROMPT_FILTER, EXPERIMENT_FILTER)
        ),
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


def ask_unsaved(parent: QWidget, titles: Sequence[str]) -> Unsaved:
    """What to do with the changes of the documents that are to be closed: one answer for all."""
    button = QMessageBox.StandardButton
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(QCoreApplication.translate("EditorTabs", "Unsaved changes"))
    lost = QCoreApplication.translate("EditorTabs", "Without saving they are lost.")
    if len(titles) == 1:
        said = QCoreApplication.translate("EditorTabs", "Save the changes to {title}?")
        box.setText(said.format(title=titles[0]))
        box.setInformativeText(lost)
        save, discard = button.Save, button.Discard
    else:
        said = QCoreApplication.translate("EditorTabs", "Save the changes to {count} prompts?")
        box.setText(said.format(count=len(titles)))
        more = len(titles) - _NAMED
        names = [*titles[:_NAMED], *([f"… +{more}"] if more > 0 else [])]
        box.setInformativeText("\n".join([*names, "", lost]))
        save, discard = button.SaveAll, button.Discard
    box.setStandardButtons(save | discard | button.Cancel)
    box.setDefaultButton(save)
    answer = box.exec()
    if answer == save:
        return Unsaved.SAVE
    return Unsaved.DISCARD if answer == discard else Unsaved.STAY
