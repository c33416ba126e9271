"""The parts of a promptfoo configuration: its prompts, and the assertions of its tests.

Prompts are texts, files, patterns of files, or chats as JSON or YAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from studio.core.imports.compose import read_items
from studio.core.imports.imported import ImportFailure
from studio.core.prompty.document import Message, TextPart
from studio.core.prompty.threads import PART_KINDS, part_kind
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.values import Json, JsonObject, objects_of, parse_json

ReadFile: TypeAlias = Callable[[str], str]
"""Function that reads a file beside the configuration; raises `ImportFailure` if it cannot."""

FindFiles: TypeAlias = Callable[[str], Sequence[str]]
"""Function that returns the files beside the configuration that match a pattern, in order."""

_YAML_HEAD = re.compile(r"\A(?:[ \t]*(?:#.*)?\n|---[ \t]*\n)+")
"""Matches comments before the messages of a YAML file, which are not part of them."""

CHAT_ITEM = re.compile(r"-\s+(?:role|content):")
"""Matches the start of a chat in YAML."""

_PAIRS = re.compile(r"(\{%-?\s*for\s+\w+\s*,\s*\w+\s+in\s+)(\w[\w.]*)(\s*-?%\})")


def as_jinja(text: str) -> str:
    """Return a template whose loops over pairs also accept an object, as in Nunjucks."""
    return _PAIRS.sub(r"\1(\2.items() if \2 is mapping else \2)\3", text)


_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_LENGTH = re.compile(r"(?<![\w.])([A-Za-z_]\w*(?:\.\w+)*)\.length\b(?!\()")
_FILTER = re.compile(r"\|\s*(load|dump)\b")


def as_nunjucks(text: str) -> str:
    """Return a promptfoo template with Nunjucks' `load`, `dump`, `.length` converted to Jinja."""

    def tag(found: re.Match[str]) -> str:
        return _FILTER.sub(r"|promptfoo.\1", _LENGTH.sub(r"(\1|promptfoo.length)", found[0]))

    return _TAG.sub(tag, as_jinja(text))


def prompts_of(
    value: Json, read: ReadFile, find: FindFiles
) -> Iterator[tuple[str, Json | ImportFailure]]:
    """Yield each prompt's name and content: a text, a list of messages, or a failure."""
    if isinstance(value, Mapping) and not {"id", "raw", "prompt", "role"} & set(value):
        value = [{"id": path, "label": label} for path, label in value.items()]
    items = [
        each
        for item in (value if isinstance(value, list) else [value])
        for each in _found(item, find)
    ]
    for number, item in enumerate(items, start=1):
        name, content = f"prompt {number}", item
        if isinstance(item, Mapping) and "role" not in item:
            name = str(item.get("label") or item.get("id") or name)
            content = item.get("raw") or item.get("prompt") or item.get("id")
        elif isinstance(item, Mapping):
            content = [item]
        if isinstance(content, str) and (
            content.startswith("file://")
            or re.fullmatch(
                r"[\w./-]+\.(?:txt|jsonl?|ya?ml|md|j2|csv|[cm]?js|ts|py)(?::\w+)?", content
            )
        ):
            path = content.removeprefix("file://")
            name = path if name.startswith("prompt ") else name
            try:
                if re.search(r"\.(?:py|js|ts|mjs|cjs)(?::\w+)?$", path):
                    raise ImportFailure(
                        f"{path} is a function that creates the prompt, not a text."
                    )
                if path.endswith((".csv", ".jsonl")):
                    raise ImportFailure(f"{path} is a table of prompts; copy one into a .txt file.")
                content = read(path)
            except ImportFailure as failure:
                yield name, failure
                continue
            if path.endswith(".txt"):
                yield from _texts_of(name, content.strip())
                continue
            if path.endswith((".yaml", ".yml")):
                content = _YAML_HEAD.sub("", content)
        if content and isinstance(content, str | list):
            yield name, content


def _texts_of(name: str, content: str) -> Iterator[tuple[str, str]]:
    """Yield the prompts of a text file, which are separated by lines of `---`."""
    texts = re.split(r"(?m)^---$\n?", content)
    for part, text in enumerate(texts, start=1):
        if text.strip():
            yield (f"{name} ({part})" if len(texts) > 1 else name), text.strip()


def _found(item: Json, find: FindFiles) -> Iterator[Json]:
    """Yield the item, or one item per file if it is a pattern of file names."""
    word = item.removeprefix("file://") if isinstance(item, str) else ""
    names = find(word) if "*" in word and not re.search(r"\s", word) else ()
    yield from names or (item,)


def messages_of(content: Json, as_template: Callable[[str], str] = as_jinja) -> Iterator[Message]:
    """Yield the messages of a prompt: a chat in JSON or YAML, otherwise one user message.

    Args:
        content: a text, or a list of messages.
        as_template: converts a Nunjucks template to Jinja.
    """
    if isinstance(content, str):
        content = as_template(content)
        chat = _chat(content)
        if chat is None:
            yield Message("user", (TextPart(content),))
            return
        content = chat
    yield from read_items(content if isinstance(content, list) else [content])


def template_notes(content: Json) -> Iterator[str]:
    """Yield what a prompt file does not do: read JSON in a template, keep outer line breaks."""
    if any(each.text.strip("\n") != each.text for each in messages_of(content)):
        yield "prompts: line ends at the ends of a message are not preserved."
    if isinstance(content, str) and re.match(r"\s*\[\s*\{", content) and "{%" in content:
        yield (
            "prompts: the template creates the JSON of a chat, which is one text here; write its "
            "messages as sections inside the loop."
        )


def _chat(text: str) -> Json:
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            value: Json = parse_json(stripped)
        except ValueError:
            return None
    elif CHAT_ITEM.match(stripped):
        value = read_yaml(stripped).value
    else:
        return None
    return value if is_chat(value) else None


def unread_part(content: Json) -> str:
    """Return the kind of the first unsupported part of a chat; empty if there is none."""
    chat = _chat(content) if isinstance(content, str) else content
    parts = (
        part
        for message in objects_of(chat)
        if isinstance(message.get("content"), list)
        for part in objects_of(message.get("content"))
    )
    return next((kind for kind in map(part_kind, parts) if kind not in PART_KINDS), "")


def is_chat(value: Json) -> bool:
    """Return whether a value is a list of messages with roles."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, Mapping) and "role" in item for item in value)
    )


_KEYS = (
    "description",
    "providers",
    "targets",
    "tests",
    "defaultTest",
    "scenarios",
    "assertionTemplates",
    "evaluateOptions",
)
"""Keys of a configuration that also exist in experiment files."""


def asserted_experiment(data: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the experiment without prompts, and its notes; empty without assertions.

    Args:
        data: promptfoo's configuration.
    """
    tests = list(_tests(data))
    files = [item for item in tests if isinstance(item, str)]
    if not files and not any(isinstance(item, Mapping) and item.get("assert") for item in tests):
        return {}, ()
    lines = ["tests: their assertions are saved in an experiment file beside the prompt."]
    if files:
        lines.append(f"tests: {', '.join(files)} must be in the folder of that file.")
    return {key: data[key] for key in _KEYS if key in data}, tuple(lines)


def _tests(data: JsonObject) -> Iterator[Json]:
    """Yield all tests, also the default and those of scenarios; a text names a file of tests."""
    yield data.get("defaultTest")
    yield from _list(data.get("tests"))
    for scene in _list(data.get("scenarios")):
        if isinstance(scene, Mapping):
            yield from _list(scene.get("config"))
            yield from _list(scene.get("tests"))


def _list(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


_COMMENT = re.compile(r"(?m)(?:^|(?<=[ \t]))#[ \t]?(.*)$")


def head_comments(text: str) -> list[str]:
    """Return the comments at the head of the file, without those inside its blocks."""
    entries = read_yaml(text).entries
    text = text[: min((entry.key.start for entry in entries), default=len(text))]
    parents = {entry.path[:-1] for entry in entries}
    values = [entry.value for entry in entries if entry.path not in parents]
    return [
        found[1].rstrip()
        for found in _COMMENT.finditer(text)
        if not any(value.start <= found.start() < value.end for value in values)
    ]
