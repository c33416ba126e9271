"""Export of prompts, and export and import of runs, outside the GUI thread."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.comparison import ComparedPart, compare_texts
from studio.application.exchange.export import NoJudgeError, difference, make_export
from studio.application.exchange.judge import Judgment, judge_export
from studio.application.exchange.runs import history_at, kept_words, read_files, write_run
from studio.application.history.open_calls import opened_at, row_at
from studio.application.words import tr
from studio.core.agent.values.events import Event
from studio.core.export.target import ExportResult, ExportSource, ExportTarget
from studio.core.imports.imported import ImportFailure
from studio.core.imports.recorded_calls import OpenedCalls
from studio.core.runs.codec import JournalError
from studio.core.runs.exchange import RunForm
from studio.core.runs.store import StoreError
from studio.core.text.files import write_atomically, write_bytes_atomically
from studio.core.text.values import JsonObject
from studio.viewmodels.app.jobs import LatestJob


class ExportController(QObject):
    """Runs the newest requested export and passes the result to the dialog."""

    made = Signal(ExportResult)
    compared = Signal(ComparedPart)  # comparison with the existing file
    judged = Signal(Judgment)  # result of reading the export with the target program
    failed = Signal(str)  # sentence for the user

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job: LatestJob[ExportResult] = LatestJob(self, self.made.emit, self._on_failed)
        self._comparison: LatestJob[ComparedPart] = LatestJob(
            self, self.compared.emit, self._on_failed
        )

        self._judgment: LatestJob[Judgment] = LatestJob(self, self.judged.emit, self._on_failed)

    def order(self, target: ExportTarget, source: ExportSource) -> None:
        """Start an export; only the newest one counts."""
        self._judgment.drop()
        self._job.submit(lambda: make_export(target, source))

    def judge(self, target: ExportTarget, source: ExportSource, result: ExportResult) -> None:
        """Let the target program read the export."""
        self._judgment.submit(lambda: judge_export(target, source, result))

    def compare(self, result: ExportResult, path: Path | None) -> None:
        """Compare with the existing file that would be replaced."""
        self._comparison.submit(lambda: _compared(result, path))

    def close(self) -> None:
        """Discard running jobs."""
        self._job.drop()
        self._comparison.drop()
        self._judgment.drop()

    def write(self, path: Path, result: ExportResult) -> str:
        """Write the file atomically; return an error message, or ""."""
        try:
            if result.data is not None:
                write_bytes_atomically(path, result.data)
            else:
                write_atomically(path, result.text)
        except OSError as error:
            return tr("{name!r} could not be written: {reason}.").format(
                name=path.name, reason=(error.strerror or "error").lower()
            )
        except UnicodeEncodeError:
            return tr("The text contains a character that UTF-8 cannot represent.")
        return ""

    def _on_failed(self, error: Exception) -> None:
        if isinstance(error, NoJudgeError):
            self.failed.emit(str(error))
            return
        self.failed.emit(
            tr("The export failed ({error}); please report it.").format(error=type(error).__name__)
        )


def _compared(result: ExportResult, path: Path | None) -> ComparedPart:
    found = difference(result, path)
    return ComparedPart(found.against, compare_texts(found.before, found.after))


class RunExchange(QObject):
    """Writes and reads one file at a time; a request during another one is refused."""

    exported = Signal(Path)  # path of the file
    imported = Signal(tuple)  # tuple of the ids of the runs
    call_opened = Signal(OpenedCalls)  # prompt files of model calls
    failed = Signal(str, str)  # what happened; advice

    def __init__(
        self, path: Path, parent: QObject | None = None, *, hide: Callable[[str], str] = str
    ) -> None:
        """Create it.

        Args:
            path: the file of the history.
            parent: owner.
            hide: masks secrets in written texts.
        """
        super().__init__(parent)
        self._hide = hide
        self._path = path
        self._writing: LatestJob[Path] = LatestJob(self, self.exported.emit, self._on_failed)
        self._reading: LatestJob[tuple[str, ...]] = LatestJob(
            self, self.imported.emit, self._on_failed
        )
        self._opening: LatestJob[OpenedCalls] = LatestJob(
            self, self.call_opened.emit, self._on_failed
        )
        self._rows: LatestJob[tuple[Callable[[JsonObject], None], JsonObject]] = LatestJob(
            self, lambda done: done[0](done[1]), self._on_failed
        )

    def export_run(
        self,
        run: str,
        form: RunForm,
        target: Path,
        events: Sequence[Event] = (),
        upto: int | None = None,
    ) -> None:
        """Export a run of the history or of `events`; `upto` selects the branch."""
        if self._is_free():
            self._writing.submit(
                partial(write_run, self._path, run, form, target, self._hide, tuple(events), upto)
            )

    def kept_words(self, run: str) -> str:
        """Return what a complete journal of a run contains besides events."""
        with history_at(self._path) as store:
            return kept_words(store, run)

    def open_call(
        self, run: str, number: int, *, alike: bool = False, upto: int | None = None
    ) -> None:
        """Create a prompt file of a model call or of all calls of its step, on branch `upto`."""
        self._opening.submit(partial(opened_at, self._path, run, number, alike=alike, upto=upto))

    def read_call(self, run: str, number: int, then: Callable[[JsonObject], None]) -> None:
        """Convert a recorded call to a case of its prompt, and call `then` with it."""
        self._rows.submit(lambda: (then, row_at(self._path, run, number)))

    def import_files(self, files: Sequence[Path]) -> None:
        """Import journals into the history: all of them, or none if one is invalid."""
        if self._reading.is_busy:
            self.failed.emit(tr("A file is still being read."), tr("Try again in a moment."))
            return
        self._reading.submit(partial(read_files, self._path, tuple(files), self._hide))

    def close(self) -> None:
        """Stop reporting results."""
        self._writing.drop()
        self._reading.drop()
        self._opening.drop()
        self._rows.drop()

    def _is_free(self) -> bool:
        if self._writing.is_busy:
            self.failed.emit(tr("A run is still being written."), tr("Try again in a moment."))
        return not self._writing.is_busy

    def _on_failed(self, error: object) -> None:
        match error:
            case OSError():
                reason = error.strerror or type(error).__name__
                self.failed.emit(
                    tr("The file cannot be used: {reason}.").format(reason=reason),
                    tr("Look at {filename}.").format(filename=error.filename or "it"),
                )
            case JournalError() | StoreError():
                self.failed.emit(f"{str(error).rstrip('.')}.", tr("Choose an exported journal."))
            case LookupError() | ImportFailure():
                self.failed.emit(str(error), tr("Record the program, or run the prompt again."))
            case UnicodeDecodeError():
                self.failed.emit(
                    tr("The file is not UTF-8 text."), tr("Choose a journal (JSON lines).")
                )
            case _:
                self.failed.emit(
                    tr("The run could not be written or read ({name}).").format(
                        name=type(error).__name__
                    ),
                    tr("Please report it."),
                )
