"""Makes exports in the pool, and writes them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.comparison import ComparedPart, compare_texts
from studio.application.exchange.export import ExportJob, difference, make_export
from studio.application.exchange.judge import Judgment, NoJudgeError, judge_export
from studio.core.export.target import ExportResult
from studio.core.export.write import write_atomically, write_bytes_atomically
from studio.viewmodels.app.jobs import LatestJob


class ExportController(QObject):
    """Makes the newest order's export and hands it to the dialog."""

    made = Signal(ExportResult)
    compared = Signal(ComparedPart)  # with what writing it would replace
    judged = Signal(Judgment)  # what the program itself made of it
    failed = Signal(str)  # sentence for the user

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job: LatestJob[ExportResult] = LatestJob(self)
        self._job.finished.connect(self.made)
        self._job.failed.connect(self._on_failed)
        self._comparison: LatestJob[ComparedPart] = LatestJob(self)
        self._comparison.finished.connect(self.compared)
        self._comparison.failed.connect(self._on_failed)

        self._judgment: LatestJob[Judgment] = LatestJob(self)
        self._judgment.finished.connect(self.judged)
        self._judgment.failed.connect(self._on_failed)

    def order(self, order: ExportJob) -> None:
        """Make an export; the newest order wins."""
        self._judgment.drop()
        self._job.submit(lambda: make_export(order))

    def judge(self, order: ExportJob, result: ExportResult) -> None:
        """Let the program that the form is for read what was made."""
        self._judgment.submit(lambda: judge_export(order, result))

    def compare(self, result: ExportResult, path: Path | None) -> None:
        """Compare with what writing it would replace."""
        self._comparison.submit(lambda: _compared(result, path))

    def close(self) -> None:
        """Forget what is under way."""
        self._job.drop()
        self._comparison.drop()
        self._judgment.drop()

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
        if isinstance(error, NoJudgeError):
            self.failed.emit(str(error))
            return
        self.failed.emit(
            self.tr("The export could not be made ({error}); please report it.").format(
                error=type(error).__name__
            )
        )


def _compared(result: ExportResult, path: Path | None) -> ComparedPart:
    found = difference(result, path)
    return ComparedPart(found.against, compare_texts(found.before, found.after))
