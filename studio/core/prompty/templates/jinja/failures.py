"""Explain why an expression fails with its values, without Python's terms."""

import re

from jinja2.exceptions import SecurityError

from studio.core.paths import resource_table
from studio.core.text.naming import nearest

_KINDS = {"bool": "true or false", "dict": "an object"}
_KINDS |= dict.fromkeys(("str", "Markup"), "a text")
_KINDS |= dict.fromkeys(("int", "float"), "a number")
_KINDS |= dict.fromkeys(("list", "tuple"), "a list")
_KINDS |= dict.fromkeys(("NoneType", "None", "Undefined"), "nothing")
"""Names for the user of Python's types."""
_OF_TYPE: dict[str, type] = {"str": str, "int": int, "float": float, "list": list, "dict": dict}
_OTHER_NAMES = {"toUpperCase": "upper", "toLowerCase": "lower", "push": "append", "trim": "strip"}
_OTHER_NAMES |= dict.fromkeys(("includes", "indexOf"), "find")
"""Python's methods by the JavaScript methods that do the same."""
_COUNTS = frozenset(("length", "size", "len", "count"))

_FORMS = resource_table("words", "terms.txt")["python_errors"]
_NO_FIELD = (
    r"'(?P<kind>\w+) object' has no (?:attribute|element) '?(?P<name>[^']*?)'?",
    r"'(?P<kind>\w+)' object has no attribute '(?P<name>\w+)'",
    r"'?(?P<kind>None)'? has no (?:attribute|element) '?(?P<name>[^']*?)'?",
)
_COMBINED = r"(?:can only concatenate|must be str, not|unsupported operand type\(s\) for) .*"
_OF_PYTHON = re.compile(
    r"__|\bobject\b|(?:positional|keyword|required) argument|\boperand|\binstance|"
    r"\bNoneType\b|\bliteral\b|\bstr\b|\bdict\b|\btype\b|Error\b|codec"
)
"""Matches words that only Python programmers know."""


def reason(error: Exception) -> str:
    """Return the reason for an error, without a period."""
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}" if error.args else "a key is missing"
    words = " ".join(str(error).split())
    if isinstance(error, SecurityError):
        return words  # the studio's own text
    for form in _NO_FIELD:
        if found := re.fullmatch(form, words):
            return no_field(**found.groupdict())
    if re.fullmatch(_COMBINED, words):
        return _cannot_combine(words)
    for form, ours in _FORMS.items():
        if found := re.fullmatch(form, words):
            groups = found.groupdict()
            kinds = {each: _kind(groups[each]) for each in ("kind", "one") if each in groups}
            return ours.format_map(groups | kinds)
    if not words or _OF_PYTHON.search(words):
        return "this cannot be worked out with these values: one is of another kind"
    return words


def _kind(name: str) -> str:
    return _KINDS.get(name, "this value")


def no_field(kind: str, name: str) -> str:
    """Return a sentence about a missing field or method of a value."""
    what = _kind(kind)
    if name in _COUNTS:
        return f"{what} has no {name!r}; how long it is says the filter 'length'"
    if what == "nothing":
        return f"there is no value with a field {name!r}"
    known = [each for each in dir(_OF_TYPE.get(kind, object)) if not each.startswith("_")]
    if name in known:
        return f"{what} has no field {name!r}; {name}() with parentheses calls its function"
    meant = _OTHER_NAMES.get(name) or nearest(name, known)
    if meant in known:
        return f"{what} has no {name!r}; did you mean {meant!r}?"
    return f"{what} has no {name!r}"


def _cannot_combine(said: str) -> str:
    names = re.findall(r"\w+", said.rpartition(":")[2] or said)
    kinds = " and ".join(dict.fromkeys(_KINDS[each] for each in names if each in _KINDS)) or "these"
    sign = re.search(r"for ([^:]+):", said)
    if sign is None or sign[1].strip() in ("+", "+="):
        return f"{kinds} cannot be added with +; ~ joins texts"
    return f"{kinds} cannot be worked out with {sign[1].strip()}"
