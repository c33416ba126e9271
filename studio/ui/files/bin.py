"""The system's bin."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QDir, QFile, QStandardPaths


def moved_to_bin(path: Path) -> bool:
    """Move a file, a folder or a link to the system's bin; False where there is none for it."""
    # Qt makes the bin and not the folder that it lies in, which a new user does not have.
    QDir().mkpath(
        QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    )
    return QFile(str(path)).moveToTrash() and not os.path.lexists(path)
