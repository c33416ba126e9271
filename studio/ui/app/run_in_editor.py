"""A run in the text of its own prompt: what it marks there, and edits at a pause that stay."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Qt, Signal

from studio.application.run.breakpoints import BreakpointSet
from studio.application.run.cards.timeline import step_at
from studio.application.run.cursor import RunCursor, TemplatePlaces, is_text_of
from studio.application.run.displayed_run import RunView
from studio.application.run.edits.in_place import (
    EditResult,
    EditSpec,
    NotInFileError,
    edits_to_keep,
)
from studio.application.words import tr
from studio.core.agent.values.state import RunState
from studio.core.prompty.document import PromptDocument, ToolId
from studio.core.text.source import Span
from studio.core.text.values import Json
from studio.core.tools.registry import FixedMock
from studio.ui.run.breakpoints_dialog import BreakpointsDialog
from studio.ui.window.parts import WindowParts
from studio.viewmodels.run.breakpoint_book import FileBreakpoints
from studio.viewmodels.run.controller import RunController
from studio.viewmodels.tools.controller import ToolsController


class RunMarks(QObject):
    """Lights the text behind the moment that is looked at, marks breakpoints, and lists them.

    It is lit only while the run is on the screen, and only where it is still the run's own text.
    """

    compared = Signal(bool, bool)  # whether the shown run has an earlier text, and other inputs

    def __init__(
        self, window: WindowParts, breakpoints: FileBreakpoints, tools: ToolsController
    ) -> None:
        super().__init__(window.widget)
        self._window = window
        self._breakpoints = breakpoints
        self._tools = tools
        self._state: RunState | None = None
        self._cursor: RunCursor | None = None
        self._given: Mapping[str, Json] = {}
        self._is_record = False
        self._known: tuple[PromptDocument, str, TemplatePlaces | None] | None = None
        """Of which document and which run's text, and its places; None where it is another."""

    def show_view(self, view: RunView) -> None:
        """Take the run that is shown."""
        before, self._state = self._state, view.state
        self._is_record = bool(view.record)
        if _run_of(before) != _run_of(view.state):
            self._cursor = None
            self.light()

    def show_cursor(self, cursor: RunCursor) -> None:
        """Go to a moment."""
        self._cursor = cursor
        self.light()

    def light(self) -> None:
        """Light the lines, or let them be dark again."""
        page, cursor = self._window.tabs.current, self._cursor
        self._compare()
        spans = self._spans()
        for each in self._window.tabs.pages():
            is_here = each is page and cursor is not None
            each.show_moment(spans if is_here else (), cursor.words if is_here and cursor else "")

    def show_breakpoints(self, value: BreakpointSet) -> None:
        """Mark the lines of the tools and messages that a run stops at."""
        on = [each for each in value.breakpoints if each.enabled]
        tools = frozenset(each.tool for each in on if each.tool)
        messages = frozenset(each.message for each in on if each.message)
        self._window.tabs.sides.show_breakpoints(tools, messages)

    def list_breakpoints(self) -> None:
        """Open the list of breakpoints."""
        dialog = BreakpointsDialog(self._breakpoints, self._window.widget)
        dialog.set_tools([spec.name for spec in self._tools.registry.specs])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_given(self, given: Mapping[str, Json]) -> None:
        """Take the values of the inputs as they are now."""
        self._given = given
        self._compare()

    def _compare(self) -> None:
        """Say whether the open prompt is that of the run, with another text or inputs by now."""
        state, document = self._state, self._window.tabs.document
        is_own = False
        if state is not None and document is not None:
            setup = state.setup
            was_unnamed = not (setup.path or setup.program or self._is_record)
            is_own = was_unnamed or str(document.source.path or "") == state.setup.path
        page = self._window.tabs.current
        if page is not None:
            page.changes.show_run(state.setup.source if state is not None and is_own else None)
        if state is None or document is None or not is_own:
            self.compared.emit(False, False)
            return
        is_older = not is_text_of(document, state.setup.source)
        self.compared.emit(is_older, dict(self._given) != dict(state.setup.inputs))

    def _spans(self) -> tuple[Span, ...]:
        state, cursor = self._state, self._cursor
        document = self._window.tabs.document
        if state is None or cursor is None or document is None:
            return ()
        places = self._places(document, state)
        if places is None or not self._window.docks.is_shown("run"):
            return ()
        calls = step_at(state, cursor.step).calls
        row = cursor.call if cursor.call is not None and cursor.call < len(calls) else None
        return places.behind(cursor, calls[row].tool if row is not None else "")

    def _places(self, document: PromptDocument, state: RunState) -> TemplatePlaces | None:
        source = state.setup.source
        known = self._known
        if known is None or known[0] is not document or known[1] is not source:
            page = self._window.tabs.current
            is_same = is_text_of(document, source) and page is not None
            places = TemplatePlaces.of(document) if is_same else None
            self._known = known = (document, source, places)
        return known[2]


def _run_of(state: RunState | None) -> str:
    return state.setup.run if state is not None else ""


class PersistentEdits(QObject):
    """Applies an edit of a run to the editor or the registry, or reports why that is impossible."""

    request_mock = Signal(ToolId, Mapping)  # {"mock": Mock}
    refused = Signal(str)  # sentence for the user

    def __init__(self, window: WindowParts, run: RunController) -> None:
        super().__init__(window.widget)
        self._window = window
        self._run = run

    def keep(self, spec: EditSpec, result: EditResult) -> None:
        """Keep what was written at a pause beyond the run."""
        state = self._run.state
        if state is None:
            return
        if spec.kind in ("observation", "answer_call"):
            if spec.call < len(state.step.calls):
                mock = FixedMock(result.text, result.is_error)
                changes: Mapping[str, object] = {"mock": mock}
                name = state.step.calls[spec.call].tool
                ids = (tool.id for tool in state.setup.tools if tool.name == name and tool.id.name)
                self.request_mock.emit(next(ids, ToolId("", name)), changes)
            return
        try:
            self._change_file(spec, result, state)
        except NotInFileError as error:
            self.refused.emit(tr("The file was not changed: {error}").format(error=error))

    def _change_file(self, spec: EditSpec, result: EditResult, state: RunState) -> None:
        page, document = self._window.tabs.current, self._window.tabs.document
        if page is None or document is None:
            raise NotInFileError(tr("no prompt is open."))
        page.editor.apply_edits(edits_to_keep(document, page.editor.text(), spec, result, state))
