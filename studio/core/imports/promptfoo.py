"""promptfoo's configuration (YAML): its prompts, the first provider, and its tests as input sets.

Source: promptfoo's configuration reference: `prompts`, `providers`, `tests[].vars`,
`defaultTest.vars`; prompts are Nunjucks, of which the usual part is Jinja.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product

from studio.core.imports.compose import Composition, compose, declare_string, unique_titles
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.prompty.front.declarations import kind_of_value
from studio.core.prompty.front.front_matter import LEGACY_OPTIONS, SAME_OPTIONS
from studio.core.prompty.messages import Message, TextPart
from studio.core.prompty.templates import find_variables
from studio.core.prompty.threads import read_thread
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json, JsonObject

ReadFile = Callable[[str], str]
"""Reads a file beside the configuration; raises `ImportFailure` where it cannot."""

_MOST_SETS = 100
_COMMENT = re.compile(r"(?m)(?:^|(?<=[ \t]))#[ \t]?(.*)$")
_CARRIED = ("description", "prompts", "providers", "targets", "tests", "defaultTest")
_OPTION_WORDS = {**LEGACY_OPTIONS, **{name: name for name in SAME_OPTIONS}}


def is_promptfoo(data: Json) -> bool:
    """Whether a YAML document is a promptfoo configuration."""
    return isinstance(data, Mapping) and "prompts" in data and "template" not in data


def import_promptfoo(text: str, read: ReadFile, choose: int = 0) -> Imported:
    """One prompt of a configuration.

    Args:
        text: The YAML.
        read: Reads `file://…` prompts.
        choose: Which of its prompts, from 0.

    Raises:
        ImportFailure: it cannot be read, or has no such prompt.
    """
    data = read_yaml(text).value
    if not isinstance(data, Mapping):
        raise ImportFailure("The YAML cannot be read.")
    prompts = list(_prompts(data.get("prompts"), read))
    if not prompts:
        raise ImportFailure("The configuration holds no prompts.")
    if not 0 <= choose < len(prompts):
        raise ImportFailure(f"There are {len(prompts)} prompts; there is no number {choose + 1}.")
    names = unique_titles([name for name, _ in prompts])
    title, content = names[choose], prompts[choose][1]
    if isinstance(content, ImportFailure):
        raise content
    work = Composition(is_template=True)
    work.comments = _comments(text)
    if isinstance(data.get("description"), str):
        work.front["description"] = data["description"]
    model = _model(data, work)
    if model:
        work.front["model"] = model
    work.messages += _messages(content)
    sets = _sets(data, work)
    _inputs(work, sets)
    for key in data:
        if key not in _CARRIED:
            work.notes.append(f"{key}: has no place in a prompt file.")
    if len(prompts) > 1:
        others = ", ".join(name for index, name in enumerate(names) if index != choose)
        work.notes.append(f"This is the prompt {title!r}; the file also holds: {others}.")
    return Imported(
        compose(work), "promptfoo configuration", tuple(work.notes), sets,
        title=title, others=names if len(names) > 1 else (),
    )  # fmt: skip


def _prompts(value: Json, read: ReadFile) -> Iterator[tuple[str, Json | ImportFailure]]:
    """Name and content of each prompt: a text, a list of messages, or why it cannot be read."""
    items = value if isinstance(value, list) else [value]
    for number, item in enumerate(items, start=1):
        name, content = f"prompt {number}", item
        if isinstance(item, Mapping) and "role" not in item:
            name = str(item.get("label") or item.get("id") or name)
            content = item.get("raw") or item.get("prompt") or item.get("id")
        elif isinstance(item, Mapping):
            content = [item]
        if isinstance(content, str) and (
            content.startswith("file://")
            or re.fullmatch(r"[\w./-]+\.(?:txt|json|ya?ml|md)", content)
        ):
            path = content.removeprefix("file://")
            name = path if name.startswith("prompt ") else name
            try:
                content = read(path)
            except ImportFailure as failure:
                yield name, failure
                continue
            if path.endswith(".txt") and re.search(r"^---$", content, re.MULTILINE):
                for part, text in enumerate(re.split(r"(?m)^---$\n?", content), start=1):
                    if text.strip():
                        yield f"{name} ({part})", text.strip("\n")
                continue
        if content and isinstance(content, str | list):
            yield name, content


def _messages(content: Json) -> Iterator[Message]:
    """The messages of a prompt: JSON or YAML of a chat, otherwise one user message."""
    if isinstance(content, str):
        chat = _chat(content)
        if chat is None:
            yield Message("user", (TextPart(content.strip("\n")),))
            return
        content = chat
    yield from read_thread(content if isinstance(content, list) else [content], {}, None) or ()


def _chat(text: str) -> Json:
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            value: Json = parse_json(stripped)
        except ValueError:
            return None
    elif re.match(r"-\s+role:", stripped):
        value = read_yaml(stripped).value
    else:
        return None
    is_chat = isinstance(value, list) and all(
        isinstance(item, Mapping) and "role" in item for item in value
    )
    return value if is_chat else None


def _model(data: JsonObject, work: Composition) -> dict[str, Json]:
    """The first provider as the model; the others are told."""
    given = data.get("providers", data.get("targets"))
    providers = given if isinstance(given, list) else [given] if given else []
    if not providers:
        return {}
    first, settings = providers[0], {}
    if isinstance(first, Mapping):
        config = first.get("config")
        settings = dict(config) if isinstance(config, Mapping) else {}
        if "id" not in first and len(first) == 1:  # {openai:gpt-4o: {config: …}}
            key, inner = next(iter(first.items()))
            config = inner.get("config") if isinstance(inner, Mapping) else None
            first, settings = key, dict(config) if isinstance(config, Mapping) else {}
        else:
            first = first.get("id", "")
    if len(providers) > 1:
        work.notes.append(f"providers: only the first one, {first!r}, is the model.")
    words = str(first).split(":")
    found: dict[str, Json] = {"id": words[-1]}
    if len(words) > 1:
        found["provider"] = {"azureopenai": "foundry", "azure": "foundry"}.get(words[0], words[0])
    if "responses" in words[1:-1]:
        found["apiType"] = "responses"
    options: dict[str, Json] = {}
    further: dict[str, Json] = {}
    for key, value in settings.items():
        if key in _OPTION_WORDS:
            options[_OPTION_WORDS[key]] = (
                [value] if key == "stop" and isinstance(value, str) else value
            )
        elif key in ("apiKey", "apiKeyEnvar"):
            work.notes.append(f"providers.config.{key}: keys belong to a connection.")
        else:
            further[key] = value
    if further:
        options["additionalProperties"] = further
    if options:
        found["options"] = options
    return found


def _sets(data: JsonObject, work: Composition) -> dict[str, JsonObject]:
    """The tests' variables as input sets; what is asserted is told."""
    common = _vars(data.get("defaultTest"))
    tests = data.get("tests")
    if isinstance(tests, str):
        work.notes.append(f"tests: the file {tests!r} is not read.")
        return {}
    found: dict[str, JsonObject] = {}
    asserted = 0
    for number, test in enumerate(tests if isinstance(tests, list) else (), start=1):
        if not isinstance(test, Mapping):
            continue
        asserted += "assert" in test
        name = str(test.get("description") or f"test {number}")
        given = {**common, **_vars(test)}
        lists = {key: value for key, value in given.items() if isinstance(value, list)}
        if not lists:
            found[name] = given
            continue
        for index, row in enumerate(islice(product(*lists.values()), _MOST_SETS), start=1):
            found[f"{name} [{index}]"] = {**given, **dict(zip(lists, row, strict=True))}
    default = data.get("defaultTest")
    if asserted or (isinstance(default, Mapping) and "assert" in default):
        work.notes.append("tests: what they assert of answers has no place in a prompt file.")
    if not found and common:
        found["defaultTest"] = common
    return found


def _vars(test: Json) -> dict[str, Json]:
    values = test.get("vars") if isinstance(test, Mapping) else None
    return {str(key): item for key, item in values.items()} if isinstance(values, Mapping) else {}


def _inputs(work: Composition, sets: Mapping[str, JsonObject]) -> None:
    """An input for each variable that the prompt uses, with the first test's value as sample."""
    texts = "\n".join(
        part.text for item in work.messages if isinstance(item, Message)
        for part in item.parts if isinstance(part, TextPart)
    )  # fmt: skip
    variables, problems = find_variables(texts, work.format)
    for problem in problems:
        work.notes.append(f"The template needs a look: {problem.message}")
    first = next(iter(sets.values()), {})
    for name in dict.fromkeys(variable.name for variable in variables):
        declared = dict(declare_string())
        if name in first:
            declared["kind"] = kind_of_value(first[name])
            declared["sample"] = first[name]
        work.inputs[name] = declared


def _comments(text: str) -> list[str]:
    """Every comment of the file, in order: what begins with # and stands in no value."""
    entries = read_yaml(text).entries
    parents = {entry.path[:-1] for entry in entries}
    values = [entry.value for entry in entries if entry.path not in parents]
    return [
        found[1].rstrip()
        for found in _COMMENT.finditer(text)
        if not any(value.start <= found.start() < value.end for value in values)
    ]
