"""Decide the dialect of a file, with the reason (docs/design/file-format.md)."""

import re
from collections.abc import Iterator, Mapping

from studio.core.prompty.body.sections import find_markers
from studio.core.prompty.document import Dialect
from studio.core.prompty.yaml.tree import value_at
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonObject, text_of

_LEGACY_MODEL_KEYS = ("api", "configuration", "parameters")
_PROMPTY_MODEL_KEYS = ("id", "apiType", "provider")
_IN_TEXT = {
    "![thread]": re.compile(r"^[ \t]*!\[thread\][ \t]*\r?$", re.MULTILINE),
    "media with attributes": re.compile(r"!\[[^\]\[\n=]*=[^\]\[\n]*\]\("),
    "${params:…}": re.compile(r"\$\{params:"),
}
"""Constructs of the section dialect other than markers, by name."""

_IMAGE = re.compile(r"!\[[^\]\[\n]*\]\(")


LIST_BELOW = re.compile(r"\s*(?:-\s|\[)")
"""Matches a YAML list right after the marker `tools:`; without one the line is an ordinary
heading.
"""


def decide_dialect(data: JsonObject, front: str, body: str) -> tuple[Dialect, str]:
    """Return the dialect and the reason for the user.

    Args:
        data: The front matter as values.
        front: The front matter as text.
        body: The body as text.
    """
    legacy = _legacy_key(data)
    kind = parser_kind(data)
    by_key = isinstance(value_at(data, ("template", "parser")), Mapping)
    if kind == "section":
        return "section", "template.parser.kind is section"
    if kind == "prompty" and (by_key or legacy is None):
        return "prompty", "template.parser.kind is prompty"
    if legacy is not None:
        return "legacy", f"{legacy} is a key of Prompty 1"
    construct = section_construct(front, body)
    if construct is not None:
        return "section", f"it uses {construct}"
    key = prompty_key(data)
    if key is not None:
        return "prompty", f"{key} is a key of Prompty 2"
    if _IMAGE.search(body):
        return "section", "it contains a Markdown image and no key of Prompty 2"
    return "section", "nothing in it says otherwise"


def parser_kind(data: JsonObject) -> str:
    """Return `template.parser.kind`, or `template.parser` if it is a word; empty if missing."""
    parser = value_at(data, ("template", "parser"))
    return text_of(parser.get("kind") if isinstance(parser, Mapping) else parser)


def prompty_key(data: JsonObject) -> str | None:
    """Return the first key that only Prompty 2 has."""
    model = data.get("model")
    if isinstance(model, Mapping):
        for key in _PROMPTY_MODEL_KEYS:
            if key in model:
                return f"model.{key}"
    for name, item in _items(data.get("inputs")):
        if isinstance(item, Mapping) and "kind" in item:
            return f"inputs.{name}.kind"
    for name, item in _items(data.get("tools")):
        if isinstance(item, Mapping) and "kind" in item:
            return f"tools.{name}.kind"
    template = data.get("template")
    if isinstance(template, Mapping) and "format" in template:
        return "template.format"
    return None


def section_construct(front: str, body: str) -> str | None:
    """Return the name of the first construct of the section dialect in a body."""
    found = next(section_constructs(body), None)
    if found is not None:
        return found[0]
    return "${params:…}" if "${params:" in front else None


def section_markers(body: str) -> Iterator[tuple[str, Span]]:
    """Yield each marker that only the section dialect has: its role, or "" for its `type=`."""
    for marker in find_markers(body, "section"):
        if marker.role == "tools" and not LIST_BELOW.match(body, marker.span.end):
            continue
        if marker.role in ("tools", "tool", "function", "thread"):
            yield marker.role, marker.span
        elif marker.attribute("type") is not None:
            yield "", marker.span


def section_constructs(body: str) -> Iterator[tuple[str, Span]]:
    """Yield each construct of the section dialect in a body with its name and span, by kind."""
    for role, place in section_markers(body):
        yield f"a {role}: section" if role else "the attribute type=", place
    for words, pattern in _IN_TEXT.items():
        yield from ((words, Span(*found.span())) for found in pattern.finditer(body))


def _legacy_key(data: JsonObject) -> str | None:
    """Return the first key that only Prompty 1 has."""
    model = data.get("model")
    if isinstance(model, Mapping):
        for key in _LEGACY_MODEL_KEYS:
            if key in model:
                return f"model.{key}"
    if "sample" in data:
        return "sample"
    for name, item in _items(data.get("inputs")):
        if isinstance(item, Mapping) and "type" in item and "kind" not in item:
            return f"inputs.{name}.type"
    return None


def _items(value: Json) -> list[tuple[str, Json]]:
    if isinstance(value, Mapping):
        return [(str(name), item) for name, item in value.items()]
    if isinstance(value, list):
        return [(str(index), item) for index, item in enumerate(value)]
    return []
