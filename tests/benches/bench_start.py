"""First paint of the studio against a bare PySide6 window with a QPlainTextEdit.

Each start is a process of its own, timed from outside: from spawning it until it says that the
text of its file has been painted for the first time, watched in both in the same way. The two are
run in turn, so that what else the machine does slows both, and the ratio is that of the medians:
the middle of the pairs' own ratios says more about what ran beside them. The time of the processor
that each start took is printed too: it hardly depends on other load.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAIRS = 9
TARGET = 1.8
HEAVY = ("openai", "mcp", "jsonschema", "keyring", "xllamacpp")

PAINTED = """
import time
from PySide6.QtCore import QEvent, QObject

class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self.say)
        return False

    def say(self):
        heavy = [name for name in HEAVY if name in sys.modules]
        print("painted", time.process_time(), ",".join(heavy), flush=True)
        os._exit(0)
"""

BARE = """
import os, sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QPlainTextEdit
HEAVY = {heavy!r}
application = QApplication([])
{painted}
window = QMainWindow()
editor = QPlainTextEdit()
editor.setPlainText(open({prompt!r}, encoding="utf-8").read())
window.setCentralWidget(editor)
window.resize(1440, 900)
watch = Watch()
editor.viewport().installEventFilter(watch)
window.show()
application.exec()
"""

STUDIO = """
import os, sys
from pathlib import Path
from studio import quick_start  # as the program begins (`studio.__main__`)
from studio.app import Studio
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
HEAVY = {heavy!r}
studio = Studio()
{painted}
watch = Watch()
studio.window.resize(1440, 900)
page = studio.window.tabs.open(Path({prompt!r}))
page.editor.viewport().installEventFilter(watch)
studio.window.show()
QApplication.exec()
"""


@dataclass(frozen=True, slots=True)
class Start:
    """One process, from its beginning to its first paint."""

    seconds: float
    """By the clock."""

    worked: float
    """Seconds of the processor, in all its threads."""

    heavy: str
    """The heavy modules that it has."""


def start(code: str, home: str) -> Start:
    """Start one process and wait for its first paint."""
    environment = {
        # As a person starts it: Python keeps what it compiled.
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "QT_QPA_PLATFORM": "offscreen",
        "PROMPT_STUDIO_HOME": home,
        "PYTHONPATH": str(ROOT),
    }
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - began
        process.wait()
    if not line.startswith("painted"):
        raise SystemExit("a window was never painted")
    worked, _, heavy = line.removeprefix("painted").strip().partition(" ")
    return Start(seconds, float(worked), heavy)


def main() -> int:
    """Print the ratio, the target, and what was imported; 1 when the target is missed."""
    prompt = str(ROOT / "resources" / "examples" / "react-agent.prompty")
    fill = {"painted": PAINTED, "prompt": prompt, "heavy": HEAVY}
    bare, ours = BARE.format(**fill), STUDIO.format(**fill)
    with tempfile.TemporaryDirectory() as home:
        start(bare, home)
        start(ours, home)
        pairs = [(start(bare, home), start(ours, home)) for _ in range(PAIRS)]
    other = statistics.median(each.seconds for each, _ in pairs)
    mine = statistics.median(each.seconds for _, each in pairs)
    others_work = statistics.median(each.worked for each, _ in pairs)
    work = statistics.median(each.worked for _, each in pairs)
    heavy = sorted({name for _, each in pairs for name in each.heavy.split(",") if name})
    ratio = mine / other
    print(f"first paint: bare {other * 1000:.0f} ms, studio {mine * 1000:.0f} ms (medians)")
    print(f"ratio {ratio:.2f} (target ≤ {TARGET})")
    print(
        f"time of the processor: bare {others_work * 1000:.0f} ms, studio {work * 1000:.0f} ms, "
        f"ratio {work / others_work:.2f}"
    )
    print(f"imported before it of {', '.join(HEAVY)}: {', '.join(heavy) or 'none'} (target: none)")
    return int(ratio > TARGET or bool(heavy))


if __name__ == "__main__":
    sys.exit(main())
