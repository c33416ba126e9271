"""Edits at a pause that outlast the run: in the prompt's text, or as a tool's mock."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from studio.application.run.edits.in_file import NotInFileError, example_edit, file_edits
from studio.application.run.edits.in_place import EditResult, EditSpec
from studio.core.agent.values.state import RunState
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import TextEdit
from studio.core.tools.mock import FixedMock
from studio.ui.window.parts import WindowParts
from studio.viewmodels.run.controller import RunController


class PersistentEdits(QObject):
    """Carries an edit of a run over to the editor or the registry; what cannot be is said."""

    request_mock = Signal(str, Mapping)  # name of the tool, {"mock": Mock}
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
                self.request_mock.emit(state.step.calls[spec.call].tool, changes)
            return
        try:
            self._change_file(spec, result, state)
        except NotInFileError as error:
            self.refused.emit(self.tr("The file was not changed: {error}").format(error=error))

    def _change_file(self, spec: EditSpec, result: EditResult, state: RunState) -> None:
        page, document = self._window.tabs.current, self._window.tabs.document
        if page is None or document is None:
            raise NotInFileError(self.tr("no prompt is open."))
        if str(document.source.path or "") != state.setup.path:
            raise NotInFileError(self.tr("another prompt is open."))
        if document.source.text != page.editor.text():
            raise NotInFileError(self.tr("it is being written in. Try again."))
        page.editor.apply_edits(_edits(document, spec, result, state))


def _edits(
    document: PromptDocument, spec: EditSpec, result: EditResult, state: RunState
) -> tuple[TextEdit, ...]:
    if spec.kind == "messages":
        return file_edits(document, spec.messages, result.messages)
    return (example_edit(document, _question(state), result.text),)


def _question(state: RunState) -> str:
    """The user's message as the first request had it."""
    first = state.steps[0] if state.steps else state.step
    sent = first.messages or state.conversation[: first.sent]
    asked = [message.text for message in sent if message.role == "user"]
    return asked[-1] if asked else state.setup.question
