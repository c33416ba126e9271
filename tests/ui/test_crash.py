"""What a kill takes: a child types in a real editor and is killed at random moments.

Five kills in a usual run, each once a random part of the text should be safe. `STUDIO_CRASHES=50`
is the full measure, on a quiet machine: no kill takes a second of typing.
"""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio.viewmodels.document.swap import SwapFolder
from tests.support import patience

IS_MEASURE = "STUDIO_CRASHES" in os.environ
KILLS = int(os.environ.get("STUDIO_CRASHES", "5"))
MOST_LOST_SECONDS = 1.0

CHILD = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from studio.viewmodels.document.swap import SwapFolder
from studio.viewmodels.app.notifications import Notifications
from studio.core.settings import Settings
from studio.ui.editor.page.page import EditorPage

app = QApplication([])
page = EditorPage(Notifications(), SwapFolder(Path(sys.argv[1])), Settings())
page.begin("", "typed.prompty")
page.show()
typed = 0

def type_one():
    global typed
    QTest.keyClick(page.editor, chr(ord("a") + typed % 26))
    typed += 1
    print(time.monotonic(), typed, flush=True)

timer = QTimer()
timer.setInterval(12)
timer.timeout.connect(type_one)
timer.start()
app.exec()
"""


def kept_of(folder: Path) -> int:
    """How many letters would come back now."""
    found = [json.loads(file.read_bytes())["text"] for file in folder.glob("*/*.json")]
    return max(map(len, found), default=0)


def typed_until_killed(
    folder: Path, seconds: float, letters: int
) -> tuple[list[tuple[float, int]], float]:
    """Let a child type for so long, and until so much is safe; then kill it.

    Gives what it typed by when, and when it died.
    """
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    ) as child:
        assert child.stdout is not None
        try:
            assert select.select([child.stdout], [], [], patience.SECONDS)[0], (
                "the child never typed"
            )
            lines.append(child.stdout.readline())
            end = time.monotonic() + seconds
            while time.monotonic() < end or kept_of(folder) < letters:
                lines.append(child.stdout.readline())
                assert lines[-1], "the child ended by itself"
        finally:
            killed = time.monotonic()
            child.kill()
        lines += child.stdout.readlines()
    typed = [line.split() for line in lines if line.endswith("\n")]
    return [(float(when), int(count)) for when, count in typed], killed


@pytest.mark.parametrize("kill", range(KILLS))
def test_a_kill_takes_less_than_a_second_of_typing(kill: int, tmp_path: Path) -> None:
    chance = random.Random(kill)
    letters = 0 if IS_MEASURE else chance.randint(1, 150)
    typed, killed = typed_until_killed(
        tmp_path, chance.uniform(1.1, 3.0) if IS_MEASURE else 0.0, letters
    )
    due = letters
    if IS_MEASURE:
        due = max(count for when, count in typed if when < killed - MOST_LOST_SECONDS)
    folder = SwapFolder(tmp_path)
    left = folder.left_behind()
    kept = left[0].text if left else ""
    folder.close()
    whole = "".join(chr(ord("a") + number % 26) for number in range(typed[-1][1] + 1))
    assert due > 0
    assert whole.startswith(kept)
    assert len(kept) >= due
    lost = killed - next((when for when, count in typed if count > len(kept)), killed)
    print(f"lost {lost:.2f} s")
