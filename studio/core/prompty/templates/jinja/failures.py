"""Why an expression cannot be worked out with its values, in words that name no Python."""

from __future__ import annotations

import re
from collections.abc import Callable

from jinja2.exceptions import SecurityError

from studio.core.text.naming import nearest

_KINDS = {
    "str": "a text", "Markup": "a text", "int": "a number", "float": "a number",
    "bool": "true or false", "list": "a list", "tuple": "a list", "dict": "an object",
    "NoneType": "nothing", "None": "nothing", "Undefined": "nothing",
}  # fmt: skip
"""Types of Python, as users call them."""
_OF_TYPE: dict[str, type] = {"str": str, "int": int, "float": float, "list": list, "dict": dict}
_OTHER_NAMES = {
    "toUpperCase": "upper", "toLowerCase": "lower", "size": "length", "len": "length",
    "push": "append", "includes": "find", "indexOf": "find", "trim": "strip",
}  # fmt: skip
"""Methods of JavaScript by what does the same here."""
_COUNTS = frozenset(("length", "size", "len", "count"))

_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"'(?P<kind>\w+) object' has no (?:attribute|element) '?(?P<name>[^']*?)'?"),
     lambda found: no_field(found["kind"], found["name"])),
    (re.compile(r"'(?P<kind>\w+)' object has no attribute '(?P<name>\w+)'"),
     lambda found: no_field(found["kind"], found["name"])),
    (re.compile(r"'?(?P<kind>None)'? has no (?:attribute|element) '?(?P<name>[^']*?)'?"),
     lambda found: no_field(found["kind"], found["name"])),
    (re.compile(r"'(?P<name>\w+)' is undefined"), lambda found: f"{found['name']!r} has no value"),
    (re.compile(r"(?:can only concatenate|must be str, not|unsupported operand type\(s\) for) .*"),
     lambda found: _cannot_combine(found[0])),
    (re.compile(r"'(?P<sign>[<>=!]+)' not supported between instances of '(?P<one>\w+)' and "
                r"'(?P<other>\w+)'"),
     lambda found: f"{_kind(found['one'])} and {_kind(found['other'])} cannot be compared with "
                   f"{found['sign']}"),
    (re.compile(r"'(?P<kind>\w+)' object is not (?P<what>iterable|subscriptable|callable)"),
     lambda found: _cannot_be(found["kind"], found["what"])),
    (re.compile(r"(?:\w+\.)*(?:sync_)?(?:do_)?(?P<name>\w+)\(\) got an unexpected keyword argument "
                r"'(?P<given>\w+)'.*"),
     lambda found: f"{found['name']!r} takes no {found['given']!r}"),
    (re.compile(r"(?:\w+\.)*(?:sync_)?(?:do_)?(?P<name>\w+)\(\) missing \d+ required .*?: "
                r"(?P<wanted>.+)"),
     lambda found: f"{found['name']!r} needs a value for {found['wanted']}"),
    (re.compile(r"(?:\w+\.)*(?:sync_)?(?:do_)?(?P<name>\w+)\(\) (?:takes|got|expected) .*"),
     lambda found: f"{found['name']!r} is given more values than it takes"),
    (re.compile(r"type (?P<kind>\w+) doesn't define __(?P<what>\w+)__ method"),
     lambda found: f"{_kind(found['kind'])} cannot be worked out with {found['what']!r}; the "
                   "filters 'int' and 'float' make a number of it"),
    (re.compile(r"(?:Invalid format specifier|Unknown format code) '(?P<form>.*)' for object of "
                r"type '(?P<kind>\w+)'"),
     lambda found: f"{_kind(found['kind'])} cannot be written in the form {found['form']!r}"),
    (re.compile(r"%\w format: .* is required, not (?P<kind>\w+)"),
     lambda found: f"a % of this text wants a number, and gets {_kind(found['kind'])}"),
    (re.compile(r"(?:list|tuple|string) index out of range"),
     lambda _: "the list has no item at that place"),
    (re.compile(r"not all arguments converted .*|not enough arguments for format string"),
     lambda _: "the text has another number of % than there are values"),
    (re.compile(r"too many values to unpack.*|not enough values to unpack.*|cannot unpack .*"),
     lambda _: "the names before 'in' are more or fewer than each item has values"),
)  # fmt: skip
_OF_PYTHON = re.compile(
    r"__|\bobject\b|(?:positional|keyword|required) argument|\boperand|\binstance|"
    r"\bNoneType\b|\bliteral\b|\bstr\b|\bdict\b|\btype\b|Error\b|codec"
)
"""Words that only a programmer of Python knows."""


def reason(error: Exception) -> str:
    """What is wrong, without a full stop."""
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}" if error.args else "a key is missing"
    words = " ".join(str(error).split())
    if isinstance(error, SecurityError):
        return words  # our own words
    for form, explain in _FORMS:
        found = form.fullmatch(words)
        if found is not None:
            return explain(found)
    if not words or _OF_PYTHON.search(words):
        return "this cannot be worked out with these values: one is of another kind"
    return words


def _kind(name: str) -> str:
    return _KINDS.get(name, "this value")


def no_field(kind: str, name: str) -> str:
    """Return a sentence about a field or method that a value of a kind does not have."""
    what = _kind(kind)
    if name in _COUNTS:
        return f"{what} has no {name!r}; how long it is says the filter 'length'"
    if what == "nothing":
        return f"there is no value of which {name!r} could be read"
    known = [each for each in dir(_OF_TYPE.get(kind, object)) if not each.startswith("_")]
    if name in known:
        return f"{what} has no field {name!r}; {name}() with parentheses calls its function"
    meant = _OTHER_NAMES.get(name) or nearest(name, known)
    if meant in known:
        return f"{what} has no {name!r}; did you mean {meant!r}?"
    return f"{what} has no {name!r}"


def _cannot_combine(said: str) -> str:
    names = [each for each in re.findall(r"\w+", said.rpartition(":")[2] or said) if each in _KINDS]
    kinds = list(dict.fromkeys(_kind(each) for each in names))
    sign = re.search(r"for ([^:]+):", said)
    if "concatenate" in said or (sign and sign[1].strip() in ("+", "+=")) or "must be" in said:
        return f"{' and '.join(kinds) or 'these'} cannot be added with +; ~ joins texts"
    how = f" with {sign[1].strip()}" if sign else ""
    return f"{' and '.join(kinds) or 'these'} cannot be worked out{how}"


def _cannot_be(kind: str, what: str) -> str:
    if what == "iterable":
        return f"{_kind(kind)} is not a list that 'for' or a filter can go through"
    if what == "callable":
        return f"{_kind(kind)} is not a function; leave the parentheses out"
    return f"{_kind(kind)} has no items in brackets"
