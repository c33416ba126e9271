"""The settings' list of trusted folders: each can be trusted no more."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QPushButton, QVBoxLayout, QWidget

from studio.core.tools.trust import TrustStore


class TrustList(QWidget):
    """Folders whose tools may run and whose variables may be read."""

    forgotten = Signal(object)  # Path

    def __init__(self, store: TrustStore) -> None:
        super().__init__()
        self._store = store
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Trusted folders"))
        self.forget = QPushButton(self.tr("Trust no more"))
        self.forget.setAutoDefault(False)
        self.forget.clicked.connect(self._forget)
        row = QHBoxLayout()
        row.addWidget(self.forget)
        row.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.list)
        box.addLayout(row)
        self._fill()
        self.list.currentRowChanged.connect(lambda row: self.forget.setEnabled(row >= 0))

    def _fill(self) -> None:
        self.list.clear()
        self.list.addItems(sorted(str(folder) for folder in self._store.current.folders))
        self.forget.setEnabled(False)

    def _forget(self) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        folder = Path(item.text())
        self._store.forget(folder)
        self._fill()
        self.forgotten.emit(folder)
