"""The studio's process in the soak test: a real window, and somebody at its keys.

    python tests/soak/driver.py FOLDER SECONDS SEED

Says `minute …` now and then and `report {…}` at the end, then waits to be killed.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import random
import resource
import sqlite3
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QTabWidget, QWidget

from studio.app import Studio
from studio.core.paths import user_paths
from studio.core.tools.trust.store import TrustStore
from studio.ui.editor.page.page import EditorPage

ACT_MS = 60
BEAT_MS = 20
SAMPLE_MS = 5000
TALK_MS = 20_000
WARM_SHARE = 0.25
"""How much of the time counts as warming up: caches fill, panes are made for the first time."""
FROZEN_SECONDS = 240
KEPT_SECONDS = 60
DISK_FULL_SECONDS = 1.5
LOCK_SECONDS = 1.5
MOST_PAGES = 7
WORDS = (
    "river",
    " and ",
    "{{ question }}",
    "{% if topic %}",
    "\n",
    "user:\n",
    "Be exact. ",
    "é→𝄞 ",
)
KEYS = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_Backspace,
    Qt.Key.Key_Return,
    Qt.Key.Key_Tab,
)
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


def queued_seconds() -> float:
    """How long this thread has been ready so far while the processors did other things."""
    return int(Path("/proc/thread-self/schedstat").read_text("ascii").split()[1]) / 1e9


def kept_texts(folder: Path) -> set[str]:
    """The texts in the swap files of a folder; one that is just being replaced is passed over."""
    found = set()
    for path in folder.rglob("*.json"):
        with suppress(OSError, ValueError):
            found.add(str(json.loads(path.read_text(encoding="utf-8"))["text"]))
    return found


class Driver(QObject):
    """Does one random thing after the other, and watches what becomes of it."""

    def __init__(self, studio: Studio, folder: Path, seconds: int, seed: int) -> None:
        super().__init__()
        self._studio = studio
        self._folder = folder
        self._seconds = seconds
        self._random = random.Random(seed)
        self._originals = {path: path.read_text("utf-8") for path in folder.glob("*.prompty")}
        self._texts: dict[str, str] = {}
        self._expected_reload: set[str] = set()
        self.done: Counter[str] = Counter()
        self.crashes: list[str] = []
        self.changed = 0
        self._gaps: list[tuple[float, float, str]] = []
        """How long the window was still, how long of that it worked itself, after which action.
        Time in which it was ready and the machine did other things is not counted."""
        self._last_action = "start"
        self._beat_at = self._worked = self._queued = 0.0
        self._began = 0.0
        self._samples: list[tuple[float, int, int]] = []
        self._act_timer = self._timer(ACT_MS, self._act)
        self._beat_timer = self._timer(BEAT_MS, self._beat)
        self._sample_timer = self._timer(SAMPLE_MS, self._sample)
        self._talk_timer = self._timer(TALK_MS, self._talk)
        self._actions: tuple[tuple[int, Callable[[], None]], ...] = (
            (30, self.type_words),
            (14, self.press_keys),
            (5, self.undo),
            (4, self.redo),
            (6, self.save),
            (6, self.open_file),
            (3, self.close_tab),
            (3, self.start_over),
            (6, self.run),
            (10, self.step),
            (4, self.pause),
            (5, self.stop),
            (2, self.theme),
            (4, self.show_pane),
            (3, self.show_tab),
            (2, self.resize),
            (3, self.find),
            (3, self.palette),
            (3, self.complete),
            (1, self.settings),
            (1, self.export),
            (1, self.split),
            (1, self.reset_layout),
            (1, self.disk_full),
            (1, self.delete_file),
            (1, self.change_on_disk),
            (1, self.lock_history),
        )

    def _timer(self, milliseconds: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer

    def begin(self) -> None:
        """Start once everything stands."""
        if self._studio.workbench is None or not self._studio.workbench.is_settled:
            QTimer.singleShot(BEAT_MS, self.begin)
            return
        lifecycle = self._studio.lifecycle
        if lifecycle is not None:
            lifecycle.crashes.happened.connect(lambda crash: self.crashes.append(crash.summary))
        self._began = self._beat_at = time.perf_counter()
        self._worked, self._queued = time.thread_time(), queued_seconds()
        for timer in (self._act_timer, self._beat_timer, self._sample_timer, self._talk_timer):
            timer.start()

    # -- watching -------------------------------------------------------------------------------

    def _beat(self) -> None:
        now, worked, queued = time.perf_counter(), time.thread_time(), queued_seconds()
        gap = now - self._beat_at - BEAT_MS / 1000 - (queued - self._queued)
        if gap > 0.05:
            self._gaps.append((gap, worked - self._worked, self._last_action))
        self._beat_at, self._worked, self._queued = now, worked, queued

    def _sample(self) -> None:
        # A window that is still for so long has hung; what its threads do then is said on stderr.
        faulthandler.dump_traceback_later(FROZEN_SECONDS, exit=True)
        status = Path("/proc/self/status").read_text("utf-8")
        kilobytes = int(status.partition("VmRSS:")[2].split()[0])
        # A watcher for each open tab comes and goes with it; one of a closed tab counts as a leak.
        handles = sum(1 for _ in Path("/proc/self/fd").iterdir()) - len(self._pages())
        self._samples.append((time.perf_counter() - self._began, kilobytes, handles))

    def _talk(self) -> None:
        passed = time.perf_counter() - self._began
        worst, work, action = max(self._gaps, default=(0.0, 0.0, ""))
        _, kilobytes, handles = self._samples[-1] if self._samples else (0.0, 0, 0)
        print(
            f"minute {passed / 60:4.1f} min, {sum(self.done.values())} actions, "
            f"{kilobytes // 1024} MB, {handles} handles, longest hang {worst:.2f} s "
            f"({action}, {work:.2f} s of it own work)",
            flush=True,
        )

    # -- acting ---------------------------------------------------------------------------------

    def _act(self) -> None:
        if time.perf_counter() - self._began > self._seconds:
            self._end()
            return
        self._act_timer.stop()  # an action may open a dialog, and with it an event loop of its own
        QTimer.singleShot(ACT_MS, self._act_timer.start)
        if self._leave_dialogs():
            return
        self._compare_texts()
        weights = [weight for weight, _ in self._actions]
        action = self._random.choices([act for _, act in self._actions], weights)[0]
        self._last_action = action.__name__
        self.done[action.__name__] += 1
        action()
        self._note_texts()

    def _leave_dialogs(self) -> bool:
        popup = QApplication.activePopupWidget()
        if popup is not None:
            QTest.keyClick(popup, Qt.Key.Key_Escape)
            return True
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            return False
        self._last_action = f"leave {type(dialog).__name__}"
        if isinstance(dialog, QMessageBox):
            save = dialog.button(QMessageBox.StandardButton.Save)
            discard = dialog.button(QMessageBox.StandardButton.Discard)
            # Save at first; where that fails (the disk is full), the next time it is thrown away.
            choice = save if self._random.random() < 0.5 else discard
            (choice or dialog.buttons()[0]).click()
            return True
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        if dialog.isVisible():
            dialog.close()
        return True

    def _note_texts(self) -> None:
        self._texts = {page.controller.id: page.editor.text() for page in self._pages()}

    def _compare_texts(self) -> None:
        """A text that nobody touched since the last action is the same; or its file changed."""
        for page in self._pages():
            known = self._texts.get(page.controller.id)
            if known is None or known == page.editor.text():
                continue
            if page.controller.id in self._expected_reload and not page.controller.is_dirty:
                continue
            self.changed += 1
            print(f"minute text of {page.title} changed after {self._last_action}", flush=True)

    def _pages(self) -> list[EditorPage]:
        return list(self._studio.window.tabs.pages())

    def _page(self) -> EditorPage | None:
        return self._studio.window.tabs.current

    def _key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> None:
        page = self._page()
        target: QWidget = page.editor if page is not None else self._studio.window
        QTest.keyClick(target, key, modifier)

    def _trigger(self, identifier: str) -> None:
        self._studio.window.actions_by_id[identifier].trigger()

    # -- what people do -------------------------------------------------------------------------

    def type_words(self) -> None:
        """Type."""
        page = self._page()
        if page is None:
            self.open_file()
            return
        page.editor.setFocus()
        for char in self._random.choice(WORDS):
            if char == "\n":
                QTest.keyClick(page.editor, Qt.Key.Key_Return)
            else:  # `keyClicks` knows ASCII only
                QTest.sendKeyEvent(
                    QTest.KeyAction.Click, page.editor, Qt.Key.Key_unknown, char, NONE
                )

    def press_keys(self) -> None:
        """Move about."""
        for _ in range(self._random.randint(1, 4)):
            self._key(self._random.choice(KEYS), SHIFT if self._random.random() < 0.2 else NONE)

    def undo(self) -> None:
        """Undo."""
        self._key(Qt.Key.Key_Z, CTRL)

    def redo(self) -> None:
        """Redo."""
        self._key(Qt.Key.Key_Z, CTRL | SHIFT)

    def save(self) -> None:
        """Save, where there is a file to save to."""
        page = self._page()
        if page is not None and page.controller.path is not None:
            self._key(Qt.Key.Key_S, CTRL)

    def open_file(self) -> None:
        """Open one of the prompts, or a new one."""
        if len(self._pages()) >= MOST_PAGES:
            self.close_tab()
        if self._random.random() < 0.2:
            self._trigger("file.new")
        else:
            path = self._random.choice(sorted(self._originals))
            if path.exists():
                self._studio.window.tabs.open(path)

    def close_tab(self) -> None:
        """Close the tab in front; what is not saved is asked about."""
        page = self._page()
        if page is None:
            return
        if page.controller.path is None:
            page.editor.document().setModified(False)  # a file dialog is not the studio's
        self._trigger("file.close")

    def start_over(self) -> None:
        """Put the first text in place, so that prompts do not grow for ever."""
        page = self._page()
        if page is not None and page.controller.path in self._originals:
            page.editor.prompt.replace_all(self._originals[page.controller.path])

    def run(self) -> None:
        """Run on."""
        self._key(Qt.Key.Key_F5)

    def step(self) -> None:
        """Step."""
        self._key(Qt.Key.Key_F10)

    def pause(self) -> None:
        """Pause."""
        self._key(Qt.Key.Key_F6)

    def stop(self) -> None:
        """Stop."""
        self._key(Qt.Key.Key_F5, SHIFT)

    def theme(self) -> None:
        """Other colours."""
        self._trigger(self._random.choice(("view.light", "view.dark")))

    def show_pane(self) -> None:
        """Another pane in front."""
        names = ("files", "outline", "tools", "inputs", "preview", "run", "problems", "history")
        self._studio.window.docks.show(self._random.choice(names))

    def show_tab(self) -> None:
        """Another tab of the preview, the inspector, …"""
        shown = [each for each in self._studio.window.findChildren(QTabWidget) if each.isVisible()]
        if shown:
            tabs = self._random.choice(shown)
            if tabs.count() and self._page() not in [tabs.widget(i) for i in range(tabs.count())]:
                tabs.setCurrentIndex(self._random.randrange(tabs.count()))

    def resize(self) -> None:
        """Another size."""
        wide = self._random.choice((900, 1280, 1440))
        self._studio.window.resize(QSize(wide, self._random.choice((640, 800, 900))))

    def find(self) -> None:
        """Find."""
        self._key(Qt.Key.Key_F, CTRL)
        bar = self._page()
        focus = QApplication.focusWidget()
        if bar is not None and focus is not None and focus is not bar.editor:
            QTest.keyClicks(focus, "the")
            QTest.keyClick(focus, Qt.Key.Key_Return)
            QTest.keyClick(focus, Qt.Key.Key_Escape)

    def palette(self) -> None:
        """Look through the commands."""
        self._trigger("view.commands")

    def complete(self) -> None:
        """Have something completed."""
        self._key(Qt.Key.Key_Space, CTRL)

    def settings(self) -> None:
        """Look at the settings."""
        QTimer.singleShot(0, lambda: self._trigger("file.settings"))

    def export(self) -> None:
        """Look at the export."""
        QTimer.singleShot(0, lambda: self._trigger("file.export"))

    def split(self) -> None:
        """Two sides, or one again."""
        split = self._studio.window.tabs.sides.is_split
        self._trigger("view.join" if split else "view.split")

    def reset_layout(self) -> None:
        """All panes where they were."""
        self._trigger("view.reset")

    # -- faults ---------------------------------------------------------------------------------

    def disk_full(self) -> None:
        """For a while no file can grow."""
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))

        def free() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))

        QTimer.singleShot(int(DISK_FULL_SECONDS * 1000), free)
        self.save()

    def delete_file(self) -> None:
        """Somebody deletes an open file."""
        page = self._page()
        path = page.controller.path if page is not None else None
        if path is not None and path in self._originals and path.exists():
            path.unlink()
            QTimer.singleShot(3000, lambda: path.exists() or self._write(path))

    def change_on_disk(self) -> None:
        """Somebody writes an open file."""
        page = self._page()
        path = page.controller.path if page is not None else None
        if page is not None and path in self._originals:
            self._expected_reload.add(page.controller.id)
            self._write(path)

    def _write(self, path: Path) -> None:
        for page in self._pages():
            if page.controller.path == path:
                self._expected_reload.add(page.controller.id)
        try:
            path.write_text(self._originals[path], "utf-8")
        except OSError:
            QTimer.singleShot(1000, lambda: self._write(path))  # the disk is full just now

    def lock_history(self) -> None:
        """Somebody holds the history's database."""

        def hold() -> None:
            base = sqlite3.connect(user_paths().data / "runs.sqlite", timeout=1)
            try:
                base.execute("BEGIN EXCLUSIVE")
                free.wait(LOCK_SECONDS)
                base.rollback()
            except sqlite3.OperationalError:
                self.done["lock not taken"] += 1
            finally:
                base.close()

        free = threading.Event()
        threading.Thread(target=hold, daemon=True).start()

    # -- the end --------------------------------------------------------------------------------

    def _end(self) -> None:
        self._act_timer.stop()
        while self._leave_dialogs():
            QApplication.processEvents()
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        page = self._page()
        if page is not None:
            QTest.keyClicks(page.editor, "the last words")
        self._sample_timer.stop()
        self._talk_timer.stop()
        self._until_kept(time.perf_counter())

    def _until_kept(self, began: float) -> None:
        """Wait for the swap files, which come soon after the last key; then report."""
        took = time.perf_counter() - began
        missing = set(self._unsaved().values()) - kept_texts(user_paths().data / "swap")
        if missing and took < KEPT_SECONDS:
            QTimer.singleShot(BEAT_MS, lambda: self._until_kept(began))
        else:
            self._report(took)

    def _unsaved(self) -> dict[str, str]:
        return {
            f"{page.controller.title} ({page.controller.id[:6]})": page.editor.text()
            for page in self._pages()
            if page.controller.is_dirty
        }

    def _report(self, kept_after: float) -> None:
        self._beat_timer.stop()
        unsaved = self._unsaved()
        gaps = sorted(gap for gap, _, _ in self._gaps)
        busiest = sorted(((work, act) for _, work, act in self._gaps), reverse=True)[:5]
        worst = sorted(self._gaps, reverse=True)[:5]
        report = {
            "minutes": round((time.perf_counter() - self._began) / 60, 1),
            "actions": sum(self.done.values()),
            "runs": self._count_runs(),
            "by kind": dict(self.done.most_common()),
            "crashes": len(self.crashes),
            "what crashed": self.crashes[:5],
            "longest hang (s)": round(gaps[-1], 3) if gaps else 0.0,
            "longest hangs": [f"{gap:.2f} s {action}" for gap, _, action in worst],
            # On a machine that does other things too, this is what the studio has to answer for.
            "most work in one": [f"{work:.2f} s {action}" for work, action in busiest],
            "pauses over 200 ms": sum(1 for gap in gaps if gap > 0.2),
            **self._growth(),
            "texts changed by nobody": self.changed,
            "unsaved at the kill": len(unsaved),
            "in their swap files after (s)": round(kept_after, 2),
            "unsaved": unsaved,
        }
        print("report " + json.dumps(report), flush=True)

    def _growth(self) -> dict[str, object]:
        """Medians of the time after warming up: its first quarter against its last."""
        warm = [each for each in self._samples if each[0] > self._seconds * WARM_SHARE]
        part = max(1, len(warm) // 4)
        found: dict[str, object] = {}
        for name, index, unit in (("memory", 1, 1024), ("handle", 2, 1)):
            first = statistics.median(each[index] for each in warm[:part])
            last = statistics.median(each[index] for each in warm[-part:])
            found[f"{name} then"] = round(first / unit)
            found[f"{name} now"] = round(last / unit)
            found[f"{name} growth"] = last / first - 1
        return found

    def _count_runs(self) -> int:
        with sqlite3.connect(user_paths().data / "runs.sqlite", timeout=5) as base:
            (count,) = base.execute("SELECT count(*) FROM runs").fetchone()
        return int(count)


def main() -> None:
    """Drive until killed."""
    folder, seconds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    TrustStore().trust(folder)
    studio = Studio()
    driver = Driver(studio, folder, seconds, seed)
    QTimer.singleShot(0, driver.begin)
    studio.run(sorted(folder.glob("*.prompty"))[:2])
    gc.collect()


if __name__ == "__main__":
    main()
