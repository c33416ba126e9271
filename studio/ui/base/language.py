"""The language of the window: the source has English, other languages are Qt translation files."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

from studio.application.words import CONTEXT, translate_by
from studio.core.paths import resource

LANGUAGES: dict[str, str] = {"en": "English", "de": "Deutsch"}
"""Available languages by code, each with its own name."""


def language_for(setting: str) -> str:
    """The language to use: the user's choice, else the first of the system's that there is."""
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
