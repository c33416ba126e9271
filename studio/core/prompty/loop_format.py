"""Whether a prompt describes an agent format in its text, and its input for the question."""

import re
from typing import Literal, TypeAlias, get_args

from studio.core.prompty.document import PromptDocument
from studio.core.text.values import JsonObject, object_of

TextFormat: TypeAlias = Literal["react", "json_action"]
"""Format of actions that the prompt's text describes."""

QUESTION_NAMES = ("question", "input", "query", "prompt", "message")
"""Usual names of the input with the user's question."""

_RESERVED = ("question", "input")
"""Names among them that a template may use without declaring them."""


def agent_settings(document: PromptDocument) -> JsonObject:
    """Return `metadata.agent`; empty without one."""
    return object_of(document.metadata.get("agent"))


def parallel_calls(document: PromptDocument) -> bool | None:
    """Return whether the calls of one reply may run in parallel; None if not set.

    The run's setting is `metadata.agent.parallel_tool_calls`; without it, the model option
    `allowMultipleToolCalls` is used.
    """
    for named in (
        agent_settings(document).get("parallel_tool_calls"),
        document.model.options.get("allowMultipleToolCalls"),
    ):
        if isinstance(named, bool):
            return named
    return None


def sent_options(document: PromptDocument, options: JsonObject) -> JsonObject:
    """Return the options, with the agent settings for model calls as defaults."""
    allowed = parallel_calls(document)
    if allowed is None or "allowMultipleToolCalls" in options:
        return options
    return {**options, "allowMultipleToolCalls": allowed}


def text_format(document: PromptDocument) -> tuple[TextFormat | None, str]:
    """Return the format of actions that a body describes, and why; None if it describes none."""
    body = document.source.slice(document.body)
    names = {variable.name for variable in document.variables}
    if "action_input" in body or '"action"' in body:
        used = next((name for name in ("agent_scratchpad", "tool_names") if name in names), None)
        if used is not None:
            return "json_action", f"the template uses {used} and requests JSON actions"
    if "history" in names and re.search(r"\.\s*action\b", body):
        return "react", "the template lists the history of actions"
    if re.search(r"Final Answer:", body) and re.search(r"(?m)^\s*(?:Action|Thought):", body):
        return "react", "the prompt teaches 'Action:' and 'Final Answer:'"
    if "agent_scratchpad" in names:
        return "json_action", "the template uses agent_scratchpad"
    return None, ""


def drives_loop(document: PromptDocument) -> bool:
    """Return whether a run renders the prompt again in each step."""
    named = agent_settings(document).get("protocol")
    if named == "native":
        return False
    return named in get_args(TextFormat) or text_format(document)[0] is not None


def question_input(document: PromptDocument) -> str:
    """Return the input for the user's question, which a run requires; empty for none.

    A declared input counts only in a loop prompt; in other prompts its declaration says whether it
    is required.
    """
    if drives_loop(document):
        declared = {item.name for item in document.inputs}
        for name in _RESERVED:
            if name in declared:
                return name
    return undeclared_question(document)


def undeclared_question(document: PromptDocument) -> str:
    """Return the reserved name for the user's question that is not declared; empty for none.

    A template with the conversation (`chat_history`) shows the question there, since the run adds
    it (published JSON-action prompt).
    """
    declared = {item.name for item in document.inputs}
    used = {variable.name for variable in document.variables} - declared
    for name in _RESERVED:
        if name in used:
            return name
    has_own = bool(declared.intersection(QUESTION_NAMES))
    has_own = has_own or any(item.kind in ("string", "thread") for item in document.inputs)
    if "chat_history" in used and not has_own and drives_loop(document):
        return "question"
    return ""
