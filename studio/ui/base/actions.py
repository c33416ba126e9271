"""Every action of the window in one table: it feeds the menus, the toolbar and the palette."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from studio.application.words import tr
from studio.ui.style.icons import icon


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action."""

    id: str
    """Stable identifier, used in settings and by tests."""

    text: str
    """What the menu and the palette say."""

    shortcut: str = ""
    """The usual shortcuts, separated by spaces."""

    icon: str = ""
    """Name of its drawing; empty for none."""

    tip: str = ""
    """A longer word on what it does; the text where empty."""

    checkable: bool = False
    """Whether it is a switch."""

    in_text: bool = False
    """Whether its shortcuts are for the text of a prompt only; other panes have those keys too."""


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("file.new", "New prompt", "Ctrl+N", "file-plus"),
    ActionSpec("file.template", "New from template…", "Ctrl+Alt+N", "file-text"),
    ActionSpec("file.open", "Open…", "Ctrl+O", "folder-open"),
    ActionSpec("file.folder", "Open folder…", "Ctrl+K,Ctrl+O", "folder"),
    ActionSpec("file.add_folder", "Add folder…", "", "folder", "Show one more folder in Files"),
    ActionSpec("file.quick", "Go to file…", "Ctrl+P", "search"),
    ActionSpec("file.save", "Save", "Ctrl+S", "save"),
    ActionSpec("file.save_as", "Save as…", "Ctrl+Shift+S"),
    ActionSpec("file.save_all", "Save all", "Ctrl+Alt+S"),
    ActionSpec("file.reload", "Reload from disk"),
    ActionSpec("file.close", "Close tab", "Ctrl+W Ctrl+F4", "x"),
    ActionSpec("file.close_all", "Close all tabs", "Ctrl+K,Ctrl+W"),
    ActionSpec("file.reopen", "Open the closed tab again", "Ctrl+Shift+T"),
    ActionSpec("file.export", "Export…", "Ctrl+E", "share", "Check the prompt and export it"),
    ActionSpec(
        "file.import", "Import…", "Ctrl+Alt+I", "file-input", "Make a prompt of another format"
    ),
    ActionSpec("file.settings", "Settings…", "Ctrl+,", "settings"),
    ActionSpec("file.quit", "Quit", "Ctrl+Q"),
    ActionSpec("edit.undo", "Undo", "Ctrl+Z", "undo-2"),
    ActionSpec("edit.redo", "Redo", "Ctrl+Shift+Z Ctrl+Y", "redo-2"),
    ActionSpec("edit.cut", "Cut", "Ctrl+X"),
    ActionSpec("edit.copy", "Copy", "Ctrl+C", "copy"),
    ActionSpec("edit.paste", "Paste", "Ctrl+V"),
    ActionSpec("edit.all", "Select all", "Ctrl+A"),
    ActionSpec("edit.find", "Find", "Ctrl+F", "search"),
    ActionSpec("edit.replace", "Replace", "Ctrl+H", "replace"),
    ActionSpec("edit.find_next", "Find next", "F3"),
    ActionSpec("edit.find_previous", "Find previous", "Shift+F3"),
    ActionSpec("edit.find_in_files", "Find in files…", "Ctrl+Shift+F", "search"),
    ActionSpec("edit.replace_in_files", "Replace in files…", "Ctrl+Shift+H", "replace"),
    ActionSpec("edit.line", "Go to line…", "Ctrl+G"),
    ActionSpec("edit.back", "Back", "Alt+Left", "arrow-left", "To the place before"),
    ActionSpec("edit.forward", "Forward", "Alt+Right", "arrow-right", "To the place after"),
    ActionSpec("edit.bracket", "Go to the other bracket", "Ctrl+Shift+\\"),
    ActionSpec("edit.grow", "Expand the selection", "Alt+Shift+Right"),
    ActionSpec("edit.shrink", "Shrink the selection", "Alt+Shift+Left"),
    ActionSpec("edit.caret_up", "Add a caret above", "Ctrl+Alt+Up Ctrl+Shift+Up"),
    ActionSpec("edit.caret_down", "Add a caret below", "Ctrl+Alt+Down Ctrl+Shift+Down"),
    ActionSpec("edit.symbol", "Go to symbol…", "Ctrl+Shift+O", "list-tree"),
    ActionSpec("edit.add_caret", "Add the next match to the carets", "Ctrl+D"),
    ActionSpec("edit.skip_caret", "Skip this match", "Ctrl+K,Ctrl+D"),
    ActionSpec("edit.caret_all", "A caret at every match", "Ctrl+Shift+L Ctrl+F2"),
    ActionSpec("edit.caret_ends", "A caret at the end of each line", "Alt+Shift+I"),
    ActionSpec("edit.caret_back", "Take the last caret back", "Ctrl+U"),
    ActionSpec("edit.select_line", "Select the line", "Ctrl+L"),
    ActionSpec("edit.line_up", "Move the line up", "Alt+Up", in_text=True),
    ActionSpec("edit.line_down", "Move the line down", "Alt+Down", in_text=True),
    ActionSpec("edit.copy_up", "Copy the line up", "Alt+Shift+Up", in_text=True),
    ActionSpec("edit.copy_down", "Copy the line down", "Alt+Shift+Down", in_text=True),
    ActionSpec("edit.delete_line", "Delete the line", "Ctrl+Shift+K", in_text=True),
    ActionSpec("edit.join_lines", "Join the lines"),
    ActionSpec("edit.line_below", "New line below", "Ctrl+Return Ctrl+Enter", in_text=True),
    ActionSpec(
        "edit.line_above", "New line above", "Ctrl+Shift+Return Ctrl+Shift+Enter", in_text=True
    ),
    ActionSpec("edit.indent", "Indent the lines", "Ctrl+]", in_text=True),
    ActionSpec("edit.outdent", "Outdent the lines", "Ctrl+[", in_text=True),
    ActionSpec("edit.comment", "Comment in or out", "Ctrl+/", in_text=True),
    ActionSpec("edit.comment_out", "Comment out", "Ctrl+K,Ctrl+C", in_text=True),
    ActionSpec("edit.comment_in", "Comment in", "Ctrl+K,Ctrl+U", in_text=True),
    ActionSpec(
        "edit.trim", "Trim the ends of lines", "Ctrl+K,Ctrl+X", "", "Take blanks away", in_text=True
    ),
    ActionSpec("edit.complete", "Complete", "Ctrl+Space Ctrl+I"),
    ActionSpec("edit.snippet", "Insert snippet…", "Ctrl+Alt+J", "braces"),
    ActionSpec(
        "edit.format",
        "Tidy the prompt",
        "Ctrl+Shift+I Alt+Shift+F",
        "",
        "Put it into its usual form",
    ),
    ActionSpec("edit.front", "Front matter as a form…", "Ctrl+Alt+F", "sliders-horizontal"),
    ActionSpec("edit.protocol", "Rewrite for another protocol…", "", "replace"),
    ActionSpec("edit.spelling", "Check spelling…", "", "", "Check prose with a dictionary"),
    ActionSpec("edit.fix", "Quick fix…", "Ctrl+.", "lightbulb"),
    ActionSpec("edit.rename", "Rename input or tool…", "F2", "pencil"),
    ActionSpec("edit.definition", "Go to definition", "F12"),
    ActionSpec("edit.uses", "Find uses…", "Shift+F12"),
    ActionSpec("edit.next_problem", "Next problem", "F8"),
    ActionSpec("edit.previous_problem", "Previous problem", "Shift+F8"),
    ActionSpec("edit.fold", "Fold here", "Ctrl+Shift+["),
    ActionSpec("edit.unfold", "Unfold here", "Ctrl+Shift+]"),
    ActionSpec("edit.toggle_fold", "Fold or unfold here", "Ctrl+K,Ctrl+L"),
    ActionSpec("edit.fold_all", "Fold all", "Ctrl+K,Ctrl+0"),
    ActionSpec("edit.unfold_all", "Unfold all", "Ctrl+K,Ctrl+J"),
    ActionSpec("view.commands", "All commands…", "Ctrl+Shift+P", "command"),
    ActionSpec("view.light", "Light theme", "", "sun", checkable=True),
    ActionSpec("view.dark", "Dark theme", "", "moon", checkable=True),
    ActionSpec("view.system", "Theme of the system", "", "sun-moon", checkable=True),
    ActionSpec("view.zoom_in", "Larger text", "Ctrl++ Ctrl+="),
    ActionSpec("view.zoom_out", "Smaller text", "Ctrl+-"),
    ActionSpec("view.zoom_reset", "Usual text size", "Ctrl+0"),
    ActionSpec("view.wrap", "Word wrap", "Alt+Z", "wrap-text", checkable=True),
    ActionSpec("view.whitespace", "Show whitespace", checkable=True),
    ActionSpec(
        "view.values", "Show values in the text", "", "", "In gray, after each line", checkable=True
    ),
    ActionSpec("view.next_tab", "Next tab", "Ctrl+Tab Ctrl+PgDown"),
    ActionSpec("view.previous_tab", "Previous tab", "Ctrl+Shift+Tab Ctrl+PgUp"),
    ActionSpec("view.tab_left", "Move the tab to the left", "Ctrl+Shift+PgUp"),
    ActionSpec("view.tab_right", "Move the tab to the right", "Ctrl+Shift+PgDown"),
    ActionSpec("view.editor", "Go to the editor", "Ctrl+1"),
    ActionSpec("view.files", "Go to Files", "Ctrl+Shift+E", "folder"),
    ActionSpec("view.breadcrumbs", "Go to the breadcrumbs", "Ctrl+Shift+."),
    ActionSpec("view.split", "Split editor", "Ctrl+\\", "split", "The same prompt, twice"),
    ActionSpec("view.split_down", "Split editor downwards", "Ctrl+Alt+\\"),
    ActionSpec("view.other_side", "Go to the other side", "Ctrl+2"),
    ActionSpec("view.move_over", "Move tab to the other side", "Ctrl+Alt+2"),
    ActionSpec("view.join", "One side only", "Ctrl+Alt+1"),
    ActionSpec("view.side", "Side bar", "Ctrl+B", "panel-left", "Show or hide the side bar"),
    ActionSpec(
        "view.right",
        "Inputs and preview",
        "Ctrl+Alt+B",
        "panel-right",
        "Show or hide the column on the right",
    ),
    ActionSpec("view.bottom", "Problems panel", "Ctrl+J", "panel-bottom", "Show or hide the panel"),
    ActionSpec("view.all_sides", "Only the editor", "Ctrl+K,Z", "", "Hide all panes, or show them"),
    ActionSpec(
        "view.maximize", "Maximize the pane", "Ctrl+Shift+M", "", "Give it the window, or go back"
    ),
    ActionSpec("view.run_window", "Run in its own window", "Ctrl+Alt+R", "external-link"),
    ActionSpec("view.problems", "Go to the problems", "Ctrl+Alt+P", "triangle-alert"),
    ActionSpec("view.reset", "Reset layout"),
    ActionSpec(
        "prompt.compare", "Compare with…", "", "git-compare", "A commit, or an earlier text"
    ),
    ActionSpec("prompt.compare_saved", "Compare with saved", "Ctrl+K,D"),
    ActionSpec(
        "prompt.compare_sets",
        "Compare input sets…",
        "",
        "git-compare",
        "Values, messages and requests of two sets of inputs",
    ),
    ActionSpec("prompt.check", "Check", "Ctrl+Shift+C", "circle-check", "Show all problems"),
    ActionSpec("run.start", "Run or continue", "F5", "play", "Run the prompt, or go on"),
    ActionSpec("run.step", "Step", "F10", "step-forward", "Run to the next stop, over details"),
    ActionSpec("run.into", "Step into", "F11", "arrow-down"),
    ActionSpec("run.out", "Step out", "Shift+F11", "arrow-up"),
    ActionSpec("run.approve", "Approve the call", "Ctrl+Shift+A", "check", "Run the tool"),
    ActionSpec("run.pause", "Pause", "F6", "pause", "Stop before the next step"),
    ActionSpec("run.stop", "Stop", "Shift+F5", "square", "End the run; it stays in History"),
    ActionSpec("run.connections", "Connections…", "Ctrl+Alt+C", "plug", "Where models answer"),
    ActionSpec(
        "run.provider",
        "Connect a provider…",
        "",
        "key",
        "OpenAI, Anthropic, Gemini, Azure, Ollama or another: its key, a model, and run",
    ),
    ActionSpec("run.breakpoint", "Breakpoint", "F9", "circle-dot"),
    ActionSpec("run.breakpoints", "All breakpoints…", "Ctrl+Shift+F9", "circle-dot"),
    ActionSpec("run.go", "Go to the run", "Ctrl+3", "list-ordered"),
    ActionSpec("run.console", "Console of the run", "Ctrl+Shift+Y", "terminal"),
    ActionSpec("run.find", "Find in the run…", "", "search"),
    ActionSpec("run.branches", "Branches of the run…", "Ctrl+Shift+B", "git-branch"),
    ActionSpec("run.rerun", "Run again with these results", "", "rotate-ccw"),
    ActionSpec("run.replay", "Replay the run exactly", "", "history"),
    ActionSpec("run.export", "Export this run…", "", "file-output"),
    ActionSpec(
        "run.keep_row",
        "Keep this run as a row…",
        "",
        "plus",
        "Add the run's values and answer to an experiment",
    ),
    ActionSpec(
        "prompt.experiment",
        "Make an experiment",
        "",
        "git-compare",
        "Ask the prompt with each saved input set, and mark the answers",
    ),
    ActionSpec("tools.search", "Search tools…", "Ctrl+Alt+T", "wrench"),
    ActionSpec("tools.sources", "Sources of tools…", "", "plug"),
    ActionSpec("tools.trust", "Trust in the folder…", "", "shield-check"),
    ActionSpec("tools.reload", "Load the tools again", "", "refresh-cw"),
    ActionSpec("tools.window", "Tools in a window of their own", "", "external-link"),
    ActionSpec("help.guide", "User guide", "F1", "circle-help"),
    ActionSpec("help.tour", "Tour of the window", "", "flag"),
    ActionSpec("help.storage", "What is stored where…", "", "database"),
    ActionSpec("help.shortcuts", "Keyboard shortcuts", "Ctrl+K,Ctrl+S Ctrl+F1", "keyboard"),
    ActionSpec("help.welcome", "Welcome page", "", "book-open"),
    ActionSpec("help.about", "About Prompt Studio", "", "info"),
)

EDITING = tuple(
    """
    file.save file.save_as file.reload file.export edit.undo edit.redo edit.cut edit.copy
    edit.paste edit.all edit.find edit.replace edit.find_next edit.find_previous edit.line
    edit.symbol edit.comment edit.complete edit.fix edit.rename edit.definition edit.uses
    edit.next_problem edit.previous_problem edit.fold edit.fold_all edit.unfold_all prompt.check
    run.breakpoint view.editor view.breadcrumbs view.split view.split_down view.other_side
    view.move_over view.join edit.snippet edit.format edit.protocol edit.front edit.add_caret
    edit.select_line edit.line_up edit.line_down edit.copy_up edit.copy_down edit.delete_line
    edit.join_lines edit.skip_caret edit.caret_all edit.caret_ends edit.caret_back edit.line_below
    edit.line_above edit.indent edit.outdent edit.unfold edit.toggle_fold edit.bracket edit.grow
    edit.shrink edit.caret_up edit.caret_down prompt.compare prompt.compare_saved
    prompt.compare_sets edit.comment_out edit.comment_in edit.trim
""".split()
)
"""Actions that need an open document."""

CLOSING = ("file.close", "file.close_all", "view.tab_left", "view.tab_right")
"""Actions that need an open tab, whatever it shows."""


_SPECS = {spec.id: spec for spec in ACTIONS}


def spec_of(identifier: str) -> ActionSpec:
    """The row of an action."""
    return _SPECS[identifier]


class ActionSet(QObject):
    """The table's actions as Qt actions of one window."""

    def __init__(self, window: QWidget, shortcuts: Mapping[str, str]) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        for spec in ACTIONS:
            action = QAction(tr(spec.text), window)
            action.setObjectName(spec.id)
            action.setCheckable(spec.checkable)
            action.setShortcutVisibleInContextMenu(True)
            if spec.in_text:
                action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            if spec.icon:
                action.setIcon(icon(spec.icon))
            window.addAction(action)
            self._actions[spec.id] = action
        self._shortcuts: Mapping[str, str] | None = None
        self.set_shortcuts(shortcuts)

    def __getitem__(self, identifier: str) -> QAction:
        return self._actions[identifier]

    def __iter__(self) -> Iterator[QAction]:
        return iter(self._actions.values())

    def set_shortcuts(self, shortcuts: Mapping[str, str]) -> None:
        """Give every action its shortcuts: the user's own, else the usual ones."""
        if self._shortcuts == shortcuts:
            return
        is_first = self._shortcuts is None
        self._shortcuts = dict(shortcuts)
        for spec in ACTIONS:
            keys = shortcuts.get(spec.id, spec.shortcut)
            action = self._actions[spec.id]
            made = [QKeySequence(each) for each in keys.split()]
            if made or not is_first:  # a new action has none to lose
                action.setShortcuts(made)
            shown = made[0].toString(QKeySequence.SequenceFormat.NativeText) if made else ""
            words = tr(spec.tip or spec.text)
            action.setToolTip(f"{words}  ({shown})" if shown else words)

    def enable(self, identifiers: tuple[str, ...], *, enabled: bool) -> None:
        """Switch a group of actions on or off."""
        for identifier in identifiers:
            self._actions[identifier].setEnabled(enabled)


class EnabledMirror(QObject):
    """Menu, toolbar and palette show what can be done now, as a pane's own buttons do."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pairs: dict[QWidget, list[QAction]] = {}

    def follow(self, button: QWidget, action: QAction) -> None:
        """Switch the action on and off with the button."""
        self._pairs.setdefault(button, []).append(action)
        button.installEventFilter(self)
        action.setEnabled(button.isEnabled())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow a change."""
        if event.type() == QEvent.Type.EnabledChange and isinstance(watched, QWidget):
            for action in self._pairs.get(watched, ()):
                action.setEnabled(watched.isEnabled())
        return False
