"""The page without open documents: ways to start, examples, recent files."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent, QShowEvent

from studio.application.words import tr
from studio.ui.base.menus import ON_WELCOME, open_menu
from studio.ui.parts.kit import Drawing, column_of, empty_layout, push_button, row_of

_MOST_RECENT = 6
_CARDS = 3
_TWO_COLUMNS = 720


class WelcomePage(QtWidgets.QScrollArea):
    """Page with all ways to start."""

    request_example = Signal(Path)  # path of the bundled example
    request_run = Signal(Path)  # path of the bundled example to run at once
    request_open = Signal(Path)
    request_action = Signal(str)  # id of an action of the window

    def __init__(self, keys_of: Callable[[str], str] = lambda _: "") -> None:
        """Create the page.

        Args:
            keys_of: returns the displayed keys of an action.
        """
        super().__init__()
        self.setObjectName("welcome")
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setAccessibleName(tr("Welcome"))
        self._keys_of = keys_of
        self._names: tuple[str, ...] = ()
        self._recent = QtWidgets.QVBoxLayout()
        self._recent.setSpacing(0)
        self._columns = QtWidgets.QBoxLayout(QtWidgets.QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(48)

    def _build(self) -> None:
        """Build the page when it is first shown, since most starts open a file."""
        inside = QtWidgets.QWidget(maximumWidth=1000)
        column = column_of(self._head(), on=inside, margins=(24, 40, 24, 24), spacing=0)
        column.addSpacing(32)
        self._columns.addLayout(self._ways(), 2)
        self._columns.addLayout(self._examples(), 3)
        column.addLayout(self._columns)
        column.addStretch(1)
        outside = QtWidgets.QWidget()
        row_of(1, (inside, 100), 1, on=outside, margins=0)
        self.setWidget(outside)
        self._fill_recent()

    def showEvent(self, event: QShowEvent) -> None:
        """Build the page on first use."""
        if self.widget() is None:
            self._build()
        super().showEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the window's actions for this page."""
        open_menu(self, event, ON_WELCOME)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use two columns if there is room."""
        direction = QtWidgets.QBoxLayout.Direction
        wide = event.size().width() >= _TWO_COLUMNS
        self._columns.setDirection(direction.LeftToRight if wide else direction.TopToBottom)
        super().resizeEvent(event)

    def set_recent(self, names: Sequence[str]) -> None:
        """Show recently opened files."""
        self._names = tuple(names[:_MOST_RECENT])
        if self.widget() is not None:
            self._fill_recent()

    def _fill_recent(self) -> None:
        empty_layout(self._recent)
        for name in self._names:
            path = Path(name)
            act = partial(self.request_open.emit, path)
            self._recent.addWidget(self._line(path.name, "file-text", str(path), act))
        if not self._names:
            self._recent.addWidget(_muted(tr("Recently opened files are listed here.")))

    # -- parts of the page ----------------------------------------------------------------------

    def _head(self) -> QtWidgets.QLayout:
        title = QtWidgets.QLabel("Prompt Studio")
        title.setProperty("scale", "display")
        intro = _muted(
            tr("Write prompts and agents as files. See what the model gets. Step through the run.")
        )
        words = column_of(title, intro, spacing=4)
        row = QtWidgets.QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(Drawing("prompt-studio", 48), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        return row

    def _ways(self) -> QtWidgets.QVBoxLayout:
        box = QtWidgets.QVBoxLayout()
        box.setSpacing(0)
        actions = (
            (tr("New prompt"), "file-plus", "", "file.new"),
            (tr("New from a template"), "copy", "", "file.template"),
            (tr("Open a file"), "folder-open", "", "file.open"),
            (tr("Open a folder"), "folder", "", "file.folder"),
            (
                tr("Choose a model"),
                "plug",
                tr("On this computer, or from a provider with your own key"),
                "run.model",
            ),
        )
        self._section(box, tr("Start"), [self._action_line(*each) for each in actions])
        learn = (
            (tr("Tour of the window"), "flag", tr("Seven steps; Esc ends"), "help.tour"),
            (tr("User guide"), "circle-help", tr("It opens in a window"), "help.guide"),
            (
                tr("Storage locations"),
                "database",
                tr("Folders with settings, runs and unsaved text"),
                "help.storage",
            ),
        )
        self._section(box, tr("Learn"), [self._action_line(*each) for each in learn])
        box.addSpacing(24)
        promise = tr(
            "The built-in model runs here. Requests are sent only over connections that you add."
        )
        box.addWidget(_promise(tr("Nothing leaves this computer"), promise))
        box.addStretch(1)
        return box

    def _examples(self) -> QtWidgets.QVBoxLayout:
        from studio.ui.window.examples import ExampleCard, bundled, icon_of

        box = QtWidgets.QVBoxLayout()
        box.setSpacing(0)
        examples = bundled("examples")
        parts: list[QtWidgets.QWidget] = []
        for example in examples[:_CARDS]:
            card = ExampleCard(example)
            card.clicked.connect(partial(self._open_example, example.path))
            card.run.clicked.connect(partial(self.request_run.emit, example.path))
            parts.append(card)
        heading = tr("Try one: they run immediately, without an account")
        self._section(box, heading, parts, between=12)
        lines = [
            self._line(
                each.name, icon_of(each), each.description, partial(self._open_example, each.path)
            )
            for each in examples[_CARDS:]
        ]
        self._section(box, tr("More examples"), lines)
        self._section(box, tr("Recent"), [])
        box.addLayout(self._recent)
        box.addStretch(1)
        return box

    def _section(
        self,
        box: QtWidgets.QVBoxLayout,
        title: str,
        parts: Sequence[QtWidgets.QWidget],
        *,
        between: int = 0,
    ) -> None:
        if box.count():
            box.addSpacing(24)
        heading = QtWidgets.QLabel(title, wordWrap=True)
        heading.setProperty("title", True)
        heading.setProperty("tone", "muted")
        box.addWidget(heading)
        box.addSpacing(8)
        for part in parts:
            box.addWidget(part)
            box.addSpacing(between)

    def _open_example(self, path: Path, _checked: bool = False) -> None:
        self.request_example.emit(path)

    def _action_line(self, text: str, drawing: str, tip: str, action: str) -> QtWidgets.QPushButton:
        act = partial(self.request_action.emit, action)
        return self._line(text, drawing, tip, act, self._keys_of(action))

    def _line(
        self, text: str, drawing: str, tip: str, act: Callable[[], None], keys: str = ""
    ) -> QtWidgets.QPushButton:
        button = push_button(text, drawing=drawing, tip=f"{text}: {tip}" if tip else text)
        button.setObjectName("line")
        button.setMinimumHeight(32)
        # A long name is elided at the side of a narrow window and never widens the page.
        button.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed
        )
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda _checked: act())
        if keys:
            row = row_of(1, on=button, margins=(0, 0, 8, 0))
            cap = QtWidgets.QLabel(keys)
            cap.setObjectName("keycap")
            cap.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.addWidget(cap, 0, Qt.AlignmentFlag.AlignVCenter)
        return button


def _muted(text: str) -> QtWidgets.QLabel:
    label = QtWidgets.QLabel(text, wordWrap=True)
    label.setProperty("tone", "muted")
    return label


def _promise(title: str, text: str) -> QtWidgets.QFrame:
    """Return a box with a shield icon and a guarantee to the user."""
    box = QtWidgets.QFrame()
    box.setObjectName("promise")
    name = QtWidgets.QLabel(title)
    name.setProperty("title", True)
    words = column_of(name, _muted(text), spacing=4)
    row_of(Drawing("shield-check"), (words, 1), on=box, margins=(16, 12, 16, 12), spacing=16)
    return box
