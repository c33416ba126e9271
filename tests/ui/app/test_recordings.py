"""A program recorded from the window: a real child process, a real server, the real window."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QInputDialog, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from studio.application.run.edits.in_place import EditResult, command_of, problem_of
from studio.application.run.offers.of_run import offers_of
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import Continue, EditReply, StepOn, StopRun
from studio.core.agent.values.events import MessagesEdited
from studio.core.agent.values.step import PausePoint
from studio.core.prompty.document import Message, TextPart
from studio.core.text.source import Span, TextEdit
from studio.core.wire.reply import Reply
from studio.servers.record.session import WantedRecording
from studio.ui.app.recordings import RecordDialog
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import Services
from studio.ui.run.compare_dialog import RunComparisonDialog
from studio.viewmodels.app.notifications import Notification
from tests.cli.test_main import script
from tests.support.chat_server import ChatServer, chat_server, json_body

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

PROGRAM = """
import json, os, sys, time, urllib.request
def ask(*texts):
    pairs = zip(("user", "assistant") * len(texts), texts)
    body = {"model": "m", "messages": [{"role": r, "content": t} for r, t in pairs]}
    address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(address, json.dumps(body).encode())
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]
print(ask("One", ask("One"), "And then?"), flush=True)
"""
STARTS = """
import subprocess
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
open("pids", "w").write(f"{os.getpid()} {child.pid} ")
time.sleep(300)
"""
WAIT = 60_000


def said(text: str) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with chat_server() as made:
        monkeypatch.setenv("OPENAI_BASE_URL", made.url)
        made.always(json_body(said("Found.")))
        yield made


@pytest.fixture
def bench(services: Services, qtbot: QtBot) -> Iterator[Workbench]:
    made = Workbench(services)
    made.window.show()
    yield made
    made.recordings.stop()
    qtbot.waitUntil(lambda: not made.recordings.is_recording, timeout=WAIT)
    qtbot.waitUntil(lambda: made.is_settled, timeout=WAIT)
    made.window.close()
    made.close()
    for timer in gc.get_objects():  # of the last layout, which goes with the window
        if issubclass(type(timer), QTimer) and isValid(timer):
            timer.stop()


def program(folder: Path, more: str = "") -> WantedRecording:
    path = folder / "agent.py"
    path.write_text(PROGRAM + more, encoding="utf-8")
    return WantedRecording((sys.executable, str(path)), str(folder))


def last_hint(bench: Workbench) -> str:
    notices = bench.window.notices.notices
    return notices[-1].hint if notices else ""


def stands(bench: Workbench, place: PausePoint, iteration: int) -> bool:
    state = bench.run.state
    is_there = state is not None and state.pause is not None and not bench.run.view.is_busy
    return is_there and state is not None and (state.place, state.iteration) == (place, iteration)


def test_a_programs_calls_are_held_and_edited_in_the_window(
    bench: Workbench, server: ChatServer, qtbot: QtBot, tmp_path: Path
) -> None:
    """Stop before the second request, change it; then change the reply before it comes back."""
    server.script(json_body(said("Found.")), json_body(said("Theirs.")))
    at_second = Breakpoint("", frozenset({PausePoint.BEFORE_REQUEST}), condition="iteration == 2")
    bench.run.breakpoints.add(at_second)
    bench.recordings.start(program(tmp_path))
    qtbot.waitUntil(lambda: stands(bench, PausePoint.BEFORE_REQUEST, 2), timeout=WAIT)
    assert len(server.requests) == 1
    state = bench.run.state
    assert state is not None
    edited = (*state.step.messages[:-1], Message("user", (TextPart("Edited?"),)))
    bench.run.send(MessagesEdited(edited), StepOn("over"))
    qtbot.waitUntil(lambda: stands(bench, PausePoint.REPLY, 2), timeout=WAIT)
    assert [each["content"] for each in server.requests[1].body["messages"]] == [
        "One",
        "Found.",
        "Edited?",
    ]
    bench.run.send(EditReply(Reply(text="Mine.", finish_reason="stop")), Continue())
    qtbot.waitUntil(lambda: not bench.run.is_live, timeout=WAIT)
    qtbot.waitUntil(lambda: last_hint(bench) == "Exit code 0.\nMine.", timeout=WAIT)
    assert bench.run.state is not None
    assert bench.run.state.status == "done"


def test_the_user_answers_in_the_models_place_from_the_window(
    bench: Workbench, server: ChatServer, qtbot: QtBot, tmp_path: Path
) -> None:
    wanted = program(tmp_path)
    bench.recordings.start(WantedRecording(wanted.program, wanted.folder, steps=True))
    qtbot.waitUntil(lambda: stands(bench, PausePoint.BEFORE_REQUEST, 1), timeout=WAIT)
    bench.run.send(EditReply(Reply(text="Invented.", finish_reason="stop")), Continue())
    qtbot.waitUntil(lambda: not bench.run.is_live, timeout=WAIT)
    (asked,) = server.requests
    assert [each["content"] for each in asked.body["messages"]][1] == "Invented."


def test_the_stage_turns_to_the_next_call_of_any_conversation(
    bench: Workbench, server: ChatServer, qtbot: QtBot, tmp_path: Path
) -> None:
    both = (
        "import threading\nfor each in 'AB': threading.Thread(target=ask, args=(each,)).start()\n"
    )
    path = tmp_path / "agent.py"
    path.write_text(PROGRAM.partition("print(")[0] + both, encoding="utf-8")
    bench.recordings.start(WantedRecording((sys.executable, str(path)), str(tmp_path), steps=True))

    def both_wait() -> bool:
        return [each.mark for each in bench.run.slots].count("waiting") == 2

    qtbot.waitUntil(both_wait, timeout=WAIT)
    qtbot.waitUntil(lambda: stands(bench, PausePoint.BEFORE_REQUEST, 1), timeout=WAIT)
    asked = {sent(bench)}
    bench.run.send(Continue())
    qtbot.waitUntil(lambda: sent(bench) not in asked, timeout=WAIT)
    assert asked | {sent(bench)} == {"A", "B"}
    assert stands(bench, PausePoint.BEFORE_REQUEST, 1)
    bench.run.send(Continue())
    qtbot.waitUntil(lambda: len(server.requests) == 2, timeout=WAIT)


def test_options_of_a_held_request_are_set_in_the_window(
    bench: Workbench, server: ChatServer, qtbot: QtBot, tmp_path: Path
) -> None:
    refused: list[str] = []
    bench.run.refused.connect(refused.append)
    program(tmp_path)
    named = (sys.executable, "agent.py")
    bench.recordings.start(WantedRecording(named, str(tmp_path), steps=True))
    qtbot.waitUntil(lambda: stands(bench, PausePoint.BEFORE_REQUEST, 1), timeout=WAIT)
    edits = [each.edit for each in offers_of(bench.run.state).offers if each.edit is not None]
    assert bench.run.state is not None
    assert bench.run.state.setup.prompt == "agent.py 1"
    (spec,) = (each for each in edits if each.kind == "options")
    assert "one JSON object" in problem_of(spec, EditResult("[]"))
    bench.run.send(command_of(spec, EditResult('{"messages": []}')))
    qtbot.waitUntil(lambda: bool(refused), timeout=WAIT)
    assert "is not an option: edit the messages" in refused[0]
    assert stands(bench, PausePoint.BEFORE_REQUEST, 1)
    bench.run.send(command_of(spec, EditResult('{"temperature": 0.25}')), Continue())
    qtbot.waitUntil(lambda: len(server.requests) == 2, timeout=WAIT)
    assert [each.body.get("temperature") for each in server.requests] == [0.25, None]


def test_a_reply_that_the_program_has_is_edited_no_more(
    bench: Workbench, server: ChatServer, qtbot: QtBot, tmp_path: Path
) -> None:
    refused: list[str] = []
    bench.run.refused.connect(refused.append)
    bench.recordings.start(program(tmp_path, "time.sleep(100)\n"))
    qtbot.waitUntil(lambda: len(server.requests) == 2, timeout=WAIT)
    qtbot.waitUntil(lambda: bench.run.view.state is not None, timeout=WAIT)
    bench.run.send(EditReply(Reply(text="Late.")))
    qtbot.waitUntil(lambda: bool(refused), timeout=WAIT)
    assert "has this reply already" in refused[0]
    bench.recordings.stop()
    qtbot.waitUntil(lambda: not bench.run.is_live, timeout=WAIT)


@pytest.mark.parametrize(
    ("offer", "answer", "requests", "differs"),
    [
        ("Take the next recorded answer", "Found.", 0, True),
        ("Ask the model", "AskedRequest now.", 1, True),
        ("Answer myself…", "My own.", 0, True),
        ("Refuse it", "HTTP Error 409: Conflict", 0, True),
        ("", "Found.", 0, False),
    ],
)
def test_a_recording_answers_the_program_in_the_window(
    bench: Workbench,
    server: ChatServer,
    qtbot: QtBot,
    tmp_path: Path,
    offer: str,
    answer: str,
    requests: int,
    *,
    differs: bool,
) -> None:
    """The second request is another one; the user decides what answers it."""
    wanted = program(tmp_path)
    bench.recordings.start(wanted)
    qtbot.waitUntil(lambda: last_hint(bench) == "Exit code 0.\nFound.", timeout=WAIT)
    assert bench.run.state is not None
    run = bench.run.state.setup.run
    assert [each for each, _ in bench.recordings.replays()] == [run]
    server.requests.clear()
    server.always(json_body(said("AskedRequest now.")))
    path = tmp_path / "agent.py"
    if differs:
        path.write_text(path.read_text().replace("And then?", "And else?"), encoding="utf-8")
    bench.recordings.start(replace(wanted, replays=run))
    if differs:
        qtbot.waitUntil(lambda: bool(asked(bench)), timeout=WAIT)
        (notice,) = asked(bench)
        assert notice.hint == ('messages[2].content is "And else?": it was "And then?"\nAnd else?')
        next(each.act for each in notice.offers if each.title == offer)()
        if offer == "Answer myself…":
            (dialog,) = bench.window.findChildren(QInputDialog)
            dialog.setTextValue(answer)
            dialog.accept()
    qtbot.waitUntil(lambda: "answered from the recording" in last_hint(bench), timeout=WAIT)
    assert answer in last_hint(bench)
    assert ("First difference: messages[2]" in last_hint(bench)) is differs
    assert len(server.requests) == requests
    assert not asked(bench)


def asked(bench: Workbench) -> list[Notification]:
    return [each for each in bench.window.notices.notices if each.key == "answer"]


def test_stop_ends_the_program_and_what_it_started(
    bench: Workbench, server: ChatServer, qtbot: QtBot, tmp_path: Path
) -> None:
    bench.recordings.start(program(tmp_path, STARTS))
    pids = tmp_path / "pids"
    qtbot.waitUntil(lambda: pids.exists() and pids.read_text().count(" ") == 2, timeout=WAIT)
    qtbot.waitUntil(lambda: bench.run.state is not None, timeout=WAIT)
    bench.run.send(StopRun())
    qtbot.waitUntil(lambda: not any(map(is_running, pids.read_text().split())), timeout=WAIT)
    qtbot.waitUntil(lambda: not bench.run.is_live, timeout=WAIT)
    qtbot.waitUntil(lambda: last_hint(bench) == "Stopped.", timeout=WAIT)


def is_running(pid: str) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_program_that_is_started_elsewhere_gets_the_addresses(
    bench: Workbench, server: ChatServer, qtbot: QtBot
) -> None:
    bench.recordings.start(WantedRecording(()))
    there = "OPENAI_BASE_URL=http://127.0.0.1:"
    qtbot.waitUntil(lambda: there in last_hint(bench), timeout=WAIT)
    bench.recordings.stop()
    qtbot.waitUntil(lambda: last_hint(bench) == "Stopped.", timeout=WAIT)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"program": "python 'open"}, "quotation mark"),
        ({"program": "no-such-program-here"}, "neither a program on the PATH"),
        ({"program": sys.executable, "folder": "/no/such/folder"}, "is not a folder"),
        ({"program": sys.executable, "faults": "429, x"}, "'x' is not a fault"),
    ],
)
def test_the_dialog_says_what_is_wrong(qtbot: QtBot, values: dict[str, str], words: str) -> None:
    dialog = RecordDialog(WantedRecording(()))
    qtbot.addWidget(dialog)
    dialog.form.set_values(values)
    dialog.record.click()
    assert words in dialog.problem.text()
    assert not dialog.result()
    dialog.form.set_values({"program": f"{sys.executable} -V", "port": 8_765, "steps": True})
    dialog.record.click()
    assert dialog.wanted == WantedRecording((sys.executable, "-V"), port=8_765, steps=True)


def sent(bench: Workbench) -> str:
    state = bench.run.state
    assert state is not None
    return state.steps[-1].messages[0].text if state.steps else state.step.messages[0].text


@pytest.fixture
def scripted(user_home: Path) -> None:
    """Let a scripted model answer the window's own runs."""
    script(user_home, "Found.", "Found.")


def close_comparison(qtbot: QtBot) -> None:
    """Close the comparison, which opens by itself."""
    found: list[QWidget] = []

    def opened() -> bool:
        shown = QApplication.topLevelWidgets()
        found[:] = [each for each in shown if isinstance(each, RunComparisonDialog)]
        return bool(found)

    qtbot.waitUntil(opened, timeout=WAIT)
    for dialog in found:
        dialog.close()


@pytest.mark.usefixtures("scripted")
def test_a_recorded_call_is_replayed_with_my_edit_and_kept_as_a_case(
    bench: Workbench, server: ChatServer, qtbot: QtBot, tmp_path: Path
) -> None:
    bench.recordings.start(program(tmp_path))
    qtbot.waitUntil(lambda: last_hint(bench) == "Exit code 0.\nFound.", timeout=WAIT)
    assert bench.run.state is not None
    recorded = bench.run.state.setup.run
    mine = tmp_path / "mine.prompty"
    mine.write_text("---\nmodel:\n  id: m\n---\nuser:\nMy edit\n", encoding="utf-8")
    window, timeline = bench.window, bench.run_pane.timeline
    window.tabs.open(mine)
    qtbot.waitUntil(lambda: bench.run.slots.prompt == str(mine), timeout=WAIT)
    bench.history.open(recorded)
    qtbot.waitUntil(lambda: bench.run.past is not None, timeout=WAIT)
    timeline.request_case.emit(1)
    cases = tmp_path / "mine.cases.csv"
    qtbot.waitUntil(cases.exists, timeout=WAIT)
    assert cases.read_text(encoding="utf-8").split() == ["expected", "Found."]
    with qtbot.waitSignal(bench.run.compared, timeout=WAIT):
        timeline.request_now.emit(1)
    assert sent(bench) == "My edit"
    close_comparison(qtbot)


@pytest.mark.usefixtures("scripted")
def test_a_run_goes_on_from_a_request_with_the_prompt_as_it_is_now(
    bench: Workbench, server: ChatServer, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "own.prompty"
    path.write_text("---\nmodel:\n  id: m\n---\nuser:\nAs it was\n", encoding="utf-8")
    page = bench.window.tabs.open(path)
    assert page is not None
    qtbot.waitUntil(lambda: bench.run.slots.prompt == str(path) and page.document is not None)
    with qtbot.waitSignal(bench.run.sessions.ended, timeout=WAIT):
        bench.run_coordinator.start(False)
    assert sent(bench) == "As it was"
    at = page.editor.text().index("was")
    page.editor.apply_edits([TextEdit(Span(at, at + 3), "is now")])
    with qtbot.waitSignal(bench.run.compared, timeout=WAIT):
        bench.run_pane.timeline.request_now.emit(1)
    close_comparison(qtbot)
    assert sent(bench) == "As it is now"
    assert len(bench.run.view.branches) == 2
