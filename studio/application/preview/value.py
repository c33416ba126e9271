"""The frozen value that the preview shows, made from a document and its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from studio.application.preview.cards import CardData
from studio.core.models.base import Capabilities, ProtocolName
from studio.core.models.connections import Connection
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import PromptMessages
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem
from studio.core.text.values import Json
from studio.core.tokens.tokenizers import Tokenizers
from studio.core.wire.request import Provider


@dataclass(frozen=True, slots=True)
class PreviewTarget:
    """The model that a run would be sent to."""

    model_id: str = ""
    """Its id; empty while the document's own is meant."""

    name: str = ""
    """Display name of the connection."""

    context_window: int | None = None
    """Tokens that a conversation may have; `None` while unknown."""

    is_embedded: bool = False
    """Whether the studio's own server answers, which can count exactly."""

    capabilities: Capabilities = field(default_factory=Capabilities)
    """Abilities of the model; options that it is known to refuse are not sent."""

    weights: Path | None = None
    """The embedded model's file."""

    base_url: str = ""
    """Address of the server; empty for the provider's own."""

    provider: Provider | None = None
    """The form of the requests that are sent to it; `None` for the document's own."""

    connection: Connection | None = field(default=None, compare=False, repr=False)
    """Connection of the model; `None` if it is not known."""

    chosen: str = ""
    """Sentence on what answers, and why; empty while nothing is known of it."""

    is_described: bool = True
    """Whether the prompt's own description of the connection is used, or could be."""

    is_refused: bool = False
    """Whether a run would be refused, since the prompt names what is not set up here."""


@dataclass(frozen=True, slots=True)
class PreviewJob:
    """Everything that a preview is made from."""

    document: PromptDocument
    """The document."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """The values given, by name."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; `None` while only the document's own are known."""

    target: PreviewTarget = field(default_factory=PreviewTarget)
    """The model that a run would be sent to."""

    tokenizers: Tokenizers = field(default_factory=Tokenizers)
    """Count the tokens."""

    revision: int = 0
    """Number of the order."""

    protocol: ProtocolName | None = None
    """The protocol chosen for runs; `None` for the document's own."""

    trusted: bool = True
    """Whether the prompt's folder is trusted; of another no variable and no file is looked at."""

    opened: Path | None = None
    """The folder that the user opened: text files below it are shown before it is trusted."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The messages of one revision of a document; what panes show beside them is made of it."""

    document: PromptDocument
    """The document of this revision."""

    job: PreviewJob
    """Job that made the messages; that of the last good revision while `is_stale`."""

    prepared: Prepared
    """The messages with the values in them; the last good ones while `is_stale`."""

    newest: Prepared
    """The same of `document` itself; differs from `prepared` while `is_stale`."""

    sent: Prepared
    """The messages without samples: what a run sends once the folder is trusted."""

    offered: tuple[ToolSpec, ...] = ()
    """Every tool that a run would have."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that are sent to the model."""

    sent_tools: tuple[ToolSpec, ...] = ()
    """The tools that go with `sent`."""

    problems: tuple[Problem, ...] = ()
    """Problems of the document, and those found while the messages were made."""

    cards: tuple[CardData, ...] = ()
    """The messages as cards."""

    is_stale: bool = False
    """Whether the document has an error that gives no messages, so that older ones are shown."""

    revision: int = 0
    """Counts up; a later preview has a higher one."""

    @property
    def messages(self) -> PromptMessages:
        """The messages that the model would get."""
        return self.prepared.messages

    @property
    def shown(self) -> PromptDocument:
        """The document that the messages come from; differs from `document` while `is_stale`."""
        return self.job.document

    @property
    def samples(self) -> frozenset[str]:
        """Names whose value is only a sample: a run does not send it."""
        return self.prepared.samples

    @property
    def media_folder(self) -> Path | None:
        """The folder whose pictures are shown: of a saved prompt in a trusted folder."""
        path = self.shown.source.path
        return path.parent if path is not None and self.job.trusted else None

    @property
    def blocker(self) -> Problem | None:
        """Return the problem that prevents a run, if there is one."""
        if not self.is_stale:
            return None
        return next((item for item in self.problems if item.severity == "error"), None)
