"""Read a function's parameters and docstring, and simplify schemas."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

_MOST_NODES = 20_000
_NAMED_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties")
_DEFINITIONS = "#/$defs/"


def inline_references(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the schema with references replaced by their local `$defs`.

    Providers and grammars treat references differently; without them, all get the same schema.
    Recursive definitions are kept; all are kept if the result would be too large.
    """
    definitions = cast("Mapping[str, object]", schema.get("$defs", {}))
    kept: set[str] = set()
    nodes = 0

    def resolve(node: object, inside: tuple[str, ...]) -> object:
        nonlocal nodes
        nodes += 1
        if nodes > _MOST_NODES:
            raise OverflowError
        if isinstance(node, list):
            return [resolve(item, inside) for item in node]
        if not isinstance(node, dict):
            return node
        name = _referred(node)
        if name not in definitions:
            return {key: resolve(value, inside) for key, value in node.items()}
        if name in inside:
            kept.add(name)
            return node
        rest = {key: resolve(value, inside) for key, value in node.items() if key != "$ref"}
        target = resolve(definitions[name], (*inside, name))
        return {**target, **rest} if isinstance(target, dict) else target

    root = {key: value for key, value in schema.items() if key != "$defs"}
    try:
        result = cast("dict[str, object]", resolve(root, ()))
    except (OverflowError, RecursionError):
        result, kept = root, _referred_names(root)
    if kept:
        result["$defs"] = _reachable(kept, definitions)
    return result


def _reachable(names: set[str], definitions: Mapping[str, object]) -> dict[str, object]:
    """Return the named definitions, and all that they refer to."""
    found: dict[str, object] = {}
    waiting = sorted(names)
    while waiting:
        name = waiting.pop()
        if name in definitions and name not in found:
            found[name] = definitions[name]
            waiting += sorted(_referred_names(definitions[name]))
    return found


def _referred_names(node: object) -> set[str]:
    found: set[str] = set()
    waiting = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            found.add(_referred(item))
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return found - {""}


def _referred(node: Mapping[str, object]) -> str:
    """Return the definition that a node refers to; empty for none."""
    reference = node.get("$ref")
    return (
        reference[len(_DEFINITIONS) :]
        if isinstance(reference, str) and reference.startswith(_DEFINITIONS)
        else ""
    )


def without_titles(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the schema without generated titles; a property called "title" stays."""
    return cast("dict[str, object]", _without_titles(schema, names=False))


def _without_titles(schema: object, *, names: bool) -> object:
    if isinstance(schema, list):
        return [_without_titles(item, names=False) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(value, names=not names and key in _NAMED_SCHEMAS)
        for key, value in schema.items()
        if names or key != "title" or not isinstance(value, str)
    }


# Reading the parameters of a function.

UNKNOWN: object = inspect.Parameter.empty
"""Placeholder for a missing annotation or default."""


@dataclass(frozen=True)
class TakenArgument:
    """A parameter of a function."""

    name: str
    """Name of the parameter."""

    annotation: object
    """Annotation of the parameter; `UNKNOWN` if there is none."""

    default: object
    """Default value; `UNKNOWN` if the argument is required."""

    description: str
    """Description for the model."""

    kind: object
    """Kind of the parameter, as in `inspect`."""

    @property
    def is_rest(self) -> bool:
        """Whether it is `*rest`."""
        return self.kind is inspect.Parameter.VAR_POSITIONAL

    @property
    def is_open(self) -> bool:
        """Whether it is `**more`."""
        return self.kind is inspect.Parameter.VAR_KEYWORD


class ArgumentReader(Protocol):
    """The schema of a function's arguments, and their conversion."""

    @property
    def schema(self) -> dict[str, object]:
        """JSON schema of all arguments."""
        ...

    def read(self, arguments: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
        """Return the arguments by parameter, the given ones, and those of `**more`.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        ...


# Reading docstrings of functions and parameters: Google, NumPy and Sphinx style.


@dataclass(frozen=True)
class Docstring:
    """The parts of a docstring."""

    description: str = ""
    """Text before the first section or field."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """Description by parameter name, each on one line."""


_PARAMETER_SECTIONS = frozenset(
    {"args", "arguments", "parameters", "params", "keyword args", "keyword arguments"}
    | {"other parameters"}
)
_SECTIONS = _PARAMETER_SECTIONS | {
    "returns",
    "return",
    "yields",
    "yield",
    "raises",
    "examples",
    "example",
    "note",
    "notes",
    "warning",
    "warnings",
    "attributes",
    "see also",
    "references",
    "todo",
    "warns",
}
_GOOGLE_HEAD = re.compile(r"^([A-Za-z][A-Za-z ]*):\s*$")
_GOOGLE_ITEM = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY_RULE = re.compile(r"^-{3,}\s*$")
_NUMPY_ITEM = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_SPHINX_FIELD = re.compile(r"^:(\w+)(?:\s+([^:]*?))?\s*:\s*(.*)$")
_SPHINX_PARAMETERS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})


def parse_docstring(text: str | None) -> Docstring:
    """Split a docstring; a text in an unknown style counts as the description."""
    lines = inspect.cleandoc(text or "").splitlines()
    description: list[str] = []
    found: dict[str, list[str]] = {}
    index = 0
    in_description = True
    while index < len(lines):
        line = lines[index]
        rule = index + 1 < len(lines) and _NUMPY_RULE.match(lines[index + 1])
        google = _GOOGLE_HEAD.match(line)
        if rule and line.strip().lower() in _SECTIONS:
            in_description = False
            index = _read_numpy(lines, index, found)
        elif google and google.group(1).strip().lower() in _SECTIONS:
            in_description = False
            index = _read_google(lines, index, google.group(1), found)
        elif _SPHINX_FIELD.match(line):
            in_description = False
            index = _read_sphinx(lines, index, found)
        else:
            if in_description:
                description.append(line)
            index += 1
    return Docstring(
        "\n".join(description).strip(),
        {name: " ".join(" ".join(words).split()) for name, words in found.items()},
    )


def _read_google(lines: list[str], start: int, title: str, found: dict[str, list[str]]) -> int:
    """Read an indented section after a heading like `Args:`; return the number of the next line."""
    wanted = title.strip().lower() in _PARAMETER_SECTIONS
    index = start + 1
    item_indent: int | None = None
    name = ""
    while index < len(lines):
        line = lines[index]
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent == 0:
            break
        if wanted and line.strip():
            item_indent = indent if item_indent is None else item_indent
            match = _GOOGLE_ITEM.match(line.strip()) if indent <= item_indent else None
            if match:
                name = match.group(1)
                found[name] = [match.group(2)]
            elif name:
                found[name].append(line.strip())
        index += 1
    return index


def _read_numpy(lines: list[str], start: int, found: dict[str, list[str]]) -> int:
    """Read a section underlined with dashes; return the number of the next line."""
    wanted = lines[start].strip().lower() in _PARAMETER_SECTIONS
    index = start + 2
    names: list[str] = []
    while index < len(lines):
        line = lines[index]
        if index + 1 < len(lines) and line.strip() and _NUMPY_RULE.match(lines[index + 1]):
            break
        if wanted and line.strip():
            match = _NUMPY_ITEM.match(line)
            if match:
                names = [name.strip(" *") for name in match.group(1).split(",")]
                found.update({name: [] for name in names})
            else:
                for name in names:
                    found[name].append(line.strip())
        index += 1
    return index


def _read_sphinx(lines: list[str], start: int, found: dict[str, list[str]]) -> int:
    """Read one `:param name:` field with its continuation lines; return the next line's number."""
    match = _SPHINX_FIELD.match(lines[start])
    assert match is not None
    kind, subject, text = match.group(1), (match.group(2) or ""), match.group(3)
    words = [text]
    index = start + 1
    while index < len(lines) and lines[index].startswith((" ", "\t")):
        words.append(lines[index].strip())
        index += 1
    if kind in _SPHINX_PARAMETERS and subject.split():
        found[subject.split()[-1].lstrip("*")] = words
    return index
