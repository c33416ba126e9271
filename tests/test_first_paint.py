"""What a start has loaded when the text of its file is painted for the first time.

Deterministic, where the bench of the start (`tests/benches/bench_start.py`) measures: each module
here was found to hold the first picture up, and came back unseen before this test.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import patience

ROOT = Path(__file__).resolve().parent.parent
PROMPT = ROOT / "resources" / "examples" / "react-agent.prompty"

START = """
import os, sys
from pathlib import Path
from studio import quick_start  # as the program begins (`studio.__main__`)
from studio.app import Studio
import PySide6
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self.say)  # once it is painted
        return False

    def say(self):
        classes = [
            name for module in ("QtCore", "QtGui", "QtWidgets")
            for name in vars(sys.modules["PySide6." + module])
        ]
        print([sorted(sys.modules), classes], flush=True)
        os._exit(0)

studio = Studio(alone=True)
page = studio.window.tabs.open(Path(sys.argv[1]))
watch = Watch()
page.editor.viewport().installEventFilter(watch)
for timer in studio.window.findChildren(QTimer):
    if timer.interval():
        timer.stop()  # on a busy machine its time comes before the picture
studio.window.show()
QApplication.exec()
"""

LATER = (
    # heavy ones of others
    "anthropic",
    "asyncio",
    "email",
    "hashlib",
    "http",
    "httpx",
    "importlib.metadata",
    "jinja2",
    "jsonschema",
    "keyring",
    "markdown_it",
    "mcp",
    "openai",
    "pydantic",
    "pygments",
    "ruamel",
    "sqlite3",
    "ssl",
    "tiktoken",
    "xllamacpp",
    "yaml",
    # whole rooms
    "studio.cli",
    "studio.core.agent",
    "studio.core.export",
    "studio.core.imports",
    "studio.core.masking",
    "studio.core.models",
    "studio.core.prompty",
    "studio.core.runs",
    "studio.core.tools",
    "studio.core.wire",
    "studio.servers",
    "studio.application.connections",
    "studio.application.exchange",
    "studio.application.inputs",
    "studio.application.preview",
    "studio.application.run",
    "studio.application.tools",
    "studio.ui.connections",
    "studio.ui.dialogs",
    "studio.ui.experiments",
    "studio.ui.history",
    "studio.ui.inputs",
    "studio.ui.preview",
    "studio.ui.problems",
    "studio.ui.run",
    "studio.ui.search",
    "studio.ui.tools",
    "studio.viewmodels.connections",
    "studio.viewmodels.experiments",
    "studio.viewmodels.history",
    "studio.viewmodels.preview",
    "studio.viewmodels.run",
    "studio.viewmodels.tools",
    # parts of the rooms that are there
    "studio.application.document.revisions",
    "studio.application.document.folder_files",
    "studio.application.editing",
    "studio.application.highlight",
    "studio.core.search_files",
    "studio.ui.app.files_coordinator",
    "studio.ui.app.lifecycle",
    "studio.ui.app.navigation",
    "studio.ui.app.workbench",
    "studio.ui.editor.completion.popup",
    "studio.ui.editor.tabs.page_files",
    "studio.ui.editor.text.carets.input",
    "studio.ui.editor.text.carets.line_edits",
    "studio.ui.editor.text.carets.selections",
    "studio.ui.editor.text.keys.typing",
    "studio.ui.files.tree",
    "studio.ui.window.examples",
    "PySide6.QtSvg",
    "json",
)
"""Modules, with all below them, that come after the first picture."""

MOST_MODULES = 110
"""Of the studio; each takes a third of a millisecond to find and read alone."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """The modules, and PySide's classes by name, at the first paint."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "PROMPT_STUDIO_HOME": str(tmp_path_factory.mktemp("home")),
    }
    done = subprocess.run(
        [sys.executable, "-c", START, str(PROMPT)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=patience.SECONDS,
        check=True,
    )
    modules, classes = ast.literal_eval(done.stdout)
    return modules, classes


def test_what_the_first_picture_does_not_show_is_not_loaded(
    loaded: tuple[list[str], list[str]],
) -> None:
    modules, _ = loaded
    assert "studio.ui.app.main_window" in modules
    early = [
        name
        for name in modules
        if any(name == each or name.startswith(f"{each}.") for each in LATER)
    ]
    assert early == []


def test_no_more_of_the_studio_is_loaded_than_a_picture_takes(
    loaded: tuple[list[str], list[str]],
) -> None:
    modules, _ = loaded
    own = [name for name in modules if name.split(".")[0] == "studio"]
    assert len(own) <= MOST_MODULES, own


def test_classes_of_qt_with_hundreds_of_names_are_not_made(
    loaded: tuple[list[str], list[str]],
) -> None:
    # PySide makes a class with all its enumerations when it is first named, or looked at.
    _, classes = loaded

    assert "Qt" in classes
    assert {"QStyle", "QGradient", "QImage", "QFileSystemModel"}.isdisjoint(classes)


UNTIL_SEEN = """
timer = QTimer(interval=20)
timer.timeout.connect(look)
timer.start()
studio.window.show()
QApplication.exec()
"""
"""End of a program that starts the studio: it runs until `look` has printed what it saw."""


def seen_in_start(program: str, prompt: Path, home: Path) -> Any:
    """What `look` of a program prints, which starts the studio on a prompt in a process."""
    done = subprocess.run(
        [sys.executable, "-c", program + UNTIL_SEEN, str(prompt)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PROMPT_STUDIO_HOME": str(home)},
        capture_output=True,
        encoding="utf-8",
        timeout=patience.SECONDS,
        check=True,
    )
    return ast.literal_eval(done.stdout)


WHOLE_START = """
import os, sys, threading
from pathlib import Path
from studio import quick_start
from studio.app import Studio
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

elsewhere = []

def note(event, arguments):
    if event == "import" and threading.current_thread() is not threading.main_thread():
        elsewhere.append(arguments[0])

sys.addaudithook(note)
studio = Studio(alone=True)
studio.window.tabs.open(Path(sys.argv[1]))

def look():
    if studio.workbench is not None:
        print([name for name in elsewhere if name.startswith(("studio.", "PySide6"))], flush=True)
        os._exit(0)

"""


def test_only_the_thread_of_the_window_makes_classes_of_qt(tmp_path: Path) -> None:
    # Shiboken's table of classes has no lock (before Python 3.12): a class made in another thread
    # while Qt paints ended 2 of about 235 starts with a segmentation fault.
    elsewhere = seen_in_start(WHOLE_START, PROMPT, tmp_path)

    assert elsewhere
    with_qt = [
        name
        for name in elsewhere
        if name.startswith(("PySide6", "studio.ui.", "studio.viewmodels."))
        and not (ROOT / name.replace(".", "/")).is_dir()  # a package, which is empty
    ]
    assert with_qt == []


EARLY_KEYS = """
import os, sys
from pathlib import Path
from studio import quick_start
from studio.app import Studio
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and not pressed:
            pressed.append(studio.workbench is None)
            QTimer.singleShot(0, self.press)
        return False

    def press(self):
        studio.window.activateWindow()
        editor.setFocus()
        for key, held in (
            (Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier),
            (Qt.Key.Key_T, Qt.KeyboardModifier.NoModifier),
            (Qt.Key.Key_Z, Qt.KeyboardModifier.NoModifier),
        ):
            QTest.keyClick(editor, key, held)
        pressed.append(studio.workbench is None)

pressed = []
studio = Studio(alone=True)
editor = studio.window.tabs.open(Path(sys.argv[1])).editor
watch = Watch()
editor.viewport().installEventFilter(watch)

def look():
    if studio.workbench is not None and studio.window.docks.is_shown("cases"):
        print([pressed, editor.text().count("z")], flush=True)
        os._exit(0)

"""


def test_keys_pressed_before_the_panes_are_there_are_kept(tmp_path: Path) -> None:
    # Ctrl+K T, F5 and F10 did nothing, and said nothing, until the window was complete.
    prompt = tmp_path / "a.prompty"
    prompt.write_text("---\nname: a\nmodel: m\n---\nuser:\nHello\n", encoding="utf-8")
    pressed, typed = seen_in_start(EARLY_KEYS, prompt, tmp_path)

    assert pressed == [True, True]
    assert typed == 1
