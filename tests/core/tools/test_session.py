"""The tools of one document, alive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.core.paths import resource
from studio.core.prompty.document import HoistedTool, PromptDocument
from studio.core.prompty.parse import parse
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.registry import FixedMock
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt, WriteTools, gone
from tests.support import published
from tests.support.errors import has_errors
from tests.support.tool_ids import tool_id

AGENT = """
    name: agent
    tools:
      - name: add
        kind: function
        description: Add.
        parameters:
          - name: a
            kind: integer
            required: true
    template:
      format: {kind: jinja2}
      parser: {kind: prompty}
    metadata:
      agent:
        tools: [my_tools.py]
        effects: [add]
    """


@pytest.fixture
async def session() -> AsyncIterator[ToolSession]:
    made = ToolSession(TrustStore())
    yield made
    await made.close()


async def test_an_untrusted_folder_runs_nothing(
    session: ToolSession, prompt: WritePrompt, tool_file: WriteTools, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    tool_file(f"open({str(mark)!r}, 'w').close()\ndef add(a: int) -> int: return a")
    document = prompt(AGENT)
    registry = await session.load(document)
    assert registry.sources[0].state == "untrusted"
    assert str(tmp_path) in registry.sources[0].message
    assert registry.entries[0].state == "declared"
    assert (
        await session.current.try_tool(tool_id(session.registry, "add"), {"a": 1})
    ).status == "unknown-tool"
    assert not mark.exists()
    TrustStore().trust(tmp_path)
    registry = await session.load(document)
    assert registry.sources[0].state == "ready"
    assert mark.exists()
    assert (await session.current.try_tool(tool_id(session.registry, "add"), {"a": 1})).text == "1"


@pytest.fixture
async def loaded(
    session: ToolSession, prompt: WritePrompt, tool_file: WriteTools, tmp_path: Path
) -> PromptDocument:
    tool_file(
        "import os\ndef add(a: int, b: int = 2) -> int:\n    return a + b\n"
        "def who(): return os.getpid()"
    )
    TrustStore().trust(tmp_path)
    document = prompt(AGENT)
    await session.load(document)
    return document


async def test_a_trusted_tool_is_bound_and_called(
    session: ToolSession, loaded: PromptDocument
) -> None:
    assert not has_errors(loaded)
    entry = session.registry.named("add")
    assert entry is not None
    assert (entry.state, entry.source, entry.line) == ("bound", "my_tools.py", 2)
    assert entry.spec.has_effects
    assert entry.approval == "once"
    outcome = await session.current.toolbox().call("add", {"a": 5})
    assert (outcome.status, outcome.value) == ("ok", 7)
    used = session.registry.named("add")
    assert used is not None
    assert used.calls == 1
    assert used.last_used


async def test_a_reload_keeps_the_process(session: ToolSession, loaded: PromptDocument) -> None:
    before = await session.current.try_tool(tool_id(session.registry, "who"), {})
    await session.load(loaded)
    assert (
        await session.current.try_tool(tool_id(session.registry, "who"), {})
    ).value == before.value
    await session.current.sources.restart(session.registry.sources[0].key)
    await session.load(loaded)
    assert (
        await session.current.try_tool(tool_id(session.registry, "who"), {})
    ).value != before.value


async def test_mock_and_back(session: ToolSession, loaded: PromptDocument) -> None:
    box = session.current.toolbox()
    session.current.change(tool_id(session.registry, "add"), mock=FixedMock(42))
    assert (await box.call("add", {"a": 1})).text == "42"
    session.current.change(tool_id(session.registry, "add"), mock=None)
    assert (await box.call("add", {"a": 1})).text == "3"


async def test_an_approval_is_remembered_for_the_folder(
    session: ToolSession, loaded: PromptDocument
) -> None:
    session.current.change(tool_id(session.registry, "add"), approval="always")
    other = ToolSession(TrustStore())
    registry = await other.load(loaded)
    entry = registry.named("add")
    assert entry is not None
    assert entry.approval == "always"
    await other.close()


async def test_a_broken_file_is_a_status_with_its_line(
    session: ToolSession, prompt: WritePrompt, tool_file: WriteTools, tmp_path: Path
) -> None:
    tool_file("x = 1\ny = x / 0\n")
    TrustStore().trust(tmp_path)
    registry = await session.load(prompt(AGENT))
    status = registry.sources[0]
    assert (status.state, status.line, status.path) == ("failed", 2, tmp_path / "my_tools.py")
    assert "ZeroDivisionError" in status.message
    tool_file("def add(a: int): return a")
    registry = await session.load(prompt(AGENT))
    assert registry.sources[0].state == "ready"


async def test_a_file_out_of_the_trusted_folder_is_not_run(
    session: ToolSession,
    prompt: WritePrompt,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "real.py"
    elsewhere.write_text("def add(a: int): return a", encoding="utf-8")
    (tmp_path / "my_tools.py").symlink_to(elsewhere)
    TrustStore().trust(tmp_path)
    registry = await session.load(prompt(AGENT))
    assert registry.sources[0].state == "untrusted"


async def test_hoisted_tools_stand_beside_declared_ones(
    session: ToolSession, prompt: WritePrompt
) -> None:
    hoisted = [
        HoistedTool("search", "bing", {"location": "Oslo"}, dynamic_inputs=("location",)),
        HoistedTool(
            "pick", "function", {"description": "Pick.", "parameters": {"n": {"kind": "integer"}}}
        ),
    ]
    registry = await session.load(prompt("name: x\n"), hoisted)
    assert [spec.name for spec in registry.specs] == ["search", "pick"]
    search, pick = registry.entries
    assert search.spec.kind == "custom"
    assert search.approval == "always"
    assert pick.spec.parameters["properties"] == {"n": {"type": "integer"}}
    assert search.source == "tools: section"


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "answer"),
    [
        ("react-agent", "calculator", {"expression": "128 * 46"}, "5888"),
        ("json-action-agent", "lookup", {"fact": "capital of Kenya"}, "Nairobi"),
        ("tool-calling-agent", "lookup", {"fact": "currency of Norway"}, "Norwegian krone"),
    ],
)
async def test_the_examples_work_at_once(
    session: ToolSession, name: str, tool: str, arguments: dict[str, str], answer: str
) -> None:
    path = resource("examples", f"{name}.prompty")
    document = parse(path.read_text(encoding="utf-8"), path)
    assert document.problems == ()
    registry = await session.load(document)
    assert [entry.state for entry in registry.entries] == ["bound", "bound"]
    assert all("pattern" in str(spec.parameters) for spec in registry.specs)
    assert (await session.current.toolbox().call(tool, arguments)).text == answer


@pytest.mark.parametrize("folder", ["examples", "templates"])
def test_bundled_prompts_open_without_a_problem(folder: str) -> None:
    paths = sorted(resource(folder).glob("*.prompty"))
    assert paths
    problems = {
        path.name: [f"{problem.code}: {problem.message}" for problem in found]
        for path in paths
        if (
            found := [
                problem
                for problem in parse(path.read_text(encoding="utf-8"), path).problems
                if problem.code not in published.FINDINGS.get(path.name, frozenset())
            ]
        )
    }
    assert not problems


async def test_half_typed_front_matter_keeps_the_tools_running(
    session: ToolSession, loaded: PromptDocument, prompt: WritePrompt
) -> None:
    before = (await session.current.try_tool(tool_id(session.registry, "who"), {})).value
    registry = await session.load(prompt("tools: [\n"))
    assert not prompt("tools: [\n").data
    assert registry.named("add") is not None
    assert (await session.current.try_tool(tool_id(session.registry, "who"), {})).value == before


async def test_a_document_may_bound_its_calls(
    session: ToolSession, prompt: WritePrompt, tool_file: WriteTools, tmp_path: Path
) -> None:
    tool_file("import time\ndef nap(): time.sleep(600)")
    TrustStore().trust(tmp_path)
    document = """
        metadata:
          agent: {{tools: my_tools.py, tool_seconds: {seconds}}}
        """
    await session.load(prompt(document.format(seconds=600)))
    await session.load(prompt(document.format(seconds=0.2)))
    outcome = await session.current.toolbox().call("nap", {})
    assert outcome.status == "timeout"
    assert "0.2 s" in outcome.text


async def test_a_folder_has_an_approval_for_all_its_tools(
    session: ToolSession, loaded: PromptDocument
) -> None:
    def approvals() -> dict[str, str]:
        return {entry.name: entry.approval for entry in session.registry.entries}

    usual = approvals()
    assert usual == {"add": "once", "who": "allow"}
    session.current.approve_folder("always")
    assert approvals() == {"add": "always", "who": "always"}
    session.current.change(tool_id(session.registry, "who"), approval="allow")
    other = ToolSession(TrustStore())
    registry = await other.load(loaded)
    assert {entry.name: entry.approval for entry in registry.entries} == {
        "add": "always",
        "who": "allow",
    }
    await other.close()
    session.current.approve_folder(None)
    assert approvals() == usual


async def test_a_run_keeps_its_tools_while_another_file_is_shown(
    session: ToolSession, loaded: PromptDocument, tmp_path: Path
) -> None:
    box = session.current.toolbox()
    session.current.change(tool_id(session.registry, "add"), mock=FixedMock(42))
    before = await session.current.try_tool(tool_id(session.registry, "who"), {})
    path = tmp_path / "my_tools.py"
    for other in (path, tmp_path / "b.prompty", tmp_path / "c.prompty", tmp_path / "d.prompty"):
        text = other.read_text(encoding="utf-8") if other.exists() else "system:\nHello\n"
        await session.load(parse(text, other))
    assert (await box.call("add", {"a": 1})).text == "42"
    registry = await session.load(loaded)
    entry = registry.named("add")
    assert entry is not None
    assert entry.state == "mocked", "what was set for a prompt holds when it is shown again"
    assert entry.calls == 1
    assert (
        await session.current.try_tool(tool_id(session.registry, "who"), {})
    ).value == before.value


async def test_a_document_that_no_run_needs_ends_its_processes(
    session: ToolSession, loaded: PromptDocument, tmp_path: Path
) -> None:
    pid = (await session.current.try_tool(tool_id(session.registry, "who"), {})).value
    assert isinstance(pid, int)
    for name in ("b", "c"):
        await session.load(parse("system:\nHello\n", tmp_path / f"{name}.prompty"))
    assert await gone(pid)
    registry = await session.load(loaded)
    assert [entry.state for entry in registry.entries] == ["bound", "bound"]


async def test_a_run_that_starts_while_another_file_is_shown_has_its_own_tools(
    session: ToolSession, loaded: PromptDocument, tmp_path: Path
) -> None:
    shown = await session.load(parse("system:\nHello\n", tmp_path / "b.prompty"))
    box = await session.open_toolbox(loaded)
    assert [spec.name for spec in box.specs] == ["add"]
    assert (await box.call("add", {"a": 1})).text == "3"
    assert session.registry == shown
