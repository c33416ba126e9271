"""Commands for files and folders, and for the active page: text, front matter and run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, Qt, QTimer

from studio.application.words import tr
from studio.core.experiments.file.names import SUFFIXES
from studio.core.paths import resource
from studio.core.text.files import read_text
from studio.core.text.source import Fix
from studio.ui.editor.page.page import EditorPage
from studio.ui.style.theme import icon
from studio.viewmodels.app.notifications import NotificationAction

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from studio.core.imports.imported import Imported
    from studio.core.prompty.document import PromptDocument, ToolSpec
    from studio.core.settings import Settings
    from studio.core.text.source import Fix, TextEdit
    from studio.ui.dialogs.export.dialog import ExportDialog
    from studio.ui.window.parts import Panes, WindowParts


BEGINNINGS = {"run": "run.start", "step": "run.step"}
"""Actions that a later start or an editor can request, by name."""


class FileCommands(QObject):
    """Executes the file actions of one window."""

    def __init__(self, window: WindowParts, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._when_read: list[tuple[EditorPage, QAction]] = []
        """Actions that wait until the open prompt is parsed."""
        window.tabs.parsed.connect(self._on_parsed)

    def new(self) -> None:
        """Open a new prompt from the simplest template instead of a blank page."""
        self.new_from(resource("templates", "chat.prompty"))

    def new_from(self, template: object) -> None:
        """Open a new prompt from a bundled template."""
        if isinstance(template, Path):
            self._window.tabs.new(read_text(template)).begin_at_messages()

    def reopen(self) -> None:
        """Reopen the file of the tab that was closed last."""
        if not self._window.tabs.reopen():
            self._window.messages.info(tr("No closed tab can be reopened."))

    def go_to_files(self) -> None:
        """Focus the files, or the button that opens a folder if there are none."""
        self._window.docks.show("files")
        self._window.files.take_keyboard()

    def open_example(self, example: object) -> None:
        """Open the user's copy of an example with its tools."""
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
                tr("The example could not be copied to your folder."),
                tr("The original is open; save it under another name to change it."),
                str(folder),
            )
            folder = example.parent
        self._window.tabs.open(folder / example.name)

    def run_example(self, example: object) -> None:
        """Open an example and run it."""
        self.open_example(example)
        self.run_open()

    def run_open(self, action: str = "run.start") -> None:
        """Run the open prompt as soon as it is parsed, or the first example if none is open.

        Args: action: `run.start`, or `run.step` to pause at the first point.
        """
        tabs = self._window.tabs
        if tabs.current is None:
            from studio.ui.window.examples import bundled  # not before the first paint

            self.open_example(bundled("examples")[0].path)
        tabs.show_tabs()
        self.trigger_when_read(self._window.actions[action])

    def trigger_when_read(self, action: QAction) -> None:
        """Trigger an action as soon as the open prompt is parsed."""
        page = self._window.tabs.current
        if page is None or self._window.tabs.document is not None:
            action.trigger()
        else:
            self._when_read.append((page, action))

    def _on_parsed(self) -> None:
        for page, action in self._when_read:
            if page is self._window.tabs.current:  # it was requested for another prompt
                QTimer.singleShot(0, action, action.trigger)
        self._when_read.clear()

    def ask_folder(self) -> None:
        """Choose the workspace folder."""
        if folder := self._asked_folder(tr("Open folder")):
            self.show_folder(folder)

    def ask_more_folder(self) -> None:
        """Choose a folder to add to Files."""
        if folder := self._asked_folder(tr("Add folder")):
            self.add_folder(folder)

    def _asked_folder(self, title: str) -> Path | None:
        start = self._window.tabs.files.folder()
        name = QtWidgets.QFileDialog.getExistingDirectory(self._window.widget, title, start)
        return Path(name) if name else None

    def show_folder(self, folder: Path) -> None:
        """Show only one folder in Files, and remember it."""
        self._show_folders(self._window.services.settings.value.with_folder(folder))

    def add_folder(self, folder: Path) -> None:
        """Add a folder to Files, and remember it."""
        self._show_folders(self._window.services.settings.value.with_more(folder))

    def leave_folder(self, folder: Path) -> None:
        """Remove a folder from Files; it stays on disk."""
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
        """Restore the texts that were kept at exit, and offer those that a crash left."""
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
            tr("The studio exited before this was saved: {names}.").format(names=names),
            tr("Your text has been restored."),
            offers=(
                NotificationAction(tr("Recover"), recover),
                NotificationAction(tr("Throw away"), swaps.clear_left_behind),
            ),
            key="recovery",
        )


IMPORTED = (".json", ".jsonl", ".yaml", ".yml")
"""Endings of files that may contain a prompt in another format."""

_MOST_LOOKED_AT = 500_000
"""Maximum size of an opened file (bytes) or pasted text (characters) to search for a prompt."""


class ExchangeCommands(QObject):
    """Export and import: opens the dialogs and connects them to the tabs."""

    def __init__(self, window: WindowParts, panes: Callable[[], Panes]) -> None:
        super().__init__(window.widget)
        self._window = window
        self._panes = panes
        self.address = ""
        """Address of the connection for the prompt; empty for the provider's default."""
        self.model = ""
        """Model id of the connection; empty if it has none outside the studio."""
        self.trusted = True
        """Whether the prompt's folder is trusted, so that its references may be read."""

    def set_answerer(self, address: str, model: str) -> None:
        """Set the address and the model id of the connection for the prompt; either may be ""."""
        self.address, self.model = address, model

    def export(self) -> None:
        """Open the export dialog."""
        page = self._window.tabs.current
        if page is not None:
            page.with_document(partial(self._export, page))

    def _export(self, page: EditorPage, document: PromptDocument) -> None:
        from studio.core.export.target import ExportSource
        from studio.core.prompty.reference_values import ReferenceContext
        from studio.ui.dialogs.export.dialog import ExportDialog

        window = self._window
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
        """Ask for a file of another format and show its import."""
        from studio.ui.dialogs.import_prompt import ask_file

        path = ask_file(self._window.widget, self._window.tabs.files.folder())
        if path is not None:
            self.import_path(path)

    def offer_import(self, path: Path) -> None:
        """Offer to import an opened file that contains a prompt in another format."""
        name = path.name.lower()
        if name.endswith((".prompty", ".py", *SUFFIXES)):
            return
        from studio.core.prompty.agent_files.read import KINDS, agent_file_kind

        row = KINDS.get(agent_file_kind(path) or "")
        is_asked = row is not None and bool(row.listed or row.arguments)
        if not (is_asked or name.endswith((".prompt", *IMPORTED))):
            return
        from studio.core.imports.recognize import is_importable  # not before the first paint

        if path.stat().st_size <= _MOST_LOOKED_AT and is_importable(path):
            words = tr("{name} contains a prompt from another program.").format(name=path.name)
            self._offer(words, partial(self.import_path, path))

    def offer_pasted(self, text: str) -> None:
        """Offer to import pasted JSON that contains a prompt, such as the messages of a request."""
        from studio.core.imports.imported import ImportFailure
        from studio.core.imports.recognize import import_text

        if text.lstrip()[:1] not in ("{", "[") or len(text) > _MOST_LOOKED_AT:
            return
        try:
            import_text(text)
        except ImportFailure:
            return
        path = Path(self._window.tabs.files.folder(), tr("pasted") + ".json")
        words = tr("The pasted text contains a prompt from another program.")
        self._offer(words, partial(self.import_path, path, text))

    def _offer(self, words: str, act: Callable[[], None]) -> None:
        action = NotificationAction(tr("Import…"), act)
        self._window.messages.say("info", words, offers=(action,), key="import")

    def import_path(
        self, path: Path, text: str | None = None, made: Imported | None = None
    ) -> None:
        """Show the import of a file of another format.

        Args:
            path: the file.
            text: its text if it is not on disk.
            made: the prompt if it is already converted.
        """
        from studio.ui.dialogs.import_prompt import ImportDialog

        window = self._window
        dialog = ImportDialog(path, window.messages, window.widget, text, made)
        dialog.opened.connect(window.tabs.new)
        dialog.written.connect(window.tabs.open)
        if dialog.read():
            dialog.open()
        else:
            dialog.deleteLater()

    def import_made(self, path: Path, made: Imported) -> None:
        """Show a converted prompt with a path to save it."""
        self.import_path(path, made=made)

    def take_dropped(self, path: Path) -> bool:
        """Import a dropped file of another format; return False if it is not one."""
        from studio.core.imports.recognize import is_importable

        if path.suffix.lower() not in IMPORTED or not is_importable(path):
            return False
        self.import_path(path)
        return True

    def _apply_fix(self, page: EditorPage, dialog: ExportDialog, fix: Fix) -> None:
        """Apply a fix in the editor, and check the new text."""
        page.editor.apply_edits(fix.edits)
        page.with_document(dialog.set_document)

    def _tools(self) -> tuple[ToolSpec, ...] | None:
        """Return the tools of a run; None while a source is loading."""
        from studio.ui.tools.pane import ToolsPane

        pane = self._panes().tools
        if not isinstance(pane, ToolsPane):
            return None
        registry = pane.registry
        unknown = any(each.state in ("failed", "untrusted") for each in registry.sources)
        return None if unknown or not registry.entries else registry.specs


# The commands of the editor area: texts and split views.

OnPage = Callable[[Callable[[EditorPage], object]], Callable[[], None]]
"""Turns a function of a page into a function of the active page."""


class EditorCommands(QObject):
    """Executes the editor actions of one window."""

    def __init__(self, window: WindowParts, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window

    def table(self, on_page: OnPage) -> dict[str, Callable[[], object]]:
        """Return the function of each action."""
        return {**self._editing(on_page), **self._sides(on_page)}

    def _editing(self, on_page: OnPage) -> dict[str, Callable[[], object]]:
        return {
            "edit.undo": self._in_text("undo", on_page(lambda page: page.editor.undo())),
            "edit.redo": self._in_text("redo", on_page(lambda page: page.editor.redo())),
            "edit.cut": self._in_text("cut", on_page(lambda page: page.editor.cut())),
            "edit.copy": self._in_text("copy", on_page(lambda page: page.editor.copy())),
            "edit.paste": self._in_text("paste", on_page(lambda page: page.editor.paste())),
            "edit.all": self._in_text("selectAll", on_page(lambda page: page.editor.selectAll())),
            "edit.find": on_page(lambda page: page.find_bar.ask(replace=False)),
            "edit.replace": on_page(lambda page: page.find_bar.ask(replace=True)),
            "edit.find_next": on_page(lambda page: page.find_bar.go(1)),
            "edit.find_previous": on_page(lambda page: page.find_bar.go(-1)),
            "edit.find_in_files": lambda: self.find_in_files(replace=False),
            "edit.replace_in_files": lambda: self.find_in_files(replace=True),
            "edit.add_caret": on_page(lambda page: page.editor.caret_choice.add_next()),
            "edit.caret_up": on_page(lambda page: page.editor.caret_choice.add_line(-1)),
            "edit.caret_down": on_page(lambda page: page.editor.caret_choice.add_line(1)),
            "edit.skip_caret": on_page(lambda page: page.editor.caret_choice.skip_next()),
            "edit.caret_all": on_page(lambda page: page.editor.caret_choice.add_all()),
            "edit.caret_ends": on_page(lambda page: page.editor.caret_choice.at_line_ends()),
            "edit.caret_back": on_page(lambda page: page.editor.caret_choice.take_back()),
            "edit.line_below": on_page(lambda page: page.editor.lines.open_line(1)),
            "edit.line_above": on_page(lambda page: page.editor.lines.open_line(-1)),
            "edit.indent": on_page(lambda page: page.editor.lines.indent(1)),
            "edit.outdent": on_page(lambda page: page.editor.lines.indent(-1)),
            "edit.grow": on_page(
                lambda page: page.editor.reading.when_read(page.editor.structure.grow)
            ),
            "edit.shrink": on_page(lambda page: page.editor.structure.shrink()),
            "edit.bracket": on_page(lambda page: page.editor.structure.go_to_bracket()),
            "edit.select_line": on_page(lambda page: page.editor.lines.select()),
            "edit.line_up": on_page(lambda page: page.editor.lines.move(-1)),
            "edit.line_down": on_page(lambda page: page.editor.lines.move(1)),
            "edit.copy_up": on_page(lambda page: page.editor.lines.copy(-1)),
            "edit.copy_down": on_page(lambda page: page.editor.lines.copy(1)),
            "edit.delete_line": on_page(lambda page: page.editor.lines.delete()),
            "edit.join_lines": on_page(lambda page: page.editor.lines.join()),
            "edit.comment": on_page(lambda page: page.editor.lines.comment()),
            "edit.comment_out": on_page(lambda page: page.editor.lines.comment(out=True)),
            "edit.comment_in": on_page(lambda page: page.editor.lines.comment(out=False)),
            "edit.trim": on_page(lambda page: page.editor.lines.trim()),
            "edit.format": on_page(self._reading(self.tidy)),
            "edit.protocol": on_page(self._reading(self.rewrite)),
            "edit.front": on_page(self._reading(self.front_form)),
            "edit.complete": on_page(lambda page: page.assist.complete()),
            "edit.fix": on_page(lambda page: page.assist.show_fixes()),
            "edit.rename": on_page(lambda page: page.names.rename()),
            "edit.definition": on_page(lambda page: page.names.go_to_definition()),
            "edit.next_problem": on_page(lambda page: page.assist.go_to_problem(1)),
            "edit.previous_problem": on_page(lambda page: page.assist.go_to_problem(-1)),
            "edit.fold": on_page(lambda page: page.editor.fold_here(folded=True)),
            "edit.unfold": on_page(lambda page: page.editor.fold_here(folded=False)),
            "edit.toggle_fold": on_page(lambda page: page.editor.toggle_fold()),
            "edit.fold_all": on_page(lambda page: page.editor.fold_all()),
            "edit.unfold_all": on_page(lambda page: page.editor.unfold_all()),
        }

    def _in_text(self, act: str, on_editor: Callable[[], object]) -> Callable[[], None]:
        """Run an action on the text or list with the focus, or else on the prompt.

        Read-only texts (a reply, a card) and lists do not handle these keys: without this, Ctrl+A
        there selected the prompt, and Ctrl+X cut its line.
        """

        def run() -> None:
            page, text = self._window.tabs.current, QtWidgets.QApplication.focusWidget()
            is_other = page is None or text is not page.editor
            if is_other and isinstance(
                text, QtWidgets.QTextEdit | QtWidgets.QPlainTextEdit | QtWidgets.QLineEdit
            ):
                getattr(text, act)()
            elif isinstance(text, QtWidgets.QAbstractItemView) and act not in ("undo", "redo"):
                if act == "copy":
                    from studio.ui.base.menus import copy_rows  # not before the first paint

                    copy_rows(text)
                elif act == "selectAll":
                    text.selectAll()
            else:
                on_editor()

        return run

    def _sides(self, on_page: OnPage) -> dict[str, Callable[[], object]]:
        tabs = self._window.tabs
        return {
            "view.next_tab": lambda: tabs.sides.active.step(1),
            "view.previous_tab": lambda: tabs.sides.active.step(-1),
            "view.tab_left": lambda: tabs.sides.active.move_shown(-1),
            "view.tab_right": lambda: tabs.sides.active.move_shown(1),
            "view.editor": on_page(lambda page: page.editor.setFocus()),
            "view.breadcrumbs": on_page(lambda page: page.crumbs.take_keyboard()),
            "view.split": on_page(lambda _: tabs.sides.split()),
            "view.split_down": on_page(lambda _: tabs.sides.split(Qt.Orientation.Vertical)),
            "view.other_side": on_page(lambda _: tabs.sides.go_over()),
            "view.move_over": on_page(lambda _: tabs.sides.move_over()),
            "view.join": on_page(lambda _: tabs.sides.join()),
        }

    def _reading(
        self, act: Callable[[EditorPage, PromptDocument], object]
    ) -> Callable[[EditorPage], object]:
        return lambda page: page.with_document(partial(act, page))

    def tidy(self, page: EditorPage, document: PromptDocument) -> None:
        """Format the prompt in the standard form, as one undo step."""
        from studio.core.prompty.fmt import tidy_edits

        edits = tidy_edits(document)
        if edits:
            page.editor.apply_edits(edits)
        else:
            self._window.messages.info(tr("The prompt is already tidy."))

    def rewrite(self, page: EditorPage, document: PromptDocument) -> None:
        """Rewrite the prompt for another loop protocol, after showing the difference."""
        from studio.ui.dialogs.comparison import RewriteDialog

        dialog = RewriteDialog(document, self._window.widget)

        def take(fix: Fix) -> None:
            page.editor.apply_edits(fix.edits)

        dialog.accepted_fix.connect(take)
        dialog.open()

    def front_form(self, page: EditorPage, document: PromptDocument) -> None:
        """Show the front matter as a form, which follows and edits the text."""
        from studio.ui.dialogs.front_matter import FrontMatterDialog

        before = self._window.widget.findChild(FrontMatterDialog)
        if before is not None:
            before.close()
        dialog = FrontMatterDialog(document, page.names.rename_input, self._window.widget)

        def take(edits: tuple[TextEdit, ...], goes_on: bool) -> None:
            if dialog.document.source.text == page.editor.text():
                page.editor.apply_edits(edits, joins=goes_on)
            now = page.controller.reading.read_now()
            if now is not None:
                dialog.follow(now)

        dialog.edited.connect(take)
        page.parsed.connect(dialog.follow)
        page.destroyed.connect(dialog.close)
        dialog.show()

    def find_in_files(self, *, replace: bool) -> None:
        """Search in the folders of Files, or else in the folder of the active prompt."""
        from studio.ui.search.find_in_files import FileReplacer, FindInFiles

        window = self._window
        page = window.tabs.current
        folders = window.files.roots
        if not folders and page is not None and page.controller.path is not None:
            folders = (page.controller.path.parent,)
        if not folders:
            window.messages.info(
                tr("There is no folder to search."), tr("Open a folder first: File, Open folder…")
            )
            return
        chosen = page.editor.textCursor().selectedText() if page is not None else ""
        text = chosen if "\u2029" not in chosen else ""
        pane = window.widget.findChild(FindInFiles)
        if pane is None:
            pane = FindInFiles(folders, text, FileReplacer(window.tabs), replace=replace)
            pane.chosen.connect(self._show_match)
            pane.left.connect(window.tabs.setFocus)
            window.docks.fill({"search": pane})
        else:
            pane.begin(folders, text, replace=replace)
        window.docks.show("search")
        pane.field.setFocus()

    def _show_match(self, match: object) -> None:
        from studio.core.search_files import SearchMatch

        if not isinstance(match, SearchMatch):
            return
        opened = self._window.tabs.open(match.path)
        if opened is not None:
            opened.editor.reveal(match.span, select=True)
