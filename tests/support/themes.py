"""The application in another theme, as the user's choice makes it."""

from PySide6.QtWidgets import QApplication

from studio.ui.style.application import apply_theme, finish_restyling
from studio.ui.style.theme import Theme


def wear(theme: Theme) -> None:
    """Give the whole application a theme; `tests/conftest.py` takes it back after the test.

    On hidden widgets too, which the window gives it a moment later."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, theme)
    finish_restyling()
