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
        protocol=protocol or choose_protocol(document).protocol,
        tools=chosen_tools(document, question, tools),
        reading=reading_style(document),
    )
    given = loop_of(setup.protocol).variables(new_state(setup), setup.reading.looped)
    declared = {item.name for item in document.inputs}
    return {name: value for name, value in given.items() if name not in declared}
