"""Errors of servers, in sentences with advice.

Every fault of a connection becomes a `ModelError` here. Nothing of the SDK is imported: exceptions
are told apart by what they carry, and texts of servers are masked before anybody sees them, because
some of them repeat the key.

What a server says about a fault, whatever shape it says it in, and what that means.

`{"error": {"message": …}}` is one of many: a text, a list, `{"error": "…"}`, `{"Message": "…"}`,
a page of HTML, or a list of fields (`detail`, with `loc` and `msg`) as FastAPI's servers write it.
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
"""Codes of OpenAI's API for some of the causes."""
_NAMED = re.compile(r"['\"`]([a-z_][a-z0-9_.]*)['\"`]|\b([a-z]+_[a-z_]+)\b")


@dataclass(frozen=True, slots=True)
class ServerText:
    """The message of a server."""

    text: str = ""
    """Its words, in one line."""

    fields: tuple[str, ...] = ()
    """Fields of the body that it says something about, by their first names."""


def card_text(body: object) -> ServerText:
    """Return the words of an answer's body: its JSON, or its text."""
    fields: list[str] = []
    return ServerText(" ".join(_words(body, fields, 0).split()), tuple(dict.fromkeys(fields)))


def request_id(headers: Mapping[str, str]) -> str:
    """Return the id by which the server's operator finds the request; names in lower case."""
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
    """Return a text; of a page of HTML its title, or its heading."""
    if "<" not in text or not re.search(r"<(?:!doctype|html|head|body|title)\b", text, re.I):
        return text
    found = _TITLE.search(text) or _HEADING.search(text)
    return unescape(_TAG.sub(" ", found[1] if found else text[:2000]))


# What it means ------------------------------------------------------------------------------------


def says(cause: str, said: str, error: Mapping[str, object]) -> bool:
    """Return whether a server names a cause of a fault, whatever the status."""
    code = _CODES.get(cause)
    is_said = re.search(_CAUSES[cause], said, re.IGNORECASE) is not None
    return is_said or (code is not None and error.get("code") == code)


def refused_parameter(said: str, error: Mapping[str, object], fields: tuple[str, ...]) -> str:
    """Return the top-level parameter that a refusal is about; empty where it names none."""
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
"""Characters of what a server says that are shown."""

_SENTENCES = resource_table("words", "model_faults.txt")["faults"]
"""Sentence and advice of each error, on two lines; before the slash is the kind of the error."""

_AZURE_ADDRESS = "It is written as https://NAME.openai.azure.com."
_PASSING = {"cut-off", "rate-limited", "refused", "server-error", "timeout"}
_PASSING |= {"proxy/error", "proxy/down"}
"""Kinds, and keys, of faults that may pass."""

_OF_STATUS = {401: "unauthorised", 402: "no-quota", 403: "forbidden", 413: "too-long"}
_OF_STATUS |= {407: "proxy/name"} | dict.fromkeys((408, 409, 425), "timeout")


class UnsupportedParameterError(ModelError):
    """The server takes no such parameter; the call may go without it."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(
            "unsupported-parameter",
            message,
            f"Take {parameter!r} out of the options, or choose another model.",
        )
        self.parameter = parameter
        """First part of the parameter's path in the body."""


class RetryLaterError(ModelError):
    """A temporary error; the server may have named a time for a retry."""

    def __init__(self, kind: str, message: str, hint: str, after: float | None = None) -> None:
        super().__init__(kind, message, hint, retryable=True)
        self.after = after
        """Seconds to wait, if the server named them."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The names of a server and model, for messages."""

    name: str
    """The connection's name."""

    address: str
    """Its base address, without credentials."""

    model: str
    """The model id that was asked for."""

    proxy: str = ""
    """The proxy on the way, without credentials; empty where there is none."""

    is_azure: bool = False
    """Whether it is a resource of Azure, whose models are asked for by their deployments."""

    @property
    def may_be_proxy(self) -> bool:
        """Whether an answer can be the proxy's own: it reads what is not encrypted."""
        return bool(self.proxy) and self.address.startswith("http://")


def fault_of(
    key: str, target: Endpoint, quoted: str = "", after: float | None = None, **more: object
) -> ModelError:
    """Return the error of a row of the table of sentences.

    Args:
        key: names the row.
        target: who was talked to.
        quoted: what the server says, to follow a sentence.
        after: seconds to wait, where the server said so.
        more: what else the row says.
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
    """Return the fault of an HTTP status.

    Args:
        status: 3xx, 4xx or 5xx.
        headers: the response's, names in lower case.
        body: the body: its `error` where it has one, else all of it, or its text.
        target: who answered.
        mask: blanks out keys.
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
            return UnsupportedParameterError(f"{target.name} takes no {name!r}.{quoted}", name)
        if "credit balance" in said:
            key = "no-quota"
        elif "content_filter" in (error.get("code"), error.get("type")):
            key = "content-filter"
    after = retry_after(headers) if key in ("rate-limited", "server-error") else None
    # A server that sends on is not followed, for the key is for this address.
    place = mask(headers.get("location", ""))[:LONGEST_TEXT] or "another address"
    return fault_of(key, target, quoted, after, status=status, place=place)


def _of_place(status: int, said: str, error: Mapping[str, object], target: Endpoint) -> str | None:
    """Return what a status means behind a proxy, or of Azure, and not of other servers."""
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
    """Return the key of a status, by the server's words or code if these tell causes apart."""
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
    """Return an error that the server sent in the middle of a reply, in whatever shape."""
    text = mask(card_text(body).text)[:LONGEST_TEXT] or "it does not say which"
    if says("too-long", text, {}):
        return fault_of("too-long", target, _quoted(text))
    return fault_of("server-error/stream", target, text=text)


def _quoted(said: str, status: int = 0, number: str = "") -> str:
    """Quote the server's message after a sentence; other sentences can follow it.

    Args:
        said: its words.
        status: the HTTP status; 0 where there is none.
        number: the request's number.
    """
    known = [f"status {status}"] if status else []
    known += [f"request {number}"] if number else []
    where = f" ({', '.join(known)})" if known else ""
    if not said:
        return where
    end = "" if said[-1] in ".!?…" else "."
    return f" It says: {said}{end}{where}"


# Options that servers refuse: learned from a refusal, and not sent again for 30 days.

KEPT = timedelta(days=30)
"""Time for which a refusal is kept."""

_MOST_VALUE = 200
"""Characters of an option's value that are shown."""


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class LearnedRefusal:
    """One option that a model at a server refused."""

    address: str
    """Base address of the API, without user and password."""

    api: str
    """Form of the requests, a `Provider`."""

    model: str
    """Id of the model."""

    option: str
    """Name of the option in the body."""

    instead: str = ""
    """Name under which its value is sent; empty if it is left out."""

    learned: str = field(default_factory=_today)
    """Day of the refusal, as 2026-11-24."""


class RefusedOptions:
    """The refusals that the user's servers gave."""

    def __init__(self, path: Path | None = None) -> None:
        """Take the file; None keeps everything in memory."""
        self._path = path
        self._signature: tuple[int, int, int] | None = None
        self._kept: tuple[LearnedRefusal, ...] = ()

    def at(self, address: str) -> tuple[LearnedRefusal, ...]:
        """Return the refusals of an address that are believed, in the order of learning."""
        self._read()
        return tuple(each for each in _believed(self._kept) if each.address == address)

    def learn(self, refusal: LearnedRefusal) -> None:
        """Keep a refusal; a file that cannot be written costs only the memory of it."""
        self._read()
        self._write((*_believed(self._kept), refusal))

    def forget(self, address: str) -> None:
        """Drop the refusals of every model at an address."""
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
    """Return the refusals that are kept with the user's connections."""
    return RefusedOptions(user_paths().config / "refused-options.json")


def without_refused(
    body: JsonObject, refusals: tuple[LearnedRefusal, ...]
) -> tuple[JsonObject, tuple[RefusedOption, ...]]:
    """Return a body without what its model refuses, and the options that were changed."""
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
    """Return the refusals of a file; an entry that cannot be read costs only itself."""
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
