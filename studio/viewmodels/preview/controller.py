"""Updates the preview when the document or the inputs change.

It also computes details of a preview for other panes, each only while it is shown.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from studio.application.preview.build import build_preview, keep_last_good, preview_problems
from studio.application.preview.diff import ConversationComparison, Pair, compare
from studio.application.preview.probe import ProbeReport, probe
from studio.application.preview.requests import (
    PreviewCount,
    RequestPreview,
    count_preview,
    request_of,
)
from studio.application.preview.variables import Preview, PreviewJob, PreviewTarget, inline_values
from studio.core.models.base import ProtocolName
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.prompty.document import Message, PromptDocument, ToolSpec
from studio.core.prompty.inputs import GivenInputs
from studio.core.tokens.conversation import ConversationTokens
from studio.core.tokens.tokenizers import Tokenizers, count_embedded
from studio.core.wire.request import Provider
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.jobs import LatestJob, single_shot

Made = TypeVar("Made")


class PreviewDetails(QObject):
    """Computes details of the newest preview in the pool."""

    counted = Signal(PreviewCount)
    problems_found = Signal(tuple)  # of Problem: from the preview and for its provider
    values_made = Signal(Preview, tuple)  # of InlineValue, shown after lines of the editor
    bodies_made = Signal(dict)  # Provider → RequestPreview
    request_count = Signal(PreviewCount)  # an estimate, which its model can count exactly

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preview: Preview | None = None
        self._counted: PreviewCount | None = None
        self._providers: tuple[Provider, ...] = ()
        self._wants_figures = True
        self._jobs: list[LatestJob[Any]] = []
        self._count: LatestJob[PreviewCount] = self._job(self._take_count)
        self._problems: LatestJob[tuple[object, ...]] = self._job(self.problems_found.emit)
        self._values: LatestJob[tuple[object, ...]] = self._job(self._take_values)
        self._bodies: LatestJob[dict[Provider, RequestPreview]] = self._job(self.bodies_made.emit)
        self._tokenizer: LatestJob[bool] = self._job(self._on_tokenizer)

    @property
    def is_busy(self) -> bool:
        """Whether something is being computed; for taking pictures."""
        return any(job.is_busy for job in self._jobs)

    def follow(self, preview: Preview | None) -> None:
        """Compute details of a preview; None stops the work."""
        self._preview = preview
        if preview is None:
            self._counted = None
            for job in self._jobs:
                job.drop()
            return
        self._make_count()
        self._problems.submit(partial(preview_problems, preview))
        self._values.submit(partial(inline_values, preview))
        self._make_bodies()

    def make_bodies(self, providers: tuple[Provider, ...]) -> None:
        """Set the providers whose request bodies are computed; empty if no request is shown."""
        self._providers = providers
        self._make_bodies()

    def make_figures(self, wanted: bool) -> None:
        """Set whether tokens of each message and input are counted, or only of the request."""
        is_new, self._wants_figures = wanted and not self._wants_figures, wanted
        if is_new and self._preview is not None:
            self._make_count()

    def count_again(self) -> None:
        """Count with the embedded model again, which is possible after a run started it."""
        if self._counted is not None and self._counted.preview.job.target.is_embedded:
            self._ask_model(self._counted)

    def _ask_model(self, count: PreviewCount) -> None:
        """Let the model count, except for files that are only shown before trust."""
        job = count.preview.job
        if job.trusted or job.opened is None:
            self.request_count.emit(count)

    def show_count(self, count: PreviewCount) -> None:
        """Show the count by the model's own tokenizer."""
        if count.preview is self._preview:
            self._take_count(count)

    def _make_count(self) -> None:
        assert self._preview is not None
        self._count.submit(partial(count_preview, self._preview, shown=self._wants_figures))

    def _make_bodies(self) -> None:
        if self._preview is not None and self._providers:
            self._bodies.submit(partial(_bodies_of, self._preview, self._providers))

    def _take_values(self, values: tuple[object, ...]) -> None:
        self.values_made.emit(self._preview, values)

    def _take_count(self, count: PreviewCount) -> None:
        self._counted = count
        self.counted.emit(count)
        job = count.preview.job
        if job.target.is_embedded:
            if not count.is_by_model:
                self._ask_model(count)
            weights = job.target.weights
            if weights is not None and job.tokenizers.wants_embedded(weights):
                self._tokenizer.submit(partial(job.tokenizers.load_embedded, weights))
        elif job.tokenizers.wants_loading(count.model):
            # Takes half a second for the first preview of a model, which is already shown.
            self._tokenizer.submit(partial(job.tokenizers.load, count.model))

    def _on_tokenizer(self, is_loaded: bool) -> None:
        if is_loaded and self._preview is not None:
            self._make_count()

    def _job(self, take: Callable[[Made], None]) -> LatestJob[Made]:
        job = LatestJob(self, take, self._fail)
        self._jobs.append(job)
        return job

    def _fail(self, error: Exception) -> None:
        """Raise an error for the crash handler: the preview functions raise none by design."""
        raise error


def _bodies_of(preview: Preview, providers: tuple[Provider, ...]) -> dict[Provider, RequestPreview]:
    return {provider: request_of(preview, provider) for provider in providers}


class EmbeddedCount(QObject):
    """Counts tokens with the embedded server; only the newest waiting preview is counted."""

    counted = Signal(PreviewCount)

    def __init__(
        self, background: Background, server: EmbeddedServer, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._server = server
        self._known: dict[str, int] = {}
        self._flying: Future[ConversationTokens | None] | None = None

    def count(self, count: PreviewCount) -> None:
        """Count the tokens of a request; no result comes while the server is not running."""
        if self._server.state != "ready" or not self._background.is_running:
            return
        if self._flying is not None:
            self._flying.cancel()
        work = count_embedded(self._server, count.request, self._known)
        self._flying = self._background.start(work, partial(self._take, count))

    def _take(self, count: PreviewCount, future: Future[ConversationTokens | None]) -> None:
        if future is self._flying:
            self._flying = None
        if not future.cancelled() and (tokens := future.result()) is not None:
            self.counted.emit(count.by_model(tokens))


DEBOUNCE_MS = 60
"""Pause in typing before the preview is updated, in milliseconds; with the work under 100."""


class PreviewController(QObject):
    """Collects changes for a moment, then computes the newest preview in the pool."""

    previewed = Signal(Preview)
    probed = Signal(ProbeReport)
    compared = Signal(ConversationComparison)

    def __init__(self, parent: QObject | None = None, tokenizers: Tokenizers | None = None) -> None:
        super().__init__(parent)
        self._tokenizers = tokenizers or Tokenizers()
        self._document: PromptDocument | None = None
        self._inputs = GivenInputs()
        self._tools: tuple[ToolSpec, ...] | None = None
        self._target = PreviewTarget()
        self._protocol: ProtocolName | None = None
        self._trusted = True
        self._opened: Path | None = None
        self._asked: Sequence[Message] = ()
        self._last_good: Preview | None = None
        self.preview: Preview | None = None
        """The newest preview."""
        self._revision = 0
        self._timer = single_shot(self, self._order, DEBOUNCE_MS)
        self.job = LatestJob(self, self._take, self._fail)
        self._probe_job: LatestJob[ProbeReport] = LatestJob(self, self.probed.emit, self._fail)
        self._pair: Pair | None = None
        self._compare_job: LatestJob[ConversationComparison] = LatestJob(
            self, self.compared.emit, self._fail
        )
        self.details = PreviewDetails(self)

    def set_document(self, document: PromptDocument | None) -> None:
        """Set the document revision; None if no document is open."""
        if document is None or (
            self._document is not None and document.source.path != self._document.source.path
        ):
            # Another file: messages and tools of the previous one must not be shown for it.
            self._last_good = None
            self._tools = None
        self._document = document
        if document is None:
            self._timer.stop()
            self.job.drop()
            self._probe_job.drop()
            self.preview = None
            self.details.follow(None)
        else:
            self._timer.start()

    def set_inputs(self, given: GivenInputs) -> None:
        """Set the values; missing ones are filled from defaults and samples."""
        self._inputs = given
        self._start()

    def set_tools(self, tools: Sequence[ToolSpec] | None) -> None:
        """Set the tools of a run; None for the document's own."""
        fresh = None if tools is None else tuple(tools)
        if fresh != self._tools:
            self._tools = fresh
            self._start()

    def set_trusted(self, trusted: bool, opened: Path | None = None) -> None:
        """Set whether the prompt's folder is trusted; only then are environment variables read.

        Args:
            trusted: whether it is trusted.
            opened: folder that the user opened; its text files are shown without trust.
        """
        if (trusted, opened) != (self._trusted, self._opened):
            self._trusted, self._opened = trusted, opened
            self._start()

    def set_protocol(self, protocol: ProtocolName | None) -> None:
        """Set the protocol chosen for runs; None for the document's own."""
        if protocol != self._protocol:
            self._protocol = protocol
            self._start()

    def set_target(self, target: PreviewTarget) -> None:
        """Set the model to which a run would send."""
        if target != self._target:
            self._target = target
            self._start()

    def set_asked(self, messages: Sequence[Message]) -> None:
        """Set the first messages of the run whose answer is shown, to mark later changes."""
        if messages is not self._asked and tuple(messages) != tuple(self._asked):
            self._asked = messages
            self._start()

    def refresh(self) -> None:
        """Update the preview now, such as when a referenced file changed."""
        self._order()

    def probe(self) -> None:
        """Probe the inputs for injection in the pool; `probed` reports the result."""
        if self._document is not None:
            self._probe_job.submit(partial(probe, self._document, self._inputs))

    def compare(self, pair: Pair | None) -> None:
        """Compare each preview from now on; `compared` reports the result. None stops this."""
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
        self.job.submit(partial(build_preview, self._make_order()))

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
            self._asked,
        )

    def _take(self, preview: Preview) -> None:
        preview = keep_last_good(preview, self._last_good)
        if not preview.is_stale:
            self._last_good = preview
        self.preview = preview
        self.details.follow(preview)
        self.previewed.emit(preview)
        self._compare()

    def _fail(self, error: Exception) -> None:
        """Raise an error for the crash handler: the preview functions raise none by design."""
        raise error
