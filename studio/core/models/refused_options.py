"""Options that servers refuse: learned from a refusal, and not sent again for 30 days.

The one place of this fact. Every process of the user reads and writes the same file, so what a
command learned is known to the window; an option is asked for again when its entry is too old.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

from studio.core.paths import user_paths
from studio.core.text.amounts import one_line
from studio.core.text.files import read_text, write_private
from studio.core.text.values import JsonObject, parse_json
from studio.core.wire.reply import RefusedOption

KEPT = timedelta(days=30)
"""Time for which a refusal is kept."""

_MOST_VALUE = 200
"""Characters of an option's value that are shown."""


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class LearnedRefusal:
    """One option that a model at a server refused."""

    address: str
    """Base address of the API, without user and password."""

    api: str
    """Form of the requests, a `Provider`."""

    model: str
    """Id of the model."""

    option: str
    """Name of the option in the body."""

    instead: str = ""
    """Name under which its value is sent; empty if it is left out."""

    learned: str = field(default_factory=_today)
    """Day of the refusal, as 2026-11-24."""


class RefusedOptions:
    """The refusals that the user's servers gave."""

    def __init__(self, path: Path | None = None) -> None:
        """Take the file; None keeps everything in memory."""
        self._path = path
        self._signature: tuple[int, int, int] | None = None
        self._kept: tuple[LearnedRefusal, ...] = ()

    def at(self, address: str) -> tuple[LearnedRefusal, ...]:
        """Return the refusals of an address that are believed, in the order of learning."""
        self._read()
        return tuple(each for each in _believed(self._kept) if each.address == address)

    def learn(self, refusal: LearnedRefusal) -> None:
        """Keep a refusal; a file that cannot be written costs only the memory of it."""
        self._read()
        self._write((*_believed(self._kept), refusal))

    def forget(self, address: str) -> None:
        """Drop the refusals of every model at an address."""
        self._read()
        self._write(tuple(each for each in self._kept if each.address != address))

    def _read(self) -> None:
        """Read the file again if another process has written it."""
        if self._path is None:
            return
        with suppress(OSError):
            found = self._path.stat()
            signature = (found.st_ino, found.st_mtime_ns, found.st_size)
            if signature != self._signature:
                self._kept = _refusals(read_text(self._path, errors="replace"))
                self._signature = signature

    def _write(self, refusals: tuple[LearnedRefusal, ...]) -> None:
        self._kept = refusals
        if self._path is not None:
            text = json.dumps(list(map(asdict, refusals)), indent=1)
            with suppress(OSError):
                write_private(self._path, text.encode())


def kept_refusals() -> RefusedOptions:
    """Return the refusals that are kept with the user's connections."""
    return RefusedOptions(user_paths().config / "refused-options.json")


def without_refused(
    body: JsonObject, refusals: tuple[LearnedRefusal, ...]
) -> tuple[JsonObject, tuple[RefusedOption, ...]]:
    """Return a body without what its model refuses, and the options that were changed."""
    sent, refused = dict(body), list[RefusedOption]()
    for each in refusals:
        if each.option in sent:
            value = sent.pop(each.option)
            if each.instead:
                sent[each.instead] = value
            text = one_line(json.dumps(value, ensure_ascii=False), _MOST_VALUE)
            refused.append(RefusedOption(each.option, text, each.instead))
    return sent, tuple(refused)


def _believed(refusals: tuple[LearnedRefusal, ...]) -> tuple[LearnedRefusal, ...]:
    oldest = (datetime.now(UTC).date() - KEPT).isoformat()
    return tuple(each for each in refusals if each.learned > oldest)


def _refusals(text: str) -> tuple[LearnedRefusal, ...]:
    """Return the refusals of a file; an entry that cannot be read costs only itself."""
    try:
        entries = parse_json(text)
    except ValueError:
        return ()
    names = [each.name for each in fields(LearnedRefusal)]
    found: list[LearnedRefusal] = []
    for entry in entries if isinstance(entries, list) else []:
        values = [entry.get(name) if isinstance(entry, Mapping) else None for name in names]
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) == len(names):
            found.append(LearnedRefusal(*texts))
    return tuple(found)
