"""The texts of the window and of the application layer, translated where they are shown.

This layer knows no Qt. The window hands in Qt's `translate` when it chooses its language
(`studio/ui/base/services.py`); the command line hands in nothing and speaks English.
"""

from collections.abc import Callable
from typing import TypeAlias

CONTEXT = "Studio"
"""The context of all texts in the `.ts` files."""

Translate: TypeAlias = Callable[[str, str], str]
"""Takes an English text and its meaning; returns the text in the user's language."""


def _english(text: str, _meaning: str) -> str:
    return text


_translators: list[Translate] = [_english]


def translate_by(translator: Translate | None) -> None:
    """Set what translates from now on; None for English."""
    _translators[:] = [translator or _english]


def tr(text: str, meaning: str = "") -> str:
    """Translate an English text; `make i18n` finds the text by this call.

    Args:
        text: The text, or a variable with a text that is `marked` elsewhere.
        meaning: The use of a word that other languages tell apart, such as "verb".
    """
    return _translators[0](text, meaning)


def marked(text: str) -> str:
    """Return the text as it is, for `tr` where it is shown; `make i18n` finds it by this call."""
    return text
