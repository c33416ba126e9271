"""Compares the active prompt with its saved file, a commit, or an earlier saved text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDateTime, QLocale, QObject

from studio.application.document.revisions import (
    EarlierTexts,
    Revision,
    refused_repository,
    revisions,
    text_at,
)
from studio.application.preview import diff
from studio.application.words import tr
from studio.core.agent.values.state import RunState
from studio.core.prompty.document import PromptDocument
from studio.core.text.source import TextEdit
from studio.core.text.values import JsonObject
from studio.ui.dialogs.comparison import ComparisonDialog
from studio.ui.editor.page.page import EditorPage
from studio.ui.style.theme import icon
from studio.ui.window.palette import CommandPalette, PaletteItem
from studio.ui.window.parts import Panes, WindowParts
from studio.viewmodels.app.jobs import LatestJob


class Comparisons(QObject):
    """Stores overwritten texts, offers earlier texts, and shows differences."""

    def __init__(
        self, window: WindowParts, panes: Callable[[], Panes], palette: Callable[[], CommandPalette]
    ) -> None:
        """Create it.

        Args:
            window: the parts of the window.
            panes: returns the panes.
            palette: returns the palette for choosing an earlier text.
        """
        super().__init__(window.widget)
        self._window = window
        self._panes = panes
        self._palette = palette
        self._kept = EarlierTexts(window.services.paths.data / "earlier")
        self.trusted = False
        """Whether the prompt's folder is trusted, so that its files and variables may be read."""
        self._listing = LatestJob(self, self._offer)
        self._making = LatestJob(self, self._show, self._tell_missing)
        self._siding = LatestJob(self, self._offer_sides)
        self._page: EditorPage | None = None
        self._earlier: diff.ConversationSide | None = None
        self._compared = ""  # text of the page in the shown comparison
        self._dialog: ComparisonDialog | None = None

    def ask(self, page: EditorPage) -> None:
        """Offer all earlier texts of a page."""
        path = page.controller.path
        if path is None:
            self._window.messages.info(
                tr("There is no earlier text."), tr("Save the prompt first.")
            )
            return
        self._page = page
        self._listing.submit(partial(_commits_of, path))

    def with_saved(self, page: EditorPage) -> None:
        """Compare a page with its saved file."""
        path = page.controller.path
        if path is None:
            self.ask(page)
            return
        self._page = page
        self._take(diff.ConversationSide(tr("the saved file"), is_saved=True))

    def _offer(self, found: _Commits) -> None:
        page = self._page
        path = page.controller.path if page is not None else None
        if page is None or path is None:
            return
        saved = tr("Saved file")
        choices = [PaletteItem(saved, partial(self.with_saved, page), path.name, icon("save"))]
        for kept in self._kept.of(path):
            when = _moment(kept)
            title = tr("the text of {when}").format(when=when)
            side = diff.ConversationSide(title, read=partial(self._kept.text, kept))
            choices.append(
                PaletteItem(
                    tr("Saved {when}").format(when=when),
                    partial(self._take, side),
                    tr("saved on this machine"),
                    icon("history"),
                )
            )
        if found.refused:
            tell = partial(self._tell_refused, found.refused)
            words = tr("Git refuses to read this repository…")
            choices.append(PaletteItem(words, tell, found.refused, icon("triangle-alert")))
        for commit in found.commits:
            title = tr("commit {name}").format(name=commit.name[:8])
            side = _commit_side(title, path, commit)
            choices.append(
                PaletteItem(
                    commit.title or commit.name[:8],
                    partial(self._take, side),
                    f"{commit.name[:8]} · {_moment(commit)}",
                    icon("git-branch"),
                )
            )
        self._palette().ask(tr("Compare with"), choices)

    def _tell_refused(self, repository: str) -> None:
        quoted = repository.replace("'", "'\\''")  # a quote must not end the shell's quoting
        self._window.messages.say(
            "warning",
            tr("Git refuses to read this repository: its files belong to another user."),
            tr("If you trust it: {command}").format(
                command=f"git config --global --add safe.directory '{quoted}'"
            ),
            repository,
            key="git",
        )

    def offer_earlier(self, page: EditorPage, state: RunState | None) -> None:
        """Offer the last run and the commits of a page for comparison in the Diff tab.

        Args: page: the prompt. state: the run that was shown last.
        """
        path = page.controller.path
        sides: list[diff.ConversationSide] = []
        if state is not None and state.setup.path == str(path or ""):
            read = partial(str, state.setup.source)
            sides.append(diff.ConversationSide(tr("Last run"), state.setup.inputs, read=read))
        self._siding.submit(lambda: (*sides, *_commit_sides(path)))

    def _offer_sides(self, sides: tuple[diff.ConversationSide, ...]) -> None:
        preview = self._panes().preview
        if preview is not None:
            preview.diff.set_earlier(sides)

    def _take(self, earlier: diff.ConversationSide) -> None:
        """Compare the page with an earlier text."""
        page = self._page
        if page is None:
            return
        self._earlier = earlier
        inputs = self._panes().inputs
        values = inputs.values() if inputs is not None else {}
        title = tr("{name}: now and {earlier}").format(
            name=page.controller.title, earlier=earlier.title
        )
        trusted, pair = self.trusted, diff.Pair(earlier, diff.ConversationSide(""))

        def compare(document: PromptDocument) -> None:
            self._compared = document.source.text
            self._making.submit(
                lambda: _Made(title, _compared(document, values, pair, trusted=trusted))
            )

        page.with_document(compare)

    def _tell_missing(self, error: Exception) -> None:
        if not isinstance(error, diff.MissingTextError):
            raise error
        self._window.messages.info(str(error))

    def _show(self, made: _Made) -> None:
        found = made.comparison
        kinds = {
            tr("Text"): found.text,
            tr("Messages"): found.messages,
            tr("Request"): found.request,
        }
        if self._dialog is not None:
            self._dialog.show_kinds(kinds)
            self._dialog.setWindowTitle(made.title)
            return
        self._dialog = ComparisonDialog(made.title, kinds, self._window.widget)
        self._dialog.taken_back.connect(self._take_back)
        self._dialog.finished.connect(self._forget_dialog)
        self._dialog.show()

    def _forget_dialog(self) -> None:
        self._dialog = None

    def _take_back(self, edits: tuple[TextEdit, ...]) -> None:
        """Restore older lines, if the text is still the compared one."""
        page, earlier = self._page, self._earlier
        if page is None or earlier is None:
            return
        if page.editor.text() == self._compared:
            page.editor.apply_edits(edits)
        self._take(earlier)

    def keep(self, path: Path, text: str) -> None:
        """Store a text that was overwritten."""
        self._try(partial(self._kept.keep, path, text))

    def follow_rename(self, old: Path, new: Path) -> None:
        """Move the stored texts of a file or folder to its new name."""
        self._try(partial(self._kept.follow, old, new))

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except OSError as error:
            self._window.messages.say(
                "warning",
                tr("The earlier text could not be saved: {reason}.").format(
                    reason=error.strerror or error
                ),
                key="earlier",
            )


@dataclass(frozen=True, slots=True)
class _Commits:
    commits: tuple[Revision, ...]
    refused: str = ""
    """Repository that Git refuses because another user owns it; empty if it is readable."""


def _commits_of(path: Path) -> _Commits:
    commits = revisions(path)
    return _Commits(commits, "" if commits else refused_repository(path.parent))


def _commit_side(title: str, path: Path, commit: Revision) -> diff.ConversationSide:
    """Return the text of a file in a commit, which is read for the comparison."""
    return diff.ConversationSide(title, read=partial(text_at, path, commit.name, commit.path))


def _commit_sides(path: Path | None) -> tuple[diff.ConversationSide, ...]:
    """Return the texts of a file in its commits; empty if it was never saved."""
    if path is None:
        return ()
    commits = revisions(path)
    return tuple(_commit_side(f"{each.name[:8]} {each.title}", path, each) for each in commits)


@dataclass(frozen=True, slots=True)
class _Made:
    """Two compared texts."""

    title: str
    comparison: diff.PromptComparison


def _compared(
    document: PromptDocument, values: JsonObject, pair: diff.Pair, *, trusted: bool
) -> diff.PromptComparison:
    """Compare two texts and the messages that a model would get from each; runs in the pool."""
    from studio.application.preview.variables import PreviewJob

    job = PreviewJob(document, values, trusted=trusted)
    return diff.compare_whole(job, pair)


def _moment(revision: Revision) -> str:
    moment = QDateTime.fromSecsSinceEpoch(int(revision.time.timestamp()))
    return QLocale().toString(moment, QLocale.FormatType.ShortFormat)
