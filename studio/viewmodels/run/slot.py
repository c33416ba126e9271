"""The runs of a window by their prompts: what drives each, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.application.run.displayed_run import DisplayedRun
from studio.application.run.past.again import PastRun
from studio.application.run.start.session import RunSession
from studio.application.run.view import RunView
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.run_setup import RunModel
from studio.core.models.base import ChatModel
from studio.core.prompty.document import PromptDocument

_MOST_RESTING = 8
"""Prompts whose run is kept in memory although it is over and another is shown."""

_BESIDE = "\0"
"""The slot of a run of the past whose prompt has one that goes on."""

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

    earlier: str = ""
    """Id of the prompt's last run in the history, looked up while none is shown."""

    before: tuple[DisplayedRun, RunSession | None] | None = None
    """The run that was shown before this one, for when this one does not begin."""

    here: Breakpoint | None = None
    """The place that it was told to run to."""

    looks: int = 0
    """Number of looks at which nothing had arrived of it yet."""

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
    def other_model(self) -> ChatModel | None:
        """What would answer where the run's own model is not to be had here."""
        if self.can_keep_model or self.session is None:
            return None
        return self.session.plan.model

    @property
    def begins_with(self) -> RunModel | None:
        """The model of a run that is under way, while nothing has arrived of it; else None."""
        if self.driving is None or self.session is None or self.shown.state is not None:
            return None
        return run_model_of(self.session.plan.model, priced=False)

    @property
    def is_beside(self) -> bool:
        """Whether its run is one of the past, of a prompt that has one that goes on."""
        return self.path.startswith(_BESIDE)

    @property
    def mark(self) -> RunMark | None:
        """What the prompt's tab shows."""
        if self.driving is None:
            return None
        state = self.shown.state
        return "waiting" if state is not None and state.pause is not None else "running"

    def make_room(self) -> None:
        """Let go of the run, for another one; one that was over comes back if that cannot begin."""
        self.before = None if self.is_live else (self.shown, self.session)
        self.drop_run()
        self.shown, self.announced = DisplayedRun(), ""

    def bring_back(self) -> bool:
        """Show the run before again, where this one was refused before its first fact."""
        if self.before is None or self.shown.state is not None:
            return False
        (self.shown, self.session), self.before = self.before, None
        self.announced = self.shown.run
        return True

    def drop_run(self) -> None:
        """Let go of the run; one that is under way is journaled as stopped."""
        if self.driving is not None:
            self.driving.cancel()
        self.driving = None
        self.session = None


class RunSlots:
    """The slots of a window; one of them is shown. Kept by the GUI thread alone."""

    def __init__(self) -> None:
        self.shown = RunSlot("")
        """The one that is shown."""
        self._by_path = {"": self.shown}
        self._prompt = ""

    def __iter__(self) -> Iterator[RunSlot]:
        return iter([*self._by_path.values()])

    @property
    def marks(self) -> dict[str, RunMark]:
        """Which prompts have a run that goes on."""
        return {path: mark for path, slot in self._by_path.items() if (mark := slot.mark)}

    def show(self, path: str) -> RunSlot:
        """Show the slot of a prompt, the newest of all; old ones whose run is over are let go."""
        self.shown = self._of(path)
        return self.shown

    def show_live(self, run: str) -> bool:
        """Show a run that goes on; False where it does not."""
        going = (each for each in self if each.is_live and each.shown.run == run)
        found = next(going, None) if run else None
        if found is not None:
            self.shown = found
        return found is not None

    def show_beside(self, path: str) -> RunSlot:
        """Show a slot for a run of the past: the prompt's, or one beside it where that is taken."""
        slot, beside = self._of(path), ""
        while slot.is_live:  # the prompt's, or one of its past that was gone on with
            beside += _BESIDE
            slot = self._of(beside)
        self.shown = slot
        return slot

    def turn_to(self, path: str) -> bool:
        """The user has turned to a prompt; whether another slot is shown for it."""
        if path == self._prompt:
            return False
        self._prompt = path
        if self.shown.path == path:
            return False
        self.show(path)
        return True

    def rename(self, old: str, new: str) -> bool:
        """A prompt has another file name: its slot goes along, if it can."""
        there = self._by_path.get(new)
        is_shown = self._prompt == old
        if old not in self._by_path or (there is not None and there.is_live):
            return False
        if not (old or is_shown):
            return False
        slot = self._by_path.pop(old)
        slot.path, self._by_path[new] = new, slot
        if self.shown is there:
            self.shown = slot
        if is_shown:
            self._prompt = new
        return True

    def is_of_open_prompt(self, slot: RunSlot) -> bool:
        """Whether what the open prompt says of its model concerns a run."""
        state = slot.shown.state
        paths = (slot.path, state.setup.path if state is not None else slot.path)
        return slot.follows_prompt and self._prompt in paths

    def _of(self, path: str) -> RunSlot:
        slot = self._by_path.pop(path, None) or RunSlot(path)
        self._by_path[path] = slot
        resting = [each for each in self if not each.is_live]
        for old in resting[:-_MOST_RESTING]:
            if old not in (slot, self.shown):
                del self._by_path[old.path]
        return slot


def slot_path(document: PromptDocument) -> str:
    """The slot that runs of a prompt belong to."""
    path = document.source.path
    return "" if path is None else str(path)
