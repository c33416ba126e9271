"""Read docstrings of functions and parameters: Google, NumPy and Sphinx style."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Docstring:
    """A docstring, taken apart."""

    description: str = ""
    """Everything before the first section or field."""

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
    """Take a docstring apart; any text gives a result, an unknown style is all description."""
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
    """Read an indented section after a `Args:`-like head; gives the line after it."""
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
    """Read a section underlined with dashes; gives the line after it."""
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
    """Read one `:param name:` field with its continuation lines; gives the line after it."""
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
