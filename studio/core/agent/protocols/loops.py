"""The three protocols of the loop, and the choice of one for a prompt."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from studio.core.agent.protocols.findings import LoopProtocol, ReadRules
from studio.core.agent.protocols.json_action import read_json_action
from studio.core.agent.protocols.native import read_native
from studio.core.agent.protocols.react import read_react
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Action, FormatError, Reading, ReadingStyle, Step
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import Message, PromptDocument, TextPart, example_actions
from studio.core.prompty.loop_format import agent_settings, text_format
from studio.core.text.values import Json, JsonDict
from studio.core.tools.forms import tool_items, tools_text
from studio.core.wire.reply import Reply


def history_rows(steps: Sequence[Step]) -> list[Json]:
    """Return one row `thought`, `action`, `arguments`, `observation` per call (ReAct prompt)."""
    rows: list[Json] = []
    for step in steps:
        thought = step.reading.thought if step.reading is not None else ""
        for call in step.calls:
            rows.append(
                {
                    "thought": thought,
                    "action": call.tool,
                    "arguments": call.arguments or {},
                    "observation": call.observation or "",
                    "is_error": call.is_error,
                }
            )
            thought = ""
    return rows


def react_scratchpad(steps: Sequence[Step]) -> str:
    """Return the steps as ReAct text that ends where the model's next thought begins."""
    lines: list[str] = []
    for step in steps:
        if isinstance(step.reading, Action):
            if step.reading.thought:
                lines.append(f"Thought: {step.reading.thought}")
            for call in step.calls:
                lines.append(f"Action: {call.tool}")
                lines.append(f"Args: {json_text(call.arguments or {})}")
                lines.append(f"Observation: {call.observation or ''}")
        elif isinstance(step.reading, FormatError):
            lines += (step.reading.kept, step.observation)
    return "\n".join(lines)


def json_scratchpad(steps: Sequence[Step]) -> str:
    """Return the steps as fenced JSON actions with outputs (published JSON-action prompt)."""
    blocks: list[str] = []
    for step in steps:
        if isinstance(step.reading, Action):
            for call in step.calls:
                arguments: Json = call.arguments or None
                done: Json = {"action": call.tool, "action_input": arguments}
                blocks += (_fenced(done), _fenced({"action_output": call.observation or ""}))
        elif isinstance(step.reading, FormatError):
            blocks += (_whole(step.reading.kept), _fenced({"action_output": step.observation}))
    return "\n\n".join(blocks)


def _whole(reply: str) -> str:
    """Return a reply with the fence that the prompt opened; without it the fences do not match."""
    fences = [line for line in reply.splitlines() if line.lstrip().startswith("```")]
    if len(fences) % 2 == 0:
        return reply
    return f"{reply}\n```" if reply.lstrip().startswith("```") else f"```json\n{reply}"


def _fenced(value: Json) -> str:
    return f"```json\n{json_text(value)}\n```"


def chat_lines(state: RunState) -> str:
    """Return the conversation with the user as lines `- Human: …` and `- AI: …`."""
    lines = [f"- Human: {state.setup.question}"] if state.setup.question else []
    for message in state.injected:
        lines.append(f"- {'AI' if message.role == 'assistant' else 'Human'}: {message.text}")
    return "\n".join(lines)


def bad_exchanges(steps: Sequence[Step], most: int) -> Iterator[Message]:
    """Yield each unreadable reply since the last good step, with the message about it.

    Args:
        steps: the finished steps.
        most: the maximum number of replies (`RunState.format_errors`).
    """
    last = len(steps)
    first = max(0, last - most)
    while last > first and isinstance(steps[last - 1].reading, FormatError):
        last -= 1
    for step in steps[last:]:
        if step.reading is not None and step.reading.kept:
            yield Message("assistant", (TextPart(step.reading.kept),))
        yield Message("user", (TextPart(step.observation),))


def _tool_variables(state: RunState, looped: frozenset[str], *, quoted: bool) -> JsonDict:
    """Return the variables for a run's tools: lists if the template loops over them, else text."""
    tools = state.setup.tools
    names: list[Json] = [tool.name for tool in tools]
    shown = [f'"{tool.name}"' if quoted else tool.name for tool in tools]
    told = dict.fromkeys(tool.instructions for tool in tools if tool.instructions)
    return {
        "tools": tool_items(tools) if "tools" in looped else tools_text(tools, quoted=quoted),
        "tool_names": names if "tool_names" in looped else ", ".join(shown),
        "server_instructions": "\n\n".join(told),
    }


@dataclass(frozen=True, slots=True)
class NativeLoop:
    """The native protocol: tools are sent in the request, results as `tool` messages."""

    name: Literal["native"] = "native"
    rerenders: bool = False

    def variables(self, state: RunState, looped: frozenset[str]) -> JsonDict:
        """Return `tools` and `tool_names`; the conversation grows by messages."""
        return _tool_variables(state, looped, quoted=False)

    def read(self, reply: Reply, rules: ReadRules) -> Reading:
        """Read a reply; see `read_native`."""
        return read_native(reply, rules)

    def trailing(self, state: RunState) -> tuple[Message, ...]:
        """Return an empty tuple: everything is in the conversation."""
        return ()


@dataclass(frozen=True, slots=True)
class ReactLoop:
    """The ReAct protocol: each step renders the template with the history of actions."""

    name: Literal["react"] = "react"
    rerenders: bool = True

    def variables(self, state: RunState, looped: frozenset[str]) -> JsonDict:
        """Return `question`, `tools`, `tool_names`, `history`, old prompts' `agent_scratchpad`."""
        scratchpad = react_scratchpad(state.steps)
        question = state.setup.question
        return {
            "question": question,
            "input": question,
            **_tool_variables(state, looped, quoted=False),
            "history": history_rows(state.steps) if "history" in looped else scratchpad,
            "agent_scratchpad": scratchpad,
            "context": "",
        }

    def read(self, reply: Reply, rules: ReadRules) -> Reading:
        """Read a reply; see `read_react`."""
        return read_react(reply, rules)

    def trailing(self, state: RunState) -> tuple[Message, ...]:
        """Return the unreadable replies, which are not part of the history, then user messages."""
        return (*bad_exchanges(state.steps, state.format_errors), *state.injected)


@dataclass(frozen=True, slots=True)
class JsonActionLoop:
    """The JSON-action protocol: each step renders the template with the earlier JSON actions."""

    name: Literal["json_action"] = "json_action"
    rerenders: bool = True

    def variables(self, state: RunState, looped: frozenset[str]) -> JsonDict:
        """Return `tools`, `tool_names`, `examples`, `question`, and the history under its names."""
        return {
            "question": state.setup.question,
            "input": state.setup.question,
            **_tool_variables(state, looped, quoted=True),
            "history": history_rows(state.steps),
            "examples": example_actions(state.setup.tools),
            "chat_history": chat_lines(state),
            "agent_scratchpad": json_scratchpad(state.steps),
        }

    def read(self, reply: Reply, rules: ReadRules) -> Reading:
        """Read a reply; see `read_json_action`."""
        return read_json_action(reply, rules)

    def trailing(self, state: RunState) -> tuple[Message, ...]:
        """Return an empty tuple: the scratchpad and the chat history contain everything."""
        return ()


_LOOPS: dict[ProtocolName, LoopProtocol] = {
    "native": NativeLoop(),
    "react": ReactLoop(),
    "json_action": JsonActionLoop(),
}


def loop_of(name: ProtocolName) -> LoopProtocol:
    """Return the protocol with that name."""
    return _LOOPS[name]


def rules_of(state: RunState) -> ReadRules:
    """Return the rules by which a run's replies are read."""
    setup = state.setup
    return ReadRules(
        tools=setup.tools,
        final_words=setup.final_words,
        plain_is_final=state.plain_is_final,
        free_text=setup.reading.free_text,
        answer_labels=setup.reading.answer_labels,
    )


# Choose the protocol of a prompt from its text, with the reason.


_LOOPED = re.compile(
    r"\{%-?\s*for\s+[\w\s,]+?\s+in\s+(?P<jinja>\w+)|\{\{[#^]\s*(?P<mustache>\w+)\s*\}\}"
    r"|\{[{%][^{}%]*?\b(?P<indexed>tools)\s*(?:\[|\.\d)"
)


@dataclass(frozen=True, slots=True)
class ProtocolChoice:
    """A protocol and why it was chosen."""

    protocol: ProtocolName
    """The protocol."""

    reason: str
    """Reason, for the user: "the template uses agent_scratchpad"."""


def choose_protocol(document: PromptDocument, wanted: ProtocolName | None = None) -> ProtocolChoice:
    """Choose the protocol of a prompt by its settings, else by its body.

    Args:
        document: the prompt.
        wanted: the user's choice, which takes precedence.
    """
    choice = _own_protocol(document)
    if wanted is None or wanted == choice.protocol:
        return choice
    return ProtocolChoice(wanted, "chosen for this run")


def _own_protocol(document: PromptDocument) -> ProtocolChoice:
    named = agent_settings(document).get("protocol")
    for name in get_args(ProtocolName):
        if named == name:
            return ProtocolChoice(name, "metadata.agent.protocol says so")
    taught, reason = text_format(document)
    if taught is not None:
        return ProtocolChoice(taught, reason)
    if document.tools:
        return ProtocolChoice("native", "the prompt declares tools and no scratchpad")
    return ProtocolChoice("native", "the prompt has no agent format")


def reading_style(document: PromptDocument) -> ReadingStyle:
    """Detect the format of replies that a prompt's body asks for."""
    body = document.source.slice(document.body)
    has_final = "Final Answer:" in body
    labels = tuple(
        word
        for word in ("Answer", "AI")
        if not has_final and re.search(rf"(?m)^\s*{word}:", body) and "Action" in body
    )
    teaches_text = "Action Input:" in body and not re.search(r"(?m)^\s*Args:", body)
    shows_json = re.search(r"Action Input:\s*(?:```\w*\s*)?\{", body) is not None
    looped = {
        found["jinja"] or found["mustache"] or found["indexed"] for found in _LOOPED.finditer(body)
    }
    return ReadingStyle(
        free_text=teaches_text and not shows_json, answer_labels=labels, looped=frozenset(looped)
    )
