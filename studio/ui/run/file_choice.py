"""File dialogs for exporting a run and importing journals, which do not block the window."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from studio.application.words import tr
from studio.core.runs.exchange import FORMS, RunForm


def fill_form_menu(menu: QMenu, chosen: Callable[[str], None]) -> None:
    """Add all export forms to a menu; `chosen` is called with the name of the selected one."""
    for form in FORMS:
        action = menu.addAction(form.label)
        action.setObjectName(f"export.{form.name}")
        action.triggered.connect(partial(chosen, form.name))


def ask_target(
    parent: QWidget, form: RunForm, name: Path, then: Callable[[Path], None], contains: str = ""
) -> None:
    """Ask for the file to write; call `then` with it unless the user cancels.

    Args:
        parent: the window.
        form: format of the file.
        name: suggested file name.
        then: called with the file.
        contains: description of the content, shown in the title.
    """
    title = tr("Export: {label}").format(label=form.label)
    dialog = QFileDialog(parent, f"{title} {contains}".rstrip(), str(name.parent))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setNameFilters([f"{form.label} (*{form.suffix})", tr("All files (*)")])
    dialog.selectFile(name.name)
    _ask(dialog, lambda files: then(files[0]))


def ask_journals(parent: QWidget, folder: Path, then: Callable[[list[Path]], None]) -> None:
    """Ask for journals to import into the history."""
    dialog = QFileDialog(parent, tr("Import runs"), str(folder))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.setNameFilters([tr("Journals (*.jsonl)"), tr("All files (*)")])
    _ask(dialog, then)


def _ask(dialog: QFileDialog, then: Callable[[list[Path]], None]) -> None:
    def taken() -> None:
        then([Path(name) for name in dialog.selectedFiles()])

    dialog.accepted.connect(taken)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
