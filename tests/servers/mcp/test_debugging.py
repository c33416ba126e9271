"""The debugger as an agent uses it: what is new, expressions, log points and branches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from studio.core.tools.trust.store import TrustStore
from tests.servers.mcp.test_server import Person, beside, refusal, told
from tests.support.chat_server import ChatServer, chat_server, chunk, events, streamed

PROMPT = """\
---
name: Walker
inputs:
  question: {kind: string, default: "How far is it?"}
metadata:
  agent:
    protocol: native
    max_iterations: 200
    tools: [tools.py]
---
system:
Walk to the shelves, one after the other.
user:
{{ question }}
"""
TOOLS = """\
def shelf(number: int) -> str:
    if number == 3:
        raise ValueError("shelf 3 fell over")
    return f"shelf {number}: " + "lamps, " * 20
shelf.has_effects = False
"""
SYSTEM = "Walk to the shelves"


def asking(number: int) -> Any:
    call = {
        "index": 0,
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": "shelf", "arguments": json.dumps({"number": number})},
    }
    more = {"id": f"chatcmpl-{number}", "model": "m-2026"}
    return events([chunk({"content": "On.", "tool_calls": [call]}, "tool_calls", **more), "[DONE]"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "walker.prompty").write_text(PROMPT, encoding="utf-8")
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    TrustStore().trust(tmp_path)
    return tmp_path


@pytest.fixture
def server(user_home: Path) -> Any:
    with chat_server() as made:
        (user_home / "config").mkdir(parents=True, exist_ok=True)
        (user_home / "config" / "connections.toml").write_text(
            f'default = "small"\n\n[[connection]]\nname = "small"\nkind = "compatible"\n'
            f'model = "m"\nbase_url = "{made.url}"\nretries = 1\n'
        )
        yield made


@pytest.fixture
def walking(server: ChatServer) -> None:
    """The model asks for one shelf after the other."""
    server.script(*map(asking, range(1, 41)))


async def at_step(client: Client, number: int) -> str:
    """Start a run, and let it go on to a step."""
    first = await told(client, "start", file="walker.prompty")
    points = [f"before_request:iteration == {number}"]
    await told(client, "breakpoints", run=first["run"], set=points)
    await told(client, "continue", run=first["run"])
    return str(first["run"])


def size(answer: dict[str, Any]) -> int:
    return len(json.dumps(answer, ensure_ascii=False))


@pytest.mark.usefixtures("walking")
async def test_a_step_tells_only_what_is_new(folder: Path) -> None:
    async with beside(folder, Person()) as client:
        run = await at_step(client, 25)
        places, seen = list[str](), list[dict[str, Any]]()
        for _ in range(5):
            seen.append(await told(client, "step", run=run))
            places.append(seen[-1]["place"])
        again = await told(client, "state", run=run)
        whole = await told(client, "state", run=run, whole=True)
        early = await told(client, "state", run=run, from_step=2)

    assert places == ["reply", "tool_call", "observation", "step_end", "before_request"]
    assert all(size(each) < 1_200 for each in seen)
    assert SYSTEM not in json.dumps(seen)
    reply, call, result, _, following = (each["current"] for each in seen)
    assert (reply["reply"]["model"], reply["reply"]["id"]) == ("m-2026", "chatcmpl-25")
    assert "reply" not in call
    assert result["calls"][0]["observation"].startswith("shelf 25")
    assert following["messages_before"] == 50
    assert [each["role"] for each in following["messages"]] == ["assistant", "tool"]
    assert again["new_since"] == "step 26, before_request"
    assert again["current"] == {"number": 26}
    assert [each["model"]["id"] for each in (*seen, again, whole)] == ["m"] * 7
    assert len(whole["current"]["messages"]) == 52
    assert [each["number"] for each in early["steps"]] == list(range(2, 27))
    assert all(len(each["messages"]) == 2 for each in early["steps"])


@pytest.mark.usefixtures("walking")
async def test_an_expression_is_evaluated_at_any_step(folder: Path) -> None:
    async with beside(folder, Person()) as client:
        run = await at_step(client, 5)

        async def value(expression: str, **more: Any) -> Any:
            return (await told(client, "evaluate", run=run, expression=expression, **more))["value"]

        numbers = await value("steps|map(attribute='args')|map(attribute='number')|list")
        assert numbers[:4] == [1, 2, 3, 4]
        assert await value("steps[-2].observation startswith 'shelf 4'") is True
        assert await value("errors", step=3) == ["error"]
        assert await value("call.elapsed > 0", step=2) is True
        assert await value("inputs.question") == "How far is it?"
        assert await value("request.tools") == ["shelf"]
        said = await refusal(client, "evaluate", run=run, expression="iteratoin > 3")
        assert "did you mean 'iteration'" in said
        assert "no step 9" in await refusal(client, "evaluate", run=run, expression="1", step=9)
        found = await told(client, "runs", words='call.error == "error" and args.number == 3')
        assert [each["id"] for each in found["runs"]] == [run]


@pytest.mark.usefixtures("walking")
async def test_log_points_and_hit_counts_are_set_as_objects(folder: Path) -> None:
    points: list[Any] = [
        {"at": "observation", "log": "{tool} {args.number}: {{ observation[:7] }}"},
        {"at": "shelf", "hits": ">=4"},
    ]
    async with beside(folder, Person()) as client:
        first = await told(client, "start", file="walker.prompty", breakpoints=points)
        stands = await told(client, "continue", run=first["run"])
        listed = await told(client, "breakpoints", run=first["run"])
        wrong = [{"at": "shelv", "condition": "args.n > 1"}]
        said = await refusal(client, "breakpoints", run=first["run"], set=wrong)
        more = await told(client, "start", file="walker.prompty", breakpoints=["shelv"])
    assert (stands["step"], stands["place"]) == (4, "tool_call")
    logged = [each["text"] for each in stands["console"] if each["kind"] == "log"]
    assert logged == ["shelf 1: shelf 1", "shelf 2: shelf 2", "shelf 3: Error: "]
    assert [each["met"] for each in listed["breakpoints"]] == [3, 4]
    assert "no tool 'shelv'; tools are shelf" in said
    assert "no tool 'shelv'" in more["problems"][0]


@pytest.mark.usefixtures("walking")
async def test_two_branches_of_a_run_are_compared(folder: Path) -> None:
    async with beside(folder, Person()) as client:
        run = await at_step(client, 4)
        await told(client, "fork", run=run, step=2)
        await told(client, "breakpoints", run=run, set=["tool_call:iteration == 2"])
        await told(client, "continue", run=run)
        await told(client, "edit", run=run, what="arguments", text='{"number": 30}')
        await told(client, "breakpoints", run=run, set=["step_end"])
        stands = await told(client, "continue", run=run)
        found = await told(client, "compare", run=run, branch=0, other_branch=1)
        assert "no such branch" in await refusal(client, "compare", run=run, branch=7)
        first, second = [await told(client, "state", run=run, branch=at) for at in (0, 1)]
        assert "two branches" in await refusal(client, "compare", run=run)
    assert (stands["branch"], stands["branches"]) == (1, [0, 1])
    assert (first["step"], second["step"]) == (4, 2)
    assert found["summary"].startswith("The first difference is in iteration 2")
    assert found["figures"]["Model"] == ["m (small)", "m (small)"]
    assert found["same_rows"] > 0
    assert all(row["match"] != "same" for row in found["rows"])


REACT = """\
---
name: Stock
inputs:
  question: {kind: string, required: true}
metadata:
  agent:
    protocol: react
    max_iterations: 4
    tools: [tools.py]
---
user:
Question: {{ question }}
{% for h in history %}
Action: {{ h.action }}
{% if not loop.last %}Observation: {{ h.observation }}{% endif %}
{% endfor %}
"""


async def test_a_fork_with_the_file_goes_on_with_its_present_text(
    folder: Path, server: ChatServer
) -> None:
    file = folder / "stock.prompty"
    file.write_text(REACT, encoding="utf-8")
    server.always(streamed('Thought: I look.\nAction: shelf\nArgs: {"number": 1}'))
    server.script()
    values = {"question": "How many?"}
    async with beside(folder, Person()) as client:
        first = await told(client, "run", file="stock.prompty", inputs=values, max_steps=3)
        last = "{% if not loop.last %}Observation: {{ h.observation }}{% endif %}"
        file.write_text(REACT.replace(last, "Saw: {{ h.observation }}"), encoding="utf-8")
        stands = await told(client, "fork", run=first["run"], step=2, file="stock.prompty")
        prompt = await told(client, "evaluate", run=first["run"], expression="prompt")
        old = await told(client, "fork", run=first["run"], step=2)
    assert (stands["step"], stands["place"], stands["branch"]) == (2, "before_request", 1)
    assert "How many?" in prompt["value"]
    assert "Saw: shelf 1" in prompt["value"]
    assert "note" not in stands
    assert old["branch"] == 2


@pytest.mark.usefixtures("walking")
async def test_a_native_fork_sends_the_present_text_before_what_was_done(folder: Path) -> None:
    async with beside(folder, Person()) as client:
        run = await at_step(client, 3)
        text = PROMPT.replace("one after the other", "all at once")
        (folder / "walker.prompty").write_text(text, encoding="utf-8")
        stands = await told(client, "fork", run=run, step=2, file="walker.prompty")
        prompt = await told(client, "evaluate", run=run, expression="prompt")
        kept = await told(client, "fork", run=run, step=2, place="reply", file="walker.prompty")
        said = await refusal(client, "fork", run=run, step=2, model="other")
    assert "note" not in stands
    assert "stay as they are" in kept["note"]
    assert (stands["step"], stands["place"]) == (2, "before_request")
    assert "all at once" in prompt["value"]
    assert "shelf 1" in prompt["value"]
    assert "need `file`" in said


async def test_an_unknown_key_of_a_breakpoint_is_refused(folder: Path) -> None:
    async with beside(folder, Person()) as client:
        wrong = [{"at": "shelf", "when": "x"}]
        assert "when" in await refusal(client, "start", file="walker.prompty", breakpoints=wrong)


async def test_what_the_tools_say_of_themselves_is_bounded(folder: Path) -> None:
    async with beside(folder) as client:
        tools = (await client.list_tools()).tools
    shown = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in tools]
    assert len(json.dumps(shown)) < 26_000
    for tool in tools:
        assert tool.description
        assert len(tool.description) < 300
