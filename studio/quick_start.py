"""Speed-ups of the start, active from the import of this module, which must come first.

Garbage collection is off: most objects that are created at the start stay, and searching them costs
a tenth of the start. Later, `IdleCollector` collects in the window's thread, since another thread
must not delete Qt objects.

Compiled code is cached: Shiboken holds 14 Python modules as source in its library and compiles them
at each start (6.11: 20 ms). The code is stored like `.pyc` files (PEP 552: found by the hash of the
source) in the user's cache folder.

Sources are not read: Shiboken searches the source of each imported module for the word "PySide6" to
know whether it may use `__feature__` switches (snake_case names), which no module here uses.
Reading them costs 0.3 s of a start and 30 MB of memory (6.11: `linecache` keeps every line). If a
later Shiboken has no such function, nothing is changed.
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
    """A replacement of `compile` during the import of Shiboken that reuses cached code."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known = _read(file)
        self._used: dict[tuple[str, str, bytes], CodeType] = {}

    def __call__(
        self, source: object, filename: object, mode: str, *rest: object, **named: object
    ) -> object:
        """Return the result of `compile`; calls that are not Shiboken's are passed on."""
        if not (isinstance(source, bytes) and isinstance(filename, str)) or rest or named:
            return _compile(source, filename, mode, *rest, **named)
        key = filename, mode, source_hash(source)
        code = self._known.get(key) or _compile(source, filename, mode)
        self._used[key] = code
        return code

    def keep(self) -> None:
        """Write newly compiled code to the cache."""
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
"""Size in bytes of the file header: Python's magic number and a hash of the rest."""


def _read(file: Path) -> dict[tuple[str, str, bytes], CodeType]:
    """Read the cached code; empty if it is missing, damaged or from another Python version."""
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
    """Import Shiboken with the compiled code of its modules from an earlier start."""
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
            # The result for a module that does not use PySide: `__feature__` leaves it alone.
            vars(feature)["_mod_uses_pyside"] = lambda module: False  # uses no switch


_import_shiboken()
_leave_sources_unread()
