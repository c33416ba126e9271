"""What the preview shows: one frozen value, made from a document and the inputs given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from studio.application.preview.cards import CardData
from studio.application.preview.inline_values import InlineValue
from studio.core.models.base import Capabilities, ProtocolName
from studio.core.models.connections import Connection
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import GivenValue, InputOrigin
from studio.core.prompty.messages import PromptMessages
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem
from studio.core.text.span import Span
from studio.core.text.values import Json, JsonObject
from studio.core.tokens.conversation import ConversationTokens
from studio.core.wire.request import Provider, WireRequest

PROVIDERS: Mapping[Provider, str] = {
    "openai-chat": "OpenAI chat completions",
    "openai-responses": "OpenAI responses",
    "anthropic": "Anthropic messages",
    "ollama": "Ollama chat",
    "gemini": "Gemini generateContent",
}
"""The shapes with their names for people, in the order of the menu."""


@dataclass(frozen=True, slots=True)
class PreviewTarget:
    """The model that a run would be sent to."""

    model_id: str = ""
    """Its id; empty while the document's own is meant."""

    name: str = ""
    """Who answers, for people."""

    context_window: int | None = None
    """Tokens that a conversation may have; `None` while unknown."""

    is_embedded: bool = False
    """Whether the studio's own server answers, which can count exactly."""

    capabilities: Capabilities = field(default_factory=Capabilities)
    """What the model takes; what it is known not to take is not sent."""

    weights: Path | None = None
    """The embedded model's file."""

    base_url: str = ""
    """Address of the server; empty for the provider's own."""

    provider: Provider | None = None
    """The form of the requests that are sent to it; `None` for the document's own."""

    connection: Connection | None = field(default=None, compare=False, repr=False)
    """Where it answers; `None` where that says nothing of it."""

    chosen: str = ""
    """Sentence on what answers, and why; empty while nothing is known of it."""

    is_refused: bool = False
    """Whether a run would be refused, since the prompt names what is not set up here."""


@dataclass(frozen=True, slots=True)
class RequestPreview:
    """The body that one provider would be sent."""

    provider: Provider
    """Whose shape it is."""

    text: str
    """The body as indented JSON, secrets masked; empty where none could be made."""

    body: JsonObject = field(default_factory=dict)
    """The same as a value, secrets masked."""

    model: str = ""
    """Id of the model, which some APIs have in the address."""

    api: str = "chat"
    """What is asked for: `chat`, `responses`, `embedding` or `image`."""

    base_url: str = ""
    """Address of the connection's API; empty for the provider's own."""

    whole: Callable[[], JsonObject] | None = field(default=None, compare=False, repr=False)
    """Makes the body with the content of files, of which `body` only tells the size."""

    made: WireRequest | None = field(default=None, compare=False, repr=False)
    """The request itself, which knows where its values were written."""

    notes: tuple[str, ...] = ()
    """What the shape cannot carry, and what was left out, one sentence each."""


@dataclass(frozen=True, slots=True)
class VariableRow:
    """One variable of the prompt: its value, where that comes from, and where it is used."""

    name: str
    """Root name, as the template uses it."""

    value: Json
    """The value that the preview rendered with; null where there is none."""

    origin: InputOrigin
    """Where the value comes from; `missing` renders as nothing."""

    given: GivenValue | None = field(default=None, kw_only=True)
    """The user's value with where it was taken from; None for any other origin."""

    declared: bool
    """Whether the front matter declares it."""

    uses: tuple[Span, ...] = ()
    """Every use in the body, in order."""

    place: Span | None = None
    """Where a double click leads: the declaration's name, else the first use."""

    tokens: int = 0
    """Tokens that its values take in all messages together, each counted by itself."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Everything that the preview pane shows of one revision of a document."""

    document: PromptDocument
    """The document that it was made from."""

    messages: PromptMessages
    """What the model would be told; the last good ones while `is_stale`."""

    resolved: PromptDocument
    """`document` with the values of its references in it, as far as they may be read."""

    shown: PromptDocument
    """The document that `messages` come from; differs from `document` while `is_stale`."""

    tools: tuple[ToolSpec, ...] = ()
    """Every tool that the model would be told of."""

    tool_choice: str = ""
    """Which of how many tools these are, and why, in words; empty where they are all."""

    requests: Mapping[Provider, RequestPreview] = field(default_factory=dict)
    """The request bodies."""

    provider: Provider = "openai-chat"
    """The shape that the document's `model:` block asks for."""

    variables: tuple[VariableRow, ...] = ()
    """Declared inputs in order, then undeclared and reserved names in order of use."""

    problems: tuple[Problem, ...] = ()
    """What stands in the way of, or was found while, making the messages."""

    tokens: ConversationTokens = field(default_factory=ConversationTokens)
    """What the conversation costs, and who counted."""

    target: PreviewTarget = field(default_factory=PreviewTarget)
    """The model that it is meant for."""

    protocol: ProtocolName = "native"
    """How a run would read the reply; only the native one sends tools beside the messages."""

    cards: tuple[CardData, ...] = ()
    """The messages as cards."""

    inline: tuple[InlineValue, ...] = ()
    """What the editor shows behind the lines of `document`."""

    samples: frozenset[str] = frozenset()
    """Names whose value is only a sample: a run does not send it."""

    is_stale: bool = False
    """Whether the document has an error that gives no messages, so that older ones are shown."""

    revision: int = 0
    """Counts up; a later preview has a higher one."""

    @property
    def blocker(self) -> Problem | None:
        """The problem that stands in the way, where there is one."""
        if not self.is_stale:
            return None
        return next((item for item in self.problems if item.severity == "error"), None)
