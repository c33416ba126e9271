"""Filters for the rows of an experiment by verdict and words, and their groups."""

from PySide6.QtWidgets import QButtonGroup, QLabel, QLineEdit, QPushButton, QWidget

from studio.application.experiments.facets import RowFacets
from studio.application.experiments.grid import RowFilter
from studio.application.words import marked, tr
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import FlowLayout, push_button
from studio.viewmodels.experiments.grid_model import ExperimentGridModel

_FILTERS: tuple[tuple[RowFilter, str], ...] = (
    ("all", marked("All")),
    ("changed", marked("Changed")),
    ("failed", marked("Failed")),
    ("flaky", marked("Flaky")),
    ("slow", marked("Slow")),
    ("errors", marked("Without an answer")),
    ("differs", marked("Answers differ")),
    ("saved", marked("Changed by this save")),
)
_OF_CASES = ("all", "failed", "errors", "differs", "saved")
_OF_EXPERIMENTS = ("all", "changed", "failed", "flaky", "slow", "errors", "differs")
_MOST_COUNTED = 5_000
"""Number of rows up to which the buttons show counts."""


class RowFilters(QWidget):
    """Filters of the grid's rows; filters that match nothing are hidden."""

    def __init__(self, model: ExperimentGridModel) -> None:
        super().__init__()
        self._model = model
        self._facets = RowFacets()
        self._variant = 0
        self.buttons: dict[RowFilter, QPushButton] = {}
        self.search = QLineEdit()
        self.nothing = QLabel(tr("No row matches these filters."))
        self.by = ComboBox()
        self._lay_out()
        self.search.textChanged.connect(lambda _text: self._on_filter())
        model.modelReset.connect(self._show_nothing)

    def show_columns(self) -> None:
        """Offer the columns by which rows can be grouped."""
        names = self._model.groupable
        if [self.by.itemData(at) for at in range(1, self.by.count())] != list(names):
            self.by.clear()
            for name in ("", *names):
                words = tr("By {name}").format(name=name) if name else tr("No groups")
                self.by.addItem(words, name)
            self.by.setVisible(bool(names))
            self._model.group_by("")
        self.show_counts()

    def _on_filter(self) -> None:
        usual: RowFilter = "all"
        wanted = next((name for name, each in self.buttons.items() if each.isChecked()), usual)
        self._model.set_filter(wanted, self.search.text(), self._named_rows(wanted))

    def _named_rows(self, wanted: RowFilter) -> frozenset[int] | None:
        """Return the rows of a filter that needs more than the grid."""
        facets = self._facets
        grid = self._model.grid
        columns = range(len(grid.variants)) if grid is not None else ()
        kept = grid.places[1] if grid is not None and grid.places is not None else None
        others = [self._variant] if self._variant else columns
        found = (facets.differs.get(at if kept is None else kept.get(at, -1)) for at in others)
        differs = frozenset[int]().union(*(rows for rows in found if rows is not None))
        known = {"slow": facets.slow, "differs": differs, "saved": facets.saved}
        return known.get(wanted)

    def show_variant(self, variant: int) -> None:
        """Compare the first column with the selected cell's column; 0 compares it with all."""
        if variant != self._variant:
            self._variant = variant
            self.show_counts()
            if self.buttons["differs"].isChecked():
                self._on_filter()

    def show_counts(self) -> None:
        """Show on each button the number of its rows."""
        grid = self._model.grid
        if grid is None or len(grid.rows) > _MOST_COUNTED:
            return
        for name, text in _FILTERS:
            if name in self.buttons:
                named = self._named_rows(name)
                rows = range(1, len(grid.rows) + 1)
                count = sum(grid.fits(row, name) for row in rows) if named is None else len(named)
                words = tr(text)
                if name == "differs" and self._variant:
                    names = (f"{chr(ord('A') + at % 26)}" for at in (0, self._variant))
                    words = tr("{a} and {b} differ").format(**dict(zip("ab", names, strict=True)))
                button = self.buttons[name]
                button.setText(f"{words} {count}" if count else words)
                button.setVisible(bool(count) or name == "all" or button.isChecked())

    def _show_nothing(self) -> None:
        """Show a message if no row matches."""
        grid = self._model.grid
        self.nothing.setVisible(grid is not None and bool(grid.rows) and not self._model.shown_rows)

    def show_facets(self, found: RowFacets) -> None:
        """Offer the facets of the result as filters."""
        self._facets = found
        self.show_counts()

    def _lay_out(self) -> None:
        self.search.setPlaceholderText(tr("Filter rows"))
        self.search.setAccessibleName(tr("Filter rows"))
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(240)
        self.by.setAccessibleName(tr("Column whose values group the rows"))
        self.by.setMaximumWidth(140)
        self.by.hide()
        line = FlowLayout(self)
        group = QButtonGroup(self)
        offered = _OF_CASES if self._model.is_editable else _OF_EXPERIMENTS
        for name, text in _FILTERS:
            if name not in offered:
                continue
            button = push_button(tr(text), lambda _=False: self._on_filter())
            button.setCheckable(True)
            button.setChecked(name == "all")
            group.addButton(button)
            line.addWidget(button)
            self.buttons[name] = button
        line.addWidget(self.by)
        self.by.activated.connect(lambda at: self._model.group_by(self.by.itemData(at) or ""))
        line.addWidget(self.search)
        line.addWidget(self.nothing)
        self.nothing.hide()
