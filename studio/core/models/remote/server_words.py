"""What a server says about a fault, whatever shape it says it in.

`{"error": {"message": …}}` is one of many: a text, a list, `{"error": "…"}`, `{"Message": "…"}`,
a page of HTML, or a list of fields (`detail`, with `loc` and `msg`) as FastAPI's servers write it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape

_WORDS = ("message", "Message", "error_description", "detail", "details", "errors", "error", "msg",
          "reason", "title", "code")  # fmt: skip
_TITLE = re.compile(r"<title[^>]*>(.{1,300}?)</title>", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"<h[12][^>]*>(.{1,300}?)</h[12]>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,300}>")
_IDS = ("x-request-id", "request-id", "x-ms-request-id", "apim-request-id", "x-amzn-requestid",
        "cf-ray")  # fmt: skip
_DEEPEST = 5
_MOST = 5
_LONGEST_ID = 100


@dataclass(frozen=True, slots=True)
class Said:
    """What a server says."""

    text: str = ""
    """Its words, in one line."""

    fields: tuple[str, ...] = ()
    """Fields of the body that it says something about, by their first names."""


def card_text(body: object) -> Said:
    """The words of an answer's body: its JSON, or its text."""
    fields: list[str] = []
    text = " ".join(_words(body, fields, 0).split())
    return Said(text, tuple(dict.fromkeys(fields)))


def request_id(headers: Mapping[str, str]) -> str:
    """The number under which the server's operator finds the request; names in lower case."""
    return next((headers[name][:_LONGEST_ID] for name in _IDS if headers.get(name)), "")


def _words(value: object, fields: list[str], depth: int) -> str:
    if isinstance(value, str):
        return _plain(value)
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list | tuple):
        said = [_words(each, fields, depth + 1) for each in value[:_MOST]]
        return "; ".join(dict.fromkeys(each for each in said if each))
    if isinstance(value, Mapping):
        return _of_mapping(value, fields, depth)
    return "" if value is None or isinstance(value, bool) else str(value)


def _of_mapping(value: Mapping[object, object], fields: list[str], depth: int) -> str:
    place = value.get("loc")
    if isinstance(place, list | tuple) and "msg" in value:
        named = [str(each) for each in place if each not in ("body", "query", "header")]
        fields += named[:1]
        return f"{'.'.join(named)}: {_words(value['msg'], fields, depth + 1)}"
    for word in _WORDS:
        said = _words(value.get(word), fields, depth + 1) if value.get(word) else ""
        if said:
            return said
    return ""


def _plain(text: str) -> str:
    """A text; of a page of HTML its title, or its heading."""
    if "<" not in text or not re.search(r"<(?:!doctype|html|head|body|title)\b", text, re.I):
        return text
    found = _TITLE.search(text) or _HEADING.search(text)
    return unescape(_TAG.sub(" ", found[1] if found else text[:2000]))
