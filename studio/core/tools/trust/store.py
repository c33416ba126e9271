"""Which folders may run code, and the tools as the user allowed them, in the user's data folder.

Until a folder is trusted, no Python tool, MCP command or `${env:}` of it is run or read. A file can
never grant itself trust: nothing in a prompt, nor beside it, is looked at. The examples that come
with the studio are trusted.

Trust in a folder is not trust in what comes into it later: each server, and each variable that its
tools are given, is allowed as it was when the user agreed (`consent.py`). An approval is for a tool
as it was: its name, description, schema, marks, and where it is answered; a source that lists
another tool under the same name asks again. So the tools that each source had are kept, a
compressed file for each: the descriptions of a large API take megabytes.
"""

from __future__ import annotations

import gzip
import json
import tempfile
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
from studio.core.text.files import read_bounded, read_text, write_private
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolSource
from studio.core.tools.trust.suspicion import suspicions


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """All that an approval is given for."""

    name: str
    """The tool's name."""

    description: str
    """Description of the tool."""

    parameters: JsonObject
    """Its schema."""

    place: str
    """Address of the tool: a file, a command line, a method and address."""

    effects: str = ""
    """`effects`, `reads only`, or empty where it is not declared."""

    @property
    def digest(self) -> str:
        """Return the hash of the whole definition."""
        whole = [self.name, self.description, self.parameters, self.place, self.effects]
        text = json.dumps(whole, sort_keys=True, ensure_ascii=True, default=str)
        return sha256(text.encode()).hexdigest()

    def text(self) -> str:
        """Return the definition as a user reads it, in lines that can be compared."""
        schema = json.dumps(self.parameters, indent=2, ensure_ascii=False, default=str)
        marks = [self.effects] if self.effects else []
        return "\n".join([self.place, *marks, self.description, schema])


@dataclass(frozen=True, slots=True)
class ToolChange:
    """That a tool is not the one that was allowed."""

    now: ToolDefinition
    """The tool as it is."""

    before: ToolDefinition | None = None
    """The tool that it was; None where it is as it was, but was never allowed."""

    def lines(self) -> tuple[str, ...]:
        """Return the difference, each line with `+`, `-` or a blank in front."""
        if self.before is None:
            return ()
        found = unified_diff(f"{self.before.text()}\n", f"{self.now.text()}\n", context=1)
        return tuple(line for line in found.splitlines() if not line.startswith("@@"))


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool that a source has had."""

    definition: ToolDefinition
    """Definition when it was allowed, or first seen."""

    digest: str
    """The definition's digest, kept so that it is not worked out again."""

    is_allowed: bool = True
    """Whether it may be called without a question about what it is."""


def change_text(change: ToolChange) -> str:
    """Return why a tool asks because of what it is, with the difference."""
    if change.before is not None:
        return "\n".join(["The tool is not what it was:", *change.lines()])
    if not change.now.effects:
        return "The tool is new. Its source does not say whether it changes something."
    return "The tool is new: you have not allowed it yet."


def define(spec: ToolSpec, place: str) -> ToolDefinition:
    """Return a tool's definition as its source lists it."""
    effects = "has effects" if spec.has_effects else "reads only" if spec.reads_only else ""
    parameters = dict(spec.parameters)
    if spec.kind == "openapi":  # closed by the studio, not by its author; earlier ones were open
        parameters.pop("additionalProperties", None)
    return ToolDefinition(spec.name, spec.description, parameters, place, effects)


def review(
    specs: Iterable[ToolSpec],
    place_of: Callable[[str], str],
    known: Mapping[str, KnownTool] | None,
    *,
    is_own: bool = True,
) -> tuple[dict[str, ToolChange], dict[str, KnownTool]]:
    """Compare the tools of a source with those that it had.

    At first sight the functions of a Python file are taken as they are, but for those that do not
    declare whether they change something: they ask the first time. So do the tools of servers
    and services, whose annotations are hints of strangers. What comes later asks.

    Args:
        specs: the tools as the source lists them now.
        place_of: where a tool is answered.
        known: the tools that it had; None where it is seen for the first time.
        is_own: whether a file of the folder defines the tools.

    Returns:
        Those that ask, by name; and what is known from now on.
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
    """Return the store after the user has allowed tools in their present form."""
    fresh = {each.now.name: KnownTool(each.now, each.now.digest) for each in changes}
    return {**known, **fresh}


# Folders that are too wide to be trusted, and those that are trusted only by themselves.


class TooWideError(ValueError):
    """A folder is never trusted as a whole: what others write lies in it, too."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"The folder {folder} is never trusted as a whole; keep the prompt in a folder of its "
            "own, and trust that."
        )


def resolved(path: Path) -> Path:
    """Return a path with its links followed, as far as that is possible."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def is_too_wide(folder: Path) -> bool:
    """Return whether a folder is the home or temporary folder, or holds one of them."""
    return any(folder == each or folder in each.parents for each in _shared())


def is_repository(folder: Path) -> bool:
    """Return whether a folder is the root of a git repository or of a submodule."""
    return (folder / ".git").exists()


@cache
def _shared() -> tuple[Path, ...]:
    """Return the folders that any program of the user puts files into, resolved."""
    places = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]
    with suppress(RuntimeError):  # a user without a home
        places.append(Path.home())
    return tuple(dict.fromkeys(map(resolved, places)))


# What a folder's files want to start, reach and read, and what of it is allowed as it is.

WantKind: TypeAlias = Literal["command", "address", "variable", "file"]
"""A program that is started, a server that is reached, a variable or a file that is read."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A thing that is allowed as it is: another one under its name is another thing."""

    digest: str
    """Hash of the whole of it, also the parts that are not shown."""

    lines: tuple[str, ...] = ()
    """Lines that the user was shown, to show the difference when it changes."""


@dataclass(frozen=True, slots=True)
class Want:
    """One thing that a document wants."""

    kind: WantKind
    """Which kind."""

    text: str
    """The command line, address, name or path, as the user reads it."""

    of: str
    """Source of the request, for the user ("mcp: files"); empty for the prompt itself."""

    key: str = ""
    """By which it is allowed, where it must be allowed by itself ("mcp:files")."""

    folder: Path | None = None
    """The folder whose files name it, where it must be allowed by itself."""

    pin: Pin | None = None
    """Pin that would be allowed, if it needs an approval of its own."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something in a trusted folder that is not allowed as it is."""

    want: Want
    """Present request."""

    before: Pin | None = None
    """Pin that was allowed under the same name; None if it is new."""


Approval: TypeAlias = Literal["always", "once", "allow"]
"""Ask before every call, ask before the first call of a run, or do not ask."""


def stricter(*approvals: Approval) -> Approval:
    """Return the approval that asks most."""
    return min(approvals, key=("always", "once", "allow").index)


_FAST = 1

ANY_SOURCE = "*"
"""Source of a tool whose approval an older studio kept by its name only."""

WHOLE_FOLDER = ToolId(ANY_SOURCE, "*")
"""Id of all tools of a folder that have no approval of their own."""


class DefinitionStore:
    """Keeps what is known of the tools, by folder and source."""

    def __init__(self, place: Path) -> None:
        """Make a store; `place` is its folder, which need not exist."""
        self._place = place

    def read(self, folder: Path, source: str) -> dict[str, KnownTool] | None:
        """Return the known definitions of a source's tools; None if it was never seen.

        What is kept but cannot be read counts as seen, with no tool in it: then every tool asks.
        """
        try:
            text = gzip.decompress(read_bounded(self._file(folder, source)))
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
        write_private(self._file(folder, source), gzip.compress(text, _FAST))

    def forget(self, folder: Path) -> None:
        """Forget what is known of the sources of a folder, and of those below it."""
        for path in self._place.glob("*.json.gz"):
            try:
                named = Path(json.loads(gzip.decompress(read_bounded(path)))["folder"])
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


@dataclass(frozen=True)
class Trust:
    """The folders and things that the user allowed."""

    folders: frozenset[Path] = frozenset()
    """Trusted folders, resolved; what is below is trusted too."""

    approvals: Mapping[str, Mapping[ToolId, Approval]] = field(default_factory=dict)
    """Approval by folder (as text) and tool, where the user chose one."""

    allowed: Mapping[str, Mapping[str, Pin]] = field(default_factory=dict)
    """Things that are allowed one by one, by folder (as text) and key. A trusted folder without an
    entry was trusted before such things were looked at, or by a script."""

    def covers(self, path: Path) -> bool:
        """Return whether a file or folder lies in a trusted folder, after links are followed."""
        place = resolved(path)
        return place.is_relative_to(_bundled()) or self._trusted_at(place) is not None

    def is_bundled(self, path: Path) -> bool:
        """Return whether a file or folder came with the studio."""
        return resolved(path).is_relative_to(_bundled())

    def allowed_in(self, folder: Path) -> Mapping[str, Pin]:
        """Return the single approvals for the files of a folder."""
        return self.allowed.get(str(resolved(folder)), {})

    def approval(
        self, folder: Path, tool: ToolId, name: str = "", *, by_folder: bool = True
    ) -> Approval | None:
        """Return the approval that the user chose for a tool of a folder, or for all of the folder.

        Args:
            folder: the prompt's folder.
            tool: the tool; one of another source is another tool.
            name: the name by which the model calls it, as older studios kept approvals. A name
                that several sources use has a prefix, so that no such approval covers two tools.
            by_folder: whether the approval of the whole folder counts.
        """
        chosen = self.approvals.get(str(resolved(folder)), {})
        keys = [tool, ToolId(tool.source, name), ToolId(ANY_SOURCE, name)]
        keys += [WHOLE_FOLDER] if by_folder else []
        return next((chosen[key] for key in keys if key in chosen), None)

    def trusted_as(self, path: Path) -> Path | None:
        """Return the folder by whose trust a path is trusted; None for none, or bundled examples.

        A repository inside of a trusted folder is another's work, and trusted only by itself.
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
            TooWideError: nobody can know all that lies in it.
        """
        place = resolved(folder)
        if is_too_wide(place):
            raise TooWideError(place)
        return replace(self, folders=self.folders | {place})

    def without_folder(self, folder: Path) -> Trust:
        """Trust it no more, nor what was allowed of it.

        Folders below that were trusted themselves stay so.
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
        """Allow things as they are; the folder is known to be looked at from then on."""
        allowed = {name: dict(each) for name, each in self.allowed.items()}
        allowed.setdefault(str(resolved(folder)), {})
        for thing in things:
            if thing.folder is not None and thing.pin is not None:
                allowed.setdefault(str(resolved(thing.folder)), {})[thing.key] = thing.pin
        return replace(self, allowed=allowed)

    def adopted(self, folder: Path, things: Iterable[Want]) -> Trust:
        """Return the trust with what a folder names at first sight.

        Only where that folder was trusted itself before things were looked at one by one: the
        user's trust covered them.
        """
        root = self.trusted_as(folder)
        if root is None or root != resolved(folder) or str(root) in self.allowed:
            return self
        own = (thing for thing in things if thing.folder and resolved(thing.folder) == root)
        return self.with_allowed(root, own)

    def with_approval(self, folder: Path, tool: ToolId, approval: Approval | None) -> Trust:
        """Remember an approval, or with None forget it."""
        key = str(resolved(folder))
        tools = dict(self.approvals.get(key, {}))
        tools.pop(tool, None)
        if approval is not None:
            tools[tool] = approval
        return replace(self, approvals={**self.approvals, key: tools})


class TrustStore:
    """Keeps `Trust` in a file; read at every question, so that two windows agree."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or user_paths().data / "trust.json"
        self._read: tuple[tuple[int, int, int], Trust] | None = None
        self.definitions = DefinitionStore(self._path.with_suffix(".tools"))
        """Definitions of the tools when the user allowed them."""

    @property
    def current(self) -> Trust:
        """Return the present trust; an unreadable file allows nothing."""
        try:
            state = self._path.stat()
            stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
            if self._read is None or self._read[0] != stamp:
                self._read = (stamp, _from_json(json.loads(read_text(self._path))))
        except (OSError, ValueError):
            return Trust()
        return self._read[1]

    def is_trusted(self, path: Path) -> bool:
        """Return whether a file or folder lies in a trusted folder."""
        return self.current.covers(path)

    def trust(self, folder: Path, things: Iterable[Want] | None = None) -> None:
        """Trust a folder and everything below it.

        Args:
            folder: the folder.
            things: those that the user was shown, and that are allowed by this; None where nothing
                was shown: then what the folder names at first sight is allowed.

        Raises:
            TooWideError: nobody can know all that lies in it.
        """
        trust = self.current.with_folder(folder)
        self._write(trust if things is None else trust.with_allowed(folder, things))

    def allow(self, folder: Path, things: Iterable[Want]) -> None:
        """Remember that the user allows things of a trusted folder as they are."""
        self._write(self.current.with_allowed(folder, things))

    def adopt(self, folder: Path, things: Iterable[Want]) -> Trust:
        """Allow what a folder names at first sight, where `Trust.adopted` says so.

        Returns:
            What is allowed now.
        """
        before = self.current
        after = before.adopted(folder, things)
        if after is not before:
            self._write(after)
        return after

    def forget(self, folder: Path) -> None:
        """Trust a folder no more, and forget what its tools were."""
        self._write(self.current.without_folder(folder))
        self.definitions.forget(resolved(folder))

    def remember_approval(self, folder: Path, tool: ToolId, approval: Approval | None) -> None:
        """Keep the user's choice for a tool of a folder, as its source has it."""
        self._write(self.current.with_approval(folder, tool, approval))

    def _write(self, trust: Trust) -> None:
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
        return Trust()
    folders = data.get("folders")
    listed = folders if isinstance(folders, list) else ()
    return Trust(
        frozenset(Path(item) for item in listed if isinstance(item, str)),
        _approvals(data.get("approvals")),
        _allowed(data.get("allowed")),
    )


def _by_name(tools: Mapping[ToolId, Approval]) -> dict[str, dict[str, Approval]]:
    """Return approvals as the file has them: by the tool's name, then by its source."""
    found: dict[str, dict[str, Approval]] = {}
    for tool, when in tools.items():
        found.setdefault(tool.name, {})[tool.source] = when
    return found


def _approvals(data: object) -> dict[str, dict[ToolId, Approval]]:
    """Return the approvals of a file; older studios kept one a name, with its source or for any."""
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
    """Read the single approvals; an invalid entry allows nothing."""
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


# The tools of a folder's sources, compared with what they were when the user allowed them.


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
        """Return the warnings about the tools of a source, by name.

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
        """Return the tools of a source that changed since they were allowed, by name.

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
        """Allow tools of a source as they are now."""
        if self._folder is None:
            return
        after = allowed(self._store.read(self._folder, key) or self._known.get(key, {}), changes)
        self._store.write(self._folder, key, after)
        self._known[key] = after
        self._reviewed.pop(key, None)
