"""A tab: an editor with its find bar and the notices about its file.

The notice appears if the file was changed on disk, deleted or is read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from studio.application.document.files import FileError, FileText
from studio.application.words import tr
from studio.core.experiments.file.names import is_experiment
from studio.ui.editor.completion.assist import EditorAssist
from studio.ui.editor.page.crumb_bar import CrumbBar
from studio.ui.editor.text.media_drop import MediaDrop
from studio.ui.editor.text.view import PromptEditor
from studio.ui.parts.kit import column_of, push_button, row_of
from studio.viewmodels.document.controller import DocumentController
from studio.viewmodels.document.marks import ChangesController, SpellingController

if TYPE_CHECKING:
    from studio.application.preview.variables import InlineValue
    from studio.core.prompty.document import PromptDocument
    from studio.core.settings import Settings
    from studio.core.spelling import Misspelled
    from studio.core.text.source import SourceText, Span
    from studio.ui.editor.page.find_bar import FindBar
    from studio.ui.editor.page.naming import Naming
    from studio.viewmodels.app.notifications import Notifications
    from studio.viewmodels.document.swap import Swap, SwapFolder


class DiskBar(QWidget):
    """Notice that the file changed on disk, with buttons for which text to keep."""

    def __init__(
        self, editor: PromptEditor, controller: DocumentController, messages: Notifications
    ) -> None:
        """Create it, hidden until there is a notice.

        Args:
            editor: the editor.
            controller: controller of its file.
            messages: notifications for failures.
        """
        super().__init__()
        self._editor = editor
        self._controller = controller
        self._messages = messages
        self._found = FileText("")
        """Text on disk if it differs from the loaded one."""
        self.is_read_only = False
        """Whether the file cannot be written."""
        self.setObjectName("diskBar")
        self._text = QLabel(wordWrap=True)
        self.compare = push_button(tr("Compare…"), self.show_comparison)
        self.reload = push_button(tr("Reload"), self.take_file)
        self.keep = push_button(tr("Keep mine"), self._keep)
        row_of(
            (self._text, 1), self.compare, self.reload, self.keep, on=self, margins=(12, 4, 8, 4)
        )
        self.hide()
        self._wire()

    def _wire(self) -> None:
        self._controller.saved.connect(self._on_saved)
        self._controller.changed_on_disk.connect(self._on_changed)
        self._controller.gone_from_disk.connect(self._on_gone)
        self._controller.disk_settled.connect(self._on_settled)

    def take_file(self) -> None:
        """Replace the text by that on disk, as an undo step."""
        file, path = self._found, self._controller.path
        if not file.digest:
            if path is None:
                self._messages.info(tr("There is no file to reload."), tr("Save the prompt first."))
                return
            try:
                file = self._controller.open(path)
            except FileError as error:
                self._messages.error(str(error), error.hint, str(path))
                return
        self._editor.replace_all(file.text)
        self._editor.document().setModified(False)
        self._controller.accept_disk(file)

    def show_comparison(self) -> None:
        """Show the differences between the text here and the text on disk."""
        from studio.ui.dialogs.comparison import DiskComparisonDialog

        dialog = DiskComparisonDialog(
            self._controller.title, self._editor.text(), self._found.text, self.parentWidget()
        )
        dialog.reload.clicked.connect(self.take_file)
        dialog.keep.clicked.connect(self._keep)
        dialog.open()

    def look_at_permissions(self) -> None:
        """Show a notice if the file cannot be written."""
        self.is_read_only = self._controller.is_read_only
        if self.is_read_only:
            self._tell(
                tr("{title} is read-only: save changes under another name.").format(
                    title=self._controller.title
                ),
                reload=False,
            )

    def _on_saved(self) -> None:
        self.is_read_only = self._controller.is_read_only
        self.hide()

    def _on_changed(self, file: FileText) -> None:
        self._found = file
        if file.text == self._editor.text() or not self._controller.is_dirty:
            # The user's text is not lost: undo restores it.
            self.take_file()
            return
        self._tell(tr("{title} changed on disk.").format(title=self._controller.title), reload=True)

    def _on_gone(self) -> None:
        self._tell(
            tr("{title} was deleted or moved. Save to write it again.").format(
                title=self._controller.title
            ),
            reload=False,
        )

    def _keep(self) -> None:
        if self._found.digest:
            self._controller.keep_own(self._found)
        self._on_settled()

    def _on_settled(self) -> None:
        self._found = FileText("")
        self.hide()

    def _tell(self, text: str, *, reload: bool) -> None:
        """Show the bar."""
        self._text.setText(text)
        self.reload.setVisible(reload)
        self.compare.setVisible(reload)
        self.keep.setText(tr("Keep mine") if reload else tr("Close"))
        self.show()


class EditorPage(QWidget):
    """A tab with an editor, its document and the bars above it."""

    parsed = Signal(object)  # PromptDocument
    title_changed = Signal()
    input_renamed = Signal(str, str)  # previous and new name of an input
    request_open = Signal(Path)  # path of a dropped prompt

    def __init__(
        self,
        messages: Notifications,
        swaps: SwapFolder,
        settings: Settings,
        *,
        twin: EditorPage | None = None,
    ) -> None:
        """Create the page.

        Args:
            messages: the notifications of the window.
            swaps: store of unsaved text.
            settings: font size, wrapping and whitespace marks.
            twin: a page whose document is also shown here.
        """
        super().__init__()
        self._messages = messages
        if twin is None:
            self.editor = PromptEditor()
            self.controller = self._new_controller(messages, swaps)
            self.spelling = SpellingController(messages, self)
            self.controller.reading.parsed.connect(self.spelling.check)
            self.changes = self._new_changes()
        else:
            self.editor = PromptEditor(prompt=twin.editor.prompt)
            self.controller, self.spelling = twin.controller, twin.spelling
            self.changes = twin.changes
        self.crumbs = CrumbBar(self.editor, lambda: self.controller.path)
        self.assist = EditorAssist(self.editor)
        self.editor.reading.may_read = lambda: not self.controller.reading.tries_first
        self.editor.pasting.connect(self.controller.reading.distrust)
        self.editor.media = MediaDrop(
            self.editor, self.with_document, messages, lambda: self.controller.path
        )
        self.editor.media.request_open.connect(self.request_open)
        self.disk = DiskBar(self.editor, self.controller, messages)
        self._is_new = False
        """Whether a file was opened and is not parsed yet."""
        column_of(self.crumbs, self.disk, self.editor, on=self, margins=0, spacing=0)
        self.setFocusProxy(self.editor)
        self.apply_settings(settings)
        self._wire()
        if twin is not None:
            self.disk.look_at_permissions()
            self._name_file()
            if self.document is not None:
                self.editor.set_document(self.document)

    def show_moment(self, spans: Sequence[Span], words: str) -> None:
        """Highlight the text of the run cursor and show the cursor's name; no spans clear both.

        Args:
            spans: spans of the text.
            words: name of the run cursor.
        """
        self.editor.run_lines.show(spans)
        self.crumbs.show_moment(words if spans else "")

    @cached_property
    def find_bar(self) -> FindBar:
        """Search and replace bar, created on first use."""
        from studio.ui.editor.page.find_bar import FindBar

        bar = FindBar(self.editor)
        box = self.layout()
        if isinstance(box, QVBoxLayout):
            box.insertWidget(box.indexOf(self.editor), bar)
        return bar

    @cached_property
    def names(self) -> Naming:
        """Definition, uses and rename, created on first use."""
        from studio.ui.editor.page.naming import Naming

        names = Naming(self.editor, self.controller.save_known, self.controller.keep_now)
        names.request_open.connect(self.request_open)
        names.input_renamed.connect(self.input_renamed)
        self.controller.reading.parsed.connect(names.follow)
        return names

    def _new_controller(self, messages: Notifications, swaps: SwapFolder) -> DocumentController:
        prompt = self.editor.prompt
        controller = DocumentController(messages, swaps, prompt.read_again, self)
        prompt.document.contentsChanged.connect(controller.text_changed)
        prompt.document.modificationChanged.connect(controller.set_modified)
        return controller

    def _new_changes(self) -> ChangesController:
        changes = ChangesController(self)
        self.controller.path_changed.connect(changes.read)
        self.controller.saved.connect(changes.read)
        self.controller.reading.parsed.connect(changes.compare)
        return changes

    def _wire(self) -> None:
        self.changes.marked.connect(self.editor.show_changes)
        self.editor.caret_moved.connect(self.crumbs.follow)
        self.editor.request_fixes.connect(self.assist.show_fixes)
        self.editor.request_definition.connect(lambda: self.names.go_to_definition(tells=False))
        self.crumbs.request_open.connect(self.request_open)
        self.title_changed.connect(self._name_file)
        self.controller.reading.parsed.connect(self._on_parsed)
        self.controller.dirty_changed.connect(self._on_title)
        self.controller.path_changed.connect(self._on_title)
        self.controller.saved.connect(self._on_saved)
        self.spelling.marked.connect(self._on_spelling)

    # -- opening --------------------------------------------------------------------------------

    def begin(self, text: str, title: str) -> None:
        """Start with a text without a file."""
        self.editor.load(text)
        self.controller.begin(text, title)
        self.title_changed.emit()

    def begin_at_messages(self) -> None:
        """Put the caret of a new text at its first message.

        At the start of the text, the first key would turn the front matter into prompt text.
        """
        from studio.core.prompty.parse import parse

        sections = parse(self.editor.text()).sections
        if sections:
            self.editor.set_caret(sections[0].content.start)
            self.editor.ensureCursorVisible()

    def open(self, path: Path) -> None:
        """Show a file.

        Raises:
            FileError: the file cannot be read.
        """
        if path.suffix == ".py":
            from studio.application.highlight.lexer import PYTHON_FILE

            self.editor.highlighter.begin_with(PYTHON_FILE)
        elif is_experiment(path):
            from studio.application.highlight.lexer import YAML_FILE

            self.editor.highlighter.begin_with(YAML_FILE)
        self.editor.load(self.controller.open(path).text)
        self._is_new = True
        self.disk.look_at_permissions()
        self.title_changed.emit()

    def recover(self, swap: Swap) -> None:
        """Show text that a crashed session left."""
        self.editor.load(swap.text)
        self.editor.document().setModified(True)
        self.restore_place(swap.caret, 0)
        self.editor.centerCursor()
        self.controller.recover(Path(swap.path) if swap.path else None, swap.title, swap.base)
        self.title_changed.emit()

    # -- state ----------------------------------------------------------------------------------

    @property
    def document(self) -> PromptDocument | None:
        """The newest parsed document."""
        return self.controller.reading.document

    def with_document(self, act: Callable[[PromptDocument], object]) -> None:
        """Call a function with the document of the present text, as soon as the text is read.

        Where reading it fails, the reason is shown instead.
        """

        def read(document: PromptDocument) -> None:
            if document.failure is None:
                act(document)
            else:
                words = tr("{name} is not read.").format(name=self.controller.title)
                self._messages.error(words, document.failure.message)

        self.editor.reading.when_read(read)

    is_looked_at: bool = False
    """Whether the tab is a preview, which the next previewed file replaces."""

    run_mark: str = ""
    """State of the run of this prompt: `running`, or `waiting` for the user."""

    @property
    def title(self) -> str:
        """Text of the tab, with a dot if there are unsaved changes."""
        name = self.controller.title + (" (read-only)" if self.disk.is_read_only else "")
        return f"● {name}" if self.controller.is_dirty else name

    # -- actions --------------------------------------------------------------------------------

    def save(self, path: Path | None = None) -> bool:
        """Write the file."""
        return self.controller.save(path)

    def apply_settings(self, settings: Settings) -> None:
        """Apply font size, wrapping and whitespace marks."""
        self.editor.set_font_size(settings.editor_font_size, settings.editor_font)
        self.editor.set_wrapped(settings.word_wrap)
        self.editor.set_whitespace(settings.show_whitespace)
        self.editor.ghosts.set_shown(settings.inline_values)
        self.spelling.set_language(settings.spelling, settings.own_words)

    def restore_place(self, caret: int, scroll: int) -> None:
        """Restore the caret (in UTF-16 units) and the scroll position of the last session."""
        cursor = self.editor.textCursor()
        cursor.setPosition(min(caret, self.editor.document().characterCount() - 1))
        self.editor.setTextCursor(cursor)
        self.editor.verticalScrollBar().setValue(scroll)

    def close_document(self) -> None:
        """Close the file."""
        self.assist.rest()
        self.editor.rest()
        self.spelling.rest()
        self.changes.rest()
        self.controller.close()

    def hand_over(self, twin: EditorPage) -> None:
        """Close this page while another page continues with the document."""
        self.assist.rest()
        if self.controller.parent() is self:
            self.controller.setParent(twin)
            self.spelling.setParent(twin)
            self.changes.setParent(twin)
            self.editor.prompt.setParent(twin.editor)
        self.editor.rest()

    def show_values(self, values: Sequence[InlineValue], source: SourceText) -> None:
        """Show the values of each line's expressions after the line.

        Args:
            values: the values.
            source: text that they belong to; nothing is shown if the editor's text has changed.
        """
        if source.text != self.editor.source().text:
            return  # changed meanwhile: the next preview follows
        lines: dict[int, str] = {}
        for each in values:
            line = source.line_of(max(each.expression.start, each.expression.end - 1))
            lines[line] = f"{lines[line]}   {each.text}" if line in lines else each.text
        self.editor.ghosts.show(lines)

    # -- slots ----------------------------------------------------------------------------------

    def _on_parsed(self, document: PromptDocument) -> None:
        self.editor.set_document(document)
        if self._is_new:
            self._is_new = False
            self._begin_at_messages(document)
        self.crumbs.follow(self.editor.caret())
        self.parsed.emit(document)

    def _begin_at_messages(self, document: PromptDocument) -> None:
        """Fold the long front matter of an opened file, and put the caret at its messages.

        This is skipped if the front matter has problems or the last caret position is known.
        """
        from studio.application.editing.structure import long_front_matter

        fold, front = long_front_matter(document), document.front_matter
        if fold is None or front is None or self.editor.document().isModified():
            return
        if any(front.touches(problem.span.start) for problem in document.problems):
            return
        line = self.editor.textCursor().blockNumber()
        if fold.first < line <= fold.last:
            return
        self.editor.folding.close(fold.first)
        if line == fold.first and document.sections:
            self.editor.set_caret(document.sections[0].content.start)

    def _on_spelling(self, source: SourceText, words: tuple[Misspelled, ...]) -> None:
        self.assist.set_spelling(words, self.spelling.suggestions)
        self.editor.marks.set_spelling([each.span for each in words], source)

    def _name_file(self) -> None:
        self.crumbs.set_title(self.controller.title)

    def _on_title(self) -> None:
        self.title_changed.emit()

    def _on_saved(self) -> None:
        self.editor.document().setModified(False)
        self.title_changed.emit()
