"""The identity of a cell: over all that is sent and decides what comes back, and the repeat.

Assertions are no part of it: changing a check marks the kept answers again, without a call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import RefusedOption


@dataclass(frozen=True, slots=True)
class SentCell:
    """What a cell sends, apart from its repeat."""

    body: JsonObject
    """The first request, with model and options as they are sent."""

    endpoint: str
    """Where it goes, without a key."""

    protocol: str
    """How the loop reads replies."""

    tools: tuple[JsonObject, ...] = ()
    """Definitions of the tools."""

    sources: str = ""
    """Hash of the files that run the tools, and of the mocks that stand in for them."""

    limits: tuple[float | None, ...] = ()
    """What the run may use."""

    later: str = ""
    """The template and values of later steps, where they are rendered again."""

    rules: JsonObject = field(default_factory=dict)
    """What else decides: whether tools that ask are allowed."""

    asked_body: JsonObject = field(default_factory=dict)
    """The body with the options that the server is known to refuse."""

    refused: tuple[RefusedOption, ...] = ()
    """Those options."""


def cell_identity(sent: SentCell, repeat: int) -> bytes:
    """The identity of one repeat: 32 bytes."""
    whole: Mapping[str, Json] = {
        "body": sent.body,
        "endpoint": sent.endpoint,
        "protocol": sent.protocol,
        "tools": list(sent.tools),
        "sources": sent.sources,
        "limits": list(sent.limits),
        "later": sent.later,
        "rules": sent.rules,
        "repeat": repeat,
    }
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
