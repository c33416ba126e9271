"""One model call as it went over the wire: the bytes sent and the bytes that came back.

A recorder takes them where the HTTP client sends and receives, so what is kept is what was sent,
not a body built again. Known secrets are replaced before anything is kept.
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
"""Bytes of a reply that are kept."""

_ALWAYS_KEPT = 256 * 1024
"""Bytes up to which an answer that still comes is kept each time."""

_REQUEST_IDS = ("x-request-id", "request-id", "apim-request-id", "x-goog-request-id", "cf-ray")
"""Headers in which servers name a request, the most specific first."""

_FIRST_EVENTS = 20
"""Events of a reply in which its model and id are looked for."""


@dataclass(frozen=True, slots=True)
class WireCall:
    """The request and response of one model call, as text without secrets."""

    path: str
    """Path and query of the request."""

    headers: tuple[tuple[str, str], ...]
    """Headers of the request, in their order."""

    body: str
    """Body of the request; a numbered mark, `${secret:1}`, replaces each secret."""

    mark: str = "secret"
    """Word of the marks; another one where the body contains `${secret:` itself."""

    secrets: tuple[str, ...] = ()
    """References of the marks (`${env:NAME}`, `${key:NAME|base64}`); mark N is item N - 1."""

    model: str = ""
    """Model that the answer names."""

    id: str = ""
    """Identifier of the answer, as its body names it."""

    request_id: str = ""
    """Identifier of the request, as the answer's headers name it."""

    status: int = 0
    """Status of the answer; 0 where none came, and in histories of up to 0.1."""

    kind: str = ""
    """Media type of the answer."""

    raw: str = ""
    """Body of the answer as it came, decoded; bytes that are no UTF-8 as lone surrogates."""

    cut: int = 0
    """Bytes of the answer that are not kept."""

    has_answer: bool = False
    """Whether the answer's body is kept, as far as it came."""

    @property
    def marks(self) -> tuple[str, ...]:
        """Return the meaning of each mark in the body, a line each."""
        numbered = enumerate(self.secrets, 1)
        return tuple(f"${{{self.mark}:{number}}} = {name}" for number, name in numbered)


@dataclass(frozen=True, slots=True)
class KeptCall:
    """Names a call that the history keeps."""

    run: str
    """Id of its run."""

    seq: int
    """Sequence number of its `ModelCalled`."""


KeepCall: TypeAlias = Callable[[int, WireCall | KeptCall], None]
"""Keeps a call under the sequence number of its `ModelCalled`, in place of what it kept before."""

CallLookup: TypeAlias = Callable[[int], WireCall | None]
"""Returns the call of a `ModelCalled`, by sequence number; None where none is kept."""


def no_call(_seq: int) -> None:
    """Return None: no call is kept."""


@dataclass
class WireRecorder:
    """Takes one model call at the wire; a retry replaces the try before it."""

    keep: Callable[[WireCall | KeptCall], None]
    """Called when the request is sent and again when its answer has ended."""

    masker: Masker = field(default_factory=Masker)
    """Knows the secrets that are replaced."""

    _call: WireCall | None = field(default=None, init=False)
    _raw: bytearray = field(default_factory=bytearray, init=False)
    _cut: int = field(default=0, init=False)
    _kept: int = field(default=0, init=False)

    def sent(self, path: bytes, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        """Take a request that is about to be sent."""
        shown = tuple((name, self._header(name, value)) for name, value in headers)
        path_shown = self._path(path.decode("ascii", "replace"))
        self._call = WireCall(path_shown, shown, *marked_body(body, self.masker))
        self._raw.clear()
        self._cut = self._kept = 0
        self.keep(self._call)

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """Take the head of the answer."""
        if self._call is not None:
            found = next((headers[name] for name in _REQUEST_IDS if name in headers), "")
            kind = headers.get("content-type", "")
            self._call = replace(
                self._call, status=status, kind=kind, request_id=found, has_answer=True
            )

    def received(self, piece: bytes) -> None:
        """Take a piece of the answer's body."""
        room = MOST_RAW - len(self._raw)
        self._raw += piece[:room]
        self._cut += max(0, len(piece) - room)

    def skipped(self, piece: bytes) -> None:
        """Count a piece of the answer's body that cannot be read, so it is not kept."""
        self._cut += len(piece)

    def keep_so_far(self, *, holds_secret: bool) -> None:
        """Keep what has come of the answer, for a process that is killed before its end.

        A long answer is written again once it has grown by a quarter, so all writes together are a
        few times its size.
        """
        if self._kept < _ALWAYS_KEPT or len(self._raw) > self._kept * 5 // 4:
            self._kept = len(self._raw)
            self.end(holds_secret=holds_secret)

    def end(self, *, holds_secret: bool = False) -> None:
        """Keep the call with its answer.

        Args:
            holds_secret: whether the reply contains a secret. It may be split between events,
                where no mark can replace it, so such an answer is not kept.
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
        """Keep the call of another run as this one: a replay sends nothing itself."""
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
    """Return a body with a mark for each secret, the word of the marks, and their references."""
    text, mark, secrets = body.decode("utf-8", "surrogateescape"), "secret", list[str]()
    while f"${{{mark}:" in text:
        mark += "-"
    return masker.mask_numbered(text, secrets, mark), mark, tuple(secrets)


def identity_of(raw: str) -> tuple[str, str]:
    """Return the model and the id that an answer names, in the words of any API; "" for none."""
    lines = (line.removeprefix("data:").strip() for line in raw[:200_000].splitlines())
    events = [line for line in lines if line.startswith("{")][:_FIRST_EVENTS]
    for text in (raw, *events) if raw.lstrip().startswith("{") else events:
        try:
            event = parse_json(text)
        except ValueError:
            continue
        if not isinstance(event, Mapping):
            continue
        # The Responses API and Anthropic's wrap the reply that an event is about, batches theirs.
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
"""The recorder of the request that is being sent: HTTP clients have no place to hand it through."""


@contextmanager
def recording(recorder: WireRecorder | None) -> Iterator[None]:
    """Record the request that is sent inside; its answer is recorded until it ends."""
    token = RECORDER.set(recorder)
    try:
        yield
    finally:
        RECORDER.reset(token)
