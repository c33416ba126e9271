"""The interface of a run's tools; `studio.core.tools.toolbox.Toolbox` implements it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from studio.core.agent.values.step import ResultOrigin
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome


class RunToolbox(Protocol):
    """The tools of one run."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the model is offered."""
        ...

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Check a call before it is made: its problems, a sentence each.

        Args:
            name: the tool.
            arguments: with the references of secrets.
            released: those of them whose values the tool would get.
        """
        ...

    def needs_approval(self, name: str) -> bool:
        """Whether the user must be asked before the next call."""
        ...

    def why_approval(self, name: str) -> str:
        """Return why it must be asked although the tool's approval may not say so; mostly empty."""
        ...

    def approve(self, name: str) -> None:
        """Note that the user allowed a call."""
        ...

    def origin(self, name: str) -> ResultOrigin:
        """Return the origin of the tool's last answer, or of its next one."""
        ...

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """Call a tool; a failure is an outcome, and cancelling the task stops the tool.

        Args:
            name: the tool.
            arguments: with the references of secrets.
            call_id: the call's identifier.
            released: those of them whose values the tool gets.
        """
        ...

    def live_output(self, call_id: str) -> str:
        """Return the output and progress of a running call, without secrets."""
        ...


class ToolboxAround:
    """A toolbox in front of another, whose word counts where this one says nothing."""

    def __init__(self, inner: RunToolbox) -> None:
        """Stand in front of `inner`."""
        self._inner = inner

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the model is offered."""
        return self._inner.specs

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Check a call before it is made."""
        return self._inner.check(name, arguments, released)

    def why_approval(self, name: str) -> str:
        """Return why the tool asks."""
        return self._inner.why_approval(name)

    def approve(self, name: str) -> None:
        """Note that a call was allowed."""
        self._inner.approve(name)

    def live_output(self, call_id: str) -> str:
        """Return the output of a running call."""
        return self._inner.live_output(call_id)


class NoTools:
    """A run without tools."""

    specs: tuple[ToolSpec, ...] = ()

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """No tool exists."""
        return (f"there is no tool {name!r}",)

    def needs_approval(self, name: str) -> bool:
        """Never."""
        return False

    def why_approval(self, name: str) -> str:
        """Never."""
        return ""

    def approve(self, name: str) -> None:
        """Nothing to note."""

    def origin(self, name: str) -> ResultOrigin:
        """As if live."""
        return "live"

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """No tool exists."""
        return ToolOutcome(f"there is no tool {name!r}", "unknown-tool")

    def live_output(self, call_id: str) -> str:
        """Nothing runs."""
        return ""
