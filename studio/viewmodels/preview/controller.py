"""Keeps the preview in step with the document and the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from studio.application.preview.build import build_preview, keep_last_good
from studio.application.preview.diff import ConversationComparison, Pair, compare
from studio.application.preview.probe import ProbeReport, probe
from studio.application.preview.value import Preview, PreviewJob, PreviewTarget
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import GivenInputs
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.tokens.tokenizers import Tokenizers
from studio.viewmodels.app.jobs import LatestJob
from studio.viewmodels.preview.details import PreviewDetails

DEBOUNCE_MS = 60
"""Pause in typing after which the preview follows; together with the work under 100 ms."""


class PreviewController(QObject):
    """Gathers changes for a moment, then makes the preview in the pool; the newest wins."""

    previewed = Signal(Preview)
    probed = Signal(ProbeReport)
    compared = Signal(ConversationComparison)
    busy_changed = Signal(bool)

    def __init__(
        self,
        parent: QObject | None = None,
        debounce_ms: int = DEBOUNCE_MS,
        tokenizers: Tokenizers | None = None,
    ) -> None:
        super().__init__(parent)
        self._tokenizers = tokenizers or Tokenizers()
        self._document: PromptDocument | None = None
        self._inputs = GivenInputs()
        self._tools: tuple[ToolSpec, ...] | None = None
        self._target = PreviewTarget()
        self._protocol: ProtocolName | None = None
        self._trusted = True
        self._opened: Path | None = None
        self._last_good: Preview | None = None
        self._newest: Preview | None = None
        self._revision = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(debounce_ms)
        self._timer.timeout.connect(self._order)
        self._job: LatestJob[Preview] = LatestJob(self)
        self._job.finished.connect(self._take)
        self._job.failed.connect(self._fail)
        self._job.busy_changed.connect(self.busy_changed)
        self._probe_job: LatestJob[ProbeReport] = LatestJob(self)
        self._probe_job.finished.connect(self.probed)
        self._probe_job.failed.connect(self._fail)
        self._pair: Pair | None = None
        self._compare_job: LatestJob[ConversationComparison] = LatestJob(self)
        self._compare_job.finished.connect(self.compared)
        self._compare_job.failed.connect(self._fail)
        self.details = PreviewDetails(self)

    @property
    def preview(self) -> Preview | None:
        """The newest preview."""
        return self._newest

    def set_document(self, document: PromptDocument | None) -> None:
        """Follow this revision of the document; `None` when no document is open."""
        if document is None or (
            self._document is not None and document.source.path != self._document.source.path
        ):
            # Another file: its predecessor's messages must not be shown as its last good ones, nor
            # its tools while the file's own are being loaded.
            self._last_good = None
            self._tools = None
        self._document = document
        if document is None:
            self._timer.stop()
            self._job.drop()
            self._probe_job.drop()
            self._newest = None
            self.details.follow(None)
        else:
            self._timer.start()

    def set_inputs(self, given: GivenInputs) -> None:
        """Render with these values; what is missing is filled from defaults and samples."""
        self._inputs = given
        self._start()

    def set_tools(self, tools: Sequence[ToolSpec] | None) -> None:
        """The tools that a run would have; `None` for the document's own."""
        fresh = None if tools is None else tuple(tools)
        if fresh != self._tools:
            self._tools = fresh
            self._start()

    def set_trusted(self, trusted: bool, opened: Path | None = None) -> None:
        """Take whether the prompt's folder is trusted: only then are its variables looked up.

        Args:
            trusted: whether it is.
            opened: the folder that the user opened, whose text files are shown before.
        """
        if (trusted, opened) != (self._trusted, self._opened):
            self._trusted, self._opened = trusted, opened
            self._start()

    def set_protocol(self, protocol: ProtocolName | None) -> None:
        """The protocol chosen for runs; `None` for the document's own."""
        if protocol != self._protocol:
            self._protocol = protocol
            self._start()

    def set_target(self, target: PreviewTarget) -> None:
        """The model that a run would be sent to."""
        if target != self._target:
            self._target = target
            self._start()

    def refresh(self) -> None:
        """Make the preview again now, as when a referenced file changed."""
        self._order()

    def probe(self) -> None:
        """Try the inputs for holes, in the pool; the report comes by `probed`."""
        if self._document is not None:
            self._probe_job.submit(partial(probe, self._document, self._inputs))

    def compare(self, pair: Pair | None) -> None:
        """Compare every preview from now on; the result comes by `compared`. `None` ends that."""
        self._pair = pair
        self._compare_job.drop()
        self._compare()

    def _compare(self) -> None:
        if self._pair is not None and self._document is not None:
            self._compare_job.submit(partial(compare, self._make_order(), self._pair))

    def _start(self) -> None:
        if self._document is not None:
            self._timer.start()

    def _order(self) -> None:
        self._timer.stop()
        if self._document is None:
            return
        self._revision += 1
        self._job.submit(partial(build_preview, self._make_order()))

    def _make_order(self) -> PreviewJob:
        assert self._document is not None
        return PreviewJob(
            self._document,
            self._inputs,
            self._tools,
            self._target,
            self._tokenizers,
            self._revision,
            self._protocol,
            self._trusted,
            self._opened,
        )

    def _take(self, preview: Preview) -> None:
        preview = keep_last_good(preview, self._last_good)
        if not preview.is_stale:
            self._last_good = preview
        self._newest = preview
        self.details.follow(preview)
        self.previewed.emit(preview)
        self._compare()

    def _fail(self, error: Exception) -> None:
        """The pure pipeline is total; what still comes here is a defect, for the crash hook."""
        raise error
