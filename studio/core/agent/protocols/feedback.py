"""What the model is told when something went wrong; every text can be edited in its step."""

from __future__ import annotations

from collections.abc import Sequence

from studio.core.models.base import ProtocolName
from studio.core.text.naming import nearest

INTERRUPTED = "The tool call was interrupted before a result was produced."
"""Result of a call that has none, so that the history stays legal for the provider."""

RAN_WITHOUT_RESULT = "The tool ran, but its result was lost."
"""Result of a call that the user knows to have run."""

SKIPPED = "The tool was not run."
"""Result of a call that the user took out."""

_WRITE: dict[ProtocolName, str] = {
    "react": "Write exactly one Thought and one Action with Args, or a Final Answer.",
    "json_action": 'Write exactly one JSON object with "action" and "action_input".',
    "native": "Answer in text, or call a tool.",
}


def format_feedback(protocol: ProtocolName, message: str) -> str:
    """The one-line observation after a reply that could not be read."""
    text = f"Error: {message.rstrip('.')}. {_WRITE[protocol]}"
    return f"Observation: {text}" if protocol == "react" else text


def unknown_tool(name: str, known: Sequence[str]) -> str:
    """The observation for a tool that does not exist."""
    if not known:
        return f"Error: {name} is not a valid tool; no tools are available."
    near = nearest(name, known)
    hint = f" Did you mean {near}?" if near else ""
    return f"Error: {name} is not a valid tool, try one of [{', '.join(known)}].{hint}"


def bad_call(problems: Sequence[str]) -> str:
    """The observation for arguments that cannot be used."""
    return "Error: " + "; ".join(problem.rstrip(".") for problem in problems) + "."


def rejected(reason: str) -> str:
    """The observation for a call that the user (or a rule) did not allow."""
    return (
        f"Error: The call was not allowed: {reason}"
        if reason
        else "Error: The call was not allowed."
    )
