"""The tools of the open document: loaded in the background, tried, mocked, trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from studio.bridge.background import Background
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import HoistedTool
from studio.core.text.values import Json, JsonObject
from studio.core.tools.limits import DEFAULT_LIMITS, ToolLimits
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.session import ToolSession
from studio.core.tools.source import ToolOutcome
from studio.core.tools.trust import TrustStore

_LOAD_MS = 300
_CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Trial:
    """One call that the person tried, and how it ended."""

    name: str
    """The tool."""

    arguments: JsonObject
    """The arguments given."""

    outcome: ToolOutcome | None = None
    """The end; `None` while it runs."""


class ToolsController(QObject):
    """Moves a `ToolSession` between the document, the tools view and the background loop."""

    registry_changed = Signal(object)  # ToolRegistry
    loading_changed = Signal(bool)
    trial_changed = Signal(object)  # Trial: begun, or ended

    def __init__(
        self,
        background: Background,
        trust: TrustStore,
        parent: QObject | None = None,
        limits: ToolLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._trust = trust
        self._session = ToolSession(trust, limits)
        self._document: PromptDocument | None = None
        self._hoisted: tuple[HoistedTool, ...] = ()
        self._inputs: dict[str, Json] = {}
        self._loads = 0
        self._load: Future[ToolRegistry] | None = None
        self._trial: Trial | None = None
        self._call: Future[ToolOutcome] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_LOAD_MS)
        self._timer.timeout.connect(self.reload)

    @property
    def session(self) -> ToolSession:
        """The session, whose `toolbox` a run uses; call it in the background loop only."""
        return self._session

    @property
    def registry(self) -> ToolRegistry:
        """The newest registry."""
        return self._session.registry

    @property
    def is_loading(self) -> bool:
        """Whether the tools are being loaded, or soon will be."""
        return bool(self._loads) or self._timer.isActive()

    @property
    def is_trying(self) -> bool:
        """Whether a tried call still runs."""
        return self._call is not None

    def set_document(
        self, document: PromptDocument | None, hoisted: Iterable[HoistedTool] = ()
    ) -> None:
        """Follow the document; its tools are loaded again after a pause in typing."""
        fresh = tuple(hoisted)
        if document is self._document and fresh == self._hoisted:
            return
        other_file = (document.source.path if document else None) != (
            self._document.source.path if self._document else None
        )
        self._document, self._hoisted = document, fresh
        if document is None:
            self._timer.stop()
            self._session.registry = ToolRegistry()
            self.registry_changed.emit(self._session.registry)
        elif other_file:
            self.reload()
        else:
            self._timer.start()

    def set_inputs(self, values: Mapping[str, Json]) -> None:
        """Values that bound parameters get when a tool is tried."""
        self._inputs = dict(values)

    def reload(self) -> None:
        """Load the tools now."""
        self._timer.stop()
        if self._document is None or not self._background.is_running:
            return
        self._loads += 1
        self.loading_changed.emit(True)
        self._load = self._background.start(
            self._session.load(self._document, self._hoisted), self._loaded
        )

    def change(self, name: str, changes: Mapping[str, object]) -> None:
        """Set `enabled`, `approval` or `mock` of a tool; in the loop, where loading happens too."""

        async def change() -> ToolRegistry:
            return self._session.change(name, **changes)

        self._background.start(change(), self._changed)

    def trust_folder(self, folder: Path) -> None:
        """The person trusts a folder: its tools may run from now on."""
        self._trust.trust(folder)
        self.reload()

    def restart(self, key: str) -> None:
        """End a source's processes and load again."""
        self._background.start(self._session.restart(key), lambda _: self.reload())

    def try_tool(self, name: str, arguments: JsonObject) -> None:
        """Call a tool because the person asked for it; one call at a time."""
        if self._call is not None:
            return
        self._trial = Trial(name, dict(arguments))
        self.trial_changed.emit(self._trial)
        self._call = self._background.start(
            self._session.try_tool(name, arguments, inputs=self._inputs), self._tried
        )

    def cancel_trial(self) -> None:
        """Stop the tried call; its process is ended."""
        if self._call is not None:
            self._call.cancel()

    def close(self) -> None:
        """End all processes behind the tools; waits for them, at most two seconds."""
        self._timer.stop()
        self.cancel_trial()
        if self._load is not None:
            self._load.cancel()
        if self._background.is_running:
            with suppress(TimeoutError, CancelledError):
                self._background.start(self._session.close()).result(_CLOSE_SECONDS)

    def _changed(self, future: Future[ToolRegistry]) -> None:
        if not future.cancelled():
            self.registry_changed.emit(future.result())

    def _loaded(self, future: Future[ToolRegistry]) -> None:
        self._loads -= 1
        if not self._loads:
            self.loading_changed.emit(False)
        try:
            registry = future.result()
        except CancelledError:
            return
        if self._document is not None:
            self.registry_changed.emit(registry)

    def _tried(self, future: Future[ToolOutcome]) -> None:
        trial, self._trial, self._call = self._trial, None, None
        if trial is None:
            return
        try:
            outcome = future.result()
        except CancelledError:
            outcome = ToolOutcome("Stopped by you.", "cancelled")
        self.trial_changed.emit(Trial(trial.name, trial.arguments, outcome))
        self.registry_changed.emit(self._session.registry)
