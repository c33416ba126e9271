"""Services and language of the window, created once by the composition root."""

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
    """The services of the window."""

    paths: UserPaths
    """The user's folders."""

    settings: SettingsStore
    """The settings store."""

    messages: Notifications
    """Notifications to the user."""

    swaps: SwapFolder
    """Store of unsaved text, which survives a crash."""

    is_safe: bool = False
    """Whether safe mode is on: default settings, nothing restored, no tools, no trusted folder."""


def build_services(paths: UserPaths, *, is_safe: bool = False) -> Services:
    """Create the services for a user's folders; in safe mode, without the user's settings."""
    messages = Notifications()
    settings = SettingsStore(paths.config / "settings.toml", messages, is_kept=not is_safe)
    return Services(paths, settings, messages, SwapFolder(paths.data / "swap"), is_safe)


# The language of the window: texts in the source are English; others are Qt translation files.

LANGUAGES: dict[str, str] = {"en": "English", "de": "Deutsch"}
"""Available languages by code, each with its native name."""


def language_for(setting: str) -> str:
    """Return the language to use: the user's choice, or else the first available of the system."""
    if setting in LANGUAGES:
        return setting
    for name in QLocale.system().uiLanguages():
        code = name.replace("_", "-").partition("-")[0]
        if code in LANGUAGES:
            return code
    return "en"


def install_language(application: QCoreApplication, setting: str) -> list[QTranslator]:
    """Install the translations of a language before the first widget is created.

    English needs no file.

    Returns:
        The installed translators, so that they can be removed.
    """
    code = language_for(setting)
    if code == "en":
        return []
    from PySide6.QtCore import QLibraryInfo  # not needed for English

    translate_by(partial(QCoreApplication.translate, CONTEXT))
    QLocale.setDefault(QLocale(code))
    installed = []
    own = str(resource("i18n", f"prompt_studio_{code}.qm"))
    # Qt's own texts appear on buttons such as Cancel.
    of_qt = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath) + f"/qtbase_{code}.qm"
    for path in (of_qt, own):
        translator = QTranslator(application)
        if translator.load(path):
            application.installTranslator(translator)
            installed.append(translator)
    return installed
