"""What a start need not do; it holds from the moment that this is imported, before all else.

No looking for garbage: what is made while starting stays anyway, and looking through it costs a
tenth of a start. Later `IdleCollector` looks, in the thread of the window: another one must not end
what belongs to Qt.

No reading of sources: Shiboken looks into the source of each module that is imported for the word
"PySide6", to know whether `__feature__` switches (snake_case names) hold in it; nothing here uses
them. Reading them all costs 0.3 s of a start and 30 MB for as long as the studio runs (6.11:
`linecache` keeps every line). Where a later Shiboken has no such function, nothing is changed.
"""

from __future__ import annotations

import gc
import importlib
from contextlib import suppress

gc.disable()


def _leave_sources_unread() -> None:
    import PySide6.QtCore  # noqa: F401 - what makes the module below exist

    with suppress(ImportError):
        feature = importlib.import_module("shibokensupport.feature")
        if hasattr(feature, "_mod_uses_pyside"):
            # The answer for a module that uses no PySide, which `__feature__` leaves alone.
            vars(feature)["_mod_uses_pyside"] = lambda module: False  # it has no switch


_leave_sources_unread()
