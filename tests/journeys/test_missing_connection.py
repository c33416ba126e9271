"""A prompt names a connection that this machine does not have: nothing is sent before a choice.

Two servers on loopback: the default connection, which costs money, and one of the user's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitResult
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS
from studio.core.models.connections import read_connections
from studio.core.paths import user_paths
from studio.core.tools.trust.store import TrustStore
from studio.servers.mcp.served_folder import ServedFolder
from studio.servers.mcp.server import StudioServer
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services
from studio.ui.experiments.view import ExperimentView
from tests.support.chat_server import ChatServer, chat_server

NAMED = "---\nmodel: {connection: {kind: reference, name: office}}\n---\nuser:\nHello\n"
PROVIDER = "---\nmodel: {id: gpt-5-mini, provider: openai}\n---\nuser:\nHello\n"
ID_ONLY = "---\nmodel: {id: gpt-9}\n---\nuser:\nHello\n"
TESTS = "tests: [{vars: {}}]\n"


@dataclass
class Machine:
    """A home with two connections, and a folder with prompts for which neither was meant."""

    folder: Path
    paid: ChatServer
    lab: ChatServer

    @property
    def arrived(self) -> tuple[int, int]:
        """Requests that came to the paid server and to the user's own."""
        return len(self.paid.requests), len(self.lab.requests)

    def command(self, *words: str) -> int:
        return run_command([str(word) for word in words])

    def run(self, name: str) -> int:
        return self.command("run", str(self.folder / f"{name}.prompty"))

    def experiment(self, name: str) -> int:
        return self.command("experiment", "run", str(self.folder / f"{name}.experiment.yaml"))

    def by_agent(self, name: str) -> tuple[bool, Any]:
        """Whether the MCP server's `run` was refused, and what it answered."""
        return asyncio.run(_by_agent(self.folder, f"{name}.prompty"))


async def _by_agent(folder: Path, file: str) -> tuple[bool, Any]:
    async def allow(*_: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"allow": True})

    server = StudioServer(ServedFolder(folder.resolve(), trust=TrustStore()))
    try:
        async with Client(server, elicitation_callback=allow) as client:
            result = await client.call_tool("run", {"file": file})
    finally:
        await server.close()
    return bool(result.is_error), result.structured_content or result.content


@pytest.fixture
def machine(tmp_path: Path, user_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, text in (("named", NAMED), ("provider", PROVIDER), ("id", ID_ONLY)):
        (folder / f"{name}.prompty").write_text(text, encoding="utf-8")
        (folder / f"{name}.experiment.yaml").write_text(
            f"prompts: [{name}.prompty]\n{TESTS}", encoding="utf-8"
        )
    config = user_home / "config"
    config.mkdir(parents=True, exist_ok=True)
    with chat_server() as paid, chat_server() as lab:
        text = 'default = "paid"\n'
        for name, server in (("paid", paid), ("lab", lab)):
            text += f'[[connection]]\nname = "{name}"\nkind = "compatible"\nmodel = "{name}-1"\n'
            text += f'base_url = "{server.url}"\n'
        (config / "connections.toml").write_text(text, encoding="utf-8")
        yield Machine(folder, paid, lab)


@pytest.fixture
def open_workbench(qtbot: QtBot) -> Iterator[Callable[[Path], Workbench]]:
    opened: list[Workbench] = []

    def open_on(path: Path) -> Workbench:
        workbench = Workbench(build_services(user_paths()))
        opened.append(workbench)
        with qtbot.waitActive(workbench.window):
            workbench.window.show()
            workbench.window.activateWindow()
        workbench.window.tabs.open(path)
        qtbot.waitUntil(lambda: workbench.is_settled)
        workbench.preview_pane.tabs.setCurrentIndex(1)  # Request
        return workbench

    yield open_on
    for workbench in opened:
        workbench.window.close()
        workbench.close()
        workbench.window.deleteLater()


def buttons(workbench: Workbench) -> dict[str, QPushButton]:
    """What the notice of the refused run offers."""
    found = workbench.window.notices.findChildren(QPushButton)
    return {each.text(): each for each in found if each.isVisible()}


@pytest.mark.parametrize("name", ["named", "provider"])
def test_nothing_is_sent_anywhere_before_the_user_chose(
    machine: Machine,
    open_workbench: Callable[[Path], Workbench],
    qtbot: QtBot,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    missing = "'office'" if name == "named" else "'openai'"
    workbench = open_workbench(machine.folder / f"{name}.prompty")
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: "Use lab in shop" in buttons(workbench))
    assert workbench.run.state is None
    qtbot.waitUntil(lambda: missing in workbench.preview_pane.request.chosen.text())
    assert missing in workbench.window.model_button.toolTip()

    assert machine.run(name) == PROBLEMS
    told = capsys.readouterr().err
    assert told.count(missing) == 1
    assert "--connection" in told
    is_refused, answer = machine.by_agent(name)
    assert is_refused
    assert missing in str(answer)
    assert machine.experiment(name) != FINE
    assert missing in capsys.readouterr().err
    assert machine.arrived == (0, 0)

    # One call elsewhere is a choice for that call alone.
    path = str(machine.folder / f"{name}.prompty")
    assert machine.command("run", path, "--connection", "lab") == FINE
    assert machine.arrived == (0, 1)
    assert machine.run(name) == PROBLEMS


def test_a_refusal_goes_with_its_reason_and_its_prompt(
    machine: Machine, open_workbench: Callable[[Path], Workbench], qtbot: QtBot
) -> None:
    workbench = open_workbench(machine.folder / "provider.prompty")
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: "Use lab in shop" in buttons(workbench))
    workbench.window.tabs.open(machine.folder / "named.prompty")
    qtbot.waitUntil(lambda: "Use lab in shop" not in buttons(workbench) and workbench.is_settled)
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: "Use lab in shop" in buttons(workbench))
    url = ("--url", f"{machine.lab.url}/v1")
    assert machine.command("connections", "add", "office", "--from", "compatible", *url) == FINE
    qtbot.waitUntil(lambda: "Use lab in shop" not in buttons(workbench))


def test_an_id_that_the_default_connection_does_not_use_is_seen_before_the_run(
    machine: Machine, open_workbench: Callable[[Path], Workbench], qtbot: QtBot
) -> None:
    workbench = open_workbench(machine.folder / "id.prompty")
    button = workbench.window.model_button
    qtbot.waitUntil(lambda: button.text() == "paid-1" and button.property("replaced"))
    assert "'gpt-9'" in button.toolTip()


@pytest.mark.parametrize("name", ["named", "provider"])
def test_the_choice_for_the_folder_counts_everywhere_and_can_be_undone(
    machine: Machine,
    open_workbench: Callable[[Path], Workbench],
    qtbot: QtBot,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    workbench = open_workbench(machine.folder / f"{name}.prompty")
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: "Use lab in shop" in buttons(workbench))
    buttons(workbench)["Use lab in shop"].click()
    qtbot.waitUntil(lambda: workbench.run.state is not None and workbench.run.state.is_over)
    assert machine.arrived == (0, 1)
    qtbot.waitUntil(lambda: "lab answers" in workbench.preview_pane.request.chosen.text())
    assert machine.run(name) == FINE
    assert "lab answers" in capsys.readouterr().err
    is_refused, answer = machine.by_agent(name)
    assert not is_refused, answer
    assert (answer["connection"], answer["model"]["id"]) == ("lab", "lab-1")
    assert machine.experiment(name) == FINE
    assert machine.arrived == (0, 4)
    assert {each.body["model"] for each in machine.lab.requests} == {"lab-1"}

    # The user's own file has it: nothing was written beside the prompts.
    kept = read_connections(user_paths().config / "connections.toml")
    assert kept.folders == {str(machine.folder.resolve()): "lab"}
    assert not list(machine.folder.glob("*.toml"))

    # Taken back by another program, which the open window sees.
    assert machine.command("connections", "use", "--in", str(machine.folder)) == FINE
    qtbot.waitUntil(lambda: bool(workbench.connections.choice.refusal))
    assert machine.run(name) == PROBLEMS
    assert machine.arrived == (0, 4)


def test_an_experiment_in_the_window_offers_the_same(
    machine: Machine, open_workbench: Callable[[Path], Workbench], qtbot: QtBot
) -> None:
    workbench = open_workbench(machine.folder / "named.prompty")
    view = workbench.experiments.open(machine.folder / "named.experiment.yaml")
    assert isinstance(view, ExperimentView)
    qtbot.waitUntil(lambda: "Use lab in shop" in buttons(workbench))
    assert view.controller.plan is None
    buttons(workbench)["Use lab in shop"].click()
    qtbot.waitUntil(lambda: view.controller.plan is not None)
    assert machine.arrived == (0, 0)
    view.controller.run()
    qtbot.waitUntil(lambda: not view.controller.is_running)
    assert machine.arrived == (0, 1)
    view.deleteLater()


def test_a_folder_elsewhere_and_its_files_grant_nothing(machine: Machine, tmp_path: Path) -> None:
    """A clone may bring any file: what counts is the user's own list, by the folder's path."""
    assert machine.command("connections", "use", "lab", "--in", str(machine.folder)) == FINE
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "named.prompty").write_text(NAMED, encoding="utf-8")
    config = user_paths().config / "connections.toml"
    (clone / "connections.toml").write_bytes(config.read_bytes())
    assert machine.command("run", str(clone / "named.prompty")) == PROBLEMS
    assert machine.arrived == (0, 0)
