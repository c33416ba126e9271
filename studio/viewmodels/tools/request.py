"""The HTTP request of a run's call, shown while the person decides whether it is sent."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import Call, RunState
from studio.core.tools.session import ToolSession
from studio.viewmodels.app.background import Background


class CallRequest(QObject):
    """Follows a run; what it says is empty wherever no request waits."""

    changed = Signal(str)  # the request of the call that waits, key masked

    def __init__(
        self, background: Background, session: ToolSession, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._session = session
        self._call: Call | None = None
        self._shown = ""

    def follow(self, state: RunState | None) -> None:
        """Look at where a run stands."""
        call = _waiting(state)
        if call == self._call:
            return
        self._call = call
        self._show("")
        if state is None or call is None or call.arguments is None:
            return
        path = Path(state.setup.path) if state.setup.path else None

        def done(future: Future[str]) -> None:
            if not future.cancelled() and self._call is call:
                error = future.exception()
                self._show(str(error) if error else future.result())

        self._background.start(
            self._session.request_text(call.tool, call.arguments, state.setup.inputs, path), done
        )

    def _show(self, text: str) -> None:
        if text != self._shown:
            self._shown = text
            self.changed.emit(text)


def _waiting(state: RunState | None) -> Call | None:
    """The call that a run stands before."""
    if (
        state is None
        or state.pause is None
        or state.pause.place != PausePoint.TOOL_CALL
        or state.call is None
    ):
        return None
    call = state.step.calls[state.call] if state.call < len(state.step.calls) else None
    return call if call is not None and call.status == "asked" else None
