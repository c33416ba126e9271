"""What a user waits for in the window: another theme, another tab, a key at twenty carets.

Each is counted from the wish until everything that is seen has been painted, in time that the
thread of the window works: what else runs on the machine does not count.

The work per key counts every thread: what the Request tab and all other panes make of a key, as a
multiple of a bare QPlainTextEdit with the same text, both typed into in turn.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from PySide6.QtCore import QEventLoop, QTimer  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QApplication, QPlainTextEdit  # noqa: E402

from studio.core.paths import resource, user_paths  # noqa: E402
from studio.ui.app.workbench import Workbench  # noqa: E402
from studio.ui.base.services import build_services  # noqa: E402
from studio.ui.style.theme import DARK, LIGHT  # noqa: E402

THEME_TARGET_MS = 150.0
TAB_TARGET_MS = 50.0
CARETS_TARGET_MS = 16.0
WORK_RATIO_TARGET = 5.0
"""Processor time per key with the Request tab open, in that of a bare editor."""
WORK_ROUNDS = 5
WORK_KEYS = 60
WORK_PAUSE_MS = 40
"""Between keys: a fast typist."""
CARETS = 20
ROUNDS = 9
_BLOCK = "- What is the weather in {{ city | upper }} today?\n"
_LINES = 5_000
_SETTLE_SECONDS = 30.0


def settle(condition: Callable[[], bool]) -> None:
    """Let the window work until something is so."""
    end = time.monotonic() + _SETTLE_SECONDS
    while not condition() and time.monotonic() < end:
        wait(20)


def wait(milliseconds: int) -> None:
    """Let the window work for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def timed(act: Callable[[], object]) -> float:
    """Milliseconds of the window's thread until what `act` changes has been painted."""
    start = time.thread_time()
    act()
    QApplication.sendPostedEvents()
    QApplication.processEvents()
    return 1_000 * (time.thread_time() - start)


def themes(bench: Workbench) -> float:
    """The usual time of a change of the theme."""
    found = []
    for number in range(ROUNDS):
        theme = DARK if number % 2 == 0 else LIGHT
        found.append(timed(lambda theme=theme: bench.window.set_theme(theme)))
        wait(150)
    return statistics.median(found)


def tabs(bench: Workbench) -> float:
    """The usual time from one open prompt to another."""
    step = bench.window.actions_by_id["view.next_tab"]
    found = []
    for _ in range(ROUNDS):
        found.append(timed(step.trigger))
        settle(lambda: bench.is_settled)
        wait(100)
    return statistics.median(found)


def carets(bench: Workbench) -> float:
    """The usual time of a key at twenty carets in a text of 5,000 lines."""
    page = bench.window.tabs.new("---\nname: bench\n---\nuser:\n" + _BLOCK * _LINES)
    settle(lambda: bench.is_settled)
    wait(500)
    editor = page.editor
    editor.go_to_line(40)
    editor.setFocus()
    for _ in range(CARETS - 1):
        bench.window.actions_by_id["edit.caret_down"].trigger()
    found = []
    for letter in "abcdefghijklmnop":
        found.append(timed(lambda letter=letter: QTest.keyClick(editor, letter)))
        wait(60)
    count = editor.text().count("abcdefghijklmnop")
    assert count == CARETS, f"{count} carets wrote"
    page.editor.document().setModified(False)
    return statistics.median(found)


def long_prompt() -> str:
    """A prompt of 3,000 lines: 30 messages of rules, a value in each tenth line."""
    head = "---\nname: bench\ninputs:\n  city: {kind: string, sample: Lisbon}\n---\n"
    rules = [f"- Rule {n}: answer every question in **one** line." for n in range(99)]
    rules[::10] = [f"{line[:-1]} about {{{{ city }}}}." for line in rules[::10]]
    body = "\n".join(rules)
    return head + "".join(f"{'user' if n else 'system'}:\n{body}\n" for n in range(30))


def processor_seconds(editor: QPlainTextEdit, keys: str) -> float:
    """Processor time of all threads for some keys, until everything that follows has settled."""
    editor.activateWindow()
    editor.setFocus()
    start = time.process_time()
    for key in keys:
        QTest.keyClick(editor, key)
        wait(WORK_PAUSE_MS)
    wait(1_000)
    return time.process_time() - start


def work(bench: Workbench) -> float:
    """Work per key in the middle of a long prompt beside the Request tab, over a bare editor's."""
    page = bench.window.tabs.new(long_prompt())
    bench.window.docks.show("preview")
    bench.preview_pane.tabs.setCurrentIndex(1)
    bare = QPlainTextEdit()
    bare.setFont(page.editor.font())
    bare.setPlainText(page.editor.toPlainText())
    bare.resize(page.editor.size())
    bare.show()
    settle(lambda: bench.is_settled)
    wait(2_000)
    for editor in (bare, page.editor):
        cursor = editor.textCursor()
        cursor.setPosition(editor.document().findBlockByNumber(1_500).position())
        editor.setTextCursor(cursor)
        editor.centerCursor()
    found = []
    for _ in range(WORK_ROUNDS):
        keys = "answer politely to every customer who writes to the service "[:WORK_KEYS]
        alone = processor_seconds(bare, keys)
        whole = processor_seconds(page.editor, keys)
        found.append(whole / alone)
    bare.close()
    page.editor.document().setModified(False)
    return statistics.median(found)


def main() -> int:
    """Print the figures and the targets; 1 when one is missed."""
    application = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ["PROMPT_STUDIO_HOME"] = folder
        shutil.copytree(resource("examples"), home / "data" / "examples")
        bench = Workbench(build_services(user_paths()))
        bench.window.resize(1440, 900)
        bench.window.show()
        for name in ("chat", "react-agent"):
            bench.window.tabs.open(home / "data" / "examples" / f"{name}.prompty")
            settle(lambda: bench.is_settled)
        wait(1_000)
        figures = (
            ("change of the theme", themes(bench), THEME_TARGET_MS),
            ("switch of the tab", tabs(bench), TAB_TARGET_MS),
            (f"a key at {CARETS} carets, {_LINES:,} lines", carets(bench), CARETS_TARGET_MS),
        )
        ratio = work(bench)
        for name, found, target in figures:
            print(f"{name}: {found:.1f} ms (target <= {target:g} ms)")
        print(f"work per key, Request tab: {ratio:.1f} x (target <= {WORK_RATIO_TARGET:g} x)")
        for page in bench.window.tabs.pages():
            page.editor.document().setModified(False)
        bench.window.close()
        bench.close()
        application.processEvents()
    return int(ratio > WORK_RATIO_TARGET or any(found > target for _, found, target in figures))


if __name__ == "__main__":
    sys.exit(main())
