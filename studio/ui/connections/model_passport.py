"""The facts of the model that is selected in the popover, and two ways to use it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from studio.application.connections.model_list import ModelOffer, UseModel
from studio.application.words import tr
from studio.ui.parts.kit import column_of, row_of, toned_label


class ModelPassport(QWidget):
    """Facts of the selected model, and the two ways to use it."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("passport")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title, self.place = QLabel(wordWrap=True), QLabel(wordWrap=True)
        self.title.setProperty("scale", "section")
        self.place.setProperty("tone", "muted")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self.rows: list[tuple[QLabel, QLabel]] = []
        self.use = QPushButton()
        self.once = QPushButton(tr("Only this file"))
        self.once.setToolTip(tr("Ctrl+Enter: for this file, until the studio is closed"))
        self.about = toned_label("muted", tr("The file is not changed."), wraps=True)
        buttons = row_of(self.use, self.once, 1, spacing=8)
        column_of(
            self.title,
            self.place,
            self._grid,
            1,
            buttons,
            self.about,
            on=self,
            margins=16,
            spacing=8,
        )

    def show_folder(self, folder: str) -> None:
        """Show the name of the folder for which a choice is stored."""
        words = tr("Use in {folder}").format(folder=folder) if folder else tr("Use")
        self.use.setText(words)
        self.use.setToolTip(tr("Enter"))
        self.once.setVisible(bool(folder))

    def show_rows(self, offer: ModelOffer | None, rows: Sequence[tuple[str, str]]) -> None:
        """Show the facts of a model."""
        self.title.setText(offer.title if offer is not None else "")
        self.place.setText(offer.detail if offer is not None else "")
        while len(self.rows) < len(rows):
            name, value = QLabel(), QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
            name.setProperty("tone", "muted")
            place = len(self.rows)
            self._grid.addWidget(name, place, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, place, 1)
            self.rows.append((name, value))
        for place, (name, value) in enumerate(self.rows):
            words = rows[place] if place < len(rows) else ("", "")
            name.setText(words[0])
            value.setText(words[1])
        is_model = offer is not None and isinstance(offer.act, UseModel)
        for part in (self.use, self.once, self.about):
            part.setEnabled(is_model)
