"""The settings of a running studio: one value, replaced as a whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.bridge.messages import Messages, Notice
from studio.core.settings import Settings, ThemeSetting, load_settings, save_settings


class SettingsStore(QObject):
    """Holds the settings, writes each change, and tells of it."""

    changed = Signal(object)  # Settings

    def __init__(
        self,
        path: Path,
        messages: Messages,
        parent: QObject | None = None,
        *,
        is_kept: bool = True,
    ) -> None:
        """Read the settings.

        Args:
            path: the settings file.
            messages: where the person is told that it cannot be written.
            parent: the owner.
            is_kept: False to begin with the usual settings and to write nothing (safe mode).
        """
        super().__init__(parent)
        self._path = path
        self._messages = messages
        self._is_kept = is_kept
        self._lent: ThemeSetting | None = None
        self._own_theme: ThemeSetting = "system"
        self._settings, self.notice = load_settings(path) if is_kept else (Settings(), "")
        """`notice`: what to tell the person once a window is there; empty when all is well."""

    @property
    def path(self) -> Path:
        """The settings file."""
        return self._path

    @property
    def value(self) -> Settings:
        """The settings as they are now."""
        return self._settings

    def lend_theme(self, theme: ThemeSetting) -> None:
        """Take a theme for this time only (`--theme`); the file keeps the person's."""
        self._own_theme = self._settings.theme
        self._lent = theme
        self._settings = replace(self._settings, theme=theme)

    def set(self, settings: Settings) -> None:
        """Take other settings, made with `dataclasses.replace` from the present ones."""
        if settings == self._settings:
            return
        self._settings = settings
        try:
            if self._is_kept:
                save_settings(self._path, self._to_keep(settings))
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

    def _to_keep(self, settings: Settings) -> Settings:
        if self._lent is None or settings.theme != self._lent:
            return settings
        return replace(settings, theme=self._own_theme)
