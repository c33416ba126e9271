"""Where the keys of the front matter stand, by path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from studio.core.prompty.document import FrontMatterEntry
from studio.core.text.span import Span
from studio.core.text.values import Json

KeyPath = tuple[str | int, ...]
"""Keys from the root; list items by index."""


def value_at(data: Json, path: KeyPath) -> Json:
    """The value at a path; None where there is none."""
    for part in path:
        if isinstance(data, Mapping):
            data = data.get(str(part))
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


@dataclass(frozen=True)
class Places:
    """A look-up from path to entry."""

    by_path: dict[KeyPath, FrontMatterEntry] = field(default_factory=dict)
    """Every entry; of a key written twice, the last."""

    @classmethod
    def of(cls, entries: Iterable[FrontMatterEntry]) -> Places:
        """The look-up of a document's entries."""
        return cls({entry.path: entry for entry in entries})

    def key(self, *path: str | int) -> Span | None:
        """The key at a path."""
        entry = self.by_path.get(path)
        return entry.key if entry else None

    def value(self, *path: str | int) -> Span | None:
        """The value at a path."""
        entry = self.by_path.get(path)
        return entry.value if entry else None

    def whole(self, *path: str | int) -> Span | None:
        """Key and value at a path."""
        entry = self.by_path.get(path)
        return entry.key.cover(entry.value) if entry else None

    def nearest(self, *path: str | int) -> Span:
        """The key at a path, or at the longest part of it that is written."""
        for length in range(len(path), 0, -1):
            entry = self.by_path.get(path[:length])
            if entry is not None:
                return entry.key
        return Span(0, 0)
