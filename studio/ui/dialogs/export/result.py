"""Result of an export: the problems with fixes, and the text to write."""

from collections.abc import Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import QSize, Qt, Signal

from studio.application.run.words import plural
from studio.application.words import tr
from studio.core.export.target import VALUES_OF_NOW, ExportResult, RoundTrip
from studio.core.text.amounts import by_count
from studio.core.text.source import Fix, Problem, Severity, SourceText
from studio.ui.parts.kit import column_of, named
from studio.ui.parts.text_views import ComparisonView, fixed_text
from studio.ui.parts.yielding_tabs import YieldingTabs
from studio.ui.style.theme import FollowsTheme, icon, theme_in_use

_SHOWN = 200_000
_IS_SAME = Qt.ItemDataRole.UserRole
_MOST_ROWS = 60
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 2, Severity.HINT: 3}


class CheckRow(QtWidgets.QWidget):
    """An icon, a sentence, and a button for the fix."""

    fix_chosen = Signal(Fix)

    def __init__(self, picture: str, color: str, text: str, fixes: Sequence[Fix] = ()) -> None:
        super().__init__()
        self.mark = QtWidgets.QLabel(pixmap=icon(picture, color).pixmap(16, 16))
        self.label = QtWidgets.QLabel(text, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred
        )
        self._row = row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(8)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.label, 1)
        self.buttons: list[QtWidgets.QPushButton] = []
        for fix in fixes[:2]:
            button = QtWidgets.QPushButton(fix.title, autoDefault=False)
            button.setToolTip(tr("Change the prompt in the editor; undo works"))
            button.clicked.connect(lambda _=False, each=fix: self.fix_chosen.emit(each))
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            self.buttons.append(button)

    def height_in(self, width: int) -> int:
        """Return the height of the row for a width."""
        return self._row.totalHeightForWidth(width)


class CheckList(FollowsTheme, QtWidgets.QScrollArea):
    """List of problems: errors first, then losses and changes, then remarks."""

    fix_chosen = Signal(Fix)

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.StyledPanel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Checks"))
        self.rows: list[CheckRow] = []
        self._box = QtWidgets.QVBoxLayout()
        self._shown: tuple[ExportResult, SourceText] | None = None
        self.follow_theme()

    def count(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def text(self, row: int) -> str:
        """Return the sentence of a row."""
        return self.rows[row].label.text()

    def show_result(self, result: ExportResult, source: SourceText) -> None:
        """List all problems; hide the list if there are none."""
        self._shown = (result, source)
        theme = theme_in_use()
        looks = {
            Severity.ERROR: ("circle-x", theme.error),
            Severity.WARNING: ("triangle-alert", theme.warning),
            Severity.HINT: ("info", theme.hint),
        }
        self.rows = []
        listed: list[tuple[int, CheckRow]] = []
        for problem in result.problems:
            picture, color = looks[problem.severity]
            row = CheckRow(picture, color, _with_place(problem, source), problem.fixes)
            listed.append((_ORDER[problem.severity], row))
        for loss in result.losses:
            words = tr("Lost or changed: {what}")
            listed.append((1, CheckRow("minus", theme.warning, words.format(what=loss))))
        body = QtWidgets.QWidget()
        self._box = column_of(on=body, margins=(0, 4, 0, 4), spacing=0)
        for _, row in sorted(listed, key=lambda item: item[0])[:_MOST_ROWS]:
            row.fix_chosen.connect(self.fix_chosen)
            self._box.addWidget(row)
            self.rows.append(row)
        self._box.addStretch(1)
        self.setWidget(body)
        self.setVisible(bool(self.rows))
        self._fit()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        if self._shown is not None:
            bar = self.verticalScrollBar()
            at, was_shown = bar.value(), not self.isHidden()
            self.show_result(*self._shown)
            self.setVisible(was_shown)
            bar.setValue(at)

    def resizeEvent(self, event: object) -> None:
        """Fit the height to the wrapped sentences."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def _fit(self) -> None:
        """Set the height to that of the rows, up to a maximum."""
        width = max(200, self.viewport().width())
        wanted = sum(row.height_in(width) for row in self.rows) + 12
        self.setFixedHeight(max(40, min(wanted, 132)))


def _with_place(problem: Problem, source: SourceText) -> str:
    if problem.span.start == problem.span.end == 0:
        return problem.message
    line = source.position(min(problem.span.start, len(source.text))).line
    return tr("Line {line}: {message}").format(line=line, message=problem.message)


class ResultTabs(QtWidgets.QTabWidget):
    """Tabs for the result, the difference and the round trip."""

    def __init__(self) -> None:
        super().__init__()
        self.setTabBar(YieldingTabs())
        self.text = fixed_text(tr("What will be written"), has_frame=False, wraps=False)
        self.diff = ComparisonView()
        self.round_trips = named(QtWidgets.QListWidget(), tr("Round trip"))
        self.round_trips.setWordWrap(True)
        self.round_trips.setIconSize(QSize(16, 16))
        self._is_judged = False
        self.ask = QtWidgets.QPushButton(tr("Read it with the program itself"), autoDefault=False)
        self.ask.setToolTip(tr("Let the installed package load the file, and compare the messages"))
        self.ask.hide()
        self.setCornerWidget(self.ask)
        self.setDocumentMode(True)
        self.addTab(self.text, tr("Result"))
        self.addTab(self.diff, tr("Difference"))
        self.addTab(self.round_trips, tr("Round trip"))

    def show_text(self, text: str) -> None:
        """Show the text to write; of a long text, only the beginning."""
        if len(text) > _SHOWN:
            more = tr("… shown up to here; the file contains all")
            text = f"{text[:_SHOWN]}\n{more}"
        self.text.setPlainText(text)

    def show_round_trips(self, round_trips: Sequence[RoundTrip], *, is_judged: bool) -> None:
        """Show each comparison, and the number of successful ones in the tab's title.

        Args:
            round_trips: The comparisons.
            is_judged: Whether another program or its rules made them; otherwise, none is marked as
                successful.
        """
        self.round_trips.clear()
        self._is_judged = is_judged
        same = sum(item.is_same for item in round_trips)
        title = tr("Round trip {same}/{count}").format(same=same, count=len(round_trips))
        self.setTabText(2, title if round_trips else tr("Round trip"))
        for item in round_trips:
            name = tr("Current values") if item.name == VALUES_OF_NOW else item.name
            tools = by_count(item.tools, tr("1 tool"), tr("{count} tools"))
            words = tr("{name}: the same ({messages}, {tools})").format(
                name=name, messages=plural(item.messages, "message"), tools=tools
            )
            row = QtWidgets.QListWidgetItem(words if item.is_same else f"{name}: {item.difference}")
            row.setData(_IS_SAME, item.is_same)
            self.round_trips.addItem(row)
        if not round_trips:
            self.round_trips.addItem(tr("This format cannot be read back."))
        self._paint()

    def _paint(self) -> None:
        same = icon("circle-check", "success") if self._is_judged else icon("info", "muted")
        other = icon("triangle-alert", "warning")
        for item in map(self.round_trips.item, range(self.round_trips.count())):
            is_same = item.data(_IS_SAME)
            if is_same is not None:
                item.setIcon(same if is_same else other)
