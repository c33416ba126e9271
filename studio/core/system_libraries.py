"""Missing system libraries: which one a package needs, and its package on Debian.

The wheels of Qt and of the embedded model load libraries of the system. If one is missing, the
loader names it in the middle of a message that blames the file being loaded.
"""

import os
import re
import sys

_NOT_FOUND = re.compile(
    r"(?P<name>[\w+.-]+\.so(?:\.\d+)*): cannot open shared object file"
    r"|Library not loaded: (?P<path>[^\s]+)"
)
_SONAME = re.compile(r"(?P<library>.+)\.so(?:\.(?P<version>[\d.]+))?")
_IRREGULAR = {
    "libz.so.1": "zlib1g",
    "libm.so.6": "libc6",
    **{f"lib{part}-2.0.so.0": "libglib2.0-0" for part in ("glib", "gio", "gobject", "gthread")},
}
"""Packages that do not follow Debian's naming rule."""


def missing_library(text: str) -> str | None:
    """Return the library named in a message of the system's loader; None if there is none."""
    found = _NOT_FOUND.search(text)
    if found is None:
        return None
    return found["name"] or str(found["path"]).rpartition("/")[2]


def debian_package(library: str) -> str:
    """Return the package of a library by Debian's naming rule (policy §8.1).

    Debian 13 and Ubuntu 24.04 added `t64` to some names; such a package also provides the older
    name.
    """
    if library in _IRREGULAR:
        return _IRREGULAR[library]
    parts = _SONAME.fullmatch(library)
    if parts is None:
        return library
    name = parts["library"].lower().replace("_", "-")
    version = parts["version"] or ""
    return f"{name}-{version}" if version and name[-1].isdigit() else f"{name}{version}"


def advice(library: str) -> str:
    """Return advice about a missing library, one sentence."""
    if not _SONAME.fullmatch(library):
        return f"Install what brings {library}, then try again."
    return f"Install it (on Debian and Ubuntu: apt-get install {debian_package(library)})."


def has_display() -> bool:
    """Return whether a window can be shown: always, except on Linux without a display."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
