"""Tools that a plug-in runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Protocol, cast

from studio.core.plugins import fault, installed
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.counted import counted
from studio.core.text.values import JsonObject
from studio.core.tools.document import PluginTool
from studio.core.tools.limits import ToolLimits
from studio.core.tools.python_server.cutting import cut
from studio.core.tools.source import ToolOutcome, ToolSource, ToolSourceError


class ToolSourceKind(Protocol):
    """What an entry point of `prompt_studio.tool_sources` names."""

    @property
    def kind(self) -> str:
        """The word in `kind:` of a declared tool."""
        ...

    def open(self, name: str, options: JsonObject, folder: Path) -> ToolSource:
        """Make the source of one declared tool; nothing is started before its tools are asked for.

        It is called for prompts in trusted folders only.

        Args:
            name: the declared tool's name; the source offers a tool of that name.
            options: the declaration as it is written.
            folder: the prompt's folder.
        """
        ...


class PluginSource:
    """The source of a plug-in; what it raises is a failure of this source and is named."""

    def __init__(self, declaration: PluginTool, limits: ToolLimits) -> None:
        self._declaration = declaration
        self._limits = limits
        self._inner: ToolSource | None = None
        self._plugin = next(
            each
            for each in installed("tool_sources")
            if getattr(each.value, "kind", "") == declaration.kind
        )

    @property
    def label(self) -> str:
        """The source's name for people."""
        return f"{self._declaration.kind}: {self._declaration.name}"

    def _source(self) -> ToolSource:
        if self._inner is None:
            kind, asked = cast("ToolSourceKind", self._plugin.value), self._declaration
            self._inner = kind.open(asked.name, asked.options, asked.folder)
        return self._inner

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Every tool of the source.

        Raises:
            ToolSourceError: the plug-in failed.
        """
        try:
            return tuple(await self._source().list_tools())
        except ToolSourceError:
            raise
        except Exception as error:
            raise ToolSourceError(fault(self._plugin, error)) from error

    def place_of(self, name: str) -> str:
        """Which package runs its tools; its version is a part of that."""
        return f"{self._plugin.package}: {self._declaration.kind}"

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Call one tool; a failure of the plug-in is the outcome."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                outcome = await self._source().call(name, arguments)
        except TimeoutError:
            return ToolOutcome(
                f"no answer within {counted(self._limits.seconds, 'second')}", "timeout"
            )
        except Exception as error:  # noqa: BLE001 - foreign code; told as the call's outcome
            return ToolOutcome(fault(self._plugin, error), "error")
        text, truncated = cut(outcome.text, self._limits.characters)
        return replace(outcome, text=text, truncated=truncated or outcome.truncated)

    async def close(self) -> None:
        """Stop what runs behind it."""
        if self._inner is not None:
            await self._inner.close()
