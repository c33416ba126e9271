"""The other files of a description: those below its folder, each read once, when it is needed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from studio.core.text.values import Json
from studio.core.tools.openapi.operation import OpenApiError

_MOST_FILES = 10_000
_MOST_BYTES = 64 * 1024 * 1024
_OTHER_FILE = re.compile(r"""\$ref["']?\s*:\s*["']?[^\s"'#]""")


def stamp_of(path: Path) -> tuple[int, int]:
    """Return time and size of a file.

    Raises:
        OSError: it cannot be read.
    """
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


class OtherFiles:
    """The files that the references of one description lead to."""

    def __init__(
        self, path: Path | None = None, parse: Callable[[Path], Json] = lambda path: None
    ) -> None:
        """Make the files; none is read yet.

        Args:
            path: the description's file; None for one that is fetched, which has no others.
            parse: reads one file; raises OpenApiError or OSError.
        """
        self._path = path.resolve() if path is not None else None
        self._parse = parse
        self._values: dict[str, Json | OpenApiError] = {}
        self._bytes = 0
        self.stamps: dict[Path, tuple[int, int]] = {}
        """Time and size of each file that was read."""

    def linked(self, text: str, data: Json) -> Json:
        """Return the description, its references into other files relative to its folder.

        Args:
            text: the description's text.
            data: its value; changed in place.
        """
        if self._path is not None and _OTHER_FILE.search(text):
            self._link(data, self._path.name)
        return data

    def value(self, name: str) -> Json:
        """Return what a file holds.

        Args:
            name: its path, relative to the description's folder, with slashes.

        Raises:
            OpenApiError: it is not read; says why.
        """
        if name not in self._values:
            try:
                self._values[name] = self._read(name)
            except OpenApiError as error:
                self._values[name] = error
        found = self._values[name]
        if isinstance(found, OpenApiError):
            raise found
        return found

    def _read(self, name: str) -> Json:
        if self._path is None or "://" in name:
            raise OpenApiError("only files below the folder of a description are read")
        folder = self._path.parent
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            raise OpenApiError("it leads out of the description's folder")
        try:
            stamp = stamp_of(path)
            self._bytes += stamp[1]
            if len(self.stamps) >= _MOST_FILES or self._bytes > _MOST_BYTES:
                raise OpenApiError(
                    f"the files of a description are read up to {_MOST_FILES:,} files and "
                    f"{_MOST_BYTES // 1024**2} MB"
                )
            data = self._parse(path)
        except OSError as error:
            raise OpenApiError(f"the file cannot be read: {error.strerror}") from error
        self.stamps[path] = stamp
        self._link(data, name)
        return data

    def _link(self, data: Json, name: str) -> None:
        """Write the references of a file as seen from the description's folder."""
        own = self._path.name if self._path is not None else ""
        folder, seen = posixpath.dirname(name), set[int]()
        waiting: list[Json] = [data]
        while waiting:
            item = waiting.pop()
            if id(item) in seen or not isinstance(item, dict | list):
                continue
            seen.add(id(item))  # YAML lets one object stand in several places
            if isinstance(item, list):
                waiting += item
                continue
            reference = item.get("$ref")
            if isinstance(reference, str) and "://" not in reference:
                place, sign, pointer = reference.partition("#")
                place = (
                    posixpath.normpath(posixpath.join(folder, unquote(place))) if place else name
                )
                item["$ref"] = ("" if place == own else place) + (sign or "#") + pointer
            waiting += item.values()
