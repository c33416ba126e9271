"""Speed-ups of the start; they work from the import of this module, before all else.

No looking for garbage: what is made while starting stays anyway, and looking through it costs a
tenth of a start. Later `IdleCollector` looks, in the thread of the window: another one must not end
what belongs to Qt.

No compiling of what was compiled before: Shiboken holds 14 modules of Python as sources in its
library, and compiles them at each start (6.11: 20 ms). They are kept as Python keeps `.pyc` files
(PEP 552: found by the hash of their source), in the user's folder of what can be made again.

No reading of sources: Shiboken looks into the source of each module that is imported for the word
"PySide6", to know whether `__feature__` switches (snake_case names) hold in it; nothing here uses
them. Reading them all costs 0.3 s of a start and 30 MB for as long as the studio runs (6.11:
`linecache` keeps every line). Where a later Shiboken has no such function, nothing is changed.
"""

import builtins
import gc
import importlib
import marshal
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from types import CodeType
from typing import Any

from studio.core.paths import user_paths

gc.disable()


class _CompiledBefore:
    """A replacement of `compile` while Shiboken is imported: known code is not compiled again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known = _read(file)
        self._used: dict[tuple[str, str, bytes], CodeType] = {}

    def __call__(
        self, source: object, filename: object, mode: str, *rest: object, **named: object
    ) -> object:
        """Return the result of `compile`; calls other than Shiboken's are passed on."""
        if not (isinstance(source, bytes) and isinstance(filename, str)) or rest or named:
            return _compile(source, filename, mode, *rest, **named)
        key = filename, mode, source_hash(source)
        code = self._known.get(key) or _compile(source, filename, mode)
        self._used[key] = code
        return code

    def keep(self) -> None:
        """Write what was compiled, where anything was."""
        if self._used.keys() <= self._known.keys() or sys.dont_write_bytecode:
            return
        body = marshal.dumps(self._used)
        own = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):  # the next start compiles again
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                own.write_bytes(MAGIC_NUMBER + source_hash(body) + body)
                own.replace(self._file)
            finally:
                own.unlink(missing_ok=True)


_compile: Callable[..., Any] = builtins.compile
_HEAD = len(MAGIC_NUMBER) + 8
"""Bytes before the code: which Python wrote it, and the hash of all that follows."""


def _read(file: Path) -> dict[tuple[str, str, bytes], CodeType]:
    """Read the kept code; empty if it is missing, damaged or of another Python."""
    try:
        kept = file.read_bytes()
    except OSError:
        return {}
    body = kept[_HEAD:]
    if kept[:_HEAD] != MAGIC_NUMBER + source_hash(body):
        return {}
    known: dict[tuple[str, str, bytes], CodeType] = marshal.loads(body)
    return known


def _import_shiboken() -> None:
    """Import it with its Python modules as they were compiled by an earlier start."""
    file = user_paths().cache / f"shiboken.{sys.implementation.cache_tag}"
    compiled = _CompiledBefore(file)
    vars(builtins)["compile"] = compiled
    try:
        import PySide6.QtCore  # noqa: F401 - it makes `shibokensupport`
    finally:
        vars(builtins)["compile"] = _compile
    compiled.keep()


def _leave_sources_unread() -> None:
    with suppress(ImportError):
        feature = importlib.import_module("shibokensupport.feature")
        if hasattr(feature, "_mod_uses_pyside"):
            # The answer for a module that uses no PySide, which `__feature__` leaves alone.
            vars(feature)["_mod_uses_pyside"] = lambda module: False  # it has no switch


_import_shiboken()
_leave_sources_unread()
