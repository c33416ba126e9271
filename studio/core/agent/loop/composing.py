"""The "compose answer" step: a second prompt writes the words that a format's last reply lacks.

The published JSON-action prompt ends with `final_answer` and `null`. Where the prompt has a
template of its own for the answer (`metadata.agent.compose`), one more step renders that with what
the tools returned, and takes the reply as it is. Cheshire Cat does the same by its memory chain.
"""

from __future__ import annotations

from collections.abc import Iterable

from studio.core.agent.values.reading import Final, Reading
from studio.core.agent.values.run_setup import RunSetup
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.loop_format import agent_settings
from studio.core.prompty.parse import parse


def compose_template(document: PromptDocument) -> str:
    """The template of the answer; empty where the prompt has none."""
    text = agent_settings(document).get("compose")
    return text if isinstance(text, str) else ""


def compose_document(document: PromptDocument) -> PromptDocument:
    """The prompt with the answer's template as its body: the same model, inputs and dialect."""
    before = document.source.text[: document.body.start]
    return parse(before + compose_template(document), document.source.path)


def must_compose(state: RunState, reading: Reading) -> bool:
    """Whether a reply that ends the run carries no words, and a template is there to find them."""
    return leaves_words(state.setup, reading) and not state.composing


def leaves_words(setup: RunSetup, reading: Reading | None) -> bool:
    """Whether a step that read this leaves the words of the answer to the step after it."""
    wordless = isinstance(reading, Final) and reading.composed_elsewhere and not reading.answer
    return wordless and bool(setup.compose)


def tools_output(steps: Iterable[Step]) -> str:
    """What the tools gave, a line each: `- search: Rome`."""
    return "\n".join(
        f"- {call.tool}: {call.observation or ''}" for step in steps for call in step.calls
    )
