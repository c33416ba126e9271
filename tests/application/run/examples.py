"""States of a run at every place, made by the real machine and the real protocols from facts."""

from __future__ import annotations

from dataclasses import replace

from studio.application.run.inspector.tool import InspectionSources
from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import flaw_of, new_state
from studio.core.agent.protocols.loops import loop_of, rules_of
from studio.core.agent.values.events import (
    AnswerChecked,
    CallCheck,
    CallDecided,
    CallsChecked,
    Event,
    ModelCalled,
    ModelFailed,
    ModelReplied,
    Passed,
    Paused,
    Rendered,
    ReplyRead,
    Resumed,
    Started,
    ToolCalled,
    ToolEnded,
)
from studio.core.agent.values.state import PauseReason, RunState
from studio.core.agent.values.step import Limits, PausePoint, RunSetup
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.document import Message, MessageOrigin, TextPart, ToolSpec
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply, ToolCall, Usage
from studio.core.wire.wire_call import WireCall

TOOLS = (
    ToolSpec("calculator", "Work out an expression.", source="tools.py"),
    ToolSpec("lookup", "Look up a fact.", source="tools.py"),
)
SETUP = RunSetup(
    "run-1",
    "ReAct agent",
    protocol="react",
    protocol_reason="the template loops over history",
    question="What is the capital of France?",
    tools=TOOLS,
    model="Scripted",
    limits=Limits(iterations=6),
)
FIRST = (
    "Thought: I need to look it up.\nAction: lookup\n"
    'Args: {"fact": "capital of France"}\nObservation: Lyon\nFinal Answer: Lyon'
)
SECOND = 'Thought: Count and square.\nAction: calculator\nArgs: {"expression": "5 ** 2"}'
LAST = "Thought: Both are known.\nFinal Answer: The answer is **Paris**, and 25."
BROKEN = 'Thought: Look it up.\nAction: lookup\nArgs: {"fact": "capital of France",}'
HISTORY = (
    '\nThought: I need to look it up.\nAction: lookup\nArgs: {"fact": "x"}\nObservation: Paris'
)


def messages(history: str = "") -> tuple[Message, ...]:
    system = "Answer step by step.\n" + "\n".join(f"Rule {number}" for number in range(1, 12))
    return (
        Message("system", (TextPart(system),), origin=MessageOrigin("template")),
        Message(
            "user", (TextPart("Question: capital?\n" + history),), origin=MessageOrigin("template")
        ),
    )


class Fold:
    """A run driven by facts."""

    def __init__(self, setup: RunSetup = SETUP) -> None:
        self.state: RunState = new_state(setup)
        self.take(Started(setup=setup))

    def take(self, event: Event) -> None:
        self.state, _ = advance(self.state, event)

    def pause(self, reason: PauseReason = "step") -> RunState:
        assert self.state.place is not None
        self.take(Paused(place=self.state.place, reason=reason))
        return self.state

    def resume(self) -> None:
        self.take(Resumed())

    def ask(self, history: str = "") -> None:
        self.take(Rendered(messages=messages(history)))

    def reply(self, text: str) -> None:
        self.take(ModelCalled(attempt=1))
        reply = Reply(text, usage=Usage(412, 38), finish_reason="stop")
        self.take(ModelReplied(reply=reply, seconds=1.24))

    def read(self) -> None:
        step = self.state.step
        assert step.reply is not None
        reading = loop_of(self.state.setup.protocol).read(step.reply, rules_of(self.state))
        self.take(ReplyRead(reading=reading))

    def check(self, *problems: str) -> None:
        checks = tuple(
            CallCheck(problems, "schema" if problems else "", arguments=call.arguments)
            for call in self.state.step.calls
        )
        self.take(CallsChecked(checks=checks))

    def run_tool(self, text: str, stderr: str = "") -> None:
        self.take(CallDecided(call=0, decision="approve"))
        self.take(ToolCalled(call=0))
        self.take(ToolEnded(call=0, outcome=ToolOutcome(text, "ok", 0.084, stderr)))

    def go_on(self) -> None:
        assert self.state.place is not None
        self.take(Passed(place=self.state.place))

    def whole_step(self, reply: str, observation: str) -> None:
        self.reply(reply)
        self.read()
        self.check()
        self.run_tool(observation)
        self.go_on()
        self.go_on()


def at_request() -> RunState:
    fold = Fold()
    fold.ask()
    return fold.pause("entry")


def answering() -> RunState:
    fold = Fold()
    fold.ask()
    fold.take(ModelCalled(attempt=1))
    return fold.state


def at_reply() -> RunState:
    fold = Fold()
    fold.ask()
    fold.reply(FIRST)
    return fold.pause()


def at_call() -> RunState:
    fold = Fold()
    fold.ask()
    fold.reply(FIRST)
    fold.read()
    fold.check()
    return fold.pause("breakpoint")


def at_result() -> RunState:
    fold = Fold()
    fold.ask()
    fold.reply(FIRST)
    fold.read()
    fold.check()
    fold.run_tool("Paris", "reading facts.json")
    return fold.pause()


def at_second_request() -> RunState:
    fold = Fold()
    fold.ask()
    fold.whole_step(FIRST, "Paris")
    fold.ask(HISTORY)
    return fold.pause()


def at_answer() -> RunState:
    fold = Fold()
    fold.ask()
    fold.whole_step(FIRST, "Paris")
    fold.ask(HISTORY)
    fold.reply(LAST)
    fold.read()
    return fold.pause()


def done() -> RunState:
    fold = Fold()
    fold.ask()
    fold.whole_step(FIRST, "Paris")
    fold.ask(HISTORY)
    fold.reply(LAST)
    fold.read()
    fold.take(AnswerChecked())
    return fold.state


def at_broken_reply() -> RunState:
    fold = Fold()
    fold.ask()
    fold.reply(BROKEN)
    fold.read()
    return fold.pause("exception")


def at_bad_arguments() -> RunState:
    fold = Fold()
    fold.ask()
    fold.reply(SECOND)
    fold.read()
    fold.check("expression: a number is wanted")
    return fold.pause("exception")


def at_refused_key() -> RunState:
    fold = Fold()
    fold.ask()
    fold.take(ModelCalled(attempt=1))
    hint = "Check the key of the connection."
    fold.take(ModelFailed(kind="unauthorised", message="The server refused the key.", hint=hint))
    return fold.pause("exception")


def cut_off() -> RunState:
    """A native answer that ended at its limit of tokens."""
    fold = Fold(replace(SETUP, protocol="native"))
    fold.ask()
    fold.take(ModelCalled(attempt=1))
    reply = Reply("The answer is", usage=Usage(412, 38), finish_reason="length")
    fold.take(ModelReplied(reply=reply, seconds=1.24))
    fold.read()
    flaw = flaw_of(fold.state)
    assert flaw is not None
    fold.take(AnswerChecked(None, (flaw.message,)))
    return fold.pause("exception")


def refused() -> RunState:
    fold = Fold(replace(SETUP, protocol="native"))
    fold.ask()
    fold.take(ModelCalled(attempt=1))
    fold.take(ModelReplied(reply=Reply(refusal="I will not.", finish_reason="refusal")))
    fold.read()
    return fold.state


def at_limit() -> RunState:
    fold = Fold(replace(SETUP, limits=Limits(iterations=1)))
    fold.ask()
    fold.whole_step(SECOND, "25")
    return fold.pause("limit")


def long_run(steps: int) -> RunState:
    fold = Fold(replace(SETUP, limits=Limits(iterations=None)))
    fold.ask()
    for number in range(steps):
        fold.whole_step(SECOND, str(number))
        fold.ask()
    return fold.state


def call_of(seq: int) -> WireCall | None:
    """What every call of these runs sent."""
    return WireCall("/v1/chat/completions", (), f'{{"model":"scripted","seq":{seq}}}')


SOURCES = InspectionSources(call_of, ScriptedModel([]))


class TimedFold(Fold):
    """A run whose facts have times: `at` seconds after 1000."""

    def __init__(self, setup: RunSetup = SETUP) -> None:
        self.at = 1000.0
        super().__init__(setup)

    def take(self, event: Event) -> None:
        super().take(replace(event, at=self.at))

    def wait(self, seconds: float) -> None:
        self.at += seconds

    def decide(self, *rows: int) -> None:
        for row in rows:
            self.take(CallDecided(call=row, decision="approve"))


def four_undecided_calls() -> TimedFold:
    """Four calls that run at the same time, at the first of them."""
    names = ("weather", "trains", "room", "museum")
    fold = TimedFold(replace(SETUP, protocol="native", parallel=True))
    fold.ask()
    fold.take(ModelCalled(attempt=1))
    fold.wait(2.0)
    calls = tuple(ToolCall(f"c{row}", name, '{"city": "Ghent"}') for row, name in enumerate(names))
    reply = Reply("All at once.", tool_calls=calls, usage=Usage(612, 71), finish_reason="stop")
    fold.take(ModelReplied(reply=reply, seconds=2.0, first_seconds=0.4))
    fold.read()
    fold.check()
    fold.take(Paused(PausePoint.TOOL_CALL, "step"))
    return fold


def four_calls() -> TimedFold:
    """Four calls at once: one is done, two run, one has failed, three seconds after the start."""
    fold = four_undecided_calls()
    fold.decide(0, 1, 2, 3)
    fold.take(Resumed())
    for row in range(4):
        fold.take(ToolCalled(call=row))
    fold.wait(0.4)
    fold.take(ToolEnded(call=0, outcome=ToolOutcome("rain", "ok", 0.4)))
    fold.wait(0.6)
    fold.take(ToolEnded(call=3, outcome=ToolOutcome("503", "error", 1.0)))
    return fold
