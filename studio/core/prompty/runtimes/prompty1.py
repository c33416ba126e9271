"""The rules of Prompty 1's last runtime (`prompty` 0.1.50), reimplemented.

`make interop` compares each of them with the package.
"""

import re
from collections.abc import Iterator, Mapping

from studio.core.prompty.body.media import find_media
from studio.core.prompty.document import MediaPart, Message, Part, PromptDocument, TextPart
from studio.core.prompty.foreign import split_front_matter
from studio.core.prompty.front.schema import LEGACY_KEYS
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.reference_values import find_references, whole_reference
from studio.core.prompty.runtimes.prompty2 import (
    CannotRender,
    RuntimeRefusal,
    render_chevron,
    render_jinja,
)
from studio.core.prompty.templates.writer import LIMIT
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonObject

RUNTIME = "prompty 0.1.50"
"""Name of the program in a sentence."""

ROOT_KEYS = LEGACY_KEYS["root"].union(
    ("name", "description", "model", "inputs", "outputs", "template")
)
"""Allowed root keys; others prevent it from loading the file."""

MODEL_KEYS = LEGACY_KEYS["model"]
"""Allowed keys of `model`."""

PROPERTY_KEYS = frozenset({"type", "default", "description"})
"""Allowed keys of an input or output."""

ROLES = ("assistant", "function", "system", "user")
"""Role words."""

_APIS = ("", "chat", "completion", "embedding", "image")
_MARKER = re.compile(r"(?im)^\s*#?\s*(assistant|function|system|user)\s*:\s*\n")
_LONGEST_PATH = 400
_ENDS = re.compile(r"---|\+\+\+")


def check_file(document: PromptDocument) -> Iterator[str]:
    """Yield the reasons why the runtime does not load the file, one sentence each."""
    text = document.source.text
    own = split_front_matter(text)
    if text.startswith("\ufeff"):
        yield "it starts with a byte order mark, and the runtime finds no front matter after it"
        return
    if own.front is None:
        yield "it has no front matter, and the runtime finds no body then"
        return
    if _ENDS.search(text, own.front.start, own.front.end) is not None:
        yield "the front matter contains --- or +++, where the runtime ends it"
    if not text[own.body.start :].strip():
        yield "the body is empty, but the runtime needs one"
    data = document.data
    yield from _unknown(data, ROOT_KEYS, "")
    yield from _model(data.get("model"))
    yield from _template(data.get("template"))
    for block in ("inputs", "outputs"):
        yield from _properties(data.get(block), block)
    yield from _references(data, "")
    for reference in find_references(text[own.front.start : own.front.end]):
        if reference.protocol == "file" and not reference.argument.endswith(".json"):
            yield f"it reads {reference.argument} as JSON"


def refusals(document: PromptDocument) -> Iterator[Problem]:
    """Yield the problems that prevent a Prompty 1 file from loading, each at its key."""
    if document.dialect != "legacy":
        return
    names = {".".join(map(str, entry.path)): entry.key for entry in document.entries}
    for reason in check_file(document):
        named = [name for name in names if name in reason]
        place = names[max(named, key=len)] if named else Span(0, 0)
        message = f"{RUNTIME} refuses this file: {reason}."
        yield Problem("portable-refused", Severity.WARNING, message, place)


def _model(model: Json) -> Iterator[str]:
    if isinstance(model, Mapping):
        yield from _unknown(model, MODEL_KEYS, "model.")
        api = model.get("api")
        if isinstance(api, str) and api not in _APIS:
            yield f"it has no API {api!r}"
    elif model is not None:
        yield "model is not a block"


def _template(template: Json) -> Iterator[str]:
    if isinstance(template, Mapping):
        yield from _unknown(template, frozenset({"type", "parser"}), "template.")
    kind = template.get("type") if isinstance(template, Mapping) else template
    if isinstance(kind, str) and kind not in ("jinja2", "mustache", ""):
        yield f"it has no template language {kind!r}"


def _samples_in_a_file(document: PromptDocument) -> bool:
    """Return whether `sample` is the bare path of a file, which only some programs read."""
    entry = document.entry("sample")
    if entry is None or entry.value.end - entry.value.start > _LONGEST_PATH:
        return False
    value = read_yaml(document.source.slice(entry.value)).value
    return isinstance(value, str) and whole_reference(value) is None


def _unknown(data: JsonObject, known: frozenset[str], path: str) -> Iterator[str]:
    for key in data:
        if key not in known:
            yield f"it does not accept the key {path}{key}"


def _properties(value: Json, block: str) -> Iterator[str]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield f"{block} is not a block"
        return
    for name, item in value.items():
        if not isinstance(item, Mapping) or "type" not in item:
            yield f"{block}.{name}.type is missing"
        else:
            yield from _unknown(item, PROPERTY_KEYS, f"{block}.{name}.")


def _references(value: Json, path: str) -> Iterator[str]:
    """Report `${…}` of other protocols than env and file, which it rejects anywhere."""
    if isinstance(value, str):
        text = value.strip()
        is_known = whole_reference(text) is not None and text.startswith(("${env:", "${file:"))
        if text.startswith("${") and text.endswith("}") and not is_known:
            yield f"{path} is the reference {text}, which it cannot read"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _references(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, f"{path}.{index}".lstrip("."))


def prepare_as_runtime(prepared: Prepared, *, forgiving: bool = False) -> tuple[Message, ...]:
    """Return the messages that the runtime makes of a prepared prompt.

    Args:
        prepared: The prepared prompt.
        forgiving: Whether missing values are empty, and samples in a file are read.

    Raises:
        RuntimeRefusal: it cannot load or prepare the prompt.
    """
    document = prepared.document
    for fault in check_file(document):
        raise RuntimeRefusal(fault)
    if not forgiving and _samples_in_a_file(document):
        raise RuntimeRefusal("sample names a file without ${file:…}, and it takes that for values")
    for problem in prepared.problems:
        if problem.code == LIMIT:
            raise RuntimeRefusal(problem.message)
    body = document.source.slice(document.body).lstrip()
    try:
        if document.template.format == "mustache":
            rendered = render_chevron(body, prepared.inputs)
        else:
            rendered = render_jinja(body, prepared.inputs, forgiving=forgiving)
    except CannotRender as error:
        raise RuntimeRefusal(f"it cannot render the template: {error}") from error
    chunks = [chunk for chunk in _MARKER.split(rendered) if chunk.strip()]
    if not chunks:
        raise RuntimeRefusal("the template is empty")
    if chunks[0].strip().lower() not in ROLES:
        chunks.insert(0, "system")
    if chunks[-1].strip().lower() in ROLES:
        chunks.pop()
    if len(chunks) % 2:
        raise RuntimeRefusal("a section is empty, and it cannot tell roles from texts then")
    return tuple(_message(chunks[at], chunks[at + 1]) for at in range(0, len(chunks), 2))


def _message(role: str, text: str) -> Message:
    word = role.strip().lower()
    return Message("tool" if word == "function" else word, _parts(text.strip()))  # type: ignore[arg-type]


def _parts(text: str) -> tuple[Part, ...]:
    """Return text with its Markdown images as separate parts."""
    found: list[Part] = []
    at = 0
    for token in find_media(text):
        if text[at : token.span.start].strip():
            found.append(TextPart(text[at : token.span.start].strip()))
        place = text[token.target.start : token.target.end].split(" ", maxsplit=1)[0].strip()
        found.append(MediaPart("image", place))
        at = token.span.end
    if text[at:].strip() or not found:
        found.append(TextPart(text[at:].strip() if found else text))
    return tuple(found)
