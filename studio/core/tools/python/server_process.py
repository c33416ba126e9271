"""How the server of a tool file is started (`server.py`)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import studio
from studio.core.tools.limits import DEFAULT_LIMITS, ToolLimits


def server_command(path: Path, limits: ToolLimits = DEFAULT_LIMITS) -> list[str]:
    """The command that serves a tool file; in a frozen app the program serves it itself."""
    bound = ["--characters", str(limits.characters)]
    if getattr(sys, "frozen", False):
        return [sys.executable, "tools", "serve", str(path), *bound]
    # -P: a `json.py` in the person's folder must not stand in for the library's.
    return [sys.executable, "-P", "-m", "studio.core.tools.python.server", str(path), *bound]


def server_environment() -> dict[str, str]:
    """The child's environment: the person's own, and where to find this package."""
    package_root = str(Path(studio.__file__).resolve().parent.parent)
    given = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([package_root, *([given] if given else [])]),
        "PYTHONUTF8": "1",
    }
