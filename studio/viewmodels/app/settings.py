"""The settings of the running studio: one value that is replaced as a whole."""

from dataclasses import fields, replace
from pathlib import Path
from typing import assert_never

from PySide6.QtCore import QObject, Signal

from studio.application.words import tr
from studio.core.settings import Settings, SettingsFault, ThemeSetting, load_settings, save_settings
from studio.viewmodels.app.notifications import Notifications


class SettingsStore(QObject):
    """Holds the settings, writes each change, and emits it."""

    changed = Signal(Settings)

    def __init__(self, path: Path, messages: Notifications, *, is_kept: bool = True) -> None:
        """Read the settings.

        Args:
            path: the settings file.
            messages: the notifications that report a failed write.
            is_kept: False to use the default settings and write nothing (safe mode).
        """
        super().__init__()
        self.path = path
        """The settings file."""
        self._messages = messages
        self._is_kept = is_kept
        self._lent: ThemeSetting | None = None
        self._own_theme: ThemeSetting = "system"
        self._unkept: dict[str, object] = {}
        self._settings, self._fault = load_settings(path) if is_kept else (Settings(), None)

    @property
    def notice(self) -> str:
        """Return the notice about reading the file; empty if there was no problem.

        The text is made on request, since the language is one of the settings.
        """
        return _words(self._fault) if self._fault is not None else ""

    @property
    def value(self) -> Settings:
        """The current settings."""
        return self._settings

    def lend_theme(self, theme: ThemeSetting) -> None:
        """Use a theme for this session only (`--theme`); the file keeps the user's theme."""
        self._own_theme = self._settings.theme
        self._lent = theme
        self._settings = replace(self._settings, theme=theme)

    def set(self, settings: Settings) -> None:
        """Replace the settings by a copy changed with `dataclasses.replace`."""
        if settings == self._settings:
            return
        before, self._settings = self._settings, settings
        for each in fields(Settings):
            value = getattr(settings, each.name)
            if value != getattr(before, each.name):
                self._unkept[each.name] = value
        try:
            if self._is_kept:
                self._keep(before)
        except OSError:
            self._messages.say(
                "warning",
                tr("The settings cannot be written."),
                tr("They last until you close the studio."),
                where=str(self.path),
                key="settings",
            )
        self.changed.emit(settings)

    def _keep(self, before: Settings) -> None:
        """Write the changed settings to the current file.

        Another window or the user may have changed the file meanwhile.
        """
        base = before if self._lent is None else replace(before, theme=self._own_theme)
        if self.path.exists():
            found, _ = load_settings(self.path)
            if self.path.exists():  # otherwise it was damaged and has now been set aside
                base = found
        save_settings(self.path, replace(base, **self._unkept))  # type: ignore[arg-type]
        self._unkept.clear()


def _words(fault: SettingsFault) -> str:
    names = ", ".join(fault.names)
    match fault.kind:
        case "unreadable":
            return tr("The settings file cannot be read; the default settings are used.")
        case "set aside":
            return tr("The settings file was damaged; it was renamed to {name}.").format(name=names)
        case "left out":
            return tr("Unknown settings were ignored: {names}.").format(names=names)
        case _:
            assert_never(fault.kind)
