"""Connects the open document with its inputs, preview, tools and trust."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QRect, Signal

from studio.application.document.checked_file import LoadedPart, loaded_parts
from studio.application.editing.editor_context import editor_context_of
from studio.application.inputs.sets import sample_edits
from studio.application.preview.requests import PreviewCount, meter, preview_target
from studio.application.preview.variables import InlineValue, Preview, PreviewTarget
from studio.application.trust import folder_trust, is_trusted, references_of, shown_before_trust
from studio.application.words import tr
from studio.core.models.choice import ModelChoice
from studio.core.prompty.document import HoistedTool, PromptDocument
from studio.core.prompty.inputs import GivenInputs
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.references import has_reference, has_references
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.trust.store import TrustStore
from studio.ui.inputs.pane import InputsPane
from studio.ui.preview.pane import PreviewPane
from studio.ui.tools.pane import ToolsPane
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.jobs import LatestJob
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.preview.controller import PreviewController
from studio.viewmodels.run.breakpoint_book import Debugging
from studio.viewmodels.tools.controller import ToolsController


class DocumentCoordinator(QObject):
    """Passes the document, its values and its tools to panes and view models."""

    trust_changed = Signal(bool)  # whether the document's folder is trusted
    target_changed = Signal(PreviewTarget)  # the model that a run would use
    refused = Signal(str)  # sentence for the user

    def __init__(
        self,
        window: WindowParts,
        inputs: InputsPane,
        preview_pane: PreviewPane,
        tools_pane: ToolsPane,
        preview: PreviewController,
        tools: ToolsController,
        connections: ConnectionsController,
        debugging: Debugging,
        trust: TrustStore,
    ) -> None:
        """Create it; `show_document` shows a document.

        Args:
            window: the parts of the window.
            inputs: the user's values.
            preview_pane: pane of the messages.
            tools_pane: pane of the tools.
            preview: computes the preview.
            tools: the tools of the document.
            connections: the configured connections.
            debugging: breakpoints and watches of the document's file.
            trust: the trusted folders.
        """
        super().__init__(window.widget)
        self._window = window
        self._inputs = inputs
        self._preview_pane = preview_pane
        self._tools_pane = tools_pane
        self._preview = preview
        self._tools = tools
        self._connections = connections
        self._debugging = debugging
        self._trust = trust
        self._path: Path | None = None
        self._prompt: PromptDocument | None = None
        preview_pane.messages.request_undo.connect(inputs.undo)
        inputs.entered.connect(preview_pane.messages.setFocus)
        self._loading: LatestJob[tuple[LoadedPart, ...]] = LatestJob(self, preview_pane.show_loaded)

    def show_document(self, document: PromptDocument | None) -> None:
        """Show a document or none; the values of a file are restored."""
        path = document.source.path if document is not None else None
        prompt = document if document is not None and document.is_prompt else None
        if path != self._path or prompt is None or not has_references(prompt):
            self._show_inputs(prompt)  # otherwise when its references are read
        self._path, self._prompt = path, prompt
        self.show_trust()
        if prompt is not None:
            self._debugging.open_file(path)
        self._preview.set_document(prompt)
        self._connections.set_document(prompt)
        self._tools_pane.detail.head.set_insertable(prompt is not None)
        self._loading.drop()
        if prompt is None:
            if document is not None and document.agent_file:
                self._loading.submit(partial(loaded_parts, document))
            else:
                self._preview_pane.show_preview(None)
            self._window.status.set_tokens("")
            self._load_tools(
                document if document is not None and document.is_tool_file else None
            )  # none, or a Python file, whose functions are the tools

    def show_sets(self) -> None:
        """Offer the saved input sets for comparison."""
        self._preview_pane.diff.set_input_sets(self._inputs.library.sets)
        self._tell_editor()

    def keep_samples(self, values: GivenInputs) -> None:
        """Write values into the file as samples of its inputs."""
        page, document = self._window.tabs.current, self._window.tabs.document
        if page is None or document is None or document.source.text != page.editor.text():
            return
        kept = sample_edits(document, values)
        page.editor.apply_edits(kept.edits)
        if kept.left_out:
            names = ", ".join(kept.left_out)
            self.refused.emit(
                tr("Not saved as samples: {names}. Declare them as inputs first.").format(
                    names=names
                )
            )

    def take_sample(self, name: str) -> None:
        """Use the sample that the preview shows for an input as the user's value."""
        preview = self._preview.preview
        if preview is None:
            return
        document, value = preview.job.document, preview.prepared.inputs.get(name)
        declared = document.input(name)
        is_unread = isinstance(value, str) and whole_reference(value) is not None
        # Text files are shown before trust, but a used value would be sent.
        is_elsewhere = declared is not None and has_reference(declared.sample)
        if is_unread or (is_elsewhere and not is_trusted(document.source.path, self._trust)):
            self.refused.emit(tr("The sample is in a file: trust the folder to use it."))
        else:
            self._inputs.library.add({name: value})

    def show_given(self, given: GivenInputs) -> None:
        """Use the given values of the inputs."""
        self._preview.set_inputs(given)
        self._tools.set_inputs(given)
        self._tell_editor()

    def _tell_editor(self) -> None:
        """Give completion and hover the context of the prompt."""
        page, path = self._window.tabs.current, self._path
        if page is None:
            return
        folder = path.parent if path is not None else None
        page.assist.know(
            editor_context_of(
                self._inputs.values(),
                self._tools.registry.specs,
                self._connections.models,
                folder,
                trusted=is_trusted(path, self._trust),
                sets=tuple(self._inputs.library.sets.values()),
                connections=tuple(each.name for each in self._connections.connections.connections),
            )
        )

    def _show_inputs(self, prompt: PromptDocument | None) -> None:
        page = self._window.tabs.current
        self._inputs.set_document(prompt, page.controller.id if page is not None else "")

    def show_preview(self, preview: Preview) -> None:
        """Show a preview and load the tools that it names."""
        is_new = preview.document is self._prompt and not preview.is_stale
        resolved = preview.prepared.document
        if is_new and resolved is not preview.document:
            self._show_inputs(resolved)
        self._preview_pane.show_preview(preview)
        document = preview.document
        if resolved is not document:  # the tools of other files are sent, too
            from studio.core.prompty.prepare import settled_document  # not before the first paint

            references = references_of(document.source.path, self._trust)
            document = settled_document(document, preview.job.inputs, references)
        self._load_tools(document, preview.messages.tools)

    def show_count(self, count: PreviewCount) -> None:
        """Show the token count and cost of a preview."""
        shown = meter(count)
        self._preview_pane.show_tokens(count.tokens)
        self._preview_pane.show_change(count.change)
        self._window.status.set_tokens(shown.text, shown.detail, shown.fullness)

    def show_inline(self, preview: Preview, values: tuple[InlineValue, ...]) -> None:
        """Show the values of a preview after the lines of its text."""
        page = self._window.tabs.current
        if page is not None and page.controller.path == preview.document.source.path:
            page.show_values(values, preview.document.source)

    def _load_tools(
        self, document: PromptDocument | None, hoisted: tuple[HoistedTool, ...] = ()
    ) -> None:
        if not self._window.services.is_safe:  # safe mode has no tools
            self._tools.set_document(document, hoisted)

    def show_registry(self, registry: ToolRegistry) -> None:
        """Use the tools of a new registry."""
        # Trusting a folder loads its tools and allows its environment variables.
        self.show_trust()
        self._preview.set_tools(registry.specs)
        self._tell_editor()

    def show_trust(self) -> None:
        """Update all parts that depend on the trust in the document's folder."""
        path = self._path
        opened = self._window.files.root_of(path) if path is not None else None
        held = folder_trust(path.parent if path is not None else None, self._trust, opened)
        self._preview.set_trusted(held.is_trusted, shown_before_trust(opened))
        self._connections.set_trusted(held.is_trusted)
        self._window.status.set_trust(held)
        self.trust_changed.emit(held.is_trusted)

    def focus_input(self, name: str, place: QRect | None = None) -> None:
        """Edit an input's value at a rectangle of the screen, or scroll to its field."""
        if place is not None and self._inputs.edit_over(name, place):
            return
        self._window.docks.show("inputs")
        self._inputs.focus_input(name)

    def show_choice(self, choice: ModelChoice) -> None:
        """Set the model that a run would use."""
        target = preview_target(choice)
        self._preview.set_target(target)
        self.target_changed.emit(target)
        self._tell_editor()
