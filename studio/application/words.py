"""Words of tables: marked for translation where they stand, translated where they are shown."""

from __future__ import annotations


def marked(text: str) -> str:
    """`text` itself; `packaging/translations.py` finds it by this call.

    Its context is that of the module's `_tr`. (Qt's QT_TRANSLATE_NOOP does the same, and is
    typed as giving any object.)
    """
    return text
