"""The points of a step at which a run can pause (docs/design/agent-loop.md)."""

from __future__ import annotations

from enum import StrEnum


class PausePoint(StrEnum):
    """One of them, in the order of one step. Its value is what journals and settings hold."""

    BEFORE_REQUEST = "P1"
    """The request is ready to be sent."""

    REPLY = "P2"
    """The reply is here and not yet read."""

    TOOL_CALL = "P3"
    """A tool call is ready; reached once for each call."""

    OBSERVATION = "P4"
    """A call has a result that the model has not seen; reached once for each call."""

    STEP_END = "P5"
    """The step is done."""

    ANSWER = "P6"
    """The final answer is ready."""

    ERROR = "PX"
    """Something went wrong."""

    @property
    def word(self) -> str:
        """The name that users write: `before_request`."""
        return self.name.lower()

    @classmethod
    def of(cls, text: str) -> PausePoint | None:
        """The point that a word (`tool_call`) or an old code (`P3`) names; None for any other."""
        wanted = text.strip().lower().replace("-", "_")
        return next((each for each in cls if wanted in (each.word, each.value.lower())), None)
