"""The tools of a folder's sources, compared with what they were when the user allowed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.tools.source import ToolSource
from studio.core.tools.trust.definitions import KnownTool, ToolChange, allowed, review
from studio.core.tools.trust.store import TrustStore
from studio.core.tools.trust.suspicion import suspicions


class ToolReview:
    """Says which tools of one folder ask because of what they are; keeps what the user allows."""

    def __init__(self, folder: Path | None, trust: TrustStore) -> None:
        """Make a review.

        Args:
            folder: the prompt's folder; None while it is not saved.
            trust: where it is kept what tools were; those of the bundled examples are ours.
        """
        is_bundled = folder is not None and trust.current.is_bundled(folder)
        self._folder = None if folder is None or is_bundled else folder.resolve()
        self._store = trust.definitions
        self._known: dict[str, Mapping[str, KnownTool]] = {}
        self._reviewed: dict[str, tuple[object, Mapping[str, ToolChange]]] = {}
        self._marked: dict[str, tuple[object, Mapping[str, tuple[str, ...]]]] = {}

    def marks(self, key: str, specs: tuple[ToolSpec, ...]) -> Mapping[str, tuple[str, ...]]:
        """What the user should look at in the tools of a source, by name.

        Args:
            key: the source's key.
            specs: its tools.
        """
        before = self._marked.get(key)
        if before is None or before[0] != specs:  # asked at every pause in typing
            found = {spec.name: marks for spec in specs if (marks := suspicions(spec))}
            before = self._marked[key] = (specs, found)
        return before[1]

    def changes(
        self, key: str, source: ToolSource, specs: tuple[ToolSpec, ...]
    ) -> Mapping[str, ToolChange]:
        """The tools of a source that are not as they were allowed, by name.

        Args:
            key: the source's key.
            source: the source, which has just been listed.
            specs: its tools.
        """
        if self._folder is None:
            return {}
        seen = specs, tuple(source.place_of(spec.name) for spec in specs)
        before = self._reviewed.get(key)
        if before is not None and before[0] == seen:
            return before[1]  # asked at every pause in typing
        known = self._store.read(self._folder, key)
        asking, after = review(specs, source.place_of, known, is_own=key.startswith("python:"))
        if after != known:
            self._store.write(self._folder, key, after)
        self._known[key] = after
        self._reviewed[key] = (seen, asking)
        return asking

    def allow(self, key: str, changes: Iterable[ToolChange]) -> None:
        """The user allows tools of a source as they are now."""
        if self._folder is None:
            return
        after = allowed(self._store.read(self._folder, key) or self._known.get(key, {}), changes)
        self._store.write(self._folder, key, after)
        self._known[key] = after
        self._reviewed.pop(key, None)
