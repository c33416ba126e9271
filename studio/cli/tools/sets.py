"""The tools of one source, or of a prompt, as the commands of `tools` ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.arguments import check_arguments
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import UnusableToolFileError
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.session import ToolSession
from studio.core.tools.source import ToolOutcome, ToolSource


class SourceToolSet:
    """The tools of one source; what it says is masked."""

    def __init__(self, source: ToolSource, secrets: ToolSecrets) -> None:
        self._source = source
        self._secrets = secrets
        self._schemas: dict[str, JsonObject] = {}
        self.problems: list[str] = []
        """What is wrong with it, in sentences; known after `specs`."""

    async def specs(self) -> Sequence[ToolSpec]:
        """Every tool; none of a Python file that cannot be imported.

        Raises:
            ToolSourceError: it cannot be read, started or reached.
        """
        source = self._source
        try:
            listed = await source.list_tools()
        except UnusableToolFileError as error:
            self.problems = [f"{error.path}:{error.line or 1}:1: error {error.message}"]
            return ()
        self._schemas = {spec.name: spec.parameters for spec in listed}
        if isinstance(source, PythonFileSource):
            self.problems = [
                f"{source.path}:{each.line or 1}:1: warning {each.message}"
                for each in source.problems
            ]
        elif isinstance(source, OpenApiSource):
            self.problems = [f"{source.label}: {each}" for each in source.problems]
        return self._secrets.masked(listed)

    def place_of(self, name: str) -> str:
        """Where a tool is answered."""
        return str(self._secrets.masked(self._source.place_of(name)))

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Call a tool, with arguments that keep its schema (known after `specs`), as a run does."""
        wrong = check_arguments(self._schemas.get(name, {}), arguments)
        if wrong:
            return ToolOutcome("; ".join(wrong), "bad-arguments")
        outcome = self._secrets.outcome(await self._source.call(name, arguments))
        if outcome.is_error and isinstance(self._source, McpSource) and self._source.log:
            self.problems = [str(self._secrets.masked(self._source.log)).rstrip()]
        return outcome


class PromptToolSet:
    """All tools of a prompt, by the rules of its folder."""

    def __init__(self, session: ToolSession) -> None:
        self._session = session

    @property
    def problems(self) -> list[str]:
        """What is wrong with its sources, in sentences."""
        return [
            f"prompt-studio: {each.label}: {each.message}"
            for each in self._session.registry.sources
            if (each.state != "ready" or each.message) and each.state != "available"
        ]

    async def specs(self) -> Sequence[ToolSpec]:
        """Every tool, those that are switched off too."""
        return [entry.spec for entry in self._session.registry.entries]

    def place_of(self, name: str) -> str:
        """Where a tool is answered; empty where nothing answers it."""
        entry = self._session.registry.entry(name)
        return entry.runner if entry is not None else ""

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Call a tool because the user asked for it."""
        return await self._session.try_tool(name, arguments)
