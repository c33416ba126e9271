"""A word on a newer version, once a week, for those who switched it on."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from studio.core.models.base import ModelError
from studio.core.models.new_version import NewVersion, find_new_version
from studio.core.settings import Settings
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.notifications import Notifications
from studio.viewmodels.app.settings import SettingsStore

_WEEK = 7 * 24 * 3600.0


class UpdateNotice(QObject):
    """Asks the user's package source while the setting is on."""

    def __init__(
        self,
        background: Background,
        settings: SettingsStore,
        messages: Notifications,
        mark: Path,
        parent: QObject | None = None,
        *,
        find: Callable[[], Coroutine[Any, Any, NewVersion | None]] = find_new_version,
    ) -> None:
        """Begin; nothing is asked while the setting is off.

        Args:
            background: where it is asked.
            settings: whether it is wanted.
            messages: where a newer version is told.
            mark: a file that is as old as the last answer.
            parent: the owner.
            find: what asks.
        """
        super().__init__(parent)
        self._background = background
        self._messages = messages
        self._mark = mark
        self._find = find
        self._is_on = False
        settings.changed.connect(self._on_settings)
        self._on_settings(settings.value)

    def _on_settings(self, settings: Settings) -> None:
        was_on, self._is_on = self._is_on, settings.update_notice
        if self._is_on and not was_on and self._is_due():
            self._background.start(self._find(), self._on_answer)

    def _is_due(self) -> bool:
        try:
            age = time.time() - self._mark.stat().st_mtime
        except OSError:
            return True
        return not 0 <= age < _WEEK

    def _on_answer(self, future: Future[NewVersion | None]) -> None:
        if future.cancelled() or isinstance(future.exception(), ModelError):
            return  # asked again at the next start; an offline machine is not told so each time
        found = future.result()
        with suppress(OSError):
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            self._mark.touch()
        if found is not None:
            self._messages.info(
                self.tr("Prompt Studio {version} can be had from {source}.").format(
                    version=found.version, source=found.source
                ),
                found.command,
            )
