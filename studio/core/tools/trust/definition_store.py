"""The tools that each source of a folder had, kept in the user's own data folder.

One compressed file for each source of a folder: the descriptions of a large API take megabytes.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from studio.core.tools.trust.definitions import KnownTool, ToolDefinition

_FAST = 1


class DefinitionStore:
    """Keeps what is known of the tools, by folder and source."""

    def __init__(self, place: Path) -> None:
        """Make a store; `place` is its folder, which need not exist."""
        self._place = place

    def read(self, folder: Path, source: str) -> dict[str, KnownTool] | None:
        """What is known of a source's tools; None where it was never seen.

        What is kept but cannot be read counts as seen, with no tool in it: then every tool asks.
        """
        try:
            text = gzip.decompress(self._file(folder, source).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, EOFError):
            return {}
        try:
            tools = json.loads(text)["tools"]
            return {name: _known(name, item) for name, item in tools.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            return {}

    def write(self, folder: Path, source: str, known: Mapping[str, KnownTool]) -> None:
        """Keep what is known of a source's tools."""
        tools = {
            name: {
                "description": item.definition.description,
                "parameters": item.definition.parameters,
                "place": item.definition.place,
                "effects": item.definition.effects,
                "digest": item.digest,
                "allowed": item.is_allowed,
            }
            for name, item in known.items()
        }
        whole = {"folder": str(folder), "source": source, "tools": tools}
        text = json.dumps(whole, ensure_ascii=True, default=str).encode()
        path = self._file(folder, source)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}.new")
        fresh.write_bytes(gzip.compress(text, _FAST))
        fresh.replace(path)

    def forget(self, folder: Path) -> None:
        """Forget what is known of the sources of a folder, and of those below it."""
        for path in self._place.glob("*.json.gz"):
            try:
                named = Path(json.loads(gzip.decompress(path.read_bytes()))["folder"])
            except (OSError, EOFError, ValueError, KeyError, TypeError):
                continue
            if folder in (named, *named.parents):
                path.unlink(missing_ok=True)

    def _file(self, folder: Path, source: str) -> Path:
        name = sha256(f"{folder}\0{source}".encode("utf-8", "surrogateescape")).hexdigest()
        return self._place / f"{name[:32]}.json.gz"


def _known(name: str, item: Mapping[str, Any]) -> KnownTool:
    definition = ToolDefinition(
        name, item["description"], item["parameters"], item["place"], item["effects"]
    )
    return KnownTool(definition, str(item["digest"]), item["allowed"] is True)
