"""The settings of a running studio: one value, replaced as a whole."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.bridge.messages import Messages, Notice
from studio.core.settings import Settings, load_settings, save_settings


class SettingsStore(QObject):
    """Holds the settings, writes each change, and tells of it."""

    changed = Signal(object)  # Settings

    def __init__(self, path: Path, messages: Messages, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._messages = messages
        self._settings, self.notice = load_settings(path)
        """`notice`: what to tell the person once a window is there; empty when all is well."""

    @property
    def value(self) -> Settings:
        """The settings as they are now."""
        return self._settings

    def set(self, settings: Settings) -> None:
        """Take other settings, made with `dataclasses.replace` from the present ones."""
        if settings == self._settings:
            return
        self._settings = settings
        try:
            save_settings(self._path, settings)
        except OSError:
            self._messages.say(
                Notice(
                    "warning",
                    "The settings cannot be written.",
                    "They hold until the studio is closed.",
                    where=str(self._path),
                    key="settings",
                )
            )
        self.changed.emit(settings)
