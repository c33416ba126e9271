"""What the process of a tool file inherits of the environment: no keys."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import studio

_INHERITED = frozenset(
    {
        # Where programs and their files are, and who the user is.
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "PYTHONPATH", "VIRTUAL_ENV"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "CONDA_PREFIX"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
        # Language and time zone; `LC_…` too.
        *("LANG", "LANGUAGE", "TZ"),
        # Temporary folders.
        *("TMPDIR", "TMP", "TEMP"),
        # Windows: what its libraries do not start without.
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "USERNAME"),
        *("USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
        *("PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES"),
        *("NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"),
        # The way to the network, and whom to trust there.
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    }
)
"""Variables, in upper case, that every tool file is given. No key is among them: the rest of the
environment is the user's, and a tool gets of it what the prompt names and the user allows."""


def tool_environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a tool file: what any program needs, and what is given.

    Args:
        given: further variables, which the user allowed.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _INHERITED or name.upper().startswith("LC_")
    }
    return {**kept, **(given or {}), "PYTHONUTF8": "1"}


def server_environment() -> dict[str, str]:
    """The environment of a child that imports the studio itself."""
    kept = tool_environment()
    package_root = str(Path(studio.__file__).resolve().parent.parent)
    path = kept.get("PYTHONPATH")
    return {**kept, "PYTHONPATH": os.pathsep.join([package_root, *([path] if path else [])])}
