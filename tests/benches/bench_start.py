"""First paint of the studio against a bare PySide6 window with a QPlainTextEdit.

Each start is a process of its own, timed from outside: from spawning it until it says that the
text of its file has been painted for the first time, watched in both in the same way. The two are
run in turn, and the ratio is the median over the pairs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAIRS = 9
TARGET = 2.0
HEAVY = ("openai", "mcp", "jsonschema", "keyring", "xllamacpp")

PAINTED = """
from PySide6.QtCore import QEvent, QObject

class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self.say)
        return False

    def say(self):
        heavy = [name for name in HEAVY if name in sys.modules]
        print("painted", ",".join(heavy), flush=True)
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
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
HEAVY = {heavy!r}
application = QApplication([])
{painted}
from studio.app import Studio
watch = Watch()
studio = Studio()
studio.window.resize(1440, 900)
page = studio.window.tabs.open(Path({prompt!r}))
page.editor.viewport().installEventFilter(watch)
studio.window.show()
application.exec()
"""


def start(code: str, home: str) -> tuple[float, str]:
    """Start one process; gives seconds until its first paint, and the heavy modules it has."""
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
    return seconds, line.removeprefix("painted").strip()


def main() -> None:
    """Print the ratio, the target, and what was imported."""
    prompt = str(ROOT / "resources" / "examples" / "react-agent.prompty")
    fill = {"painted": PAINTED, "prompt": prompt, "heavy": HEAVY}
    bare, ours = BARE.format(**fill), STUDIO.format(**fill)
    with tempfile.TemporaryDirectory() as home:
        start(bare, home)
        start(ours, home)
        pairs = [(start(bare, home)[0], start(ours, home)) for _ in range(PAIRS)]
    ratio = statistics.median(mine / other for other, (mine, _) in pairs)
    other = statistics.median(seconds for seconds, _ in pairs)
    mine = statistics.median(seconds for _, (seconds, _) in pairs)
    heavy = sorted({name for _, (_, names) in pairs for name in names.split(",") if name})
    print(f"first paint: bare {other * 1000:.0f} ms, studio {mine * 1000:.0f} ms")
    print(f"ratio {ratio:.2f} (target ≤ {TARGET})")
    print(f"imported before it of {', '.join(HEAVY)}: {', '.join(heavy) or 'none'} (target: none)")


if __name__ == "__main__":
    main()
