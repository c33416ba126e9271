"""Importing heavy packages whole: one thread at a time.

Two threads that import parts of one package at the same moment have seen each other's half-made
modules: openai, mcp and genai-prices all import pydantic, each in a thread of its own.
"""

from __future__ import annotations

import importlib
import threading

_ONE_AT_A_TIME = threading.Lock()
_WHOLE: set[str] = set()


def import_whole(*names: str) -> None:
    """Import modules, unless that has been done; raise ImportError for one that is not there."""
    if _WHOLE.issuperset(names):
        return
    with _ONE_AT_A_TIME:
        for name in names:
            importlib.import_module(name)
        _WHOLE.update(names)


def are_whole(*names: str) -> bool:
    """Return whether modules have been imported by `import_whole`."""
    return _WHOLE.issuperset(names)
