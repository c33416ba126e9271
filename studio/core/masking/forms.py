"""In which spellings a secret may turn up: as it is, and encoded in the usual ways."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote, quote_plus, urlsplit

Encoding: TypeAlias = Literal["", "url", "html", "base64", "part"]
"""How a form is encoded. `part`: a part of the secret, or base64 of more than the secret: there is
no way back from it."""

_SHORTEST_PART = 8
_SHORTEST_LINE = 16
_SHORTEST_BASE64 = 8
_AS_GO_WRITES = str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"})
"""What Go's encoder escapes in JSON beside what all escape."""

_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey|Key)[ \t]+(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """One spelling."""

    text: str
    """What is looked for."""

    encoding: Encoding = ""
    """How the secret is spelled in it."""


def forms_of(value: str) -> tuple[Form, ...]:
    """Every spelling of a secret that is looked for, each once."""
    found: dict[str, Form] = {}
    for form in (Form(value), *_escaped(value), *_parts(value), *_in_base64(value)):
        if form.text:
            found.setdefault(form.text, form)
    return tuple(found.values())


def encoded(value: str, encoding: str) -> str:
    """A secret as a form of it that can be made again; `""` gives the secret itself."""
    match encoding:
        case "url":
            return quote(_data(value), safe="")
        case "html":
            return html.escape(value)
        case "base64":
            return base64.b64encode(_data(value)).decode()
        case _:
            return value


def _escaped(value: str) -> Iterator[Form]:
    """In JSON, URLs, HTML and digits. What stands in JSON is the value itself once it is read."""
    for ascii_only in (False, True):
        text = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield Form(text)
        yield Form(text.replace("/", "\\/"))
        yield Form(json.dumps(text, ensure_ascii=ascii_only)[1:-1], "part")
        yield Form(text.translate(_AS_GO_WRITES))
    data = _data(value)
    for text in (quote(data, safe=""), quote(data), quote_plus(data), quote(data, safe="/:@!*'()")):
        yield Form(text, "url")
        yield Form(re.sub("%..", lambda found: found[0].lower(), text), "url")
    yield Form(html.escape(value), "html")
    yield Form(html.escape(value, quote=False), "html")
    yield Form(html.escape(value).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"), "part")
    yield Form(data.hex(), "part")
    yield Form(data.hex().upper(), "part")


def _parts(value: str) -> Iterator[Form]:
    """What of a longer value is a secret by itself: the token of a header, a password, a line."""
    scheme = _SCHEME.fullmatch(value)
    if scheme is not None and len(scheme[1]) >= _SHORTEST_PART:
        yield Form(scheme[1], "part")
    if "://" in value:
        try:
            password = urlsplit(value).password or ""
        except ValueError:
            password = ""
        if len(password) >= _SHORTEST_PART:
            yield Form(password, "part")
    lines = value.splitlines()
    if len(lines) > 1:
        yield Form("\r\n".join(lines))
        for line in lines:
            if len(line) >= _SHORTEST_LINE and "-----" not in line:
                yield Form(line, "part")


def _in_base64(value: str) -> Iterator[Form]:
    """In base64 by itself, and inside of more (`user:key`): it then begins at one of three places.

    Of the characters at both ends some bits belong to the neighbors: these are left out.
    """
    data = _data(value)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(data).decode()
        yield Form(whole, "base64")
        for before in range(3):
            shown = encode(bytes(before) + data).decode()
            first = (0, 2, 3)[before]
            last = (before + len(data)) * 8 // 6
            inner = shown[first:last]
            if len(inner) >= _SHORTEST_BASE64:
                yield Form(inner, "part")


def _data(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")
