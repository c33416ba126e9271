"""The words of the application layer: marked where they stand, translated by whoever shows them.

This layer knows no Qt. The window hands in Qt's `translate` when it chooses its language
(`studio/ui/base/language.py`); the command line hands in nothing, and speaks English.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Translate: TypeAlias = Callable[[str, str], str]
"""Takes a context and an English text; gives the text in the user's language."""


def _english(_context: str, text: str) -> str:
    return text


_translators: list[Translate] = [_english]


def translate_by(translator: Translate | None) -> None:
    """Take what translates from now on; None for English."""
    _translators[:] = [translator or _english]


def translate(context: str, text: str) -> str:
    """An English text in the user's language; `packaging/translations.py` finds it by this call.

    Modules with many texts write `_tr = partial(translate, "Context")` once.
    """
    return _translators[0](context, text)


def marked(text: str) -> str:
    """`text` itself, translated where it is shown; found by this call.

    Its context is that of the module's `_tr`. (Qt's QT_TRANSLATE_NOOP does the same, and is
    typed as giving any object.)
    """
    return text
