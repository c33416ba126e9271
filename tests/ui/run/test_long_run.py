"""A long run of the past: what is painted is right at once, wherever someone jumps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from studio.application.run.cards.timeline import timeline_of
from studio.application.run.inspector.tabs import Inspection, inspector_view
from studio.application.run.inspector.tool import InspectionSources
from studio.application.run.past.compare import RunSide, compare
from studio.application.run.search import SearchHits
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits
from studio.core.runs.database import StoredEvents
from studio.core.runs.store import RunStore
from studio.ui.run.steps.timeline import TimelineView
from studio.viewmodels.run.controller import RunSearch
from tests.core.agent.runs import NATIVE, call, calling, run_of
from tests.support.run_rows import rows_with
from tests.support.stored_reads import note_reads

STEPS = 230


async def both(path: Path) -> tuple[object, object]:
    """The same run as it ended, and opened from the history."""
    turns = [
        calling(call(arguments=f'{{"query": "place {at}"}}'), text=f"thought {at}")
        for at in range(STEPS)
    ]
    options = RunOptions(headless=True, limits=Limits(None))
    with closing(RunStore(path)) as store:
        run, _ = run_of(NATIVE, [*turns, "ok"], options=options, journal=store.journal("r1"))
        await run.go()
        return run.state, store.open("r1").state


def picture(view: TimelineView) -> QImage:
    QApplication.processEvents()
    return view.viewport().grab().toImage()


def wheel(view: TimelineView, notches: int) -> None:
    location = QPointF(20, 20)
    event = QWheelEvent(
        location,
        view.viewport().mapToGlobal(location),
        QPoint(),
        QPoint(0, -120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def jump(view: TimelineView, part: float) -> None:
    bar = view.verticalScrollBar()
    bar.setValue(int(bar.maximum() * part))


WAYS: dict[str, Callable[[TimelineView], object]] = {
    "bar to the middle": lambda view: jump(view, 0.5),
    "bar to the start": lambda view: jump(view, 0.0),
    "bar near the end": lambda view: jump(view, 0.97),
    "wheel": lambda view: [jump(view, 0.3), wheel(view, 40)],
    "wheel back": lambda view: [jump(view, 0.7), wheel(view, -55)],
    "Page Up": lambda view: [QTest.keyClick(view, Qt.Key.Key_PageUp) for _ in range(9)],
    "Home": lambda view: QTest.keyClick(view, Qt.Key.Key_Home),
    "Page Down": lambda view: [QTest.keyClick(view, Qt.Key.Key_PageDown) for _ in range(17)],
    "End": lambda view: QTest.keyClick(view, Qt.Key.Key_End),
}


def pictures_of(view: TimelineView) -> list[QImage]:
    seen = []
    for go in WAYS.values():
        go(view)
        seen.append(picture(view))
    return seen


async def test_what_is_painted_is_right_wherever_someone_jumps_and_folds_nothing(
    qtbot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, opened = await both(tmp_path / "runs.sqlite")
    reads: list[int] = []
    timelines = [timeline_of(ended), timeline_of(opened)]
    monkeypatch.setattr(StoredEvents, "_make", lambda _, index: reads.append(index))
    pictures: list[list[QImage]] = []
    for timeline in timelines:
        view = TimelineView()
        qtbot.addWidget(view)
        view.resize(420, 360)
        with qtbot.waitActive(view):
            view.show()
            view.activateWindow()
        view.setFocus()
        view.show_timeline(timeline)
        seen = pictures_of(view)
        assert view.currentIndex().row() == len(view.cards) - 1
        assert all(one not in seen[:at] for at, one in enumerate(seen)), "nothing has moved"
        pictures.append(seen)
        view.close()
    for name, one, other in zip(WAYS, *pictures, strict=True):
        assert one == other, name
    assert reads == []


async def test_a_step_far_on_is_inspected_by_its_own_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, opened = await both(tmp_path / "runs.sqlite")
    reads: list[int] = []
    note_reads(monkeypatch, reads.append)
    sources = InspectionSources()
    for tab in ("tool", "reply", "messages", "request"):
        wanted = Inspection(STEPS - 10, tab)
        reads.clear()
        shown = inspector_view(opened, wanted, sources)
        assert shown == inspector_view(ended, wanted, sources)
        assert len(reads) < 600, tab  # of 2,000
    assert "Not stored" in shown.blocks[0].text


async def test_a_long_run_is_searched_beside_the_window_and_by_pieces(
    qtbot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, opened = await both(tmp_path / "runs.sqlite")
    cards = timeline_of(opened).cards
    expected = rows_with(qtbot, opened, cards, "PLACE  22")
    assert len(expected) > 10
    _, opened = await both(tmp_path / "again.sqlite")  # of which nothing is read yet
    readers: set[int] = set()
    note_reads(monkeypatch, lambda _: readers.add(threading.get_ident()))
    monkeypatch.setattr("studio.viewmodels.run.controller._PIECE_SECONDS", 0.0)  # a card each
    search = RunSearch()
    shown: list[SearchHits] = []
    search.found_changed.connect(shown.append)
    search.look(opened, cards, "thought")
    qtbot.waitUntil(lambda: len(shown) > 3)
    search.look(opened, cards, "place 22")
    del shown[:]
    qtbot.waitUntil(lambda: bool(shown) and shown[-1].is_whole)
    assert {found.words for found in shown} == {"place 22"}
    assert shown[-1].rows == expected
    assert len(shown) == len(cards)
    assert [found.is_whole for found in shown].count(True) == 1
    assert readers
    assert threading.get_ident() not in readers


async def test_ways_of_a_long_run_are_compared_without_reading_what_they_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, opened = await both(tmp_path / "runs.sqlite")
    read: set[int] = set()
    note_reads(monkeypatch, read.add)
    found = compare(RunSide("A", opened), RunSide("B", opened))
    assert [row.match for row in found.rows] == ["same"] * len(timeline_of(ended).cards)
    assert len(read) < STEPS / 2
