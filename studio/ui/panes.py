"""The panes that others build and the window docks."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class Panes:
    """Ready panes; one that is None gets no dock. Each may have `set_theme(theme)`."""

    preview: QWidget | None = None
    """Messages, request and variables of the unsaved text."""

    inputs: QWidget | None = None
    """The form of the declared inputs."""

    tools: QWidget | None = None
    """The tools a model would get."""

    run: QWidget | None = None
    """The run, one visible step at a time."""

    history: QWidget | None = None
    """Runs of the past."""
