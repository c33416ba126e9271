"""Texts of tables, marked for translation where they stand and translated where they are shown."""

from __future__ import annotations


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:  # noqa: N802 - Qt's name and shape
    """The text as it is; `make i18n` finds it by this name.

    Qt's own is typed as giving any object.
    """
    return text
