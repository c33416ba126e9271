"""The versions of MCP that a tool file is served in, and the process that serves it."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, BinaryIO, Optional

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = "2026-07-28"

NOT_FOUND, BAD_PARAMETERS, INTERNAL, UNREADABLE = -32601, -32602, -32603, -32700
_UNSUPPORTED_VERSION = -32022
_META = "io.modelcontextprotocol/"
_VERSION, _ABILITIES, _SERVER = (
    f"{_META}{key}" for key in ("protocolVersion", "clientCapabilities", "serverInfo")
)
_KEPT = ("server/discover", "tools/list")
"""Methods whose answers say how long they may be kept."""


class ProtocolRefusal(Exception):  # noqa: N818 - an answer
    """A request is answered by an error of the protocol."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.body: dict[str, object] = {"code": code, "message": message}
        if data is not None:
            self.body["data"] = data


def is_modern(method: str, parameters: dict[str, object]) -> bool:
    """Return whether a request is of the protocol without a handshake.

    Raises:
        ProtocolRefusal: it is one, and lacks what each request must say of itself.
    """
    meta = parameters.get("_meta")
    given = meta if isinstance(meta, dict) else {}
    if _VERSION not in given and method != "server/discover":
        return False
    missing = [key for key in (_VERSION, _ABILITIES) if key not in given]
    if missing:
        raise ProtocolRefusal(BAD_PARAMETERS, f"params._meta lacks {', '.join(missing)}")
    version = given[_VERSION]
    if not isinstance(version, str) or not isinstance(given[_ABILITIES], dict):
        raise ProtocolRefusal(BAD_PARAMETERS, "params._meta names no version and capabilities")
    if version != MODERN:
        data = {"supported": [MODERN], "requested": version}
        raise ProtocolRefusal(_UNSUPPORTED_VERSION, f"Unsupported version: {version}", data)
    if method in ("initialize", "ping"):
        raise ProtocolRefusal(NOT_FOUND, f"Method not found: {method}")
    return True


def as_modern(method: str, result: dict[str, Any], server: dict[str, str]) -> dict[str, Any]:
    """Return a result with what each answer without a handshake says of itself."""
    meta = {**result.get("_meta", {}), _SERVER: server}
    kept = {"ttlMs": 0, "cacheScope": "private"} if method in _KEPT else {}
    return {"resultType": "complete", **kept, **result, "_meta": meta}


def discovered() -> dict[str, object]:
    """Return what the server can do."""
    return {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}


def progress_token(parameters: dict[str, object]) -> Optional[object]:  # noqa: UP045 - Python 3.9
    """Return what the client wants to hear of the progress by; None where it does not."""
    meta = parameters.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def server_info(name: str) -> dict[str, str]:
    """Return who answers."""
    return {"name": name, "version": ".".join(str(part) for part in sys.version_info[:3])}


# The process that serves a tool file: its pipes, its memory, and its end.

_PARENT_SECONDS = 1.0


def flush() -> None:
    """Let what the tool printed be read before its result."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # the tool closed it


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Our ends of the protocol; what a tool reads is empty, and what it prints is no message."""
    lines = os.fdopen(os.dup(0), "rb")
    output = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace", line_buffering=True)
    return lines, output


def leave_with_parent(parent: int) -> None:
    """End when the studio is gone, also while a tool keeps the loop from hearing of it."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


def bound_memory(megabytes: int) -> None:
    """A tool that takes all memory ends itself, not the user's other programs."""
    if megabytes <= 0 or sys.platform != "linux":
        return
    import resource

    most = megabytes * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
