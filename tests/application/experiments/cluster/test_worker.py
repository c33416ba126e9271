"""What is shipped to a worker, and what it makes of it."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.experiments.asked_cell import AskedCell
from studio.application.experiments.asking import Asker
from studio.application.experiments.cluster.asker import ClusterAsker
from studio.application.experiments.cluster.dispatch import (
    WorkersAddress,
    WorkersError,
    write_certificates,
)
from studio.application.experiments.cluster.worker import (
    CellWorker,
    decode_asked,
    encode_cell,
    make_bundle,
    missing_names,
    read_bundle,
)
from studio.application.experiments.turns import LeasedCell
from studio.core.experiments.results.cells import CellKey
from studio.core.models.connections import Connections
from studio.core.models.remote.faults import kept_refusals
from tests.application.experiments.conftest import Bench
from tests.support.chat_server import chunk, events, failure, streamed

KEY = "sk-proj-Vv8qkZ2mT4xR7wY1bN5cJ9dL3"

TOOLS = '''\
from facts import CAPITALS

def capital(country: str) -> str:
    """Look a capital up."""
    return CAPITALS[country]
'''

AGENT = """\
---
inputs:
  country: {kind: string, required: true}
  manner: {kind: string, default: "${file:manner.md}"}
  seed: {kind: string, default: "${env:LOOKUP_SEED}"}
metadata:
  agent:
    tools: [lookup.py]
---
system:
{{ manner }} Seed {{ seed }}.

user:
{{ country }}
"""


@pytest.fixture
def agent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("LOOKUP_SEED", "seven")
    monkeypatch.setenv("SMALL_KEY", KEY)
    (small,) = (each for each in bench.services.connections.connections if each.name == "small")
    keyed = replace(small, key="${env:SMALL_KEY}")
    bench.services = replace(bench.services, connections=Connections((keyed,)), allow_tools=True)
    bench.write("capital.prompty", AGENT)
    bench.write("lookup.py", TOOLS)
    bench.write("facts.py", 'CAPITALS = {"Norway": "Oslo"}\n')
    bench.write("manner.md", "Be brief.")
    bench.write("secret.env", f"SMALL_KEY={KEY}\n")
    bench.write(
        "capital.experiment.yaml",
        "prompts: [capital.prompty]\nproviders: [small]\ntests: [{vars: {country: Norway}}]\n",
    )
    return bench


def _ask(worker: CellWorker, bench: Bench) -> AskedCell:
    plan = bench.plan()
    cell = encode_cell(0, plan.rows[0], plan.values_of(0, plan.rows[0]))
    (asked,), refused = worker.ask([json.loads(json.dumps(cell))], {"small": 4.0})
    assert refused == {"small": 0}
    return decode_asked(json.loads(json.dumps(asked)))


def test_a_worker_asks_what_this_process_would(agent: Bench, tmp_path: Path) -> None:
    function = {"name": "capital", "arguments": '{"country": "Norway"}'}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    wants = events([chunk({"tool_calls": [call]}), chunk({}, "tool_calls"), "[DONE]"])
    answer = streamed("Oslo it is")
    agent.server.script(wants, answer, wants, answer)
    plan = agent.plan()
    asker = Asker(plan, agent.services)

    async def here() -> AskedCell:
        await asker.open()
        try:
            return await asker.ask(LeasedCell(CellKey(1, 1, 0), b""), plan.rows[0])
        finally:
            await asker.close()

    expected = asyncio.run(here())
    before = [each.body for each in agent.server.requests]
    folder = tmp_path / "worker"
    folder.mkdir()
    worker = CellWorker(folder, make_bundle(plan, agent.services).data)
    try:
        asked = _ask(worker, agent)
    finally:
        worker.close()
    assert asked.answer is not None
    assert expected.answer is not None
    assert asked.answer.text == "Oslo it is"
    assert asked.answer.calls == expected.answer.calls
    assert asked.journal.count(b"\n") == expected.journal.count(b"\n")
    # To the byte what this process sends: the tool, its module and the file came with the bundle.
    assert [each.body for each in agent.server.requests[len(before) :]] == before
    sent = json.dumps(before[0])
    assert "Be brief. Seed seven." in sent
    assert before[1]["messages"][-1]["content"] == "Oslo"


def test_what_a_row_puts_around_the_prompt_and_typed_values_travel_too(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write(
        "capital.prompty",
        "---\ninputs:\n  short: {kind: boolean}\ntemplate: {format: jinja2, parser: prompty}\n---\n"
        "user:\n{% if short %}Briefly.{% endif %} Norway?\n",
    )
    bench.write("rows.csv", 'short,__prefix,__suffix\nfalse,"First ({{ short }}). "," And then?"\n')
    bench.write(
        "capital.experiment.yaml",
        "prompts: [capital.prompty]\nproviders: [small]\ntests: file://rows.csv\n",
    )
    plan = bench.plan()
    asker = Asker(plan, bench.services)

    async def here() -> None:
        await asker.open()
        try:
            await asker.ask(LeasedCell(CellKey(1, 1, 0), b""), plan.rows[0])
        finally:
            await asker.close()

    asyncio.run(here())
    folder = tmp_path / "worker"
    folder.mkdir()
    worker = CellWorker(folder, make_bundle(plan, bench.services).data)
    try:
        _ask(worker, bench)
    finally:
        worker.close()
    one, other = (each.body["messages"] for each in bench.server.requests)
    assert one == other
    assert one[-1]["content"] == "First (false).  Norway? And then?"


def test_a_bundle_is_the_same_each_time_and_holds_no_secret(agent: Bench) -> None:
    bundle = make_bundle(agent.plan(), agent.services)
    assert make_bundle(agent.plan(), agent.services) == bundle
    assert set(bundle.variables) == {"SMALL_KEY", "LOOKUP_SEED"}
    assert KEY.encode() not in bundle.data
    assert b"seven" not in bundle.data
    with zipfile.ZipFile(io.BytesIO(bundle.data)) as archive:
        names = set(archive.namelist())
    assert {"files/lookup.py", "files/facts.py", "files/manner.md", "plan.json"} <= names
    assert "files/secret.env" not in names


def test_columns_of_a_provider_in_a_file_of_its_own_travel_too(
    agent: Bench, tmp_path: Path
) -> None:
    agent.write("two.yaml", "[{id: small, label: one}, {id: small, label: two}]")
    agent.write(
        "capital.experiment.yaml",
        "prompts: [capital.prompty]\nproviders: ['file://two.yaml']\n"
        "tests: [{vars: {country: Norway}}]\n",
    )
    bundle = make_bundle(agent.plan(), agent.services)
    with zipfile.ZipFile(io.BytesIO(bundle.data)) as packed:
        packed.extractall(tmp_path / "there")
    plan, _ = read_bundle(tmp_path / "there")
    assert [each.name for each in plan.variants] == [each.name for each in agent.plan().variants]


def test_the_rows_are_not_in_it(agent: Bench) -> None:
    before = make_bundle(agent.plan(), agent.services).digest
    agent.write(
        "capital.experiment.yaml",
        "prompts: [capital.prompty]\nproviders: [small]\ntests: file://rows.csv\n",
    )
    agent.write("rows.csv", "country\nNorway\n" + "Norway\n" * 400)
    bundle = make_bundle(agent.plan(), agent.services)
    assert bundle.digest != before
    assert bundle.data.count(b"Norway") < 10


def test_what_is_trusted_here_is_trusted_there_and_nothing_else(
    agent: Bench, tmp_path: Path
) -> None:
    agent.services.trust.forget(agent.folder)
    bundle = make_bundle(agent.plan(), agent.services)
    folder = tmp_path / "worker"
    folder.mkdir()
    CellWorker(folder, bundle.data).close()
    plan, services = read_bundle(folder)
    assert not plan.folder.trusted
    assert not services.trust.is_trusted(folder)


def test_a_zip_cannot_leave_its_folder(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../out.txt", "no")
    folder = tmp_path / "worker"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"\.\./out\.txt"):
        CellWorker(folder, buffer.getvalue())
    assert not (tmp_path / "out.txt").exists()


def test_only_names_of_what_is_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THERE", "a value")
    monkeypatch.delenv("NOT_THERE", raising=False)
    found = asyncio.run(missing_names(["THERE", "NOT_THERE"], ["small"]))
    assert found == ["NOT_THERE", "the key of small"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("local:0", "names no workers"),
        ("many", "names no workers"),
        ("http://host:8786", "names no workers"),
        ("tcp://127.0.0.1", "names no workers"),
        ("tls://h:abc", "names no workers"),
        ("tls://[h:8786", "names no workers"),
        ("tcp://10.0.0.7:8786", "not encrypted"),
        ("tls://10.0.0.7:8786", "missing: ca.pem, cert.pem, key.pem"),
    ],
)
def test_addresses_that_cannot_be_used_say_why(bench: Bench, address: str, said: str) -> None:
    with pytest.raises(WorkersError, match=said):
        ClusterAsker(bench.plan(), bench.services, WorkersAddress(address))


def test_addresses_that_can(tmp_path: Path) -> None:
    write_certificates(tmp_path, ["localhost"])
    for address in (
        WorkersAddress("local:2"),
        WorkersAddress("tcp://localhost:8786"),
        WorkersAddress("tcp://10.0.0.7:8786", insecure=True),
        WorkersAddress("tls://10.0.0.7:8786", tmp_path),
    ):
        address.check()


async def test_what_a_worker_finds_refused_is_kept_here_too(bench: Bench, tmp_path: Path) -> None:
    bench.write(
        "capital.experiment.yaml",
        "prompts: [capital.prompty]\nproviders: [{id: small, config: {temperature: 0}}]\n"
        "tests: [{vars: {country: Norway}}]\n",
    )
    words = "Unsupported parameter: 'temperature' is not supported with this model."
    refusal = failure(400, words, "unsupported_parameter", "temperature")
    bench.server.script(refusal, streamed("Oslo"))
    worker = CellWorker(tmp_path, make_bundle(bench.plan(), bench.services).data)
    kept_refusals().forget(bench.server.url)
    try:
        asked = await asyncio.to_thread(_ask, worker, bench)
    finally:
        worker.close()
    assert asked.answer is not None
    assert asked.answer.left_out == ("temperature",)
    assert [each.option for each in asked.learned] == ["temperature"]
    kept_refusals().forget(bench.server.url)
    leader = Asker(bench.plan(), bench.services)
    await leader.open()
    leader.learn(0, asked.learned)
    await leader.close()
    assert [each.option for each in kept_refusals().at(bench.server.url)] == ["temperature"]
