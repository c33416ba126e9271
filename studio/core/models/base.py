"""The interface between the agent loop and every kind of model."""

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
"""Way in which a prompt requests tools and replies are read (docs/design/agent-loop.md)."""


@dataclass(frozen=True, slots=True)
class ProtocolFacts:
    """The texts and settings of one protocol; its behavior is in `agent/protocols/loops.py`."""

    title: str
    """Name in the window, where it is translated."""

    name: str
    """Short name for the user."""

    phrase: str
    """Name in a sentence ("Rewrite for …")."""

    correction: str
    """Sentence that asks the model for the right format, after a reply that could not be read."""

    script: Sequence[str]
    """Parts of an exported script that call the model until there is an answer
    (`resources/export/python`).
    """

    stops: Sequence[str] = ()
    """Default stop sequences."""

    result_label: str = ""
    """Label before a tool's result in the text; empty if results have none."""

    rules: str = ""
    """Instructions that explain the format; empty if the request carries the tools."""

    tools: Mapping[TemplateFormat, str] = field(default_factory=dict)
    """Part of a body that lists the tools, by template language."""

    steps: Mapping[TemplateFormat, str] = field(default_factory=dict)
    """Part of a body that shows the steps so far, by template language."""


def _protocols() -> Mapping[ProtocolName, ProtocolFacts]:
    rows = tomllib.loads(resource_text("words", "protocols.toml"))["protocol"]
    return {row.pop("id"): ProtocolFacts(**row) for row in rows}


PROTOCOLS = _protocols()
"""One row per protocol; `tests/test_protocol_tables.py` lists what else a protocol needs."""

Spell: TypeAlias = Callable[[str], str]
"""Function that writes a value in the syntax of the text around it."""

Reveal: TypeAlias = Callable[[str, Spell | None], str]
"""Function that replaces references in a text by the values of secrets; raises
`MissingValueError`.
"""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The parameters of one model call; immutable, so that a retry sends the same."""

    messages: Sequence[Message]
    """The conversation as it will be sent."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that the model can use. Only `native` sends them beside the messages; in text protocols
    the prompt contains them, and a model with a grammar reads them here.
    """

    options: JsonObject | None = None
    """Sampling options in the document's own names (`temperature`, `maxOutputTokens`, …)."""

    stop: tuple[str, ...] = ()
    """Stop sequences; sent only if the connection supports them."""

    response_schema: JsonObject | None = None
    """JSON schema of the declared outputs; None without outputs."""

    protocol: ProtocolName = "native"
    """Protocol by which the reply will be read."""

    iteration: int = 1
    """Number of the model call in the run, from 1."""

    max_iterations: int = 10
    """Maximum number of iterations; in the last one a small local model must answer."""

    past_calls: Sequence[tuple[str, str]] = ()
    """(tool, arguments as JSON text) of the calls already made in this run, in order."""

    observations: Sequence[str] = ()
    """Results of those calls, in the same order."""

    question: str = ""
    """The user's question as plain text, which limits the arguments of a small local model."""

    reveal: Reveal | None = field(default=None, compare=False, repr=False)
    """Function that replaces references by the values of secrets (`models/sending.py`); None if the
    request contains none. The request with the references is shown and stored.
    """

    resolve_option: Spell | None = field(default=None, compare=False, repr=False)
    """Function that inserts the values of variables into a text of `options`, which the prompt's
    author wrote; None if they contain no references.
    """

    wire: WireRecorder | None = field(default=None, compare=False, repr=False)
    """Recorder of the bytes sent and received; None if they are not preserved."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The abilities of a model; an option for an unknown ability is not sent."""

    tools: bool = True
    """Whether it accepts native tools."""

    stop: bool = True
    """Whether it accepts stop sequences."""

    json_schema: bool = True
    """Whether it accepts a schema for its answer."""

    vision: bool = False
    """Whether it accepts images."""

    parallel: bool = True
    """Whether it accepts an option for several tool calls at once."""

    context_window: int | None = None
    """Size of the context window in tokens; None if not known."""


class ChatModel(Protocol):
    """Any source of model replies: a server, the embedded model, a script, the user."""

    @property
    def label(self) -> str:
        """The model's name for the user ("SmolLM2 135M (embedded)")."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """The abilities of the model."""
        ...

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the exact body that `stream` will send; pure and without secrets."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ReplyDelta]:
        """Yield the reply, ending with `Finished`. Canceling the task stops the model at once.

        Raises:
            ModelError: the model cannot answer; its text and hint are meant for the user.
        """
        ...

    async def close(self) -> None:
        """Close connections and processes."""
        ...


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """A model and its server, as named by other programs."""

    model: str = ""
    """Model id on the server."""

    provider: str = ""
    """Provider as named by OpenTelemetry ("openai", "azure.ai.openai", "anthropic")."""

    server: str = ""
    """Address of the server, without credentials; empty for a model in this process."""


TellOpening: TypeAlias = Callable[[str], None]
"""Function that receives a sentence for the user while a model is opened."""

InnerModel = TypeVar("InnerModel", bound=ChatModel)


class WrappingModel(Generic[InnerModel]):
    """A model that forwards calls to an inner model; everything but answers is forwarded as is."""

    def __init__(self, inner: InnerModel) -> None:
        self._inner = inner

    async def prepare(self, tell: TellOpening) -> None:
        """Prepare the inner model."""
        await prepare_model(self._inner, tell)

    @property
    def inner(self) -> InnerModel:
        """The inner model."""
        return self._inner

    @property
    def label(self) -> str:
        """The model's name for the user."""
        return self._inner.label

    @property
    def capabilities(self) -> Capabilities:
        """The abilities of the inner model."""
        return self._inner.capabilities

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the exact body."""
        return self._inner.request_body(request)

    async def close(self) -> None:
        """Do nothing: the inner model is closed by the code that opened it."""


def answering_model(model: object) -> object:
    """Return the innermost model of nested wrapping models."""
    while isinstance(model, WrappingModel):
        model = model.inner
    return model


async def prepare_model(model: object, tell: TellOpening) -> None:
    """Open what a model needs before its time is measured; do nothing the second time.

    Raises:
        ModelError: the model cannot be opened.
    """
    if hasattr(model, "prepare"):
        await model.prepare(tell)


def place_of(model: object) -> ModelPlace:
    """Return which model answers and on which server; empty for a model without a server."""
    place = getattr(answering_model(model), "place", None)
    return place if isinstance(place, ModelPlace) else ModelPlace()


@runtime_checkable
class EmbeddingModel(Protocol):
    """A model whose server also computes embeddings."""

    async def embed(self, texts: Sequence[str], model: str) -> tuple[tuple[float, ...], ...]:
        """Return one embedding for each text, all of the same length.

        Args:
            texts: the texts to embed.
            model: id of the embedding model at the server.

        Raises:
            ModelError: the server does not return them.
        """
        ...


class ModelError(Exception):
    """A failed model call, with advice for the user."""

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
        """Whether the connection's retries are used up; a loop around the model must not retry
        again.
        """


def nothing_asked() -> ModelError:
    """Return the error for a request without messages, which is not sent."""
    return ModelError(
        "no-message",
        "The request contains no message, so it was not sent.",
        "Put user: before the question in the prompt, or give the conversation a value.",
    )
