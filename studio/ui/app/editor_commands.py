"""The commands of the editor area: the part of the table about texts and sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit, QPlainTextEdit, QTextEdit

from studio.application.words import tr
from studio.ui.editor.page.page import EditorPage

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.source import Fix, TextEdit
    from studio.ui.window.parts import WindowParts

OnPage = Callable[[Callable[[EditorPage], object]], Callable[[], None]]
"""Makes an act on a page into one on the page shown."""


class EditorCommands(QObject):
    """Carries out the editor's actions for one window."""

    def __init__(self, window: WindowParts, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window

    def table(self, on_page: OnPage) -> dict[str, Callable[[], object]]:
        """Each action and what it does."""
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
            "edit.grow": on_page(lambda page: page.editor.structure.grow()),
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
            "edit.format": on_page(self.tidy),
            "edit.protocol": on_page(self.rewrite),
            "edit.front": on_page(self.front_form),
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
        """Act on the text or list that has the keyboard; on the prompt where it is neither.

        Read-only texts (a reply, a card) and lists leave these keys to the window: without this
        Ctrl+A there chose, and Ctrl+X cut, the prompt or its line.
        """

        def run() -> None:
            page, text = self._window.tabs.current, QApplication.focusWidget()
            is_other = page is None or text is not page.editor
            if is_other and isinstance(text, QTextEdit | QPlainTextEdit | QLineEdit):
                getattr(text, act)()
            elif isinstance(text, QAbstractItemView) and act not in ("undo", "redo"):
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

    def tidy(self, page: EditorPage) -> None:
        """Put the prompt into its usual form, as one step that can be undone."""
        from studio.core.prompty.fmt import tidy_edits
        from studio.core.prompty.parse import parse

        edits = tidy_edits(parse(page.editor.text(), page.controller.path))
        if edits:
            page.editor.apply_edits(edits)
        else:
            self._window.messages.info(tr("The prompt is tidy already."))

    def rewrite(self, page: EditorPage) -> None:
        """Rewrite the prompt for another protocol of the loop, after a look at the difference."""
        from studio.core.prompty.parse import parse
        from studio.ui.dialogs.comparison import RewriteDialog

        document = parse(page.editor.text(), page.controller.path)
        dialog = RewriteDialog(document, self._window.widget)

        def take(fix: Fix) -> None:
            page.editor.apply_edits(fix.edits)

        dialog.accepted_fix.connect(take)
        dialog.open()

    def front_form(self, page: EditorPage) -> None:
        """Show the front matter as a form, which follows the text and writes into it."""
        from studio.core.prompty.parse import parse
        from studio.ui.dialogs.front_matter import FrontMatterDialog

        def now() -> PromptDocument:
            return parse(page.editor.text(), page.controller.path)

        before = self._window.widget.findChild(FrontMatterDialog)
        if before is not None:
            before.close()
        dialog = FrontMatterDialog(now(), page.names.rename_input, self._window.widget)

        def take(edits: tuple[TextEdit, ...], goes_on: bool) -> None:
            if dialog.document.source.text == page.editor.text():
                page.editor.apply_edits(edits, joins=goes_on)
            dialog.follow(now())

        dialog.edited.connect(take)
        page.parsed.connect(dialog.follow)
        page.destroyed.connect(dialog.close)
        dialog.show()

    def find_in_files(self, *, replace: bool) -> None:
        """Look for a text in the folders of Files, else in the folder of the prompt shown."""
        from studio.ui.search.find_in_files import FileReplacer, FindInFiles

        window = self._window
        page = window.tabs.current
        folders = window.files.roots
        if not folders and page is not None and page.controller.path is not None:
            folders = (page.controller.path.parent,)
        if not folders:
            window.messages.info(
                tr("There is no folder to look in."), tr("Open a folder first: File, Open folder…")
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
