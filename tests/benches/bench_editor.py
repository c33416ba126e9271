"""The editor against a bare QPlainTextEdit with the same text: keys, opening and memory.

Both run in a process of their own, in turn. A key is timed from its press until the widget has been
painted, by the clock and in time that the window's thread worked. The ratio is that of the medians
of the latter: what else runs on the machine makes a key wait, and does not count. Between keys the
event loop runs as it does between a person's keys, so that parsing and colouring in the background
take part. Some pauses are as long as the studio waits for before it reads a long text: the keys
after them are typed while it reads.

The caret stands near the beginning, where a key has the most text after it.
"""

from __future__ import annotations

import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = {200: 1, 5_000: 2, 50_000: 2}
"""How often each length is measured."""
KEYS = {"bare": 30, "studio": 60}
PAUSES_SECONDS = (0.03, 0.15)
"""A fast typist: so many seconds lie between keys, by chance."""
REST_SECONDS = (0.4, 0.6)
REST_EVERY = 12
"""After so many keys the typist rests, and types on while the text is read."""
SETTLE_SECONDS = 20.0
"""The longest that is waited until an opened text has its colours and was read."""
EDITS = 1_000
KEY_P95_TARGETS_MS = {200: 8.0, 5_000: 8.0, 50_000: 16.0}
"""A key until it is painted, by the lines of the text."""
KEY_RATIO_TARGET = 2.5
"""The median key at 5,000 lines, in time of the window's thread."""
OPEN_RATIO_TARGET = 3.0
"""At 50,000 lines."""
MEMORY_TARGET_MB = 8.0
"""What the second thousand edits may add over the first: undo steps and nothing that grows."""

HEAD = """---
name: bench
inputs:
  city:
    kind: string
    description: Where
---
system:
You know {{ city }}.
"""
BODY = """user:
# A **question** about `{{ city }}`
{% if city %}
- What is the weather in {{ city | upper }} today?
{% endif %}
```python
print("hello")
```
assistant:
It is *fine*.
"""


def make_text(lines: int) -> str:
    """A prompt of so many lines."""
    body = (HEAD + BODY * (lines // BODY.count("\n") + 1)).split("\n")
    return "\n".join(body[:lines]) + "\n"


def resident_mb() -> float:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def child(kind: str, lines: int, edits: int) -> None:
    """Measure one editor and print what was found as JSON."""
    from PySide6.QtCore import QEvent, QObject, Qt
    from PySide6.QtGui import QTextCursor
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

    app = QApplication.instance() or QApplication([])
    text = make_text(lines)

    class Watch(QObject):
        painted = False

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                self.painted = True
            return False

    def settle(seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            app.processEvents()
            time.sleep(0.001)

    watch = Watch()
    with tempfile.TemporaryDirectory() as home:
        page: QWidget
        if kind == "bare":
            page = editor = QPlainTextEdit()
        else:
            from studio.app import IdleCollector
            from studio.core.settings import Settings
            from studio.ui.editor.page.page import EditorPage
            from studio.ui.style.application import apply_theme
            from studio.ui.style.theme import LIGHT
            from studio.viewmodels.app.jobs import SWITCH_SECONDS
            from studio.viewmodels.app.notifications import Notifications
            from studio.viewmodels.document.swap import SwapFolder

            sys.setswitchinterval(SWITCH_SECONDS)  # this and the collector: as the application does
            apply_theme(app, LIGHT)
            page = EditorPage(Notifications(), SwapFolder(Path(home)), Settings())
            editor = page.editor
        editor.viewport().installEventFilter(watch)
        page.resize(900, 800)
        page.show()
        settle(0.3)
        collector = None
        if kind != "bare":
            collector = IdleCollector()
            collector.start()

        def until_painted() -> None:
            watch.painted = False
            while not watch.painted:
                app.processEvents()

        began = time.perf_counter()
        if kind == "bare":
            editor.setPlainText(text)
        else:
            page.begin(text, "bench.prompty")  # type: ignore[attr-defined]
        until_painted()
        opened = time.perf_counter() - began
        settle(0.3)
        if kind != "bare":
            end = time.perf_counter() + SETTLE_SECONDS
            while time.perf_counter() < end and not (
                editor.highlighter.is_done and page.document is not None  # type: ignore[attr-defined]
            ):
                settle(0.05)
        editor.moveCursor(QTextCursor.MoveOperation.Start)
        for _ in range(8):
            editor.moveCursor(QTextCursor.MoveOperation.Down)
        editor.moveCursor(QTextCursor.MoveOperation.EndOfLine)
        editor.setFocus()
        settle(0.2)
        keys, work = [], []
        pauses = random.Random(4)
        for number in range(KEYS[kind]):
            if collector is not None:
                collector.touch()
            began, worked = time.perf_counter(), time.thread_time()
            watch.painted = False
            QTest.keyClick(editor, "abcde fgh "[number % 10])
            while not watch.painted:
                app.processEvents()
            keys.append(time.perf_counter() - began)
            work.append(time.thread_time() - worked)
            rests = number % REST_EVERY == REST_EVERY - 1
            settle(pauses.uniform(*(REST_SECONDS if rests else PAUSES_SECONDS)))
        grown = []
        if edits:
            for _ in range(2):
                gc.collect()
                before = resident_mb()
                for _ in range(edits):
                    QTest.keyClick(editor, "x")
                    QTest.keyClick(editor, Qt.Key.Key_Backspace)
                    app.processEvents()
                settle(1.0)
                gc.collect()
                grown.append(resident_mb() - before)
        if kind != "bare":
            page.close_document()  # type: ignore[attr-defined]
    print(json.dumps({"open": opened, "keys": keys, "work": work, "grown": grown}), flush=True)
    os._exit(0)


def run(kind: str, lines: int, edits: int = 0) -> dict[str, object]:
    """One process; with so many edits twice at its end, to see what they add to its memory."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, __file__, kind, str(lines), str(edits)],
            env={
                **os.environ,
                "QT_QPA_PLATFORM": "offscreen",
                "PYTHONPATH": str(ROOT),
                "PROMPT_STUDIO_HOME": home,
            },
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return sorted(values)[int(len(values) * 0.95)]


def compare(lines: int) -> list[str]:
    """Print the figures of one length; what missed its target."""
    bare, mine = [], []
    for round_ in range(ROUNDS[lines]):
        bare.append(run("bare", lines))
        mine.append(run("studio", lines, EDITS if lines == 5_000 and not round_ else 0))
    keys, work = (
        {
            name: [key * 1000 for each in runs for key in each[measured]]  # type: ignore[attr-defined]
            for name, runs in (("bare", bare), ("studio", mine))
        }
        for measured in ("keys", "work")
    )
    medians = {name: statistics.median(values) for name, values in keys.items()}
    works = {name: statistics.median(values) for name, values in work.items()}
    slow = {name: p95(values) for name, values in keys.items()}
    ratio, p95_target = works["studio"] / works["bare"], KEY_P95_TARGETS_MS[lines]
    opens = [float(each["open"]) * 1000 for each in bare]  # type: ignore[arg-type]
    ours = [float(each["open"]) * 1000 for each in mine]  # type: ignore[arg-type]
    opened = statistics.median(ours) / statistics.median(opens)
    print(
        f"{lines:>6} lines: key median {medians['studio']:.2f} ms (bare {medians['bare']:.2f}), "
        f"of the window's thread {works['studio']:.2f} ms (bare {works['bare']:.2f}), "
        f"ratio {ratio:.2f}"
        + (f" (target <= {KEY_RATIO_TARGET:g})" if lines == 5_000 else "")
        + f"; p95 {slow['studio']:.2f} ms (bare {slow['bare']:.2f}; "
        f"target <= {p95_target:g} ms)"
    )
    print(
        f"       open {statistics.median(ours):.0f} ms (bare {statistics.median(opens):.0f}), "
        f"ratio {opened:.2f}" + (f" (target <= {OPEN_RATIO_TARGET:g})" if lines == 50_000 else "")
    )
    missed = []
    if slow["studio"] > p95_target:
        missed.append(f"p95 at {lines} lines over {p95_target:g} ms")
    if lines == 5_000:
        if ratio > KEY_RATIO_TARGET:
            missed.append("key ratio at 5,000 lines")
        grown = [float(value) for value in mine[0]["grown"]]  # type: ignore[attr-defined]
        print(
            f"       memory: {grown[0]:.1f} MB for the first {EDITS} edits, {grown[1]:.1f} MB for "
            f"the next (target <= {MEMORY_TARGET_MB:g} MB)"
        )
        if grown[1] > MEMORY_TARGET_MB:
            missed.append("memory after 1,000 edits")
    if lines == 50_000 and opened > OPEN_RATIO_TARGET:
        missed.append("opening 50,000 lines")
    return missed


def main() -> int:
    """Print the figures and the targets; 1 when one is missed."""
    missed = [each for lines in ROUNDS for each in compare(lines)]
    if missed:
        print("missed: " + "; ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) == 4:
        child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    sys.exit(main())
