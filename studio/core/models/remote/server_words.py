"""What a server says about a fault, whatever shape it says it in, and what that means.

`{"error": {"message": …}}` is one of many: a text, a list, `{"error": "…"}`, `{"Message": "…"}`,
a page of HTML, or a list of fields (`detail`, with `loc` and `msg`) as FastAPI's servers write it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from html import unescape
from time import time

_WORDS = tuple(
    """
    message Message error_description detail details errors error msg reason title code
""".split()
)
_TITLE = re.compile(r"<title[^>]*>(.{1,300}?)</title>", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"<h[12][^>]*>(.{1,300}?)</h[12]>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,300}>")
_IDS = (
    "x-request-id",
    "request-id",
    "x-ms-request-id",
    "apim-request-id",
    "x-amzn-requestid",
    "cf-ray",
)
_DEEPEST = 5
_MOST = 5
_LONGEST_ID = 100

_CAUSES = {
    "too-long": (
        r"context.?(?:length|window|size)|too (?:long|many tokens)|maximum context"
        r"|exceeds? the (?:available )?context",
        "context_length_exceeded",
    ),
    "unauthorised": (
        r"(?:api.?key|credential|token) (?:is )?(?:not valid|invalid)|(?:invalid|incorrect) "
        r"(?:api.?key|x-api-key)|API_KEY_INVALID",
        None,
    ),
    "unknown-model": (
        r"\bmodels?\b[^.]{0,100}(?:not (?:be )?(?:found|exist|available|supported)|n[o']t exist"
        r"|unknown|no longer|deprecated since|been (?:shut down|retired|removed))"
        r"|(?:unknown|invalid|no such|unsupported) model|not a valid model",
        "model_not_found",
    ),
    "not-found": (
        r"^(?:\d{3} ?)?(?:not found|page not found|method not allowed|\{?\}?)\.?$|\b(?:path|route"
        r"|url|endpoint|page|cannot (?:post|get))\b",
        None,
    ),
    "refused": (
        r"(?:unsupported|unrecognized|unknown|unexpected|not (?:be )?(?:supported|permitted"
        r"|allowed))|does not support|extra inputs|deprecated for this model|cannot both be "
        r"(?:specified|set)",
        "unsupported_parameter",
    ),
}
"""Words of a cause in any case of letters, and the code of OpenAI's API for it."""
_NAMED = re.compile(r"['\"`]([a-z_][a-z0-9_.]*)['\"`]|\b([a-z]+_[a-z_]+)\b")


@dataclass(frozen=True, slots=True)
class ServerText:
    """What a server says."""

    text: str = ""
    """Its words, in one line."""

    fields: tuple[str, ...] = ()
    """Fields of the body that it says something about, by their first names."""


def card_text(body: object) -> ServerText:
    """The words of an answer's body: its JSON, or its text."""
    fields: list[str] = []
    text = " ".join(_words(body, fields, 0).split())
    return ServerText(text, tuple(dict.fromkeys(fields)))


def request_id(headers: Mapping[str, str]) -> str:
    """The number under which the server's operator finds the request; names in lower case."""
    return next((headers[name][:_LONGEST_ID] for name in _IDS if headers.get(name)), "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait (`retry-after-ms`, `retry-after` as seconds or a date)."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "")
        if not value:
            return None
        if re.fullmatch(r"\d+(\.\d+)?", value.strip()):
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, OverflowError):
        return None


def _words(value: object, fields: list[str], depth: int) -> str:
    if isinstance(value, str):
        return _plain(value)
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list | tuple):
        lines = [_words(each, fields, depth + 1) for each in value[:_MOST]]
        return "; ".join(dict.fromkeys(each for each in lines if each))
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
        words = _words(value.get(word), fields, depth + 1) if value.get(word) else ""
        if words:
            return words
    return ""


def _plain(text: str) -> str:
    """A text; of a page of HTML its title, or its heading."""
    if "<" not in text or not re.search(r"<(?:!doctype|html|head|body|title)\b", text, re.I):
        return text
    found = _TITLE.search(text) or _HEADING.search(text)
    return unescape(_TAG.sub(" ", found[1] if found else text[:2000]))


# What it means ------------------------------------------------------------------------------------


def says(cause: str, said: str, error: Mapping[str, object]) -> bool:
    """Whether a server says, by whatever status, that a fault has a cause."""
    pattern, code = _CAUSES[cause]
    is_said = re.search(pattern, said, re.IGNORECASE) is not None
    return is_said or (code is not None and error.get("code") == code)


def refused_parameter(said: str, error: Mapping[str, object], fields: tuple[str, ...]) -> str:
    """The top-level parameter that a refusal is about; empty where it names none."""
    codes = ("unsupported_value", "unknown_parameter")
    if not says("refused", said, error) and error.get("code") not in codes:
        return ""
    placed = re.match(r"([a-z_][a-z0-9_]*)[\w.]*: ", said)  # Anthropic: "top_k: Extra inputs …"
    named = error.get("param") or (fields[0] if fields else placed[1] if placed else None)
    if not isinstance(named, str) or not named:
        match = _NAMED.search(said)
        named = (match[1] or match[2]) if match else ""
    return re.split(r"[.\[]", named)[0]
