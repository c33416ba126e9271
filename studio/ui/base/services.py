"""Services of the window; built once by the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio.viewmodels.app.notifications import Notifications
from studio.viewmodels.app.settings import SettingsStore
from studio.viewmodels.document.swap import SwapFolder

if TYPE_CHECKING:
    from studio.core.paths import UserPaths


@dataclass(frozen=True, slots=True)
class Services:
    """The window's own services."""

    paths: UserPaths
    """The user's folders."""

    settings: SettingsStore
    """Settings."""

    messages: Notifications
    """The road of notices."""

    swaps: SwapFolder
    """Unsaved text, safe against a crash."""

    is_safe: bool = False
    """Safe mode: usual settings, nothing restored, no tools, no folder trusted."""


def build_services(paths: UserPaths, *, is_safe: bool = False) -> Services:
    """The services for a user's folders, in safe mode without the user's settings."""
    messages = Notifications()
    settings = SettingsStore(paths.config / "settings.toml", messages, is_kept=not is_safe)
    return Services(paths, settings, messages, SwapFolder(paths.data / "swap"), is_safe)
