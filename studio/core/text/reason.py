"""Reasons why a file or a text cannot be read or written, in words for people."""

from __future__ import annotations

import json


def reason_of(error: Exception) -> str:
    """The reason, without the file's name and without Python's own words."""
    match error:
        case UnicodeDecodeError(object=content, start=at):
            if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
                return "the text is UTF-16; save the file as UTF-8"
            line = content.count(b"\n", 0, at) + 1
            return f"line {line} is not UTF-8; save the file as UTF-8"
        case UnicodeEncodeError(object=text, start=at):
            return f"it holds half a character (U+{ord(text[at]):04X}), which no file can hold"
        case json.JSONDecodeError(msg=message, doc=text, lineno=line, colno=column):
            place = f"line {line}, column {column}" if "\n" in text else f"column {column}"
            return f"{place}: {message[:1].lower()}{message[1:]}"
        case OSError(strerror=str(said)) if said:
            return said
        case _:
            return str(error) or type(error).__name__


def named_reason(error: Exception) -> str:
    """The reason, behind the name of the file where the error has one."""
    name = error.filename if isinstance(error, OSError) else None
    return f"{name}: {reason_of(error)}" if isinstance(name, str) else reason_of(error)
