"""The history on the command line, over a real history."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.agent.values.commands import Approve, StopRun
from studio.core.agent.values.events import ModelCalled, Started
from studio.core.agent.values.options import RunOptions
from studio.core.paths import user_paths
from studio.core.runs.rows import RECORDING
from studio.core.runs.store import RunFilter, RunStore, StoreError
from studio.core.wire.wire_call import WireCall
from tests.cli.test_main import script
from tests.core.agent.runs import NATIVE, Functions, Session, call, calling, run_of, search
from tests.support.chat_server import chat_server, streamed

CALLS = (
    WireCall(
        "/v1/chat/completions?key=••••••",
        (("x-note", "a"),),
        '{"n":1,"é":"${secret:1}"}',
        secrets=("${env:NOTE}",),
        model="served",
        id="chatcmpl-1",
        raw="data: {\udc80}\n\n",
        has_answer=True,
    ),
    WireCall("/v1/chat/completions", (), '{"n":2}', cut=9, has_answer=True),
)
"""What the two model calls of the run sent and received."""


@pytest.fixture
async def run(user_home: Path) -> str:
    one, _ = run_of(NATIVE, [calling(call()), "The answer."])
    await one.go()
    asked = [event.seq for event in one.events if isinstance(event, ModelCalled)]
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        store.add(one.events, "abc123", dict(zip(asked, CALLS, strict=True)))
        store.describe("abc123", tags=["good"])
    return "abc123"


def test_list_and_show(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["runs", "list"]) == FINE
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("abc123  ")
    assert "done  2 model calls, 1 tool call  Caller  Where?" in line
    assert run_command(["runs", "list", "--json", "--tag", "good"]) == FINE
    assert [each["id"] for each in json.loads(capsys.readouterr().out)] == ["abc123"]
    assert run_command(["runs", "list", "nowhere"]) == FINE
    assert capsys.readouterr().out == ""
    assert run_command(["runs", "show", "abc"]) == FINE
    shown = capsys.readouterr().out
    assert "Observation: found x" in shown
    assert "Answer: The answer." in shown
    assert "Tags: good" in shown


def test_what_was_sent_and_received_is_written_byte_for_byte(
    run: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run_command(["runs", "show", run, "--request", "1"]) == FINE
    out, err = capfdbinary.readouterr()
    assert out == CALLS[0].body.encode()
    assert err.decode() == (
        "POST /v1/chat/completions?key=••••••\nx-note: a\n\n${secret:1} = ${env:NOTE}\n"
    )
    assert run_command(["runs", "show", run, "--reply", "1"]) == FINE
    assert capfdbinary.readouterr().out == b"data: {\x80}\n\n"
    assert run_command(["runs", "show", run, "--reply", "2"]) == PROBLEMS
    assert b"9 bytes contain a secret" in capfdbinary.readouterr().err
    assert run_command(["runs", "show", run, "--request", "3"]) == PROBLEMS
    assert b"no iteration 3; it has 2" in capfdbinary.readouterr().err


def test_a_journal_takes_the_calls_along_and_says_so(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run.jsonl"
    assert run_command(["runs", "export", run, "--format", "journal", "-o", str(out)]) == FINE
    assert "Request bodies: 2. Raw replies: 2." in capsys.readouterr().err
    assert run_command(["runs", "import", str(out)]) == FINE
    taken = capsys.readouterr().out.strip()
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        called = [item.seq for item in store.events(taken) if isinstance(item, ModelCalled)]
        assert tuple(store.call(taken, seq) for seq in called) == CALLS
    assert run_command(["runs", "export", run, "--format", "otlp"]) == FINE
    spans = capsys.readouterr().out
    assert "gen_ai.response.model" in spans
    assert "chatcmpl-1" in spans


def test_a_run_that_is_not_there_is_wrong_usage(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["runs", "show", "zzz"]) == USAGE
    assert "no run" in capsys.readouterr().err


def test_export_and_import(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run.jsonl"
    assert run_command(["runs", "export", run, "--format", "journal", "-o", str(out)]) == FINE
    assert run_command(["runs", "import", str(out)]) == FINE
    taken = capsys.readouterr().out.strip()
    assert taken != run
    assert run_command(["runs", "show", taken, "--json"]) == FINE
    lines = capsys.readouterr().out.splitlines()
    kept = out.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(kept) - len(CALLS)
    assert run_command(["runs", "export", run]) == FINE
    assert capsys.readouterr().out.startswith("<!doctype html>")


def test_a_file_of_two_recordings_is_taken_as_two_or_not_at_all(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "recordings.jsonl"
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        first, *rest = store.events(run)
        assert isinstance(first, Started)
        for name, tag in (("a1", "one"), ("b1", "two"), ("a2", "one")):
            setup = replace(first.setup, run=name, program="agent")
            store.add((replace(first, setup=setup), *rest), name)
            store.describe(name, tags=(f"{RECORDING}{tag}", "mine"))
    assert run_command(["runs", "export", "a1", "b1", "--recording", "-o", str(file)]) == FINE
    assert run_command(["runs", "import", str(file), str(file)]) == FINE
    taken = capsys.readouterr().out.split()
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        tags = [store.summary(each).shared_tag(RECORDING) for each in taken]
        kept = len(store.runs(RunFilter(limit=-1)))
    for half in tags[:3], tags[3:]:
        assert sorted(half.count(tag) for tag in half) == [1, 2, 2]
    assert len({"recording one", "recording two", *tags}) == 6

    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-2] + lines[-1:]), encoding="utf-8")
    assert run_command(["runs", "import", str(file)]) == PROBLEMS
    assert "events are missing" in capsys.readouterr().err
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        assert len(store.runs(RunFilter(limit=-1))) == kept


def test_what_is_no_journal_is_a_problem(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"\xff\xfe no")
    assert run_command(["runs", "import", str(bad)]) == PROBLEMS
    assert str(bad) in capsys.readouterr().err


def test_prune(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["runs", "prune"]) == USAGE
    assert run_command(["runs", "prune", "--keep", "1"]) == FINE
    assert run_command(["runs", "prune", "--keep", "0"]) == FINE
    assert capsys.readouterr().out == "0 runs deleted\n1 run deleted\n"


async def test_a_run_whose_process_has_died_is_shown_as_interrupted(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, _ = run_of(NATIVE, ["The answer."])
    await one.go()
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        store.add(one.events[:3], "cut")
    assert run_command(["runs", "list", "--status", "interrupted", "--json"]) == FINE
    assert [each["id"] for each in json.loads(capsys.readouterr().out)] == ["cut"]


async def test_a_run_under_way_that_waits_for_the_user_is_listed_by_what_it_needs(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = Functions(search, ask=("search",))
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        session = Session.over(
            NATIVE,
            [calling(call()), "ok"],
            tools=tools,
            options=RunOptions(),
            journal=store.journal("asks"),
        )
        await session.until_still()
        assert run_command(["runs", "list", "--status", "waiting"]) == FINE
        await session.send(Approve(0))
        assert run_command(["runs", "list", "--status", "waiting"]) == FINE
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("asks  ")
    assert "needs you: approval" in line


@pytest.mark.parametrize(
    "wrong",
    [["--status", "doen"], ["--limit", "-1"], ["--limit", "x"], ["--limit", "9" * 30]],
    ids=" ".join,
)
def test_a_filter_that_nothing_can_pass_is_wrong_usage(
    wrong: list[str], run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_command(["runs", "list", *wrong])
    assert ended.value.code == USAGE
    assert "_count" not in capsys.readouterr().err


HOSTILE_JOURNALS = {
    "nothing": "",
    "no object": "[]\n",
    "lists inside lists": "[" * 100_000 + "\n",
    "digits without end": '{"seq": ' + "9" * 100_000 + "}\n",
    "an unknown event": '{"event": "Exec", "command": "touch /tmp/x"}\n',
    "an event of a wrong shape": '{"event": "Started", "setup": 7, "seq": 1, "at": 1e308}\n',
    "half a character": '{"event": "Started", "setup": "\\ud800"}\n',
    "an id that is a path": '{"prompt_studio_journal": 1, "run": "../../../etc/x"}\n',
}


@pytest.mark.parametrize("text", HOSTILE_JOURNALS.values(), ids=HOSTILE_JOURNALS.keys())
def test_a_hostile_journal_is_refused_with_a_sentence(
    text: str, user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "project" / "bad.jsonl"
    bad.parent.mkdir()
    bad.write_text(text, encoding="utf-8")
    assert run_command(["runs", "import", str(bad)]) == PROBLEMS
    assert str(bad) in capsys.readouterr().err
    assert run_command(["runs", "list"]) == FINE
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("number", range(12))
def test_a_journal_with_one_wrong_value_does_no_harm(
    run: str, number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run.jsonl"
    assert run_command(["runs", "export", run, "--format", "journal", "-o", str(out)]) == FINE
    lines = out.read_text(encoding="utf-8").splitlines()
    wrong = (None, 7, "x", [], {}, -1, 1e308, 10**30, "\ud800", "../x", True, [[[]]])[number]
    for place, line in enumerate(lines):
        entry = json.loads(line)
        key = sorted(entry)[place % len(entry)]
        changed = json.dumps({**entry, key: wrong})
        out.write_text("\n".join([*lines[:place], changed, *lines[place + 1 :]]), encoding="utf-8")
        assert run_command(["runs", "import", str(out)]) in (FINE, PROBLEMS)
        assert "Traceback" not in capsys.readouterr().err
    assert run_command(["runs", "list"]) == FINE
    assert run in capsys.readouterr().out


async def test_a_damaged_history_is_repaired_from_its_good_pages(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = user_paths().data / "runs.sqlite"
    one, _ = run_of(NATIVE, [calling(call()), "The answer."])
    await one.go()
    with closing(RunStore(path)) as store:
        for number in range(120):
            store.add(one.events, f"run{number:03}")
    data = bytearray(path.read_bytes())
    page = 4096
    for number in range(40, len(data) // page - 20, 25):  # every 25th page inside
        data[number * page : (number + 1) * page] = b"\xff" * page
    path.write_bytes(data)

    assert run_command(["runs", "repair"]) == FINE
    said = capsys.readouterr().out
    assert "; the damaged file is " in said
    with closing(RunStore(path)) as store:
        listed = store.runs(RunFilter(limit=500))
        whole = [run.id for run in listed if len(list(store.events(run.id))) == len(one.events)]
    assert len(whole) >= 40
    (kept,) = path.parent.glob("runs.damaged-*")
    assert str(kept) in said
    assert kept.read_bytes() == bytes(data)
    assert run_command(["runs", "list"]) == FINE

    repaired = path.read_bytes()
    assert run_command(["runs", "repair"]) == PROBLEMS
    assert "is whole; nothing was changed" in capsys.readouterr().err
    with closing(RunStore(path)) as store:  # a window that shows it
        assert store.runs(RunFilter())
        assert run_command(["runs", "repair"]) == PROBLEMS
        assert "another program uses it" in capsys.readouterr().err
    assert path.read_bytes() == repaired
    assert list(path.parent.glob("runs.*")) == [path, kept]


def test_a_history_that_is_damaged_inside_is_said_and_a_run_goes_on(
    run: str, user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = user_paths().data / "runs.sqlite"
    damaged = path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096)
    path.write_bytes(damaged)
    for command in (["list"], ["show", run], ["export", run], ["prune", "--keep", "1"]):
        assert run_command(["runs", *command]) == PROBLEMS
        assert "it is damaged; close the studio" in capsys.readouterr().err
    with closing(RunStore(path)) as store, pytest.raises(StoreError, match="it is damaged"):
        next(store.events(run))
    prompt = tmp_path / "a.prompty"
    prompt.write_text("---\nname: a\n---\nuser:\nHi\n", encoding="utf-8")
    script(user_home, "Hello.")
    assert run_command(["run", str(prompt)]) == FINE
    printed = capsys.readouterr()
    assert "the run is not saved in the history" in printed.err
    assert "Hello." in printed.out
    assert path.read_bytes() == damaged


def test_every_branch_is_reached(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = tmp_path / "a.prompty"
    with chat_server() as server:
        connection = json.dumps({"kind": "key", "endpoint": server.url})
        text = f"---\nmodel: {{id: one, connection: {connection}}}\n---\nuser:\nHello\n"
        prompt.write_text(text, encoding="utf-8")
        assert run_command(["run", str(prompt), "--trust"]) == FINE
        capsys.readouterr()
        assert run_command(["runs", "list", "--json"]) == FINE
        run = json.loads(capsys.readouterr().out)[0]["id"]
        prompt.write_text(text.replace("one", "two"), encoding="utf-8")
        server.always(streamed("Farewell."))
        fork = ["--fork", f"{run}@1", "--fork-model", "prompt"]
        assert run_command(["run", str(prompt), "--trust", *fork]) == FINE
    capsys.readouterr()

    def shown(*what: str) -> str:
        assert run_command(["runs", "show", run, *what]) == FINE
        return capsys.readouterr().out

    first, second = ("--branch", "1"), ("--branch", "2")
    for what, one, two in (
        (("--request", "1"), '"model":"one"', '"model":"two"'),
        (("--reply", "1"), "Hello fr", "Farewell"),
        ((), "Answer: Hello from", "Answer: Farewell."),
    ):
        assert one in shown(*what, *first)
        assert two not in shown(*what, *first)
        assert two in shown(*what, *second)
        assert shown(*what, *second) == shown(*what)
    assert "Branch: 1 of 2" in shown(*first)
    made = tmp_path / "made.prompty"
    opening = ["runs", "open", run, "-o", str(made), "--force"]
    for branch, name in ((first, "id: one"), (second, "id: two"), ((), "id: two")):
        assert run_command([*opening, *branch]) == FINE
        assert name in made.read_text("utf-8")
    capsys.readouterr()
    for command in (["runs", "show", run], opening):
        assert run_command([*command, "--branch", "3"]) == PROBLEMS
        assert "no such branch: the run has 2" in capsys.readouterr().err


async def test_a_run_that_sent_nothing_says_so(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session.over(NATIVE, ["ok"], options=RunOptions(stop_at_entry=True))
    await session.until_still()
    await session.send(StopRun())
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        store.add(session.run.events, "abc123", {})
    assert run_command(["runs", "show", "abc", "--request", "1"]) == PROBLEMS
    assert "Iteration 1 sent nothing." in capsys.readouterr().err
