"""A studio that is looked after: defects are told, later starts hand over, sessions come back."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.app import PrimaryInstance
from studio.core.log import LOG_NAME
from studio.core.paths import resource, user_paths
from studio.core.settings import OpenFile, Session, load_session, save_session
from studio.ui.app.lifecycle import Lifecycle
from studio.ui.app.main_window import MainWindow
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import Services, build_services
from studio.ui.dialogs.crash import CrashDialog
from studio.viewmodels.app.instance import MARK, InstanceServer, hand_over, socket_name
from tests.support import patience
from tests.support.no_files import each_kind, make_no_file, needs_posix
from tests.support.soon import soon

SECRET = "sk-abcdefghijklmnopqrstuvwxyz0123"


def look(services: Services, window: MainWindow, *, restore: bool, is_first: bool) -> Lifecycle:
    """As the studio joins them."""
    lifecycle = Lifecycle(
        services, window.parts, window.commands, restore=restore, is_first=is_first
    )
    window.request_closing.connect(lifecycle.keep_session)
    window.closing.connect(lifecycle.rest)
    return lifecycle


@pytest.fixture
def look_after(services: Services) -> Iterator[Callable[..., Lifecycle]]:
    """Look after windows; ended before the windows are."""
    made: list[Lifecycle] = []

    def start(window: MainWindow, *, restore: bool = False, is_first: bool = True) -> Lifecycle:
        made.append(look(services, window, restore=restore, is_first=is_first))
        return made[-1]

    yield start
    for lifecycle in made:
        lifecycle.close()


def dialogs(window: MainWindow) -> list[CrashDialog]:
    return [each for each in window.findChildren(CrashDialog) if each.isVisible()]


def test_a_defect_in_a_slot_is_told_with_a_report_without_secrets(
    window: MainWindow,
    look_after: Callable[..., Lifecycle],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    user_home: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OWN_SERVICE_TOKEN", "a-value-of-no-known-form")
    look_after(window)

    def fall() -> None:
        raise LookupError(f"no {SECRET} and a-value-of-no-known-form in {Path.home()}/prompts")

    # pytest-qt puts its own hook in place; a person has the one that `Lifecycle` sets.
    for _ in range(2):
        try:
            fall()
        except LookupError as error:
            sys.excepthook(type(error), error, error.__traceback__)
    qtbot.waitUntil(lambda: len(dialogs(window)) == 1)
    (dialog,) = dialogs(window)
    qtbot.waitUntil(lambda: dialog.report.toPlainText().count("LookupError: no") >= 1)
    report = dialog.report.toPlainText()
    for text in (report, dialog.what.text(), capfd.readouterr().err):
        assert SECRET not in text
        assert "a-value-of-no-known-form" not in text
    assert "Prompt Studio 0" in report
    assert "in fall" in report
    assert "unsaved text is saved" in "".join(each.text() for each in dialog.findChildren(QLabel))
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == report
    assert "in fall" in (user_home / "data" / "log" / LOG_NAME).read_text(encoding="utf-8")
    assert SECRET not in (user_home / "data" / "log" / LOG_NAME).read_text(encoding="utf-8")
    dialog.go_on.click()
    qtbot.waitUntil(lambda: not dialogs(window))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_defects_of_threads_and_tasks_are_told_too(
    window: MainWindow,
    look_after: Callable[..., Lifecycle],
    qtbot: QtBot,
    capfd: pytest.CaptureFixture[str],
) -> None:
    lifecycle = look_after(window)
    told: list[str] = []
    lifecycle.crashes.happened.connect(lambda crash: told.append(f"{crash.place}: {crash.summary}"))

    def fall() -> None:
        raise ValueError("in a thread")

    thread = threading.Thread(target=fall)
    thread.start()
    thread.join()

    async def forget() -> None:
        async def fall() -> None:
            raise ValueError("in a task")

        task = asyncio.ensure_future(fall())
        await asyncio.sleep(0)
        del task

    asyncio.run(forget())
    qtbot.waitUntil(lambda: len(told) == 2)
    assert told == ["thread: ValueError: in a thread", "task: ValueError: in a task"]
    (dialog,) = dialogs(window)
    assert "And 1 before it" in dialog.what.text()
    capfd.readouterr()
    dialog.close()


def test_save_all_and_quit_saves_and_quits(
    window: MainWindow, look_after: Callable[..., Lifecycle], qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("system:\nHi\n", encoding="utf-8")
    page = window.tabs.open(path)
    assert page is not None
    page.editor.insertPlainText("# new\n")
    lifecycle = look_after(window)
    lifecycle.crashes.tell(ValueError("boom"), "window")
    qtbot.waitUntil(lambda: bool(dialogs(window)))
    dialogs(window)[0].leave.click()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert path.read_text(encoding="utf-8").startswith("# new\n")


def test_a_crash_below_python_is_told_at_the_next_start(
    window: MainWindow, look_after: Callable[..., Lifecycle], user_home: Path, qtbot: QtBot
) -> None:
    code = (
        "import faulthandler, sys\nfrom pathlib import Path\n"
        "from studio.core.log import FaultFile\n"
        "FaultFile(Path(sys.argv[1])).open()\nfaulthandler._sigsegv()\n"
    )
    log = user_home / "data" / "log"
    child = subprocess.run(
        [sys.executable, "-c", code, str(log)], check=False, cwd=Path(__file__).parents[3]
    )
    assert child.returncode != 0
    look_after(window)
    qtbot.waitUntil(lambda: bool(dialogs(window)))
    (dialog,) = dialogs(window)
    assert "crashed in the last session" in dialog.title.text()
    assert "Segmentation fault" in dialog.report.toPlainText()
    assert [each.name for each in log.glob("*crash*")] == ["last-hard-crash.txt"]
    dialog.close()


def test_a_session_comes_back_with_its_carets(
    open_window: Callable[[], MainWindow],
    look_after: Callable[..., Lifecycle],
    services: Services,
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    paths = []
    for name in ("one", "two", "three"):
        path = tmp_path / f"{name}.prompty"
        path.write_text("system:\n" + "line\n" * 200, encoding="utf-8")
        paths.append(path)
    first = open_window()
    lifecycle = look_after(first)
    for number, path in enumerate(paths):
        page = first.tabs.open(path)
        assert page is not None
        page.restore_place(10 * number + 3, 5 * number)
    first.tabs.open(paths[1])
    first.close()
    lifecycle.close()
    paths[2].unlink()
    kept = load_session(services.paths.data / "session.json")
    assert [Path(file.path).stem for file in kept.files] == ["one", "two", "three"]
    assert Path(kept.current).stem == "two"

    fresh = build_services(user_paths())
    second = MainWindow(fresh)
    with qtbot.waitActive(second):
        second.show()
        second.activateWindow()
    second.tabs.open(paths[1])  # the application opens the one in front before the first paint
    again = look(fresh, second, restore=True, is_first=True)
    titles = {page.controller.title: page for page in second.tabs.pages()}
    assert set(titles) == {"one.prompty", "two.prompty"}
    assert second.tabs.current is titles["two.prompty"]
    assert [page.controller.title for page in second.tabs.pages()] == ["one.prompty", "two.prompty"]
    assert titles["one.prompty"].editor.textCursor().position() == 3
    assert second.focusWidget() is titles["two.prompty"].editor  # what is typed goes there
    said = [notice.what for notice in second.notices.notices]
    assert "No longer there: three.prompty." in said
    second.close()
    again.close()
    second.deleteLater()


def test_an_experiment_that_was_in_front_comes_back_in_front(
    open_window: Callable[[], MainWindow],
    look_after: Callable[..., Lifecycle],
    services: Services,
    tmp_path: Path,
) -> None:
    prompt, experiment = tmp_path / "a.prompty", tmp_path / "a.experiment.yaml"
    prompt.write_text("system:\nHello.\n", encoding="utf-8")
    experiment.write_text("prompts: [a.prompty]\n", encoding="utf-8")
    first = open_window()
    first.tabs.take_views(lambda path: QLabel(path.name))
    lifecycle = look_after(first)
    first.tabs.open(prompt)
    first.tabs.open(experiment)
    lifecycle.keep_session()  # as the timer does: a killed process says nothing more
    kept = load_session(services.paths.data / "session.json")
    assert Path(kept.current) == experiment

    second = open_window()
    second.tabs.take_views(lambda path: QLabel(path.name))
    second.tabs.open(Path(kept.current))  # the application opens it before the first paint
    look_after(second, restore=True)
    assert second.tabs.path == experiment
    assert [page.controller.path for page in second.tabs.pages()] == [prompt]


@needs_posix
@each_kind
def test_a_session_that_names_no_file_holds_nothing_up(
    qtbot: QtBot,
    services: Services,
    look_after: Callable[..., Lifecycle],
    tmp_path: Path,
    kind: str,
) -> None:
    path, other = tmp_path / "endless.prompty", tmp_path / "other.prompty"
    make_no_file(kind, path)
    other.write_text("user:\nHi\n", encoding="utf-8")
    session = Session((OpenFile(str(path)), OpenFile(str(other))), str(other))
    save_session(services.paths.data / "session.json", session)
    window = MainWindow(services)
    qtbot.addWidget(window)
    look_after(window, restore=True)
    qtbot.waitUntil(lambda: [page.controller.path for page in window.tabs.pages()] == [other])
    with soon():
        assert window.tabs.open(path) is None  # as a double click in the tree does


def test_a_session_that_makes_no_sense_is_none(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    for text in ("", "[]", '{"files": [1]}', '{"files": [{"path": "/a", "caret": "x"}]}', "\0"):
        path.write_text(text, encoding="utf-8")
        assert load_session(path) == Session()
    session = Session((OpenFile("/a", 3, 4),), "/a")
    assert save_session(path, session)
    assert load_session(path) == session
    assert not save_session(tmp_path / "a" / "\0" / "s.json", session) if os.name == "nt" else True


@pytest.mark.qt_log_ignore("does not support raise")
def test_a_second_start_opens_its_file_in_the_first_window(
    window: MainWindow,
    look_after: Callable[..., Lifecycle],
    qtbot: QtBot,
    tmp_path: Path,
    user_home: Path,
) -> None:
    look_after(window)
    path = tmp_path / "later.prompty"
    path.write_text("system:\nHi\n", encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "studio", str(path)],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PROMPT_STUDIO_HOME": str(user_home)},
    ) as second:
        qtbot.waitUntil(lambda: second.poll() is not None)
        assert second.returncode == 0

    def is_open() -> bool:  # the start is answered before its file is opened
        current = window.tabs.current
        return current is not None and current.controller.path == path

    qtbot.waitUntil(is_open)


@pytest.mark.qt_log_ignore("does not support raise")
@pytest.mark.parametrize(("begin", "action"), [("run", "run.start"), ("step", "run.step")])
def test_an_editor_has_a_file_run_in_the_first_window(
    window: MainWindow,
    look_after: Callable[..., Lifecycle],
    qtbot: QtBot,
    tmp_path: Path,
    begin: str,
    action: str,
) -> None:
    lifecycle = look_after(window)
    path = tmp_path / "later.prompty"
    path.write_text("system:\nHi\n", encoding="utf-8")
    began: list[Path | None] = []

    def note() -> None:
        page = window.tabs.current
        began.append(page.controller.path if page is not None else None)

    window.actions_by_id[action].triggered.connect(note)
    lifecycle._server._take(json.dumps({"open": [str(path)], "begin": begin}).encode())
    qtbot.waitUntil(lambda: bool(began))
    lifecycle._server._take(json.dumps({"open": [str(path)], "begin": "delete"}).encode())
    assert began == [path]


def test_a_mark_that_nobody_stands_behind_is_taken_over(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / MARK).write_text("of a studio that was killed", encoding="utf-8")
    assert not hand_over(tmp_path, ())
    server = InstanceServer(tmp_path)
    assert server.listen()
    assert socket_name(tmp_path) != socket_name(tmp_path / "other")
    for data in (tmp_path, Path("/d")):
        place = Path(socket_name(data))
        assert not place.is_absolute() or place.parent == data
    server.close()
    assert not (tmp_path / MARK).exists()
    assert not hand_over(tmp_path, ())


def test_what_a_studio_was_too_busy_to_hear_of_is_not_done_later(
    qtbot: QtBot, tmp_path: Path
) -> None:
    """The start opened the file itself: a second window, or a second run, would be too much."""
    server = InstanceServer(tmp_path)
    assert server.listen()
    asked: list[tuple[Path, ...]] = []
    server.request_open.connect(lambda paths, _begin: asked.append(paths))
    # The server lives in this thread, which waits here and so hears nothing.
    assert not hand_over(tmp_path, (tmp_path / "early.prompty",), "run", answer_ms=1)
    later = QLocalSocket()
    later.connectToServer(socket_name(tmp_path))
    later.write(json.dumps({"open": [str(tmp_path / "later.prompty")]}).encode() + b"\n")
    qtbot.waitUntil(lambda: later.bytesAvailable() > 0)
    assert asked == [(tmp_path / "later.prompty",)]
    later.disconnectFromServer()
    server.close()


def test_only_the_first_studio_has_the_session(
    open_window: Callable[[], MainWindow],
    look_after: Callable[..., Lifecycle],
    services: Services,
    tmp_path: Path,
) -> None:
    path = tmp_path / "one.prompty"
    path.write_text("system:\nHi\n", encoding="utf-8")
    first, beside = open_window(), open_window()
    look_after(first)
    lifecycle = look_after(beside, is_first=False)
    first.tabs.open(path)
    first.request_closing.emit()
    lifecycle.keep_session()
    beside.close()
    session = load_session(services.paths.data / "session.json")
    assert [file.path for file in session.files] == [str(path)]


HOLDS = """
import sys
from pathlib import Path
from studio.app import PrimaryInstance
place = PrimaryInstance(Path(sys.argv[1]))
print(place.take(), flush=True)
sys.stdin.read()
"""


def test_the_first_place_is_free_when_its_process_died(tmp_path: Path) -> None:
    place = PrimaryInstance(tmp_path / "data")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path / "data")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "True\n"
        assert not place.take()
        child.kill()
        child.wait(patience.SECONDS)
    assert place.take()
    assert not PrimaryInstance(tmp_path / "data").take()
    place.leave()
    assert PrimaryInstance(tmp_path / "data").take()


def test_nobody_is_first_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be", encoding="utf-8")
    assert not PrimaryInstance(tmp_path / "data").take()


def test_a_broken_settings_file_is_set_aside_and_said(qtbot: QtBot, user_home: Path) -> None:
    config = user_home / "config"
    config.mkdir(parents=True)
    (config / "settings.toml").write_text("theme = 'dark", encoding="utf-8")
    window = MainWindow(build_services(user_paths()))
    window.show()
    (notice,) = window.notices.notices
    assert notice.weight == "warning"  # it stays until it is closed
    assert "settings.broken.toml" in notice.what
    assert (config / "settings.broken.toml").is_file()
    window.close()
    window.deleteLater()


def test_the_first_start_covers_nothing_with_a_notice(
    window: MainWindow, look_after: Callable[..., Lifecycle]
) -> None:
    look_after(window)
    assert window.notices.notices == []


def test_safe_mode_says_so_and_keeps_nothing(
    open_window: Callable[[], MainWindow], user_home: Path, qtbot: QtBot
) -> None:
    config = user_home / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "settings.toml").write_text('theme = "dark"\n', encoding="utf-8")
    (user_home / "data").mkdir(exist_ok=True)
    safe = build_services(user_paths(), is_safe=True)
    assert safe.settings.value.theme == "system"
    workbench = Workbench(safe)
    window = workbench.window
    window.show()
    assert window.windowTitle() == "Prompt Studio (safe mode)"
    lifecycle = look(safe, window, restore=False, is_first=False)
    window.commands.files.open_example(resource("examples", "tool-calling-agent.prompty"))
    qtbot.waitUntil(lambda: workbench.preview.preview is not None)
    settled = QTimer()
    settled.setSingleShot(True)
    with qtbot.waitSignal(settled.timeout):
        settled.start(400)  # longer than tools wait for the end of typing
    assert workbench.tools.registry.entries == ()
    assert not workbench.trust.is_trusted(user_home / "data" / "examples")
    assert window.windowTitle() == "tool-calling-agent.prompty (safe mode) — Prompt Studio"
    assert "safe" in [notice.key for notice in window.notices.notices]
    safe.settings.set(replace(safe.settings.value, word_wrap=False))
    assert (config / "settings.toml").read_text(encoding="utf-8") == 'theme = "dark"\n'
    lifecycle.keep_session()
    window.close()
    lifecycle.close()
    workbench.close()
    window.deleteLater()
    for name in ("session.json", "window.ini"):
        assert not (user_home / "data" / name).exists()
    assert not list((user_home / "data").glob("*trust*"))
