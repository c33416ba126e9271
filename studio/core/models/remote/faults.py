"""Errors of servers as sentences with advice.

Every error of a connection becomes a `ModelError` here. The SDK is not imported: exceptions are
distinguished by their content, and texts of servers are masked before they are shown, because some
repeat the key. Servers write errors in many forms, not just `{"error": {"message": …}}`: a text, a
list, `{"error": "…"}`, `{"Message": "…"}`, an HTML page, or a list of fields (`detail`, with `loc`
and `msg`) as FastAPI's servers do.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import unescape
from pathlib import Path
from time import time

from studio.core.models.base import ModelError
from studio.core.paths import resource_table, user_paths
from studio.core.text.amounts import one_line
from studio.core.text.files import read_text, write_private
from studio.core.text.values import JsonObject, parse_json
from studio.core.wire.reply import RefusedOption

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

_CAUSES = resource_table("words", "terms.txt")["server_refusals"]
_CODES = {
    "too-long": "context_length_exceeded",
    "unknown-model": "model_not_found",
    "refused": "unsupported_parameter",
}
"""OpenAI's error codes for some of the causes."""
_NAMED = re.compile(r"['\"`]([a-z_][a-z0-9_.]*)['\"`]|\b([a-z]+_[a-z_]+)\b")


@dataclass(frozen=True, slots=True)
class ServerText:
    """The message of a server."""

    text: str = ""
    """Text of the message on one line."""

    fields: tuple[str, ...] = ()
    """Names of the top-level fields that the message is about."""


def card_text(body: object) -> ServerText:
    """Return the message in an error's body: from its JSON, or its text."""
    fields: list[str] = []
    return ServerText(" ".join(_words(body, fields, 0).split()), tuple(dict.fromkeys(fields)))


def request_id(headers: Mapping[str, str]) -> str:
    """Return the id of the request for the server's operator; header names are lower case."""
    return next((headers[name][:_LONGEST_ID] for name in _IDS if headers.get(name)), "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait (`retry-after-ms`, `retry-after` as seconds or a date)."""
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
    """Return a text; for an HTML page, its title or heading."""
    if "<" not in text or not re.search(r"<(?:!doctype|html|head|body|title)\b", text, re.I):
        return text
    found = _TITLE.search(text) or _HEADING.search(text)
    return unescape(_TAG.sub(" ", found[1] if found else text[:2000]))


# Meaning of a message -----------------------------------------------------------------------------


def says(cause: str, said: str, error: Mapping[str, object]) -> bool:
    """Return whether a server's message names a cause, whatever the status."""
    code = _CODES.get(cause)
    is_said = re.search(_CAUSES[cause], said, re.IGNORECASE) is not None
    return is_said or (code is not None and error.get("code") == code)


def refused_parameter(said: str, error: Mapping[str, object], fields: tuple[str, ...]) -> str:
    """Return the top-level parameter that an error is about; empty if it names none."""
    codes = ("unsupported_value", "unknown_parameter")
    if not says("refused", said, error) and error.get("code") not in codes:
        return ""
    placed = re.match(r"([a-z_][a-z0-9_]*)[\w.]*: ", said)  # Anthropic: "top_k: Extra inputs …"
    named = error.get("param") or (fields[0] if fields else placed[1] if placed else None)
    if not isinstance(named, str) or not named:
        match = _NAMED.search(said)
        named = (match[1] or match[2]) if match else ""
    return re.split(r"[.\[]", named)[0]


LONGEST_TEXT = 400
"""Maximum number of characters shown of a server's message."""

_SENTENCES = resource_table("words", "model_faults.txt")["faults"]
"""Sentence and advice of each error, on two lines; the part of the key before the slash is the
error's kind.
"""

_AZURE_ADDRESS = "It is written as https://NAME.openai.azure.com."
_PASSING = {"cut-off", "rate-limited", "refused", "server-error", "timeout"}
_PASSING |= {"proxy/error", "proxy/down"}
"""Kinds and keys of temporary errors."""

_OF_STATUS = {401: "unauthorised", 402: "no-quota", 403: "forbidden", 413: "too-long"}
_OF_STATUS |= {407: "proxy/name"} | dict.fromkeys((408, 409, 425), "timeout")


class UnsupportedParameterError(ModelError):
    """Raised when the server rejects a parameter; the call may succeed without it."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(
            "unsupported-parameter",
            message,
            f"Remove {parameter!r} from the options, or choose another model.",
        )
        self.parameter = parameter
        """First part of the parameter's path in the body."""


class RetryLaterError(ModelError):
    """A temporary error; the server may have set a time for a retry."""

    def __init__(self, kind: str, message: str, hint: str, after: float | None = None) -> None:
        super().__init__(kind, message, hint, retryable=True)
        self.after = after
        """Seconds to wait; None if the server gave no time."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The names of a server and a model, for messages."""

    name: str
    """Name of the connection."""

    address: str
    """Base URL, without credentials."""

    model: str
    """Requested model id."""

    proxy: str = ""
    """Proxy, without credentials; empty if there is none."""

    is_azure: bool = False
    """Whether it is an Azure resource, whose models are requested by deployment."""

    @property
    def may_be_proxy(self) -> bool:
        """Whether an answer can come from the proxy, which reads unencrypted requests."""
        return bool(self.proxy) and self.address.startswith("http://")


def fault_of(
    key: str, target: Endpoint, quoted: str = "", after: float | None = None, **more: object
) -> ModelError:
    """Return the error of a row of the table of sentences.

    Args:
        key: key of the row.
        target: the server.
        quoted: the server's message, to append to a sentence.
        after: seconds to wait, if the server gave them.
        more: values for the row's other placeholders.
    """
    if key == "proxy/name":
        more["proxy"] = f"The proxy {target.proxy}" if target.proxy else "A proxy"
        more["others"] = ", or others than it got" if target.proxy else " (407)"
    more |= {"target": target, "quoted": quoted, "azure": _AZURE_ADDRESS}
    message, hint = (each.format_map(more) for each in _SENTENCES[key].split("  "))
    kind = key.partition("/")[0]
    if not _PASSING.isdisjoint((kind, key)):
        return RetryLaterError(kind, message, hint, after)
    return ModelError(kind, message, hint)


def status_fault(
    status: int,
    headers: Mapping[str, str],
    body: object,
    target: Endpoint,
    mask: Callable[[str], str],
) -> ModelError:
    """Return the error for an HTTP status.

    Args:
        status: 3xx, 4xx or 5xx.
        headers: the response's, names in lower case.
        body: `error` of the body if it has one, else the whole body, or its text.
        target: the server.
        mask: masks keys.
    """
    error = body if isinstance(body, Mapping) else {}
    words = card_text(body)
    said = mask(words.text)[:LONGEST_TEXT]
    is_temporary = status in (408, 409, 425, 429) or status >= 500  # in the sentence before it
    quoted = _quoted(said, 0 if is_temporary else status, mask(request_id(headers)))
    key = (
        _of_place(status, said, error, target)
        or _OF_STATUS.get(status)
        or _key_of(status, said, error)
    )
    if key == "bad-request":
        if name := refused_parameter(said, error, words.fields):
            return UnsupportedParameterError(
                f"{target.name} does not accept {name!r}.{quoted}", name
            )
        if "credit balance" in said:
            key = "no-quota"
        elif "content_filter" in (error.get("code"), error.get("type")):
            key = "content-filter"
    after = retry_after(headers) if key in ("rate-limited", "server-error") else None
    # A redirect is not followed, because the key is for this address only.
    place = mask(headers.get("location", ""))[:LONGEST_TEXT] or "another address"
    return fault_of(key, target, quoted, after, status=status, place=place)


def _of_place(status: int, said: str, error: Mapping[str, object], target: Endpoint) -> str | None:
    """Return the key of a status that has a special meaning behind a proxy or at Azure."""
    if target.may_be_proxy and status in (403, 502, 503, 504):
        return "proxy/forbidden" if status == 403 else "proxy/error"
    if not target.is_azure or status not in (400, 401, 404, 405):
        return None
    code, small = str(error.get("code")), said.lower()
    if code in ("DeploymentNotFound", "OperationNotSupported"):
        return "unknown-model/azure" if code == "DeploymentNotFound" else "unknown-model/chat"
    if "api version" in small or "api-version" in small:
        return "bad-address/version"
    if "subscription key" in small:
        return "unauthorised/azure"
    return "not-found/azure" if code == "404" or said == "Resource not found" else None


def _key_of(status: int, said: str, error: Mapping[str, object]) -> str:
    """Return the key for a status, by the server's message or code if they are more specific."""
    if 300 <= status < 400 or status >= 500:
        return "moved" if status < 400 else "server-error"
    if status == 429:
        is_spent = "insufficient_quota" in (error.get("code"), error.get("type"))
        return "no-quota" if is_spent else "rate-limited"
    if status in (404, 405):
        if says("unknown-model", said, error) or said.startswith("model:"):
            return "unknown-model"
        return "not-found" if not said or says("not-found", said, error) else "not-found/model"
    causes = ("unauthorised", "unknown-model", "too-long")
    return next((cause for cause in causes if says(cause, said, error)), "bad-request")


def stream_fault(body: object, target: Endpoint, mask: Callable[[str], str]) -> ModelError:
    """Return the error that the server sent in the middle of a reply, in any form."""
    text = mask(card_text(body).text)[:LONGEST_TEXT] or "it does not say which"
    if says("too-long", text, {}):
        return fault_of("too-long", target, _quoted(text))
    return fault_of("server-error/stream", target, text=text)


def _quoted(said: str, status: int = 0, number: str = "") -> str:
    """Quote the server's message after a sentence; other sentences can follow it.

    Args:
        said: the message.
        status: the HTTP status; 0 if there is none.
        number: id of the request.
    """
    known = [f"status {status}"] if status else []
    known += [f"request {number}"] if number else []
    where = f" ({', '.join(known)})" if known else ""
    if not said:
        return where
    end = "" if said[-1] in ".!?…" else "."
    return f" It says: {said}{end}{where}"


# Options that servers reject: learned from an error, and not sent again for 30 days.

KEPT = timedelta(days=30)
"""Time for which a rejected option is remembered."""

_MOST_VALUE = 200
"""Maximum number of characters shown of an option's value."""


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class LearnedRefusal:
    """An option that a server rejects for a model."""

    address: str
    """Base URL of the API, without user name and password."""

    api: str
    """Form of the requests, a `Provider`."""

    model: str
    """Id of the model."""

    option: str
    """Name of the option in the body."""

    instead: str = ""
    """Name under which its value is sent; empty if it is omitted."""

    learned: str = field(default_factory=_today)
    """Date of the error, as 2026-11-24."""


class RefusedOptions:
    """The options that the user's servers reject."""

    def __init__(self, path: Path | None = None) -> None:
        """Use a file; None keeps everything in memory."""
        self._path = path
        self._signature: tuple[int, int, int] | None = None
        self._kept: tuple[LearnedRefusal, ...] = ()

    def at(self, address: str) -> tuple[LearnedRefusal, ...]:
        """Return the valid entries for an address, oldest first."""
        self._read()
        return tuple(each for each in _believed(self._kept) if each.address == address)

    def learn(self, refusal: LearnedRefusal) -> None:
        """Store an entry; if the file cannot be written, it is kept in memory."""
        self._read()
        self._write((*_believed(self._kept), refusal))

    def forget(self, address: str) -> None:
        """Delete the entries of every model at an address."""
        self._read()
        self._write(tuple(each for each in self._kept if each.address != address))

    def _read(self) -> None:
        """Read the file again if another process has written it."""
        if self._path is None:
            return
        with suppress(OSError):
            found = self._path.stat()
            signature = (found.st_ino, found.st_mtime_ns, found.st_size)
            if signature != self._signature:
                self._kept = _refusals(read_text(self._path, errors="replace"))
                self._signature = signature

    def _write(self, refusals: tuple[LearnedRefusal, ...]) -> None:
        self._kept = refusals
        if self._path is not None:
            text = json.dumps(list(map(asdict, refusals)), indent=1)
            with suppress(OSError):
                write_private(self._path, text.encode())


def kept_refusals() -> RefusedOptions:
    """Return the entries stored with the user's connections."""
    return RefusedOptions(user_paths().config / "refused-options.json")


def without_refused(
    body: JsonObject, refusals: tuple[LearnedRefusal, ...]
) -> tuple[JsonObject, tuple[RefusedOption, ...]]:
    """Return a body without the options that its model rejects, and those options."""
    sent, refused = dict(body), list[RefusedOption]()
    for each in refusals:
        if each.option in sent:
            value = sent.pop(each.option)
            if each.instead:
                sent[each.instead] = value
            text = one_line(json.dumps(value, ensure_ascii=False), _MOST_VALUE)
            refused.append(RefusedOption(each.option, text, each.instead))
    return sent, tuple(refused)


def _believed(refusals: tuple[LearnedRefusal, ...]) -> tuple[LearnedRefusal, ...]:
    oldest = (datetime.now(UTC).date() - KEPT).isoformat()
    return tuple(each for each in refusals if each.learned > oldest)


def _refusals(text: str) -> tuple[LearnedRefusal, ...]:
    """Return the entries of a file; unreadable ones are skipped."""
    try:
        entries = parse_json(text)
    except ValueError:
        return ()
    names = [each.name for each in fields(LearnedRefusal)]
    found: list[LearnedRefusal] = []
    for entry in entries if isinstance(entries, list) else []:
        values = [entry.get(name) if isinstance(entry, Mapping) else None for name in names]
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) == len(names):
            found.append(LearnedRefusal(*texts))
    return tuple(found)
