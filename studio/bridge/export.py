"""Makes exports in the pool: a text to look at, what was found, and whether it may be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.bridge.jobs import LatestJob
from studio.core.export.target import ExportResult, ExportSource, ExportTarget
from studio.core.export.targets import TARGETS
from studio.core.export.write import write_atomically
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json
from studio.core.tools.forms import tool_items, tool_names_text, tools_text
from studio.core.wire.media import MediaReader


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """What an export is made from."""

    document: PromptDocument
    """The text as it is in the editor, parsed."""

    target: ExportTarget
    """The form wanted."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """The values given, by name."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; None for those of the document."""


def targets() -> Sequence[ExportTarget]:
    """Every form, in the order of a list."""
    return TARGETS


def make_export(order: ExportOrder) -> ExportResult:
    """Make the text. Never raises for any document, and never reads a secret.

    Values are those of a run's first request: given ones and defaults, samples never
    (Prompty 2 §2.9); what a run supplies (history, scratchpad) is empty at its start.
    """
    document = order.document
    folder = document.source.path.parent if document.source.path else None
    values, missing = resolve_inputs(document, order.inputs)
    tools = document.tools if order.tools is None else order.tools
    plain = replace(
        document,
        inputs=tuple(replace(each, sample=None, has_sample=False) for each in document.inputs),
    )
    prepared = prepare(
        plain,
        {**_at_the_start(document, tools), **values},
        references=ReferenceContext(folder=folder, trusted=False),
        preview=True,
    )
    prepared = replace(prepared, document=replace(prepared.document, inputs=document.inputs))
    source = ExportSource(
        replace(prepared, problems=(*missing, *prepared.problems)),
        order.tools,
        MediaReader(folder),
    )
    return order.target.make(source)


def _at_the_start(document: PromptDocument, tools: Sequence[ToolSpec]) -> dict[str, Json]:
    """What a run supplies to a template before its first step (FORMAT.md, "Reserved names")."""
    as_text = document.template.format == "fstring"
    return {
        "history": [],
        "examples": "",
        "chat_history": "",
        "agent_scratchpad": "",
        "thread": [],
        "question": "",
        "input": "",
        "tools": tools_text(tools) if as_text else tool_items(tools),
        "tool_names": tool_names_text(tools),
    }


class ExportController(QObject):
    """Makes the newest order's export and hands it to the dialog."""

    made = Signal(object)  # ExportResult
    failed = Signal(str)  # sentence for the person

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job: LatestJob[ExportResult] = LatestJob(self)
        self._job.finished.connect(self.made)
        self._job.failed.connect(self._on_failed)

    def order(self, order: ExportOrder) -> None:
        """Make an export; the newest order wins."""
        self._job.submit(lambda: make_export(order))

    def close(self) -> None:
        """Forget what is under way."""
        self._job.drop()

    def write(self, path: Path, result: ExportResult) -> str:
        """Write the text whole or not at all; returns what went wrong, empty when nothing did."""
        try:
            write_atomically(path, result.text)
        except OSError as error:
            return f"{path.name!r} could not be written: {(error.strerror or 'error').lower()}."
        except UnicodeEncodeError:
            return "The text holds a character that no UTF-8 file can hold."
        return ""

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(
            f"The export could not be made ({type(error).__name__}); please report it."
        )
