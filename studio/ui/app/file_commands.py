"""The commands for files and folders: new ones, examples, imports."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from studio.application.words import tr
from studio.core.experiments.file.names import SUFFIXES
from studio.core.paths import resource
from studio.core.text.files import read_text
from studio.core.text.source import Fix
from studio.ui.editor.page.page import EditorPage
from studio.ui.style.icons import icon
from studio.viewmodels.app.notifications import NotificationAction

if TYPE_CHECKING:
    from studio.core.prompty.document import ToolSpec
    from studio.core.settings import Settings
    from studio.ui.dialogs.export.dialog import ExportDialog
    from studio.ui.window.parts import Panes, WindowParts


BEGINNINGS = {"run": "run.start", "step": "run.step"}
"""Actions that a later start or an editor can request, by name."""


class FileCommands(QObject):
    """Carries out the actions on files for one window."""

    def __init__(self, window: WindowParts, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._runs_when_read = ""
        window.tabs.parsed.connect(self._on_parsed)

    def new(self) -> None:
        """A new prompt from the simplest template, so that it is never a blank page."""
        self.new_from(resource("templates", "chat.prompty"))

    def new_from(self, template: object) -> None:
        """A new prompt from a bundled template."""
        if isinstance(template, Path):
            self._window.tabs.new(read_text(template)).begin_at_messages()

    def reopen(self) -> None:
        """Open the file again whose tab was closed last."""
        if not self._window.tabs.reopen():
            self._window.messages.info(tr("No tab was closed that can be opened again."))

    def go_to_files(self) -> None:
        """Give the keyboard to the files; where there are none, to what opens a folder."""
        self._window.docks.show("files")
        self._window.files.take_keyboard()

    def open_example(self, example: object) -> None:
        """Open the user's own copy of an example, with its tools."""
        if not isinstance(example, Path):
            return
        folder = self._window.services.paths.data / "examples"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in example.parent.iterdir():
                if path.is_file() and not (folder / path.name).exists():
                    shutil.copyfile(path, folder / path.name)
        except OSError:
            self._window.messages.error(
                tr("The example could not be copied to your own folder."),
                tr("It is opened where it is; save it under another name to change it."),
                str(folder),
            )
            folder = example.parent
        self._window.tabs.open(folder / example.name)

    def run_example(self, example: object) -> None:
        """Open an example and run it."""
        self.open_example(example)
        self.run_open()

    def run_open(self, action: str = "run.start") -> None:
        """Run the open prompt as soon as it is parsed; the first example if none is open.

        Args:
            action: what begins: `run.start`, or `run.step` to stand still at the first place.
        """
        tabs, start = self._window.tabs, self._window.actions[action]
        if tabs.current is None:
            from studio.ui.window.examples import bundled  # not before the first paint

            self.open_example(bundled("examples")[0].path)
        tabs.show_tabs()
        if tabs.document is not None:
            start.trigger()
        elif tabs.current is not None:
            self._runs_when_read = action

    def _on_parsed(self) -> None:
        """A prompt that was opened to be run is read, and the panes are about to show it."""
        if self._runs_when_read:
            start = self._window.actions[self._runs_when_read]
            self._runs_when_read = ""
            QTimer.singleShot(0, start, start.trigger)

    def ask_folder(self) -> None:
        """Choose the workspace folder."""
        folder = self._asked_folder(tr("Open folder"))
        if folder is not None:
            self.show_folder(folder)

    def ask_more_folder(self) -> None:
        """Choose a folder to be shown below those that are shown."""
        folder = self._asked_folder(tr("Add folder"))
        if folder is not None:
            self.add_folder(folder)

    def _asked_folder(self, title: str) -> Path | None:
        start = self._window.tabs.files.folder()
        name = QFileDialog.getExistingDirectory(self._window.widget, title, start)
        return Path(name) if name else None

    def show_folder(self, folder: Path) -> None:
        """Show one folder in Files, in place of all that are shown, and remember it."""
        self._show_folders(self._window.services.settings.value.with_folder(folder))

    def add_folder(self, folder: Path) -> None:
        """Show one more folder in Files, and remember it."""
        self._show_folders(self._window.services.settings.value.with_more(folder))

    def leave_folder(self, folder: Path) -> None:
        """Show a folder in Files no more; it stays where it is."""
        settings = self._window.services.settings.value
        left = [each for each in settings.folders if each != folder]
        self._show_folders(settings.with_folders(left))

    def _show_folders(self, settings: Settings) -> None:
        self._window.services.settings.set(settings)
        self._window.files.set_roots(settings.folders)
        self._window.docks.show("files")

    def fill_recent(self) -> None:
        """Fill the menu of recent files and folders."""
        menu = self._window.recent_menu
        menu.clear()
        for name in self._window.services.settings.value.recent_folders:
            menu.addAction(icon("folder"), name).triggered.connect(
                lambda _=False, name=name: self.show_folder(Path(name))
            )
        menu.addSeparator()
        for name in self._window.services.settings.value.recent:
            menu.addAction(name).triggered.connect(
                lambda _=False, name=name: self._window.tabs.open(Path(name))
            )
        if not menu.actions()[1:]:
            menu.addAction(tr("No recent files")).setEnabled(False)

    def offer_recovery(self) -> None:
        """Bring back what quitting kept, and offer the text that a crash left."""
        swaps = self._window.services.swaps
        if not self._window.services.is_safe:
            self._window.tabs.recover_all(swaps.left_behind(kept=True))
            swaps.clear_left_behind(kept=True)
        left = swaps.left_behind()
        if not left:
            swaps.clear_left_behind()
            return

        def recover() -> None:
            for swap in left:
                self._window.tabs.recover(swap)
            swaps.clear_left_behind()

        names = ", ".join(swap.title for swap in left[:3]) + ("…" if len(left) > 3 else "")
        self._window.messages.say(
            "warning",
            tr("The studio ended before this was saved: {names}.").format(names=names),
            tr("The text that was typed is still here."),
            offers=(
                NotificationAction(tr("Recover"), recover),
                NotificationAction(tr("Throw away"), swaps.clear_left_behind),
            ),
            key="recovery",
        )


IMPORTED = (".json", ".jsonl", ".yaml", ".yml")
"""Endings of files that are looked at for a prompt of another format."""

_MOST_LOOKED_AT = 500_000
"""Bytes of an opened file, and characters of a pasted text, that are looked at for a prompt."""


class ExchangeCommands(QObject):
    """Export and import: opens the dialogs, and wires them to the tabs."""

    def __init__(self, window: WindowParts, panes: Callable[[], Panes]) -> None:
        super().__init__(window.widget)
        self._window = window
        self._panes = panes
        self.address = ""
        """Address of the connection that would answer; empty for the provider's own."""
        self.model = ""
        """Model that it asks for; empty where it has no name elsewhere."""
        self.trusted = True
        """Whether the open prompt's folder is trusted, so that its references may be read."""

    def set_answerer(self, address: str, model: str) -> None:
        """Take the address and the model of the connection that would answer; either may be ""."""
        self.address, self.model = address, model

    def export(self) -> None:
        """Open the export dialog."""
        from studio.core.export.target import ExportSource
        from studio.core.prompty.reference_values import ReferenceContext
        from studio.ui.dialogs.export.dialog import ExportDialog

        window = self._window
        page, document = window.tabs.current, window.tabs.document
        if page is None or document is None:
            return
        if document.source.text != page.editor.text():
            from studio.core.prompty.parse import parse

            document = parse(page.editor.text(), page.controller.path)
        inputs = self._panes().inputs
        source = ExportSource(
            document,
            inputs.values() if inputs is not None else {},
            inputs.library.sets if inputs is not None else {},
            self._tools(),
            self.address,
            self.model,
            ReferenceContext(trusted=self.trusted),
        )
        title = page.controller.title
        dialog = ExportDialog(source, title, window.messages, window.widget)
        dialog.request_fix.connect(partial(self._apply_fix, page, dialog))
        dialog.open()

    def ask_import(self) -> None:
        """Ask for a file of another format, and show what it would become."""
        from studio.ui.dialogs.import_prompt import ask_file

        path = ask_file(self._window.widget, self._window.tabs.files.folder())
        if path is not None:
            self.import_path(path)

    def offer_import(self, path: Path) -> None:
        """Offer to import an opened file that holds a prompt of another format."""
        name = path.name.lower()
        if not name.endswith((".prompt", *IMPORTED)) or name.endswith(SUFFIXES):
            return
        from studio.core.imports.recognize import is_importable  # not with the first paint

        if path.stat().st_size <= _MOST_LOOKED_AT and is_importable(path):
            words = tr("{name} holds a prompt of another program.").format(name=path.name)
            self._offer(words, partial(self.import_path, path))

    def offer_pasted(self, text: str) -> None:
        """Offer to import pasted JSON that holds a prompt, such as the messages of a request."""
        from studio.core.imports.imported import ImportFailure
        from studio.core.imports.recognize import import_text

        if text.lstrip()[:1] not in ("{", "[") or len(text) > _MOST_LOOKED_AT:
            return
        try:
            import_text(text)
        except ImportFailure:
            return
        path = Path(self._window.tabs.files.folder(), tr("pasted") + ".json")
        words = tr("The pasted text holds a prompt of another program.")
        self._offer(words, partial(self.import_path, path, text))

    def _offer(self, words: str, act: Callable[[], None]) -> None:
        action = NotificationAction(tr("Import…"), act)
        self._window.messages.say("info", words, offers=(action,), key="import")

    def import_path(self, path: Path, text: str | None = None) -> None:
        """Show what a file of another format would become.

        Args:
            path: the file.
            text: its text, if it is not on disk.
        """
        from studio.ui.dialogs.import_prompt import ImportDialog

        window = self._window
        dialog = ImportDialog(path, window.messages, window.widget, text)
        dialog.opened.connect(window.tabs.new)
        dialog.written.connect(window.tabs.open)
        if dialog.read():
            dialog.open()
        else:
            dialog.deleteLater()

    def take_dropped(self, path: Path) -> bool:
        """Import a dropped file of another format; False where it is none."""
        from studio.core.imports.recognize import is_importable

        if path.suffix.lower() not in IMPORTED or not is_importable(path):
            return False
        self.import_path(path)
        return True

    def _apply_fix(self, page: EditorPage, dialog: ExportDialog, fix: Fix) -> None:
        """Make a fix in the editor, and check the text that it gives."""
        from studio.core.prompty.parse import parse

        page.editor.apply_edits(fix.edits)
        dialog.set_document(parse(page.editor.text(), page.controller.path))

    def _tools(self) -> tuple[ToolSpec, ...] | None:
        """Return the tools of a run; None while a source is loading."""
        from studio.ui.tools.pane import ToolsPane

        pane = self._panes().tools
        if not isinstance(pane, ToolsPane):
            return None
        registry = pane.registry
        unknown = any(each.state in ("failed", "untrusted") for each in registry.sources)
        return None if unknown or not registry.entries else registry.specs
