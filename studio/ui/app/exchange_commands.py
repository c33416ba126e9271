"""Export and import: the commands that bring prompts to other programs and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from studio.core.text.problem import Fix
from studio.ui.editor.page.page import EditorPage

if TYPE_CHECKING:
    from studio.core.prompty.tool_spec import ToolSpec
    from studio.ui.dialogs.export.dialog import ExportDialog
    from studio.ui.window.panes import Panes
    from studio.ui.window.parts import WindowParts

IMPORTED = (".json", ".jsonl", ".yaml", ".yml")
"""Endings of dropped files that are looked at for a prompt of another format."""


class ExchangeCommands(QObject):
    """Opens the dialogs, and wires them to the tabs."""

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
        from studio.ui.dialogs.export.dialog import ExportDialog
        from studio.ui.dialogs.export.subject import ExportSubject

        window = self._window
        page, document = window.tabs.current, window.tabs.document
        if page is None or document is None:
            return
        if document.source.text != page.editor.text():
            from studio.core.prompty.parse import parse

            document = parse(page.editor.text(), page.controller.path)
        inputs = self._panes().inputs
        subject = ExportSubject(
            document,
            page.controller.title,
            inputs.values() if inputs is not None else {},
            inputs.library.sets if inputs is not None else {},
            self._tools(),
            self.address,
            self.model,
            trusted=self.trusted,
        )
        dialog = ExportDialog(subject, window.services.messages, window.widget)
        dialog.request_fix.connect(partial(self._mend, page, dialog))
        dialog.open()

    def ask_import(self) -> None:
        """Ask for a file of another format, and show what it would become."""
        from studio.ui.dialogs.import_prompt import ask_file

        path = ask_file(self._window.widget)
        if path is not None:
            self.import_path(path)

    def import_path(self, path: Path) -> None:
        """Show what a file of another format would become."""
        from studio.ui.dialogs.import_prompt import ImportDialog

        window = self._window
        dialog = ImportDialog(path, window.services.messages, window.widget)
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

    def _mend(self, page: EditorPage, dialog: ExportDialog, fix: Fix) -> None:
        """Make a fix in the editor, and check the text that it gives."""
        from studio.core.prompty.parse import parse

        page.editor.apply_edits(fix.edits)
        dialog.set_document(parse(page.editor.text(), page.controller.path))

    def _tools(self) -> tuple[ToolSpec, ...] | None:
        """What a run would be offered; None while a source has not said."""
        from studio.ui.tools.pane import ToolsPane

        pane = self._panes().tools
        if not isinstance(pane, ToolsPane):
            return None
        registry = pane.registry
        unknown = any(each.state in ("failed", "untrusted") for each in registry.sources)
        return None if unknown or not registry.entries else registry.specs
