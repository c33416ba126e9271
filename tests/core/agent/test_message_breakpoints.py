"""A breakpoint on a message of the template: met where that message is rendered and sent."""

from __future__ import annotations

from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import Continue
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import PausePoint
from tests.core.agent.runs import NATIVE, REACT, Session, call, calling

SOMETIMES = REACT.replace(
    "user:\nQuestion", "{% if history %}\nassistant:\nGo on.\n{% endif %}\nuser:\nQuestion"
)
ACT = 'Thought: I look.\nAction: search\nArgs: {"query": "x"}'
END = "Thought: I know.\nFinal Answer: there"


def at(message: str) -> RunOptions:
    return RunOptions(
        breakpoints=(Breakpoint("b", frozenset({PausePoint.BEFORE_REQUEST}), message=message),)
    )


async def stops(text: str, script: list[object], options: RunOptions) -> list[int]:
    session = Session.over(text, script, options=options)  # type: ignore[arg-type]
    found: list[int] = []
    where = await session.until_still()
    while where == PausePoint.BEFORE_REQUEST:
        found.append(session.run.state.iteration)
        where = await session.send(Continue())
    assert where == "done"
    return found


async def test_a_prompt_that_is_rendered_again_stops_each_time() -> None:
    assert await stops(REACT, [ACT, END], at("user 1")) == [1, 2]


async def test_only_where_the_message_is_there() -> None:
    assert await stops(SOMETIMES, [ACT, END], at("assistant 1")) == [2]
    assert await stops(SOMETIMES, [ACT, END], at("assistant 2")) == []


async def test_a_conversation_is_rendered_once() -> None:
    assert await stops(NATIVE, [calling(call()), "ok"], at("user 1")) == [1]
