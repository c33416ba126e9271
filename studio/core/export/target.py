"""What an export is made from, what it gives, and the seam to its forms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from studio.core.agent.protocols.choose import choose_protocol
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem, Severity
from studio.core.tools.document import declared_tools
from studio.core.wire.media import MediaSource


@dataclass(frozen=True, slots=True)
class ExportSource:
    """A prompt as it stands in the editor, with the values it was prepared with."""

    prepared: Prepared
    """Document, inputs and messages."""

    tools: tuple[ToolSpec, ...] | None = None
    """Tools that a run would have; None means those of the document and its `tools:` section."""

    media: MediaSource | None = None
    """Reads local files for request bodies; without it paths stay as they are written."""

    base_url: str = ""
    """Address of the connection, for commands; empty means the provider's own."""

    references: ReferenceContext | None = None
    """Where the references were read that are resolved in `prepared`; the proof reads them again.
    None: the proof leaves references as they are written."""

    @property
    def told_tools(self) -> tuple[ToolSpec, ...]:
        """The tools that go beside the messages; a text protocol has them in its prompt already."""
        document = self.prepared.document
        if choose_protocol(document).protocol != "native":
            return ()
        if self.tools is not None:
            return self.tools
        return declared_tools(document, self.prepared.messages.tools)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything found in the document and while preparing it, each once."""
        return unique((*self.prepared.document.problems, *self.prepared.problems))


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What would be written. Nothing is written by making it."""

    text: str
    """The file's text; also there where the export is blocked, to be looked at."""

    problems: tuple[Problem, ...] = ()
    """What was found on the way."""

    blocked: bool = False
    """Whether an error stands against writing it."""


class ExportTarget(Protocol):
    """A form that a prompt can be exported to."""

    @property
    def name(self) -> str:
        """Stable name for the command line ("prompty", "openai-chat", …)."""
        ...

    @property
    def label(self) -> str:
        """Name for people."""
        ...

    @property
    def suffix(self) -> str:
        """File name ending, with its dot."""
        ...

    def make(self, source: ExportSource) -> ExportResult:
        """Make the text; never raises for anything that is in a prompt."""
        ...


def result(text: str, problems: Iterable[Problem]) -> ExportResult:
    """A result that is blocked by any error among its problems."""
    found = unique(problems)
    return ExportResult(text, found, any(item.severity == Severity.ERROR for item in found))


def unique(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems in order, each once."""
    return tuple(dict.fromkeys(problems))
