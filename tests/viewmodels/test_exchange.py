from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.exchange.runs import file_name
from studio.core.agent.run.runner import Run
from studio.core.agent.values.events import ModelCalled
from studio.core.runs.exchange import form_of
from studio.core.runs.store import RunStore
from studio.core.wire.wire_call import WireCall
from studio.viewmodels.exchange import ExportController, RunExchange
from tests.application.exchange.test_export import PROMPT, order
from tests.core.agent.runs import NATIVE, call, calling, run_of


@pytest.fixture
def run() -> Run:
    one, _ = run_of(NATIVE, [calling(call()), "ok"])
    asyncio.run(one.go())
    return one


@pytest.fixture
def exchange(qapp: object, tmp_path: Path) -> Iterator[RunExchange]:
    one = RunExchange(tmp_path / "runs.sqlite")
    yield one
    one.close()


def test_a_run_goes_to_a_file_and_comes_back(
    qtbot: QtBot, exchange: RunExchange, run: Run, tmp_path: Path
) -> None:
    target = tmp_path / "run.jsonl"
    with qtbot.waitSignal(exchange.exported) as exported:
        exchange.export_run("r1", form_of("journal"), target, run.events)
    assert exported.args[0] == target
    with qtbot.waitSignal(exchange.imported) as imported:
        exchange.import_files([target])
    assert imported.args[0] == ("r1",)
    again = tmp_path / "run.html"
    with qtbot.waitSignal(exchange.exported):
        exchange.export_run("r1", form_of("html"), again)
    assert again.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_call_of_a_run_becomes_a_prompt(
    qtbot: QtBot, exchange: RunExchange, run: Run, tmp_path: Path
) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    asked = next(event.seq for event in run.events if isinstance(event, ModelCalled))
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        sent = WireCall("/v1/chat/completions", (), json.dumps(body))
        store.add(run.events, "r1", {asked: sent})
    with qtbot.waitSignal(exchange.call_opened) as opened:
        exchange.open_call("r1", 1)
    made = opened.args[0].made
    assert made.text.endswith("user:\nHi\n")
    assert [each["tool"] for each in made.answers] == ["search"]
    assert any("stream_options is added" in note for note in made.notes) is False
    with qtbot.waitSignal(exchange.failed) as failed:
        exchange.open_call("r1", 2)
    assert "Not stored" in failed.args[0]
    with qtbot.waitSignal(exchange.failed) as failed:
        exchange.open_call("r1", 1, alike=True)
    assert "not part of a recording" in failed.args[0]


def test_what_goes_wrong_is_said(
    qtbot: QtBot, exchange: RunExchange, run: Run, tmp_path: Path
) -> None:
    with qtbot.waitSignal(exchange.failed) as failed:
        exchange.export_run("r1", form_of("html"), tmp_path / "no" / "run.html", run.events)
    assert "No such file" in failed.args[0]
    bad = tmp_path / "bad.jsonl"
    bad.write_text("hello\n", encoding="utf-8")
    with qtbot.waitSignal(exchange.failed) as failed:
        exchange.import_files([bad])
    assert failed.args[0].startswith("bad.jsonl was not imported")
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        assert store.runs() == ()
    with qtbot.waitSignal(exchange.failed) as failed:
        exchange.export_run("gone", form_of("html"), tmp_path / "gone.html")
    assert failed.args[0] == "The run no longer exists."


def test_files_are_named_after_prompt_and_time() -> None:
    assert file_name("A b/c", 0.0, "r1", form_of("otlp")) == "A_b_c.19700101.000000.r1.otlp.json"


def test_the_controller_makes_and_writes(qtbot: QtBot, tmp_path: Path) -> None:
    controller = ExportController()
    with qtbot.waitSignal(controller.made) as caught:
        controller.order(*order("prompty", city="Oslo"))
    assert caught.args is not None
    path = tmp_path / "out.prompty"
    assert controller.write(path, caught.args[0]) == ""
    assert path.read_text(encoding="utf-8") == PROMPT
    assert "could not be written" in controller.write(tmp_path / "no" / "x", caught.args[0])


async def test_a_run_at_hand_is_written_where_the_history_cannot_be_read(
    qtbot: QtBot, tmp_path: Path
) -> None:
    run, _ = run_of(NATIVE, ["ok"])
    await run.go()
    broken = tmp_path / "runs.sqlite"
    broken.write_text("not a database" * 200, encoding="utf-8")
    exchange = RunExchange(broken)
    target = tmp_path / "run.jsonl"
    with qtbot.waitSignal(exchange.exported):
        exchange.export_run("r1", form_of("journal"), target, run.events)
    assert '"t":"Started"' in target.read_text(encoding="utf-8")
    assert exchange.kept_words("r1") == ""
    with qtbot.waitSignal(exchange.failed):
        exchange.export_run("r1", form_of("journal"), target)
