"""The dialogs of an experiment's tab: nothing is sent or written before a click."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench
from studio.ui.experiments.head import WorkersDialog
from studio.ui.experiments.improve_dialog import ImproveDialog
from studio.ui.experiments.view import ExperimentView
from tests.application.experiments.conftest import PROMPT
from tests.application.experiments.improve.conftest import COUNTRIES, GOOD, PLAIN, replied
from tests.support import patience
from tests.support.chat_server import ChatServer, Exchange, chat_server, streamed

Dialog = TypeVar("Dialog", bound=QDialog)
Open = Callable[[], Workbench]


class Answers:
    """Cells, proposals and invented rows; cells wait where the test says so."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.texts = [replied("{{ no }}"), replied(GOOD)]

    async def say(self, exchange: Exchange) -> None:
        system, user = [each["content"] for each in exchange.request.body["messages"]]
        if "You improve one section" in system:
            text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        elif "You invent test data" in system:
            text = json.dumps([{"country": "Norge"}, {"country": "land1"}, {"town": 1}])
        else:
            while not self.may_answer.is_set():
                await asyncio.sleep(0.01)
            text = f"{user}-City" if "capital" in system else "nothing"
        await streamed(text)(exchange)


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def server(user_home: Path, tmp_path: Path, answers: Answers) -> Iterator[ChatServer]:
    (tmp_path / "capital.prompty").write_text(PROMPT)
    (tmp_path / "capital.experiment.yaml").write_text(PLAIN)
    rows = "".join(f"{each},{each}-City\n" for each in COUNTRIES)
    (tmp_path / "rows.csv").write_text(f"country,expected\n{rows}")
    (user_home / "config").mkdir(parents=True, exist_ok=True)
    with chat_server() as made:
        (user_home / "config" / "connections.toml").write_text(
            f'[[connection]]\nname = "small"\nkind = "compatible"\nmodel = "m"\n'
            f'base_url = "{made.url}"\n'
        )
        made.always(answers.say)
        yield made


@pytest.fixture
def view(qtbot: QtBot, server: ChatServer, tmp_path: Path, open_workbench: Open) -> ExperimentView:
    workbench = open_workbench()
    workbench.window.tabs.open(tmp_path / "capital.experiment.yaml")
    view = workbench.window.tabs.sides.active.currentWidget()
    assert isinstance(view, ExperimentView)
    qtbot.waitUntil(
        lambda: view.controller.plan is not None and bool(view.head.heading.text()),
        timeout=patience.MS,
    )
    return view


def dialog_of(kind: type[Dialog]) -> Dialog:
    found = [each for each in QApplication.topLevelWidgets() if isinstance(each, kind)]
    return next(each for each in found if each.isVisible())


def test_workers_are_refused_as_on_the_command_line(view: ExperimentView) -> None:
    view.more_actions["workers"].trigger()
    dialog = dialog_of(WorkersDialog)
    ok = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    for address, said in (
        ("tcp://elsewhere.example:8786", "is not encrypted"),
        ("tls://elsewhere.example:8786", "missing: ca.pem, cert.pem, key.pem"),
        ("four", "names no workers"),
    ):
        dialog.address.setEditText(address)
        ok.click()
        assert said in dialog.status_label.text()
        assert view.controller.workers is None
    dialog.address.setEditText("local:2")
    ok.click()
    assert view.controller.workers is not None
    assert view.controller.workers.local == 2
    assert view.head.workers.text() == "Running on workers: local:2"


def test_invented_rows_are_added_to_the_table_and_taken_back(
    qtbot: QtBot, view: ExperimentView, server: ChatServer, tmp_path: Path
) -> None:
    experiment = tmp_path / "capital.experiment.yaml"
    assert not server.requests
    view.more_actions["language"].trigger()
    qtbot.waitUntil(
        lambda: view.controller.plan is not None and len(view.controller.plan.rows) == 19,
        timeout=patience.MS,
    )
    assert len(server.requests) == 1
    said = view.head.status_label.text()
    assert "like an earlier row" in said  # Land1 is among the rows
    assert "required property" in said
    assert "Norge" in experiment.read_text()


def test_a_section_is_improved_and_accepted_as_one_undo(
    qtbot: QtBot, view: ExperimentView, server: ChatServer
) -> None:
    pytest.importorskip("gepa", reason="needs the extra `improve`")
    view.more_actions["improve"].trigger()
    dialog = dialog_of(ImproveDialog)
    assert [dialog.section.itemText(at) for at in range(dialog.section.count())] == [
        "system",
        "user",
    ]
    dialog.model.setEditText("small")
    assert not server.requests
    qtbot.mouseClick(dialog.search_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.accept_button.isEnabled, timeout=patience.MS)
    assert "6 won, 0 lost, p = 0.031" in dialog.status_label.text()
    assert dialog.list.count() == 3  # as it is, refused, better
    assert "refused" in dialog.list.item(1).text()
    assert GOOD in dialog.diff.toPlainText()
    assert dialog.chart.isVisible()
    dialog.accept_button.click()
    page = view.window().tabs.current  # type: ignore[attr-defined]
    better = PROMPT.replace("Answer in one word.", GOOD)
    qtbot.waitUntil(lambda: page.editor.text() == better, timeout=patience.MS)
    page.editor.undo()
    assert page.editor.text() == PROMPT
    qtbot.waitUntil(lambda: len(view.controller.heads) == 1, timeout=patience.MS)
    assert view.controller.model.rowCount() == 6  # the unseen rows stand in the grid


def test_a_dialog_that_is_closed_ends_what_it_asked_for(
    qtbot: QtBot, view: ExperimentView, server: ChatServer, answers: Answers
) -> None:
    pytest.importorskip("gepa", reason="needs the extra `improve`")
    answers.may_answer.clear()
    view.more_actions["improve"].trigger()
    dialog = dialog_of(ImproveDialog)
    dialog.model.setEditText("small")
    qtbot.mouseClick(dialog.search_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(server.requests), timeout=patience.MS)
    assert dialog.stop_button.isVisible()
    dialog.close()
    qtbot.waitUntil(
        lambda: all(each.client_left.is_set() for each in server.requests), timeout=patience.MS
    )
    assert not view.controller.heads  # nothing of it is a result


def test_texts_are_proposed_and_become_variants(
    qtbot: QtBot, view: ExperimentView, server: ChatServer, answers: Answers
) -> None:
    answers.texts = [replied(each) for each in (GOOD, "{{ x }}", "Say the capital.", "A capital!")]
    view.more_actions["improve"].trigger()
    dialog = dialog_of(ImproveDialog)
    dialog.model.setEditText("small")
    qtbot.mouseClick(dialog.propose_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.list.count() > 0, timeout=patience.MS)
    assert dialog.list.count() == 3
    assert "Refused: It adds expressions: {{ x }}." in dialog.status_label.text()
    dialog.variants_button.click()
    qtbot.waitUntil(
        lambda: view.controller.plan is not None and len(view.controller.plan.variants) == 4,
        timeout=patience.MS,
    )
    assert len(server.requests) == 4
    dialog.close()


def test_a_run_of_another_process_is_named(
    qtbot: QtBot, server: ChatServer, answers: Answers, tmp_path: Path, open_workbench: Open
) -> None:
    experiment = tmp_path / "capital.experiment.yaml"
    answers.may_answer.clear()
    command = [sys.executable, "-m", "studio", "experiment", "run", str(experiment), "--trust"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        patience.wait_until(lambda: len(server.requests) >= 1, "a request")
        workbench = open_workbench()
        workbench.window.tabs.open(experiment)
        view = workbench.window.tabs.sides.active.currentWidget()
        assert isinstance(view, ExperimentView)
        qtbot.waitUntil(
            lambda: "Another process is running this result" in view.head.status_label.text(),
            timeout=patience.MS,
        )
        assert not view.controller.is_running
        answers.may_answer.set()
        process.communicate()
    assert len(server.requests) == 18  # the window asked nothing
