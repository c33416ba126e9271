"""The result of an import, its errors, and the interface of importers."""

import json
import re
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from studio.core.prompty.document import (
    MediaPart,
    Message,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.prompty.yaml.reader import write_yaml
from studio.core.text.source import Problem, SourceText
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json, reason_of


@dataclass(frozen=True, slots=True)
class Imported:
    """A prompt file converted from another format. Nothing is written by creating it."""

    text: str
    """Text of the `.prompty` file."""

    form: str
    """Format of the source, for the user: "OpenAI chat completions request"."""

    notes: tuple[str, ...] = ()
    """Notes on what is not carried over, or in another form, a sentence each."""

    input_sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """Imported values (promptfoo's tests), by name."""

    experiment: JsonObject = field(default_factory=dict)
    """Imported experiment (promptfoo's assertions), without its prompts, or one for the input sets;
    empty if there is none.
    """

    answers: tuple[JsonObject, ...] = ()
    """Recorded results of its tools, as lines of saved calls."""

    title: str = ""
    """Name of the prompt; empty if the file has none."""

    others: tuple[str, ...] = ()
    """Names of all prompts in the file, in order, including the chosen one; empty if there is only
    one.
    """

    def answers_text(self) -> str:
        """Return the content of the file of saved calls."""
        return "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in self.answers)

    def experiment_text(self, prompt: Path) -> str:
        """Return the experiment file for the prompt file at a path.

        Without its own tests it uses the input sets, with the recorded results as mocks.
        """
        made: JsonDict = {"prompts": [prompt.name], **self.experiment}
        if "tests" not in made and self.input_sets:
            made["tests"] = [f"file://{prompt.stem}.inputs.json"]
        if "mocks" not in made and self.answers:
            tools = dict.fromkeys(str(each["tool"]) for each in self.answers)
            made["mocks"] = dict.fromkeys(tools, f"file://{prompt.stem}.calls.jsonl")
        return "\n".join(write_yaml(made)) + "\n"


def experiment_path(prompt: Path) -> Path:
    """Return the path of the experiment for an imported prompt."""
    return prompt.with_name(f"{prompt.stem}.experiment.yaml")


class ImportFailure(Exception):  # noqa: N818 - it is no failure of the program
    """Raised when a text cannot be imported; the message is a sentence for the user."""


def failure_at(source: SourceText, problem: Problem) -> ImportFailure:
    """Return the failure of an import because of a problem, with its line."""
    line = source.position(problem.span.start).line
    return ImportFailure(f"Line {line}: {problem.message}")


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file of another format, read once for every importer."""

    text: str
    """The file's text."""

    data: Json
    """The text parsed as JSON or YAML; None if it is neither, or was not parsed."""

    path: Path | None
    """Path of the file; None for a pasted text."""

    read_beside: Callable[[str], str]
    """Function that reads a file beside this one; raises `ImportFailure` if it is outside the
    folder or unreadable.
    """


class Importer(Protocol):
    """An importer of one format."""

    @property
    def name(self) -> str:
        """Name of the format for the user: "promptfoo configuration"."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Lower-case suffixes of its files, with their dots."""
        ...

    def accepts(self, source: ImportSource) -> bool:
        """Return whether the content of the file has this format."""
        ...

    def read(self, source: ImportSource, choose: int) -> Imported:
        """Convert the file to a prompt file.

        Args:
            source: the file.
            choose: index of the prompt, if it contains several.

        Raises:
            ImportFailure: it cannot be imported; the text says what to do.
        """
        ...


# Objects that record which keys an importer read, so that unread keys can be reported.

_SHAPES = ("type", "object", "lc", "_type")
"""Keys that only identify the kind of an object."""


class Record(JsonDict):
    """An object that records which of its keys were read; iterating over all reads all."""

    def __init__(self, data: JsonObject) -> None:
        super().__init__({str(key): recorded(value) for key, value in data.items()})
        self.read: set[str] = set()
        """Keys that were read."""

    def __getitem__(self, key: str) -> Json:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Json = None) -> Json:  # type: ignore[override]
        """Return the value of a key and mark it as read."""
        self.read.add(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        # Overridden so that `{**record}` and `dict(record)` read each key.
        return super().__iter__()

    def items(self) -> ItemsView[str, Json]:  # type: ignore[override]
        """Return all pairs and mark every key as read."""
        self.read.update(self)
        return super().items()

    def values(self) -> ValuesView[Json]:  # type: ignore[override]
        """Return all values and mark every key as read."""
        self.read.update(self)
        return super().values()


def recorded(value: Json) -> Json:
    """Return a value whose objects record which keys are read."""
    if isinstance(value, Mapping):
        return Record(value)
    return [recorded(each) for each in value] if isinstance(value, list | tuple) else value


def implied(value: Json, *keys: str) -> None:
    """Mark all keys of a value as read, because the prompt file expresses them otherwise."""
    if isinstance(value, Record):
        value.read.update(keys)


def with_unread_keys(data: Json, make: Callable[[Json], Imported]) -> Imported:
    """Convert data to a prompt file, and add a note for each key that was not read."""
    record = recorded(data)
    made = make(record)
    unread = dict.fromkeys(_unread(record, ""))
    notes = (f"{path}: is not possible in a prompt file; it is left out." for path in unread)
    return replace(made, notes=tuple(dict.fromkeys((*made.notes, *notes))))


def _unread(value: Json, path: str) -> Iterator[str]:
    """Yield the dotted paths of unread keys; `[]` is any item of a list."""
    if isinstance(value, list):
        for item in value:
            yield from _unread(item, f"{path}[]")
    if not isinstance(value, Record):
        return
    for key, inner in dict.items(value):
        dotted = f"{path}.{key}" if path else key
        if key in value.read:
            yield from _unread(inner, dotted)
        elif key not in _SHAPES and inner not in (None, "", [], {}):
            yield dotted


# Reads the messages of an exported Markdown document.


MESSAGES = "\n## Messages\n"
"""Heading above the messages."""

_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<kind>[^\n]*)\n(?P<text>.*?)\n?^(?P=fence)$", re.M | re.S)
_HEADING = re.compile(r"^### \d+\. (?P<role>\w+)", re.MULTILINE)


def read_markdown(text: str) -> tuple[Message, ...]:
    """Read the messages of a document; empty if the studio did not export it.

    Raises:
        ImportFailure: a block of it cannot be read.
    """
    start = text.find(MESSAGES)
    if start < 0:
        return ()
    heads: list[tuple[int, Role]] = []
    blocks: list[tuple[int, Part]] = []
    at = start
    while at < len(text):
        block = _BLOCK.search(text, at)
        limit = block.start() if block else len(text)
        heads += [
            (found.start(), found["role"])  # type: ignore[misc]
            for found in _HEADING.finditer(text, at, limit)
        ]
        if block is None:
            break
        try:
            blocks.append((block.start(), _part(block["kind"], block["text"])))
        except (ValueError, TypeError, KeyError) as error:
            line = text.count("\n", 0, block.start()) + 1
            raise ImportFailure(
                f"Line {line}: the block {block['kind']!r} cannot be read: {reason_of(error)}; "
                "write it like the export, or remove it."
            ) from error
        at = block.end()
    made = []
    for index, (place, role) in enumerate(heads):
        end = heads[index + 1][0] if index + 1 < len(heads) else len(text)
        made.append(Message(role, tuple(part for at, part in blocks if place < at < end)))
    return tuple(made)


def _part(kind: str, text: str) -> Part:
    match kind:
        case "result":
            return ToolResultPart(text)
        case "json media":
            data: Any = parse_json(text)
            return MediaPart(data["kind"], str(data["source"]), {**data["attributes"]}, data["alt"])
        case "json call":
            call: Any = parse_json(text)
            return ToolCallPart(str(call["id"]), str(call["name"]), str(call["arguments"]))
        case _:
            return TextPart(text)
