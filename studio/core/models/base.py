"""The seam between the agent loop and anything that answers like a model."""

import tomllib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from studio.core.paths import resource_text
from studio.core.prompty.document import Message, TemplateFormat, ToolSpec
from studio.core.prompty.loop_format import TextFormat
from studio.core.text.values import JsonObject
from studio.core.wire.reply import ReplyDelta
from studio.core.wire.wire_call import WireRecorder

ProtocolName: TypeAlias = Literal["native", TextFormat]
"""Way in which a prompt asks for tools and a reply is read (docs/design/agent-loop.md)."""


@dataclass(frozen=True, slots=True)
class ProtocolFacts:
    """Facts of one loop protocol; its behavior is in `agent/protocols/loops.py`."""

    title: str
    """Name in the window, which is translated there."""

    name: str
    """Short name for people."""

    phrase: str
    """Name in a sentence ("Rewrite for …")."""

    correction: str
    """Sentence that asks the model for the right form, after a reply that could not be read."""

    script: Sequence[str]
    """Parts of an exported script that ask until there is an answer (`resources/export/python`)."""

    stops: Sequence[str] = ()
    """Usual stop sequences."""

    result_label: str = ""
    """Label before a tool's result in the text; empty if results have none."""

    rules: str = ""
    """Instructions that teach the format; empty where the request carries the tools."""

    tools: Mapping[TemplateFormat, str] = field(default_factory=dict)
    """Part of a body that lists the tools, by template language."""

    steps: Mapping[TemplateFormat, str] = field(default_factory=dict)
    """Part of a body that shows the steps so far, by template language."""


def _protocols() -> Mapping[ProtocolName, ProtocolFacts]:
    rows = tomllib.loads(resource_text("words", "protocols.toml"))["protocol"]
    return {row.pop("id"): ProtocolFacts(**row) for row in rows}


PROTOCOLS = _protocols()
"""A row for each protocol; `tests/test_protocol_tables.py` names what else a protocol needs."""

Spell: TypeAlias = Callable[[str], str]
"""Function that writes a value in the syntax of the text around it."""

Reveal: TypeAlias = Callable[[str, Spell | None], str]
"""A text with the values of secrets in place of their references; raises `MissingValueError`."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one model call is made from; immutable, so that a retry sends the same."""

    messages: Sequence[Message]
    """The conversation as it will be sent."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that the model can use. Only `native` sends them beside the messages; in the text
    protocols the prompt contains them, and they are here for models that build a grammar."""

    options: JsonObject | None = None
    """Sampling options in the document's own names (`temperature`, `maxOutputTokens`, …)."""

    stop: tuple[str, ...] = ()
    """Stop sequences; sent only where the connection can."""

    response_schema: JsonObject | None = None
    """JSON schema of the declared outputs, where there are any."""

    protocol: ProtocolName = "native"
    """Protocol by which the reply will be read."""

    iteration: int = 1
    """Which model call of the run this is, from 1."""

    max_iterations: int = 10
    """Maximum number of iterations; at the last one a small local model must answer."""

    past_calls: Sequence[tuple[str, str]] = ()
    """(tool, arguments as JSON text) of the calls already made in this run, in order."""

    observations: Sequence[str] = ()
    """Results of those calls, in the same order."""

    question: str = ""
    """The user's question in plain words, for grounding a small local model's arguments."""

    reveal: Reveal | None = field(default=None, compare=False, repr=False)
    """Puts the values of secrets in for their references (`models/sending.py`); None where the
    request holds none. What is shown and kept is the request with the references."""

    resolve_option: Spell | None = field(default=None, compare=False, repr=False)
    """Puts the values of variables into a text of `options`, which are the prompt's own words and
    no model's; None where they name none."""

    wire: WireRecorder | None = field(default=None, compare=False, repr=False)
    """Recorder of the bytes sent and received; None if they are not kept."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The abilities of a model; an option whose ability is unknown is not sent."""

    tools: bool = True
    """Takes native tools."""

    stop: bool = True
    """Takes stop sequences."""

    json_schema: bool = True
    """Takes a schema for its answer."""

    vision: bool = False
    """Takes images."""

    parallel: bool = True
    """Takes a word on whether it may ask for several tools at once."""

    context_window: int | None = None
    """Tokens."""


class ChatModel(Protocol):
    """Anything that answers like a model: a server, the embedded one, a script, a user."""

    @property
    def label(self) -> str:
        """The model's name for people ("SmolLM2 135M (embedded)")."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be sent to it."""
        ...

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the exact body that `stream` will send; pure and without secrets."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ReplyDelta]:
        """Answer; ends with `Finished`. Cancelling the task frees the model at once.

        Raises:
            ModelError: the model cannot answer; its text and hint are meant for the user.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """Which model answers, and where, in the words that other programs know."""

    model: str = ""
    """The id that the server knows it by."""

    provider: str = ""
    """Its provider, as OpenTelemetry names it ("openai", "azure.ai.openai", "anthropic")."""

    server: str = ""
    """Its address, without credentials; empty for a model in this process."""


TellOpening: TypeAlias = Callable[[str], None]
"""Takes a sentence on the opening of a model, for the user."""

InnerModel = TypeVar("InnerModel", bound=ChatModel)


class WrappingModel(Generic[InnerModel]):
    """A model that has another one answer; what is no answer is the inner model's."""

    def __init__(self, inner: InnerModel) -> None:
        self._inner = inner

    async def prepare(self, tell: TellOpening) -> None:
        """Prepare the inner model."""
        await prepare_model(self._inner, tell)

    @property
    def inner(self) -> InnerModel:
        """The model that answers."""
        return self._inner

    @property
    def label(self) -> str:
        """The model's name for people."""
        return self._inner.label

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be sent to it."""
        return self._inner.capabilities

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the exact body."""
        return self._inner.request_body(request)

    async def close(self) -> None:
        """Do nothing: the caller that opened the inner model closes it."""


def answering_model(model: object) -> object:
    """Return the innermost model of those that have another one answer."""
    while isinstance(model, WrappingModel):
        model = model.inner
    return model


async def prepare_model(model: object, tell: TellOpening) -> None:
    """Open what a model needs before its clock starts; does nothing the second time.

    Raises:
        ModelError: it cannot be opened.
    """
    if hasattr(model, "prepare"):
        await model.prepare(tell)


def place_of(model: object) -> ModelPlace:
    """Return which model answers, and where; empty of one that is on no server."""
    place = getattr(answering_model(model), "place", None)
    return place if isinstance(place, ModelPlace) else ModelPlace()


@runtime_checkable
class EmbeddingModel(Protocol):
    """A model whose server gives vectors too."""

    async def embed(self, texts: Sequence[str], model: str) -> tuple[tuple[float, ...], ...]:
        """Return one vector for each text, all of one length.

        Args:
            texts: what is embedded.
            model: id of the embedding model at the server.

        Raises:
            ModelError: the server cannot, or will not.
        """
        ...


class ModelError(Exception):
    """A model call that failed, with what the user can do."""

    def __init__(self, kind: str, message: str, hint: str = "", *, retryable: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        """Stable identifier ("refused", "unauthorised", "not-found", "moved", "rate-limited",
        "timeout", "server-error", "bad-reply", "missing-model", "missing-library", "too-long",
        "crashed", "cut-off", …)."""
        self.message = message
        """Description of the error, in one plain sentence."""
        self.hint = hint
        """Advice to the user."""
        self.retryable = retryable
        """Whether the same request may succeed later."""
        self.retries: int | None = None
        """Number of retries for a loop around the model, if the connection sets it."""
        self.is_exhausted = False
        """Whether it was tried again already as often as the connection allows; a loop around the
        model that tried again too would multiply the tries."""


def nothing_asked() -> ModelError:
    """Return the error of a request without a message, which is not sent."""
    return ModelError(
        "no-message",
        "The request holds no message, so it was not sent.",
        "Put user: before the question in the prompt, or give the conversation a value.",
    )
