"""The trusted folders and the user's permissions for tools, stored in the user's data folder.

Until a folder is trusted, no Python tool, MCP command or `${env:}` reference of it is run or read.
A file can never grant itself trust: nothing in or beside a prompt is considered. The studio's
bundled examples are trusted.

Trust in a folder does not include later additions: each server, and each variable for its tools, is
allowed only in the form that the user agreed to (`consent.py`). An approval is for a tool in one
form: its name, description, schema, marks and place; if a source lists a changed tool under the
same name, the user is asked again. So the known tools of each source are stored in one compressed
file per source, because descriptions of a large API take megabytes.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from studio.core.paths import resource_root, user_paths
from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.text.diff import unified_diff
from studio.core.text.files import keep_aside, read_bounded, read_text, write_private
from studio.core.text.values import JsonObject, reason_of
from studio.core.tools.source import ToolSource
from studio.core.tools.trust.suspicion import suspicions


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """The properties of a tool that an approval covers."""

    name: str
    """Name of the tool."""

    description: str
    """Description of the tool."""

    parameters: JsonObject
    """Schema of the arguments."""

    place: str
    """Place of the tool: a file, a command line, a method and address."""

    effects: str = ""
    """`effects`, `reads only`, or empty if not declared."""

    @property
    def digest(self) -> str:
        """Hash of the whole definition."""
        whole = [self.name, self.description, self.parameters, self.place, self.effects]
        text = json.dumps(whole, sort_keys=True, ensure_ascii=True, default=str)
        return sha256(text.encode()).hexdigest()

    def text(self) -> str:
        """Return the definition as lines for the user, which can be compared."""
        schema = json.dumps(self.parameters, indent=2, ensure_ascii=False, default=str)
        marks = [self.effects] if self.effects else []
        return "\n".join([self.place, *marks, self.description, schema])


@dataclass(frozen=True, slots=True)
class ToolChange:
    """The difference between a tool and its allowed form."""

    now: ToolDefinition
    """The current tool."""

    before: ToolDefinition | None = None
    """The allowed tool; None if the tool is unchanged but was never allowed."""

    def lines(self) -> tuple[str, ...]:
        """Return the difference, each line beginning with `+`, `-` or a blank."""
        if self.before is None:
            return ()
        found = unified_diff(f"{self.before.text()}\n", f"{self.now.text()}\n", context=1)
        return tuple(line for line in found.splitlines() if not line.startswith("@@"))


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool known from a source."""

    definition: ToolDefinition
    """Definition when it was allowed or first seen."""

    digest: str
    """Digest of the definition, stored to save time."""

    is_allowed: bool = True
    """Whether it may be called without a question about its changes."""


def change_text(change: ToolChange) -> str:
    """Return why a tool needs approval because of its changes, with the difference."""
    if change.before is not None:
        return "\n".join(["The tool has changed:", *change.lines()])
    if not change.now.effects:
        return "The tool is new. Its source does not say whether it has side effects."
    return "The tool is new: you have not allowed it yet."


def define(spec: ToolSpec, place: str) -> ToolDefinition:
    """Return a tool's definition as listed by its source."""
    effects = "has effects" if spec.has_effects else "reads only" if spec.reads_only else ""
    parameters = dict(spec.parameters)
    if spec.kind == "openapi":  # the studio closes such schemas; earlier versions left them open
        parameters.pop("additionalProperties", None)
    return ToolDefinition(spec.name, spec.description, parameters, place, effects)


def review(
    specs: Iterable[ToolSpec],
    place_of: Callable[[str], str],
    known: Mapping[str, KnownTool] | None,
    *,
    is_own: bool = True,
) -> tuple[dict[str, ToolChange], dict[str, KnownTool]]:
    """Compare the tools of a source with the known ones.

    At first, the functions of a Python file are accepted, except for those that do not declare
    their effects, which need approval. So do tools of servers and services, whose annotations are
    only hints. Later additions and changes need approval.

    Args:
        specs: the tools listed by the source.
        place_of: returns the place of a tool.
        known: the known tools; None if the source is seen for the first time.
        is_own: whether a file of the folder defines the tools.

    Returns:
        The tools that need approval, by name; and the tools known from now on.
    """
    asking: dict[str, ToolChange] = {}
    after = dict(known or {})
    for spec in specs:
        now = define(spec, place_of(spec.name))
        digest = now.digest
        before = after.get(spec.name)
        if before is None:
            is_told = is_own and known is None and (spec.has_effects or spec.reads_only)
            before = after[spec.name] = KnownTool(now, digest, is_told)
        if before.digest != digest:
            asking[spec.name] = ToolChange(now, before.definition)
        elif not before.is_allowed:
            asking[spec.name] = ToolChange(now)
    return asking, after


def allowed(known: Mapping[str, KnownTool], changes: Iterable[ToolChange]) -> dict[str, KnownTool]:
    """Return the known tools after the user has allowed some in their current form."""
    fresh = {each.now.name: KnownTool(each.now, each.now.digest) for each in changes}
    return {**known, **fresh}


# Folders that are too wide to be trusted, and those that are only trusted individually.


class TooWideError(ValueError):
    """Raised for a folder that cannot be trusted as a whole, because others write into it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"The folder {folder} can never be trusted as a whole; move the prompt to a folder of "
            "its own, and trust that."
        )


def resolved(path: Path) -> Path:
    """Return a path with its links resolved as far as possible."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def is_too_wide(folder: Path) -> bool:
    """Return whether a folder is or contains the home or temporary folder."""
    return any(folder == each or folder in each.parents for each in _shared())


def is_repository(folder: Path) -> bool:
    """Return whether a folder is the root of a git repository or submodule."""
    return (folder / ".git").exists()


@cache
def _shared() -> tuple[Path, ...]:
    """Return the folders into which any program of the user writes, resolved."""
    places = [Path("/tmp"), Path("/var/tmp")]
    with suppress(OSError):  # on a full disk none is usable
        places.append(Path(tempfile.gettempdir()))
    with suppress(RuntimeError):  # a user without a home folder
        places.append(Path.home())
    return tuple(dict.fromkeys(map(resolved, places)))


# Things that a folder's files request, and those allowed in their form.

WantKind: TypeAlias = Literal["command", "address", "variable", "file"]
"""Kind of request: a program to start, a server to reach, a variable or a file to read."""


@dataclass(frozen=True, slots=True)
class Pin:
    """The allowed form of a thing: a different one under the same name is not allowed."""

    digest: str
    """Hash of the whole thing, including hidden parts."""

    lines: tuple[str, ...] = ()
    """Lines shown to the user, for the difference after a change."""


@dataclass(frozen=True, slots=True)
class Want:
    """A request of a document."""

    kind: WantKind
    """Kind of request."""

    text: str
    """Command line, address, name or path, for the user."""

    of: str
    """Origin of the request, for the user ("mcp: files"); empty for the prompt itself."""

    key: str = ""
    """Key of its permission, if it needs an individual one ("mcp:files"); else empty."""

    folder: Path | None = None
    """Folder whose files name it, if it needs an individual permission."""

    pin: Pin | None = None
    """Pin to allow, if it needs an individual permission."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A request in a trusted folder that is not allowed in its current form."""

    want: Want
    """The current request."""

    before: Pin | None = None
    """The allowed pin under the same name; None if it is new."""


Approval: TypeAlias = Literal["always", "once", "allow"]
"""Ask before every call, before the first call of a run, or never."""


def stricter(*approvals: Approval) -> Approval:
    """Return the strictest of the approvals."""
    return min(approvals, key=("always", "once", "allow").index)


_FAST = 1

ANY_SOURCE = "*"
"""Placeholder for the source of a tool whose approval an older studio stored by name only."""

WHOLE_FOLDER = ToolId(ANY_SOURCE, "*")
"""Id for all tools of a folder without their own approval."""


_DAMAGES = (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError)
"""Errors of reading a damaged file of definitions."""


class DefinitionStore:
    """The known tools, by folder and source."""

    def __init__(self, place: Path) -> None:
        """Create the store; `place` is its folder, which need not exist."""
        self._place = place

    def read(self, folder: Path, source: str) -> dict[str, KnownTool] | None:
        """Return the known definitions of a source's tools; None if it was never seen.

        An unreadable file counts as an empty list, so that every tool needs approval.
        """
        try:
            text = gzip.decompress(read_bounded(self._file(folder, source)))
            tools = json.loads(text)["tools"]
            return {name: _known(name, item) for name, item in tools.items()}
        except FileNotFoundError:
            return None
        except _DAMAGES:
            return {}

    def write(self, folder: Path, source: str, known: Mapping[str, KnownTool]) -> None:
        """Store the known tools of a source."""
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
        write_private(self._file(folder, source), gzip.compress(text, _FAST))

    def forget(self, folder: Path) -> None:
        """Delete the known tools of a folder's sources, including folders below it."""
        for path in self._place.glob("*.json.gz"):
            try:
                named = Path(json.loads(gzip.decompress(read_bounded(path)))["folder"])
            except _DAMAGES:
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


@dataclass(frozen=True)
class Trust:
    """The folders and things that the user allowed."""

    folders: frozenset[Path] = frozenset()
    """Trusted folders, resolved; folders below them are trusted too."""

    approvals: Mapping[str, Mapping[ToolId, Approval]] = field(default_factory=dict)
    """The user's approvals, by folder (as text) and tool."""

    allowed: Mapping[str, Mapping[str, Pin]] = field(default_factory=dict)
    """Individually allowed things, by folder (as text) and key. A trusted folder without an entry
    was trusted before this existed, or by a script.
    """

    def covers(self, path: Path) -> bool:
        """Return whether a file or folder, with links resolved, is in a trusted folder."""
        place = resolved(path)
        return place.is_relative_to(_bundled()) or self._trusted_at(place) is not None

    def is_bundled(self, path: Path) -> bool:
        """Return whether a file or folder is bundled with the studio."""
        return resolved(path).is_relative_to(_bundled())

    def allowed_in(self, folder: Path) -> Mapping[str, Pin]:
        """Return the individual permissions for the files of a folder."""
        return self.allowed.get(str(resolved(folder)), {})

    def approval(
        self, folder: Path, tool: ToolId, name: str = "", *, by_folder: bool = True
    ) -> Approval | None:
        """Return the user's approval for a tool of a folder, or for the whole folder.

        Args:
            folder: the prompt's folder.
            tool: the tool, including its source.
            name: the model's name of the tool, under which older studios stored approvals. A name
                used by several sources has a prefix, so that no such approval covers two tools.
            by_folder: whether to use the approval of the whole folder.
        """
        chosen = self.approvals.get(str(resolved(folder)), {})
        keys = [tool, ToolId(tool.source, name), ToolId(ANY_SOURCE, name)]
        keys += [WHOLE_FOLDER] if by_folder else []
        return next((chosen[key] for key in keys if key in chosen), None)

    def trusted_as(self, path: Path) -> Path | None:
        """Return the folder whose trust covers a path; None for none, or bundled examples.

        A repository inside a trusted folder may be someone else's, and must be trusted separately.
        """
        return self._trusted_at(resolved(path))

    def _trusted_at(self, place: Path) -> Path | None:
        places = (place, *place.parents)
        found = next((each for each in places if each in self.folders), None)
        if found is None or is_too_wide(found):
            return None
        return None if any(map(is_repository, places[: places.index(found)])) else found

    def with_folder(self, folder: Path) -> Trust:
        """Return the trust with one more folder.

        Raises:
            TooWideError: the folder is too wide to be trusted.
        """
        place = resolved(folder)
        if is_too_wide(place):
            raise TooWideError(place)
        return replace(self, folders=self.folders | {place})

    def without_folder(self, folder: Path) -> Trust:
        """Return the trust without a folder and its permissions.

        Folders below that were trusted separately stay trusted.
        """
        gone = resolved(folder)
        left = replace(self, folders=self.folders - {gone})

        def stays(name: str) -> bool:
            return gone not in (Path(name), *Path(name).parents) or left.covers(Path(name))

        return replace(
            left,
            approvals={name: each for name, each in self.approvals.items() if stays(name)},
            allowed={name: each for name, each in self.allowed.items() if stays(name)},
        )

    def with_allowed(self, folder: Path, things: Iterable[Want]) -> Trust:
        """Return the trust with things allowed in their current form, the folder as reviewed."""
        allowed = {name: dict(each) for name, each in self.allowed.items()}
        allowed.setdefault(str(resolved(folder)), {})
        for thing in things:
            if thing.folder is not None and thing.pin is not None:
                allowed.setdefault(str(resolved(thing.folder)), {})[thing.key] = thing.pin
        return replace(self, allowed=allowed)

    def adopted(self, folder: Path, things: Iterable[Want]) -> Trust:
        """Return the trust with the things that a folder requests at first.

        Only for a folder that was trusted before individual permissions existed, because that trust
        covered them.
        """
        root = self.trusted_as(folder)
        if root is None or root != resolved(folder) or str(root) in self.allowed:
            return self
        own = (thing for thing in things if thing.folder and resolved(thing.folder) == root)
        return self.with_allowed(root, own)

    def with_approval(self, folder: Path, tool: ToolId, approval: Approval | None) -> Trust:
        """Return the trust with an approval set, or removed for None."""
        key = str(resolved(folder))
        tools = dict(self.approvals.get(key, {}))
        tools.pop(tool, None)
        if approval is not None:
            tools[tool] = approval
        return replace(self, approvals={**self.approvals, key: tools})


class TrustStore:
    """The file of a `Trust`, which is read at every use, so that two windows agree."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or user_paths().data / "trust.json"
        self._read: tuple[tuple[int, int, int], Trust] | None = None
        self.definitions = DefinitionStore(self._path.with_suffix(".tools"))
        """Definitions of the tools when the user allowed them."""

    @property
    def current(self) -> Trust:
        """Return the current trust; an unreadable file allows nothing, and `fault` says why."""
        try:
            return self._load()
        except (OSError, ValueError):
            return Trust()

    @property
    def fault(self) -> str:
        """Return why the file allows nothing, and what to do; empty if it can be read."""
        try:
            self._load()
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{self._path} cannot be read ({reason_of(error)}): no folder counts as trusted"
        except ValueError:
            return (
                f"{self._path} is damaged: no folder counts as trusted. It is kept as "
                "trust.broken.json when you next trust a folder"
            )
        return ""

    def _load(self) -> Trust:
        state = self._path.stat()
        stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, _from_json(json.loads(read_text(self._path))))
        return self._read[1]

    def is_trusted(self, path: Path) -> bool:
        """Return whether a file or folder is in a trusted folder."""
        return self.current.covers(path)

    def trust(self, folder: Path, things: Iterable[Want] | None = None) -> None:
        """Trust a folder and everything below it.

        Args:
            folder: the folder.
            things: the things that the user was shown and allows; None if none were shown: then the
                folder's first requests are allowed.

        Raises:
            TooWideError: the folder is too wide to be trusted.
        """
        trust = self.current.with_folder(folder)
        self._write(trust if things is None else trust.with_allowed(folder, things))

    def allow(self, folder: Path, things: Iterable[Want]) -> None:
        """Allow things of a trusted folder in their current form."""
        self._write(self.current.with_allowed(folder, things))

    def adopt(self, folder: Path, things: Iterable[Want]) -> Trust:
        """Allow the things that a folder requests at first, if `Trust.adopted` does.

        Returns:
            The new trust; the old one if the file cannot be written.
        """
        before = self.current
        after = before.adopted(folder, things)
        if after is not before:
            try:
                self._write(after)
            except OSError:
                return before
        return after

    def forget(self, folder: Path) -> None:
        """Remove the trust in a folder, and its known tools."""
        self._write(self.current.without_folder(folder))
        self.definitions.forget(resolved(folder))

    def remember_approval(self, folder: Path, tool: ToolId, approval: Approval | None) -> None:
        """Store the user's approval for a tool of a folder."""
        self._write(self.current.with_approval(folder, tool, approval))

    def _write(self, trust: Trust) -> None:
        try:
            self._load()
        except FileNotFoundError:
            pass
        except ValueError:
            keep_aside(self._path)
        text = json.dumps(
            {
                "folders": sorted(str(folder) for folder in trust.folders),
                "approvals": {folder: _by_name(tools) for folder, tools in trust.approvals.items()},
                "allowed": {
                    folder: {key: [pin.digest, *pin.lines] for key, pin in things.items()}
                    for folder, things in trust.allowed.items()
                },
            },
            ensure_ascii=False,
            indent=2,
        )
        write_private(self._path, f"{text}\n".encode())


def _from_json(data: object) -> Trust:
    if not isinstance(data, dict):
        raise ValueError("it is no object")
    folders = data.get("folders")
    listed = folders if isinstance(folders, list) else ()
    return Trust(
        frozenset(Path(item) for item in listed if isinstance(item, str)),
        _approvals(data.get("approvals")),
        _allowed(data.get("allowed")),
    )


def _by_name(tools: Mapping[ToolId, Approval]) -> dict[str, dict[str, Approval]]:
    """Return approvals in the file's form: by the tool's name, then by its source."""
    found: dict[str, dict[str, Approval]] = {}
    for tool, when in tools.items():
        found.setdefault(tool.name, {})[tool.source] = when
    return found


def _approvals(data: object) -> dict[str, dict[ToolId, Approval]]:
    """Return the approvals of a file; older studios stored one per name."""
    found: dict[str, dict[ToolId, Approval]] = {}
    for folder, tools in data.items() if isinstance(data, dict) else ():
        found[folder] = {}
        for name, kept in tools.items() if isinstance(tools, dict) else ():
            match kept:
                case [when, str() as source]:
                    sources = {source: when}
                case dict():
                    sources = kept
                case _:
                    sources = {ANY_SOURCE: kept}
            for source, when in sources.items():
                if when in get_args(Approval):
                    found[folder][ToolId(source, name)] = when
    return found


def _allowed(data: object) -> dict[str, dict[str, Pin]]:
    """Return the individual permissions; an invalid entry allows nothing."""
    found: dict[str, dict[str, Pin]] = {}
    for folder, things in data.items() if isinstance(data, dict) else ():
        found[folder] = {}
        for key, texts in things.items() if isinstance(things, dict) else ():
            match texts:
                case [str() as digest, *lines]:
                    found[folder][key] = Pin(digest, tuple(str(line) for line in lines))
    return found


@cache
def _bundled() -> Path:
    return resource_root().resolve() / "examples"


# The tools of a folder's sources, compared with their allowed form.


class ToolReview:
    """A review of the tools of one folder that need approval because of changes."""

    def __init__(self, folder: Path | None, trust: TrustStore) -> None:
        """Create a review.

        Args:
            folder: the prompt's folder; None while it is not saved.
            trust: store of the known tools; those of bundled examples are always allowed.
        """
        is_bundled = folder is not None and trust.current.is_bundled(folder)
        self._folder = None if folder is None or is_bundled else folder.resolve()
        self._store = trust.definitions
        self._known: dict[str, Mapping[str, KnownTool]] = {}
        self._reviewed: dict[str, tuple[object, Mapping[str, ToolChange]]] = {}
        self._marked: dict[str, tuple[object, Mapping[str, tuple[str, ...]]]] = {}

    def marks(self, key: str, specs: tuple[ToolSpec, ...]) -> Mapping[str, tuple[str, ...]]:
        """Return the warnings about the tools of a source, by name.

        Args:
            key: the source's key.
            specs: its tools.
        """
        before = self._marked.get(key)
        if before is None or before[0] != specs:  # called at every pause in typing
            found = {spec.name: marks for spec in specs if (marks := suspicions(spec))}
            before = self._marked[key] = (specs, found)
        return before[1]

    def changes(
        self, key: str, source: ToolSource, specs: tuple[ToolSpec, ...]
    ) -> Mapping[str, ToolChange]:
        """Return the tools of a source that changed since they were allowed, by name.

        Args:
            key: the source's key.
            source: the source, which was just listed.
            specs: its tools.
        """
        if self._folder is None:
            return {}
        seen = specs, tuple(source.place_of(spec.name) for spec in specs)
        before = self._reviewed.get(key)
        if before is not None and before[0] == seen:
            return before[1]  # called at every pause in typing
        known = self._store.read(self._folder, key)
        asking, after = review(specs, source.place_of, known, is_own=key.startswith("python:"))
        if after != known:
            with suppress(OSError):  # on a full disk the tools are compared anew the next time
                self._store.write(self._folder, key, after)
        self._known[key] = after
        self._reviewed[key] = (seen, asking)
        return asking

    def allow(self, key: str, changes: Iterable[ToolChange]) -> None:
        """Allow tools of a source in their current form."""
        if self._folder is None:
            return
        after = allowed(self._store.read(self._folder, key) or self._known.get(key, {}), changes)
        self._store.write(self._folder, key, after)
        self._known[key] = after
        self._reviewed.pop(key, None)
