"""Whether Qt can load what it draws with; where it cannot, it aborts without a word on why."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path

from studio.core.system_libraries import missing_library


def missing_for_window(environment: Mapping[str, str]) -> str | None:
    """Return the system library that no platform plugin loads without; None if one loads.

    Loading a plugin here costs nothing: Qt takes the one that is loaded.

    Args:
        environment: the process's variables, which say what Qt draws on.
    """
    from PySide6.QtCore import QCoreApplication

    folders = [Path(folder) / "platforms" for folder in QCoreApplication.libraryPaths()]
    missing = None
    for name in _platforms(environment):
        plugins = [folder / f"libq{name}.so" for folder in folders]
        plugin = next((path for path in plugins if path.exists()), None)
        if plugin is None:
            return None  # Qt's own words on an unknown platform are clear
        try:
            ctypes.CDLL(str(plugin))
        except OSError as error:
            missing = missing_library(str(error))
        else:
            return None
    return missing


def _platforms(environment: Mapping[str, str]) -> list[str]:
    """Return the platforms that Qt tries, in order."""
    wanted = environment.get("QT_QPA_PLATFORM", "")
    if wanted:
        return [name.partition(":")[0] for name in wanted.split(";")]
    return [
        name
        for name, variable in (("wayland", "WAYLAND_DISPLAY"), ("xcb", "DISPLAY"))
        if environment.get(variable)
    ]
