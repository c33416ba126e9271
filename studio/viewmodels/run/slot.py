"""The run of one prompt: what drives it, and what is shown of it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.application.run.displayed_run import DisplayedRun
from studio.application.run.past.again import PastRun
from studio.application.run.start.session import RunSession
from studio.application.run.view import RunView
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.state import RunModel
from studio.core.prompty.document import PromptDocument

RunMark: TypeAlias = Literal["running", "waiting"]
"""What the tab of a prompt shows of its run."""


@dataclass(eq=False)
class RunSlot:
    """Each prompt has one: several runs go on side by side. Kept by the GUI thread alone."""

    path: str
    """The prompt's file; empty for one that was never saved."""

    session: RunSession | None = None
    """What the loop drives; None before the first run, and for a run of the past."""

    driving: Future[None] | None = None
    """The driving; None while nothing goes on."""

    shown: DisplayedRun = field(default_factory=DisplayedRun)
    """What has arrived of the run."""

    view: RunView = field(default_factory=RunView)
    """What the pane showed of it last."""

    announced: str = ""
    """Id of the run whose start was told."""

    against: PastRun | None = None
    """A run that it is compared with when it is over."""

    here: Breakpoint | None = None
    """The place that it was told to run to."""

    looks: int = 0
    """How often nothing had arrived of it yet."""

    follows_prompt: bool = True
    """Whether another model of the prompt concerns it: not a replay, nor an experiment's cell."""

    missing_model: RunModel | None = None
    """The model of a run of the past where it is not to be had here."""

    @property
    def is_live(self) -> bool:
        """Whether its run is under way or waits."""
        return self.driving is not None

    @property
    def can_keep_model(self) -> bool:
        """Whether the model that its run has by now is to be had here."""
        state, missing = self.shown.state, self.missing_model
        return missing is None or (state is not None and not missing.is_same(state.answered_by))

    @property
    def mark(self) -> RunMark | None:
        """What the prompt's tab shows."""
        if self.driving is None:
            return None
        state = self.shown.state
        return "waiting" if state is not None and state.pause is not None else "running"

    def drop_run(self) -> None:
        """Let go of the run; one that is under way is journaled as stopped."""
        if self.driving is not None:
            self.driving.cancel()
        self.driving = None
        self.session = None


def slot_path(document: PromptDocument) -> str:
    """The slot that runs of a prompt belong to."""
    path = document.source.path
    return "" if path is None else str(path)
