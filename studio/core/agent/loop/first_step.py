"""What the loop puts into a template at the first step, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studio.core.agent.loop.setup import question_of
from studio.core.agent.loop.steps import new_state
from studio.core.agent.loop.tool_choice import chosen_tools
from studio.core.agent.protocols.choose import choose_protocol, reading_style
from studio.core.agent.protocols.loops import loop_of
from studio.core.agent.values.run_setup import RunSetup
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.loop_format import question_input
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json


def first_step_values(
    document: PromptDocument,
    inputs: Mapping[str, Json],
    tools: Sequence[ToolSpec],
    protocol: ProtocolName | None = None,
) -> dict[str, Json]:
    """The reserved variables of the prompt's protocol (docs/design/file-format.md).

    Args:
        document: the prompt.
        inputs: the user's values; they count over what the loop would put in.
        tools: what the model may call.
        protocol: in place of the prompt's own.
    """
    values = resolve_inputs(document, inputs).sent
    question = question_of(document, values)
    setup = RunSetup(
        run="",
        inputs=dict(inputs),
        question=question,
        protocol=choose_protocol(document, protocol).protocol,
        tools=chosen_tools(document, question, tools),
        reading=reading_style(document),
    )
    given = loop_of(setup.protocol).variables(new_state(setup), setup.reading.looped)
    declared = {item.name for item in document.inputs}
    return {name: value for name, value in given.items() if name not in declared}


def previewed_values(
    document: PromptDocument,
    inputs: Mapping[str, Json],
    tools: Sequence[ToolSpec],
    protocol: ProtocolName | None = None,
    *,
    samples: bool = True,
) -> tuple[dict[str, Json], frozenset[str]]:
    """Return what the loop puts into the first call of a preview, and which of it is a sample.

    What a run has only later (its history) keeps the sample, by which an author sees the form.

    Args:
        document: the prompt.
        inputs: the user's values.
        tools: what the model may call.
        protocol: in place of the prompt's own.
        samples: whether samples are filled in.
    """
    if not samples:
        return first_step_values(document, inputs, tools, protocol), frozenset()
    resolution = resolve_inputs(document, inputs)
    shown = resolution.shown
    question = question_input(document)
    named = {item.name for item in document.inputs} | {question}
    filled = {name: shown[name] for name in named & shown.keys()}
    values = first_step_values(document, {**filled, **inputs}, tools, protocol)
    later = _LATER if tools else _LATER | {"tools", "tool_names"}
    used = {variable.name for variable in document.variables} - later
    values = {name: each for name, each in values.items() if name in used}
    return values, _QUESTIONS & values.keys() if question in resolution.samples else frozenset()


_LATER = frozenset({"history", "agent_scratchpad"})
_QUESTIONS = frozenset({"question", "input", "chat_history"})
