"""The panes that others build and the window docks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.ui.history.pane import HistoryPane
    from studio.ui.inputs.pane import InputsPane
    from studio.ui.preview.pane import PreviewPane
    from studio.ui.run.pane import RunPane
    from studio.ui.tools.pane import ToolsPane


@dataclass(frozen=True, slots=True)
class Panes:
    """Ready panes; one that is None gets no dock."""

    preview: PreviewPane | None = None
    """Messages, request and variables of the unsaved text."""

    inputs: InputsPane | None = None
    """The form of the declared inputs."""

    tools: ToolsPane | None = None
    """The tools a model would get."""

    run: RunPane | None = None
    """The run, one visible step at a time."""

    history: HistoryPane | None = None
    """Runs of the past."""
