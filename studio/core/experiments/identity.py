"""The identity of a cell: over all that is sent and decides what comes back, and the repeat.

Assertions are no part of it: changing a check marks the kept answers again, without a call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import RefusedOption


@dataclass(frozen=True, slots=True)
class SentCell:
    """The request of a cell, apart from its repeat."""

    body: JsonObject
    """The first request, with model and options as they are sent."""

    endpoint: str
    """Address of the request, without a key."""

    protocol: str
    """Protocol by which the loop reads replies."""

    tools: tuple[JsonObject, ...] = ()
    """Definitions of the tools."""

    sources: str = ""
    """Hash of the files that run the tools, and of the mocks that replace them."""

    limits: tuple[float | None, ...] = ()
    """Limits of the run."""

    later: str = ""
    """The template and values of later steps, where they are rendered again."""

    rules: JsonObject = field(default_factory=dict)
    """Other rules of the run: whether tools that ask are allowed."""

    asked_body: JsonObject = field(default_factory=dict)
    """The body with the options that the server is known to refuse."""

    refused: tuple[RefusedOption, ...] = ()
    """Those options."""


def cell_identity(sent: SentCell, repeat: int) -> bytes:
    """The identity of one repeat: 32 bytes."""
    return next(iter(cell_identities(sent, (repeat,))))


def cell_identities(sent: SentCell, repeats: Iterable[int]) -> Iterator[bytes]:
    """The identities of repeats: all that they have in common is written once."""
    before = _json(
        {
            "body": sent.body,
            "endpoint": sent.endpoint,
            "later": sent.later,
            "limits": list(sent.limits),
            "protocol": sent.protocol,
        }
    )
    after = _json({"rules": sent.rules, "sources": sent.sources, "tools": list(sent.tools)})
    common = hashlib.sha256(before[:-1] + b',"repeat":')
    for repeat in repeats:
        whole = common.copy()
        whole.update(b"%d," % repeat + after[1:])
        yield whole.digest()


def _json(value: Mapping[str, Json]) -> bytes:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "surrogatepass")
