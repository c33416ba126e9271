"""The way of a call: check, bindings, approval, mock or source."""

from __future__ import annotations

from studio.core.prompty.document import ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.binding import build_registry
from studio.core.tools.registry import (
    AskMock,
    RecordedAnswer,
    RecordedMock,
    SequenceMock,
    SourceTools,
    ToolRegistry,
)
from studio.core.tools.source import ToolOutcome
from studio.core.tools.toolbox import Toolbox
from tests.support.tool_ids import tool_id

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}


class Echo:
    """A source that answers with its arguments."""

    label = "echo"

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("weather", parameters=SCHEMA, source="echo", has_effects=True),)

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        return ToolOutcome(f"{name} {dict(arguments)}", "ok")

    async def close(self) -> None: ...


async def registry() -> ToolRegistry:
    declared = ToolSpec(
        "weather",
        bindings={"unit": "preferred"},
        parameters={
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    )
    offered = SourceTools("echo", "echo", await Echo().list_tools())
    return build_registry([declared, ToolSpec("planned")], [offered])


async def box(tools: ToolRegistry | None = None, **options: object) -> Toolbox:
    given = tools or await registry()
    return Toolbox(lambda: given, {"echo": Echo()}, inputs={"preferred": "C"}, **options)  # type: ignore[arg-type]


async def test_bound_inputs_are_put_in_and_never_shown() -> None:
    tools = await box()
    assert tools.specs[0].parameters["properties"] == {"city": {"type": "string"}}
    outcome = await tools.call("weather", {"city": "Oslo", "unit": "F"}, "call_1")
    assert outcome.text == "weather {'city': 'Oslo', 'unit': 'C'}"


async def test_wrong_calls_do_not_reach_the_source() -> None:
    tools = await box()
    assert (await tools.call("weather", {"city": 5})).status == "bad-arguments"
    unknown = await tools.call("wether", {})
    assert unknown.status == "unknown-tool"
    assert "weather, planned" in unknown.text
    assert tools.check("weather", {}) == ("'city' is a required property",)


async def test_a_disabled_tool_is_unknown_to_the_model() -> None:
    tools = await box((held := await registry()).change(tool_id(held, "weather"), enabled=False))
    assert (await tools.call("weather", {"city": "Oslo"})).status == "unknown-tool"


async def test_a_declared_tool_that_nothing_runs_says_so() -> None:
    outcome = await (await box()).call("planned", {})
    assert outcome.status == "unknown-tool"
    assert "metadata.agent.tools" in outcome.text


async def test_ask_once_is_satisfied_by_one_approval() -> None:
    tools = await box()
    assert tools.needs_approval("weather")
    tools.approve("weather")
    assert not tools.needs_approval("weather")
    always = await box(
        (held := await registry()).change(tool_id(held, "weather"), approval="always")
    )
    always.approve("weather")
    assert always.needs_approval("weather")
    assert not tools.needs_approval("nobody")


async def test_a_mock_answers_instead_and_asks_nobody() -> None:
    tools = await box(
        (held := await registry()).change(tool_id(held, "weather"), mock=SequenceMock(("a", "b")))
    )
    assert tools.origin("weather") == "mock"
    assert not tools.needs_approval("weather")
    answers = [(await tools.call("weather", {"city": "Oslo"})).text for _ in range(3)]
    assert answers == ["a", "b", "b"]


async def test_recorded_answers_are_counted_by_arguments() -> None:
    recorded = RecordedMock(
        (
            RecordedAnswer({"q": 1}, "first"),
            RecordedAnswer({"q": 2}, "other"),
            RecordedAnswer({"q": 1}, "second"),
        )
    )
    tools = await box((held := await registry()).change(tool_id(held, "planned"), mock=recorded))
    answers = [(await tools.call("planned", {"q": q})).text for q in (1, 2, 1)]
    assert answers == ["first", "other", "second"]


async def test_ask_me_asks_the_person() -> None:
    asked: list[tuple[str, JsonObject]] = []

    async def person(name: str, arguments: JsonObject) -> ToolOutcome:
        asked.append((name, arguments))
        return ToolOutcome("by hand", "ok")

    mocked = (held := await registry()).change(tool_id(held, "planned"), mock=AskMock())
    assert (await (await box(mocked, ask=person)).call("planned", {"q": 1})).text == "by hand"
    assert asked == [("planned", {"q": 1})]
    assert (await (await box(mocked)).call("planned", {})).status == "error"


async def test_use_is_noted() -> None:
    used: list[str] = []
    tools = await box(used=lambda tool, _when: used.append(tool.name))
    await tools.call("weather", {"city": "Oslo"})
    await tools.call("weather", {})
    assert used == ["weather"]
