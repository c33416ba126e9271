"""A run of 10,000 steps: kept, opened, looked at; and 50 runs whose process is killed.

python tests/benches/bench_runs.py [--steps N] [--kills N]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from studio.core.agent.past.replay import walk
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.runner import Run
from studio.core.agent.values.commands import Continue, ForkFrom
from studio.core.agent.values.events import Event, Stopped
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits
from studio.core.models.scripted import ScriptedModel
from studio.core.runs.codec import encode_event
from studio.core.runs.store import RunStore
from studio.ui.run.pane import RunPane
from studio.ui.run.steps.timeline import TimelineView
from studio.ui.style.application import apply_theme
from studio.ui.style.theme import LIGHT
from studio.viewmodels.app.background import Background
from studio.viewmodels.history.controller import HistoryController
from studio.viewmodels.run.controller import RunController
from tests.core.agent.runs import NATIVE, Functions, call, calling, document, run_of, search

ROOT = Path(__file__).resolve().parents[2]
_OPEN_TARGET = 0.5
_GAP_TARGET = 0.050
_WRITE_TARGET = 0.001
_GROWTH_TARGET = 2.0


async def write_run(path: Path, steps: int) -> tuple[float, float]:
    """Keep a run of so many steps; median seconds of a write, and growth over new content."""
    writes: list[float] = []
    content = 0
    with closing(RunStore(path)) as store:
        writer = store.journal("r1")

        def journal(event: Event) -> None:
            nonlocal content
            content += new_content(event)
            began = time.perf_counter()
            writer(event)
            writes.append(time.perf_counter() - began)

        replies = [
            calling(call(arguments=f'{{"query": "place {number}"}}'), text=f"{number} " * 150)
            for number in range(steps - 1)
        ]
        options = RunOptions(headless=True, limits=Limits(None))
        run, _ = run_of(NATIVE, [*replies, "ok"], options=options, journal=journal)
        await run.go()
    size = path.stat().st_size  # closing has brought the log home
    return statistics.median(writes), size / content


def new_content(event: Event) -> int:
    """Bytes of an event, without messages that an earlier one held already."""
    data = encode_event(event)
    if "messages" in data:
        data = {**data, "messages": []}
    return len(str(data).encode())


def spin(application: QApplication, until: Callable[[], bool], seconds: float = 120) -> float:
    """Turn the event loop; returns the longest time that it stood still."""
    longest, ends = 0.0, time.perf_counter() + seconds
    while not until() and time.perf_counter() < ends:
        began = time.perf_counter()
        application.processEvents()
        longest = max(longest, time.perf_counter() - began)
        time.sleep(0.001)
    return longest


def scroll(application: QApplication, view: TimelineView) -> dict[str, float]:
    """The longest gap of each way to move through the steps: bar, wheel, keys."""
    bar = view.verticalScrollBar()

    def drag(part: int) -> None:
        bar.setValue(bar.maximum() * part // 100)

    def turn(part: int) -> None:
        location = QPointF(20, 20)
        event = QWheelEvent(
            location,
            view.viewport().mapToGlobal(location),
            QPoint(),
            QPoint(0, 360 - 720 * (part < 50)),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        application.sendEvent(view.viewport(), event)

    def page(part: int) -> None:
        QTest.keyClick(view, Qt.Key.Key_PageUp if part < 60 else Qt.Key.Key_PageDown)

    longest: dict[str, float] = {}
    for name, move in (("bar", drag), ("wheel", turn), ("page keys", page)):
        gaps = []
        for part in range(101):
            at = time.perf_counter()
            move(part)
            application.processEvents()
            gaps.append(time.perf_counter() - at)
        longest[name] = max(gaps)
        gaps.sort()
        print(
            f"  scrolling by {name}: median {gaps[50] * 1000:.1f} ms, 95th {gaps[95] * 1000:.1f} ms"
        )
    return longest


def open_run(path: Path) -> tuple[float, float, dict[str, float]]:
    """Seconds until a kept run is shown, and the longest gaps while opening and scrolling."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    apply_theme(application, LIGHT)
    background = Background()
    controller = RunController(background)
    history = HistoryController(path)
    pane = RunPane()
    pane.resize(1200, 520)
    controller.state_changed.connect(pane.show_view)
    controller.inspector_changed.connect(pane.inspector.show_inspector)
    pane.views.request_inspection.connect(controller.inspect)
    history.opened.connect(controller.open_record)
    pane.show()
    application.processEvents()
    gc.collect()  # what writing left behind is not the opening's to clear
    began = time.perf_counter()
    history.open("r1")
    gap = spin(application, lambda: bool(pane.timeline.cards))
    application.processEvents()
    shown = time.perf_counter() - began
    gaps = scroll(application, pane.timeline)
    history.close()
    controller.close()
    background.stop()
    pane.close()
    return shown, gap, gaps


def kill_once(path: Path, wanted: int) -> None:
    """Kill a writing process after so many events; what is left opens, replays and forks.

    Raises:
        AssertionError: it does not.
    """
    command = [sys.executable, "-m", "tests.core.runs.writing_run", str(path)]
    told = 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        while told < wanted:
            told = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split("\n")
    told = max([told, *(int(line) for line in rest[:-1] if line)])
    with closing(RunStore(path)) as store:
        assert store.mark_interrupted() == ("r1",)
        events = list(store.events("r1"))
        assert isinstance(events[-1], Stopped)
        assert len(events) - 1 >= told
        past = walk(events)
        assert past.state is not None
        assert past.state.status == "interrupted"
        asyncio.run(_fork(store, events))
        assert walk(store.events("r1")).state is not None


async def _fork(store: RunStore, events: list[Event]) -> None:
    past = walk(events)
    assert past.state is not None
    if not past.tree.checkpoints:
        return  # killed before the run stood anywhere
    plan = RunPlan(
        document(NATIVE),
        {"question": "Where?"},
        ScriptedModel(["ok"] * 3),
        Functions(search),
        journal=store.journal("r1"),
        past=past,
    )
    run = Run(plan, past.state.setup)
    at = random.choice(past.tree.checkpoints)
    state = await run.go(ForkFrom(at.id), Continue())
    assert state.status == "done", state.status


def main() -> int:
    """Measure; returns 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=50)
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        if options.steps:
            began = time.perf_counter()
            write, growth = asyncio.run(write_run(path, options.steps))
            print(f"a run of {options.steps:,} steps made in {time.perf_counter() - began:.1f} s")
            shown, gap, gaps = open_run(path)
            for words, value, target, unit in (
                ("journal write, median", write * 1000, _WRITE_TARGET * 1000, "ms"),
                ("growth over new content", growth, _GROWTH_TARGET, "x"),
                ("opened and shown", shown, _OPEN_TARGET, "s"),
                ("longest gap while opening", gap * 1000, _GAP_TARGET * 1000, "ms"),
                *(
                    (f"longest gap scrolling by {name}", value * 1000, _GAP_TARGET * 1000, "ms")
                    for name, value in gaps.items()
                ),
            ):
                missed += value > target
                print(f"{words}: {value:.2f} {unit} (target {target:g} {unit})")
        for number in range(options.kills):
            kill_once(Path(folder) / f"killed-{number}.sqlite", random.randint(1, 400))
        print(f"{options.kills} processes killed: every journal opened, replayed and forked")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
