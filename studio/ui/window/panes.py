"""The panes that others build and the window docks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from studio.ui.inputs.pane import InputsPane
    from studio.ui.preview.pane import PreviewPane
    from studio.ui.run.pane import RunPane


@dataclass(frozen=True, slots=True)
class Panes:
    """Ready panes; one that is None gets no dock. Each may have `set_theme(theme)`."""

    preview: PreviewPane | None = None
    """Messages, request and variables of the unsaved text."""

    inputs: InputsPane | None = None
    """The form of the declared inputs."""

    tools: QWidget | None = None
    """The tools a model would get."""

    run: RunPane | None = None
    """The run, one visible step at a time."""

    history: QWidget | None = None
    """Runs of the past."""
