"""Services and language of the window; the composition root builds them once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

from studio.application.words import CONTEXT, translate_by
from studio.core.paths import resource
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
    """Build the services for a user's folders, in safe mode without the user's settings."""
    messages = Notifications()
    settings = SettingsStore(paths.config / "settings.toml", messages, is_kept=not is_safe)
    return Services(paths, settings, messages, SwapFolder(paths.data / "swap"), is_safe)


# The language of the window: the source has English, other languages are Qt translation files.

LANGUAGES: dict[str, str] = {"en": "English", "de": "Deutsch"}
"""Available languages by code, each with its own name."""


def language_for(setting: str) -> str:
    """Return the language to use: the user's choice, else the system's first available one."""
    if setting in LANGUAGES:
        return setting
    for name in QLocale.system().uiLanguages():
        code = name.replace("_", "-").partition("-")[0]
        if code in LANGUAGES:
            return code
    return "en"


def install_language(application: QCoreApplication, setting: str) -> list[QTranslator]:
    """Let an application speak a language; before its first widget is made.

    English needs no file, and costs nothing.

    Returns:
        What was installed, so that it can be taken out again.
    """
    code = language_for(setting)
    if code == "en":
        return []
    from PySide6.QtCore import QLibraryInfo  # of no use to English

    translate_by(partial(QCoreApplication.translate, CONTEXT))
    QLocale.setDefault(QLocale(code))
    installed = []
    own = str(resource("i18n", f"prompt_studio_{code}.qm"))
    # Qt's own words stand on buttons such as Cancel.
    of_qt = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath) + f"/qtbase_{code}.qm"
    for path in (of_qt, own):
        translator = QTranslator(application)
        if translator.load(path):
            application.installTranslator(translator)
            installed.append(translator)
    return installed
