"""The translatable texts of the window and of the application layer.

This layer does not use Qt. The window sets Qt's `translate` when it chooses its language
(`studio/ui/base/services.py`); the command line sets none and uses English.
"""

from collections.abc import Callable
from typing import TypeAlias

CONTEXT = "Studio"
"""Context of all texts in the `.ts` files."""

Translate: TypeAlias = Callable[[str, str], str]
"""Function that translates an English text with its meaning."""


def _english(text: str, _meaning: str) -> str:
    return text


_translators: list[Translate] = [_english]


def translate_by(translator: Translate | None) -> None:
    """Set the function that translates from now on; None for English."""
    _translators[:] = [translator or _english]


def tr(text: str, meaning: str = "") -> str:
    """Translate an English text; `make i18n` finds texts by this call.

    Args:
        text: The text, or a variable whose text is in `marked` elsewhere.
        meaning: The use of a word that other languages distinguish, such as "verb".
    """
    return _translators[0](text, meaning)


def marked(text: str) -> str:
    """Return the text unchanged, for a later `tr`; `make i18n` finds texts by this call."""
    return text
