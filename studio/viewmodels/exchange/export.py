"""Makes exports in the pool: a text to look at, what was found, and whether it may be written."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, Signal

from studio.core.export.fixes import with_fixes
from studio.core.export.source import ExportValues, make_source
from studio.core.export.target import ExportResult, ExportTarget
from studio.core.export.targets import TARGETS
from studio.core.export.write import write_atomically, write_bytes_atomically
from studio.core.export.written_keys import make_checked
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.reference_values import references_beside
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.viewmodels.app.jobs import LatestJob

_tr = partial(QCoreApplication.translate, "Export")

_MOST_LINES = 4000


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

    sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """The saved input sets, by name; the proof goes through each."""

    base_url: str = ""
    """Address of the connection, for commands and scripts."""

    model: str = ""
    """Model id of the connection, where the prompt names none."""

    trusted: bool = True
    """Whether the prompt's folder is trusted; of another no variable and no file is looked at."""


def targets() -> Sequence[ExportTarget]:
    """Every form, in the order of a list."""
    return TARGETS


def make_export(order: ExportOrder) -> ExportResult:
    """Make the text. Never raises for any document, and never reads a secret."""
    document = order.document
    # The connection speaks OpenAI's forms: its address and model say nothing of Anthropic's.
    is_other = order.target.name.endswith("anthropic")
    values = ExportValues(
        order.inputs, order.sets, order.tools,
        "" if is_other else order.base_url, "" if is_other else order.model,
    )  # fmt: skip
    references = references_beside(document.source.path, trusted=order.trusted, masked=True)
    source = make_source(document, order.target, values, references)
    made = make_checked(order.target, source)
    return replace(made, problems=with_fixes(made.problems, document))


@dataclass(frozen=True, slots=True)
class Difference:
    """A comparison by lines, for people."""

    text: str
    """A unified diff; empty where nothing differs, or there is nothing to compare with."""

    against: str
    """What it is compared with, or why it is not."""


def difference(result: ExportResult, path: Path | None) -> Difference:
    """What writing the file would change: of the file that is there, otherwise of the prompt."""
    old, name = result.before, _tr("the prompt in the editor")
    if path is not None and path.is_file():
        if result.data is not None:
            same = _bytes(path) == result.data
            told = (
                _tr("the same bytes are there already")
                if same
                else _tr("other bytes are there now")
            )
            return Difference("", f"{path.name}: {told}")
        content = _bytes(path)
        old = content.decode("utf-8", "replace") if content is not None else None
        name = _tr("{name} as it is now").format(name=path.name)
    if result.data is not None:
        return Difference("", _tr("A new file"))
    if old is None:
        return Difference("", _tr("A new file: every line is new"))
    before, after = old.splitlines(keepends=True), result.text.splitlines(keepends=True)
    if len(before) + len(after) > 2 * _MOST_LINES:
        return Difference("", _tr("Too long to be compared with {name} here").format(name=name))
    lines = list(difflib.unified_diff(before, after, "before", "after", n=3))
    if not lines:
        return Difference("", _tr("Nothing differs from {name}").format(name=name))
    shown = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines[2:])
    return Difference(shown, _tr("Compared with {name}").format(name=name))


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


class ExportController(QObject):
    """Makes the newest order's export and hands it to the dialog."""

    made = Signal(object)  # ExportResult
    compared = Signal(object)  # Difference
    failed = Signal(str)  # sentence for the person

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job: LatestJob[ExportResult] = LatestJob(self)
        self._job.finished.connect(self.made)
        self._job.failed.connect(self._on_failed)
        self._comparison: LatestJob[Difference] = LatestJob(self)
        self._comparison.finished.connect(self.compared)
        self._comparison.failed.connect(self._on_failed)

    def order(self, order: ExportOrder) -> None:
        """Make an export; the newest order wins."""
        self._job.submit(lambda: make_export(order))

    def compare(self, result: ExportResult, path: Path | None) -> None:
        """Compare with what writing it would replace."""
        self._comparison.submit(lambda: difference(result, path))

    def close(self) -> None:
        """Forget what is under way."""
        self._job.drop()
        self._comparison.drop()

    def write(self, path: Path, result: ExportResult) -> str:
        """Write the file whole or not at all; returns what went wrong, empty when nothing did."""
        try:
            if result.data is not None:
                write_bytes_atomically(path, result.data)
            else:
                write_atomically(path, result.text)
        except OSError as error:
            return self.tr("{name!r} could not be written: {reason}.").format(
                name=path.name, reason=(error.strerror or "error").lower()
            )
        except UnicodeEncodeError:
            return self.tr("The text holds a character that no UTF-8 file can hold.")
        return ""

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(
            self.tr("The export could not be made ({error}); please report it.").format(
                error=type(error).__name__
            )
        )
