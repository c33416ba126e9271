"""Which tools and messages of a prompt a run stops before, and on which lines they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument


class Breakpoints:
    """Kept by name, so that they stay with their tool or message while lines move."""

    def __init__(self) -> None:
        self._tools: frozenset[str] = frozenset()
        self._messages: frozenset[str] = frozenset()

    def show(self, tools: frozenset[str], messages: frozenset[str]) -> None:
        """Take the names of what a run stops before."""
        self._tools, self._messages = tools, messages

    def lines(self, document: PromptDocument | None) -> frozenset[int]:
        """The lines, from 0, where the marked ones begin in a document."""
        if document is None or not (self._tools or self._messages):
            return frozenset()
        # Rules of the format load with the first breakpoint, not with the window.
        from studio.core.prompty.named_messages import named_messages

        line_of = document.source.line_of
        tools = {
            line_of(tool.span.start)
            for tool in document.tools
            if tool.span is not None and tool.name in self._tools
        }
        messages = {
            line_of(section.span.start)
            for name, section in named_messages(document)
            if name in self._messages
        }
        return frozenset(tools | messages)
