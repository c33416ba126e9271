"""The parts of one window, which are passed to objects that work with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu, QToolBar, QWidget

    from studio.ui.base.menus import ActionSet
    from studio.ui.base.services import Services
    from studio.ui.editor.tabs.tabs import EditorTabs
    from studio.ui.files.pane import FilesPane
    from studio.ui.history.pane import HistoryPane
    from studio.ui.inputs.pane import InputsPane
    from studio.ui.outline.pane import OutlinePane
    from studio.ui.preview.pane import PreviewPane
    from studio.ui.run.pane import RunPane
    from studio.ui.tools.pane import ToolsPane
    from studio.ui.window.docks import Docks
    from studio.ui.window.status import StatusBar
    from studio.ui.window.toolbar import ModelButton, RunButtons
    from studio.viewmodels.app.notifications import Notifications


@dataclass(frozen=True, slots=True, eq=False)
class WindowParts:
    """The parts of the window for commands, dialogs and coordinators."""

    widget: QWidget
    """The window, only as the parent of dialogs."""

    services: Services
    """Settings, messages, folders, unsaved text."""

    actions: ActionSet
    """Every action by its identifier."""

    tabs: EditorTabs
    """The open prompts."""

    files: FilesPane
    """The workspace folder."""

    outline: OutlinePane
    """The structure of the open prompt."""

    docks: Docks
    """The panes around the prompts."""

    status: StatusBar
    """The status bar."""

    toolbar: QToolBar
    """The toolbar."""

    run_buttons: RunButtons
    """The run buttons in the toolbar."""

    model_button: ModelButton
    """The model in the toolbar."""

    recent_menu: QMenu
    """The menu of recent files, filled when it opens."""

    @property
    def messages(self) -> Notifications:
        """Return the notifications to the user."""
        return self.services.messages


# The panes, which are created elsewhere and docked by the window.


@dataclass(frozen=True, slots=True)
class Panes:
    """Existing panes; one that is None gets no dock."""

    preview: PreviewPane | None = None
    """Messages, request and variables of the unsaved text."""

    inputs: InputsPane | None = None
    """The form of the declared inputs."""

    tools: ToolsPane | None = None
    """The tools that a model would get."""

    run: RunPane | None = None
    """The run, step by step."""

    history: HistoryPane | None = None
    """Past runs."""
