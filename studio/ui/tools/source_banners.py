"""Lines above the tools that say which sources do not work, and lead to what fixes it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from studio.application.words import tr
from studio.core.text.invisible import reveal
from studio.core.tools.registry import VARIABLES_KEY, SourceStatus
from studio.ui.parts.banner import Banner
from studio.ui.parts.layouts import column_of

_MOST_FAILED = 2
"""More sources that fail share one line: the tools themselves need the room."""


class SourceBanners(QWidget):
    """A line for a source that fails, or for all of them, and one for each untrusted folder."""

    request_trust = Signal(Path)  # Path of a folder
    request_allow = Signal(str)  # key of a source that waits
    request_open = Signal(Path, int)  # Path of a file, line from 1
    request_reload = Signal()  # what the user stopped is to be read after all
    request_sources = Signal()  # all sources, each with what is wrong

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: list[Banner] = []
        """The lines, from the top."""
        self._column = column_of(on=self, margins=0, spacing=2)

    def show_sources(self, sources: tuple[SourceStatus, ...]) -> None:
        """Show what is wrong with the sources; nothing where all is well."""
        for banner in self.shown:
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self.shown = []
        untrusted: dict[Path, list[SourceStatus]] = {}
        failed: list[SourceStatus] = []
        for source in sources:
            if source.state == "untrusted" and source.folder is not None:
                untrusted.setdefault(source.folder, []).append(source)
            elif source.state == "waiting":
                banner = self._add(_named(source), tr("Look…"), "warning")
                banner.activated.connect(partial(self.request_allow.emit, source.key))
            elif source.state == "failed" or (source.state == "ready" and source.message):
                failed.append(source)
            elif source.state == "untrusted":
                self._add(_named(source), "", "warning")
        if len(failed) > _MOST_FAILED:
            self._say_all_failed(failed)
        else:
            for source in failed:
                self._say_failed(source)
        for folder, waiting in untrusted.items():
            banner = self._add(self._untrusted_text(folder, waiting), tr("Trust…"), "warning")
            banner.activated.connect(partial(self.request_trust.emit, folder))

    def _say_failed(self, source: SourceStatus) -> None:
        if source.stopped:
            banner = self._add(_named(source), tr("Read it"), "warning")
            banner.activated.connect(self.request_reload)
            return
        place = ""
        if source.line:
            place = tr("Line {line}").format(line=source.line)
        elif source.path is not None:
            place = tr("Open")
        tone = "error" if source.state == "failed" else "warning"
        banner = self._add(_named(source), place, tone)
        if source.path is not None:
            banner.activated.connect(
                partial(self.request_open.emit, source.path, max(1, source.line))
            )

    def _say_all_failed(self, failed: list[SourceStatus]) -> None:
        tone = "error" if any(source.state == "failed" for source in failed) else "warning"
        words = tr("{count} sources have problems: {sources}.")
        if len(failed) == 1:
            words = tr("1 source has problems: {sources}.")
        text = words.format(count=len(failed), sources=", ".join(source.label for source in failed))
        self._add(text, tr("Show"), tone).activated.connect(self.request_sources)

    def _untrusted_text(self, folder: Path, waiting: Iterable[SourceStatus]) -> str:
        labels = [source.label for source in waiting if source.key != VARIABLES_KEY]
        if not labels:
            return tr(
                "{folder} is not trusted: no ${{env:}} and no ${{file:}} of it is read."
            ).format(folder=folder)
        return tr("{folder} is not trusted: {sources} will not run.").format(
            folder=folder, sources=", ".join(labels)
        )

    def _add(self, text: str, place: str, tone: str) -> Banner:
        banner = Banner(self)
        self._column.addWidget(banner)
        self.shown.append(banner)
        banner.say(text, place, tone)
        return banner


def _named(source: SourceStatus) -> str:
    """What a source says, with its name in front, once."""
    if source.message.startswith(f"{source.label}:"):
        return reveal(source.message)
    return reveal(f"{source.label}: {source.message.removeprefix(f'{source.label} ')}")


def why_no_tools(sources: tuple[SourceStatus, ...]) -> tuple[str, str]:
    """Why there is no tool, in two words, and what to do about it."""
    states = {source.state for source in sources if source.key != VARIABLES_KEY}
    if states & {"untrusted", "waiting"}:
        why = tr("The tools that this prompt names are listed once they are trusted.")
        return tr("No tools yet"), why
    if "failed" in states:
        why = tr("No source of this prompt offers a tool; the problems are listed above.")
        return tr("No tools"), why
    return tr("No tools"), tr(
        "Declare tools in the front matter, or name a Python file of functions under "
        "metadata.agent.tools."
    )
