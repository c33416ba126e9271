"""A wire call: the bytes that one model call sent and received.

A recorder takes them from the HTTP client, so the stored body is the one that was sent, not built
again. Known secrets are replaced before storing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from studio.core.masking.masker import Masker
from studio.core.masking.redact import DOTS, names_secret, names_secret_variable, without_keys
from studio.core.text.values import object_of, parse_json

MOST_RAW = 8 * 1024**2
"""Maximum number of stored bytes of a response."""

_ALWAYS_KEPT = 256 * 1024
"""Size up to which an incomplete response is stored after each piece, in bytes."""

_REQUEST_IDS = ("x-request-id", "request-id", "apim-request-id", "x-goog-request-id", "cf-ray")
"""Headers with the server's id of a request, most specific first."""

_FIRST_EVENTS = 20
"""Number of events at the start of a response that are searched for its model and id."""


@dataclass(frozen=True, slots=True)
class WireCall:
    """The request and response of one model call, as text without secrets."""

    path: str
    """Path and query of the request."""

    headers: tuple[tuple[str, str], ...]
    """Headers of the request, in order."""

    body: str
    """Body of the request; each secret is replaced by a numbered mark, `${secret:1}`."""

    mark: str = "secret"
    """Word of the marks; a different one if the body itself contains `${secret:`."""

    secrets: tuple[str, ...] = ()
    """References of the marks (`${env:NAME}`, `${key:NAME|base64}`); mark N is item N - 1."""

    model: str = ""
    """Model named in the response."""

    id: str = ""
    """Id in the body of the response."""

    request_id: str = ""
    """Id of the request in the headers of the response."""

    status: int = 0
    """HTTP status; 0 if there was no response, and in histories up to 0.1."""

    kind: str = ""
    """Media type of the response."""

    raw: str = ""
    """Decoded body of the response; bytes that are no UTF-8 are lone surrogates."""

    cut: int = 0
    """Number of bytes of the response that are not stored."""

    has_answer: bool = False
    """Whether the response's body is stored, as far as it was received."""

    @property
    def marks(self) -> tuple[str, ...]:
        """The meaning of each mark in the body, one line each."""
        numbered = enumerate(self.secrets, 1)
        return tuple(f"${{{self.mark}:{number}}} = {name}" for number, name in numbered)


@dataclass(frozen=True, slots=True)
class KeptCall:
    """A reference to a stored wire call."""

    run: str
    """Id of its run."""

    seq: int
    """Sequence number of its `ModelCalled`."""


KeepCall: TypeAlias = Callable[[int, WireCall | KeptCall], None]
"""Function that stores a wire call under the number of its `ModelCalled`, replacing an earlier
one.
"""

CallLookup: TypeAlias = Callable[[int], WireCall | None]
"""Function that returns the wire call of a `ModelCalled` by its number; None if there is none."""


def no_call(_seq: int) -> None:
    """Return None, for callers without wire calls."""


@dataclass
class WireRecorder:
    """A recorder of one model call in the HTTP client; a retry replaces the previous attempt."""

    keep: Callable[[WireCall | KeptCall], None]
    """Callback for the call when its request is sent, and again when its response has ended."""

    masker: Masker = field(default_factory=Masker)
    """Masker of the secrets."""

    _call: WireCall | None = field(default=None, init=False)
    _raw: bytearray = field(default_factory=bytearray, init=False)
    _cut: int = field(default=0, init=False)
    _kept: int = field(default=0, init=False)

    def sent(self, path: bytes, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        """Record a request that is about to be sent."""
        shown = tuple((name, self._header(name, value)) for name, value in headers)
        path_shown = self._path(path.decode("ascii", "replace"))
        self._call = WireCall(path_shown, shown, *marked_body(body, self.masker))
        self._raw.clear()
        self._cut = self._kept = 0
        self.keep(self._call)

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """Record the status and headers of the response."""
        if self._call is not None:
            found = next((headers[name] for name in _REQUEST_IDS if name in headers), "")
            kind = headers.get("content-type", "")
            self._call = replace(
                self._call, status=status, kind=kind, request_id=found, has_answer=True
            )

    def received(self, piece: bytes) -> None:
        """Record a piece of the response's body."""
        room = MOST_RAW - len(self._raw)
        self._raw += piece[:room]
        self._cut += max(0, len(piece) - room)

    def skipped(self, piece: bytes) -> None:
        """Count a piece of the response's body that cannot be decoded and is not stored."""
        self._cut += len(piece)

    def keep_so_far(self, *, holds_secret: bool) -> None:
        """Store the response received so far, in case the process is killed.

        A long response is written again after it grew by a quarter, so that all writes together are
        only a few times its size.
        """
        if self._kept < _ALWAYS_KEPT or len(self._raw) > self._kept * 5 // 4:
            self._kept = len(self._raw)
            self.end(holds_secret=holds_secret)

    def end(self, *, holds_secret: bool = False) -> None:
        """Store the wire call with its response.

        Args:
            holds_secret: whether the reply contains a secret. It may be split between events and
                cannot be replaced by a mark, so such a response is not stored.
        """
        if self._call is None or not self._call.has_answer:
            return
        raw = self._raw.decode("utf-8", "surrogateescape")
        model, identifier = identity_of(raw)
        raw, cut = ("", self._cut + len(self._raw)) if holds_secret else (raw, self._cut)
        self.keep(
            replace(
                self._call,
                model=self.masker.mask(model),
                id=self.masker.mask(identifier),
                raw=self.masker.mask(raw),
                cut=cut,
            )
        )

    def repeat(self, call: KeptCall) -> None:
        """Store a reference to another run's wire call: a replay sends nothing itself."""
        self.keep(call)

    def _header(self, name: str, value: str) -> str:
        """Return the value of a header or of a part of a query, without secrets."""
        is_secret = names_secret(name) or names_secret_variable(name)
        return DOTS if is_secret else without_keys(self.masker.mask(value))

    def _path(self, path: str) -> str:
        path, question, query = path.partition("?")
        shown = [
            name + equals + self._header(name, value)
            for name, equals, value in (part.partition("=") for part in query.split("&"))
        ]
        return self._header("", path) + question + "&".join(shown)


def marked_body(body: bytes, masker: Masker) -> tuple[str, str, tuple[str, ...]]:
    """Return a body with a mark for each secret, the word of the marks, and the references."""
    text, mark, secrets = body.decode("utf-8", "surrogateescape"), "secret", list[str]()
    while f"${{{mark}:" in text:
        mark += "-"
    return masker.mask_numbered(text, secrets, mark), mark, tuple(secrets)


def identity_of(raw: str) -> tuple[str, str]:
    """Return the model and the id in a response of any API; empty if missing."""
    lines = (line.removeprefix("data:").strip() for line in raw[:200_000].splitlines())
    events = [line for line in lines if line.startswith("{")][:_FIRST_EVENTS]
    for text in (raw, *events) if raw.lstrip().startswith("{") else events:
        try:
            event = parse_json(text)
        except ValueError:
            continue
        if not isinstance(event, Mapping):
            continue
        # The Responses API and Anthropic's wrap the reply in an event, batches wrap theirs too.
        response, result = object_of(event.get("response")), object_of(event.get("result"))
        for held in (
            response.get("body"),
            response,
            result.get("message"),
            event.get("message"),
            event,
        ):
            if isinstance(held, Mapping):
                model = held.get("model") or held.get("modelVersion")
                identifier = held.get("id") or held.get("responseId")
                if isinstance(model, str) and model:
                    return model, identifier if isinstance(identifier, str) else ""
    return "", ""


RECORDER: ContextVar[WireRecorder | None] = ContextVar("recorder", default=None)
"""Recorder of the current request; HTTP clients have no parameter to pass it."""


@contextmanager
def recording(recorder: WireRecorder | None) -> Iterator[None]:
    """Record the request sent within the block, and its response until it ends."""
    token = RECORDER.set(recorder)
    try:
        yield
    finally:
        RECORDER.reset(token)
