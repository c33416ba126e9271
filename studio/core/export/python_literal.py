"""Plain values as Python source that people can read."""

from __future__ import annotations

import json
from collections.abc import Mapping

from studio.core.prompty.reference_values import find_references
from studio.core.text.values import Json

_WIDTH = 88


def python_literal(value: Json, indent: int = 0) -> str:
    """A value as a Python literal; long ones over several lines, long texts line by line."""
    flat = _flat(value)
    if len(flat) + indent <= _WIDTH and "\\n" not in flat:
        return flat
    inner = " " * (indent + 4)
    outer = " " * indent
    if isinstance(value, str):
        return _text(value, indent)
    if isinstance(value, Mapping) and value:
        rows = [
            f"{inner}{_flat(str(key))}: {python_literal(item, indent + 4)},"
            for key, item in value.items()
        ]
        return "\n".join(["{", *rows, f"{outer}}}"])
    if isinstance(value, list | tuple) and value:
        rows = [f"{inner}{python_literal(item, indent + 4)}," for item in value]
        return "\n".join(["[", *rows, f"{outer}]"])
    return flat


def python_expression(value: Json, indent: int = 0) -> str:
    """A value as Python source in which `${env:NAME}` is looked up when the code runs."""
    variables: dict[str, str] = {}

    def marked(item: Json) -> Json:
        if isinstance(item, Mapping):
            return {key: marked(inner) for key, inner in item.items()}
        if isinstance(item, list):
            return [marked(inner) for inner in item]
        look_up = _with_variables(item) if isinstance(item, str) else ""
        if not look_up:
            return item
        mark = f"\0{len(variables)}\0"
        variables[_flat(mark)] = look_up
        return mark

    text = python_literal(marked(value), indent)
    for mark, look_up in variables.items():
        text = text.replace(mark, look_up)
    return text


def environment_variable(name: str, default: str | None) -> str:
    """The expression that looks an environment variable up; one that is not set is empty."""
    return f"os.environ.get({_flat(name)}, {_flat(default or '')})"


def _with_variables(text: str) -> str:
    """The expression of a text that refers to variables; empty where it refers to none."""
    parts: list[str] = []
    at = 0
    text = text.strip()
    for found in find_references(text):
        if found.protocol != "env":
            continue
        rest = text[found.span.end :]
        before = text[at : found.span.start]
        trimmed = '.rstrip("/")' if rest.startswith("/") else ""
        parts += [_flat(before)] if before else []
        parts.append(environment_variable(found.argument, found.default) + trimmed)
        at = found.span.end
    if not parts:
        return ""
    return " + ".join([*parts, *([_flat(text[at:])] if text[at:] else [])])


def _text(value: str, indent: int) -> str:
    """A long text as adjacent strings in brackets, one a line: every character stays visible."""
    lines = value.splitlines(keepends=True) if "\n" in value else [value]
    if len(lines) == 1:
        return _flat(value)
    inner = " " * (indent + 4)
    return "\n".join(["(", *(f"{inner}{_flat(line)}" for line in lines), f"{' ' * indent})"])


def _flat(value: Json) -> str:
    if isinstance(value, str):
        # JSON's escapes are Python's too; what is no character of its own stays escaped.
        written = json.dumps(value, ensure_ascii=False)
        return "".join(char if char.isprintable() else _escape(char) for char in written)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_flat(str(key))}: {_flat(item)}" for key, item in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_flat(item) for item in value)}]"
    return repr(value)


def _escape(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
