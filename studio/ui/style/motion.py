"""Whether things may move: the user's setting, or the system's wish where this Qt tells it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication

_REDUCED = "studioReducedMotion"
"""Property of the application: the user wants less motion."""


def set_motion_reduced(application: QCoreApplication, *, reduced: bool) -> None:
    """Take the user's setting."""
    application.setProperty(_REDUCED, reduced)


def is_motion_reduced() -> bool:
    """Whether nothing should move that need not."""
    application = QCoreApplication.instance()
    if application is None or application.property(_REDUCED):
        return True
    # A hint of Qt versions after 6.11; without it the system's wish is not known.
    # Both are held: where the first goes, PySide takes the second for gone too.
    style = QGuiApplication.styleHints()
    hints = style.accessibility()
    wish = getattr(hints, "motionPreference", None)
    return wish is not None and "Reduced" in str(wish())
