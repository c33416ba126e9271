"""The running tools of one document (sources, registry and calls), and those of a window."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from weakref import WeakSet

from studio.core.masking.masker import Masker
from studio.core.prompty.document import HoistedTool, PromptDocument, ToolId
from studio.core.text.values import JsonObject
from studio.core.tools.binding import build_registry
from studio.core.tools.document import (
    PythonFile,
    SourceDeclaration,
    chosen_offers,
    every_declared_tool,
    further_servers,
    named_sources,
    output_rule,
    public_variables,
    tool_limits,
    tools_with_effects,
    workspace_servers,
)
from studio.core.tools.mcp.connection import AskForInput
from studio.core.tools.mcp.server_config import WorkspaceServers, find_own_servers
from studio.core.tools.openapi.credentials import FindConnection, NamedConnection, no_connection
from studio.core.tools.openapi.loading import ReadingProgress
from studio.core.tools.registry import SourceStatus, SourceTools, ToolRegistry
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import DEFAULT_LIMITS, USUAL_RULE, ToolLimits, ToolOutcome, timed
from studio.core.tools.sources import consent, opening
from studio.core.tools.toolbox import AskUser, Toolbox, inject_bindings
from studio.core.tools.trust.store import WHOLE_FOLDER, Approval, ToolChange, ToolReview, TrustStore


class DocumentTools:
    """The running sources and the registry of a document, while it is open or has runs."""

    def __init__(
        self,
        path: Path | None,
        trust: TrustStore,
        limits: ToolLimits,
        own_servers: Path | None,
        on_change: Callable[[], None],
        find: FindConnection = no_connection,
        masker: Masker | None = None,
        ask_input: AskForInput | None = None,
        tell: opening.TellReading = lambda key, progress: None,
        allowed: Collection[str] = (),
    ) -> None:
        """Create the tools of a document; nothing is loaded yet.

        Args:
            path: the document's file; None while it is not saved.
            trust: the trusted folders.
            limits: limits of a call, unless the document has its own.
            own_servers: the user's own MCP servers (`server_config.OWN_FILE`).
            on_change: called when a server reports changed lists.
            find: returns the connection for a name.
            masker: masks secrets.
            ask_input: asks the user for input that an MCP server requests.
            tell: receives the progress of reading a large description, from any thread.
            allowed: names of the tools that this command may call without approval.
        """
        self._allowed = allowed
        self._tried: Toolbox | None = None
        self._masker = masker if masker is not None else Masker()
        self._secrets = ToolSecrets(self._masker)
        self._folder = path.parent if path is not None else None
        self._trust = trust
        self._own_servers = own_servers
        self._find = find
        self._base_limits = limits
        self._rule = USUAL_RULE
        self._limits = limits
        self.sources = opening.RunningSources(
            self._secrets, self._masker, on_change, find, ask_input, tell
        )
        """The open sources."""
        self._declarations: dict[str, SourceDeclaration] = {}
        self._consent = consent.Consent()
        self._review = ToolReview(self._folder, trust)
        self._boxes: WeakSet[Toolbox] = WeakSet()
        self._loading = asyncio.Lock()
        self.registry = ToolRegistry()
        """The newest registry."""

    @property
    def is_used(self) -> bool:
        """Whether a run uses the tools."""
        return bool(self._boxes)

    @property
    def watched(self) -> tuple[Path, ...]:
        """Files to reload when they are saved."""
        named = [opening.source_path(item) for item in self._declarations.values()]
        return tuple(dict.fromkeys(path for path in (*named, self._own_servers) if path))

    async def load(
        self, document: PromptDocument, hoisted: Iterable[HoistedTool], started: Collection[str]
    ) -> ToolRegistry:
        """Update sources and registry for the document; unchanged sources are not restarted.

        Sources of an untrusted folder are not started, only listed.

        Args:
            document: the current document.
            hoisted: the tools of its body's `tools:` section.
            started: keys of servers that the user started and the prompt does not name.
        """
        async with self._loading:
            if document.front_matter is not None and not document.data and self._declarations:
                # The front matter is unreadable while it is being typed: keep the running sources.
                return self.registry
            own = find_own_servers(self._own_servers) if self._own_servers else WorkspaceServers()
            further = {opening.source_key(item): item for item in further_servers(document, own)}
            declarations = {
                opening.source_key(item): item for item in named_sources(document, own)
            } | {key: item for key, item in further.items() if key in started}
            self._consent = consent.consent_of(document, own, further.values(), self._trust)
            declarations = _given(declarations, self._consent.given())
            limits, before = tool_limits(document, self._base_limits), self._limits
            self._limits = limits
            self._rule = output_rule(document)
            for key in [*self.sources.by_key]:
                if limits != before or declarations.get(key) != self._declarations.get(key):
                    await self.sources.restart(key)
            self._declarations = declarations
            if self._folder is not None and self._trust.is_trusted(self._folder):
                self._secrets.masker = self._masker.without(public_variables(document))
            asked = [self._ask(key, item) for key, item in declarations.items()]
            answers = await asyncio.gather(*asked)
            registry = build_registry(
                every_declared_tool(document, hoisted),
                [tools for _, tools in answers if tools is not None],
                [
                    *(status for status, _ in answers),
                    *consent.broken_files(workspace_servers(document), own),
                    *consent.unresolved_variables(document, self._trust),
                    *self._waiting_variables(),
                    *(
                        consent.available(item)
                        for key, item in further.items()
                        if key not in declarations
                    ),
                ],
                self.registry,
                tools_with_effects(document),
                chosen_offers(document),
            )
            registry = replace(registry, wants=self._consent.wants)
            self.registry = self._with_chosen_approvals(registry)
            return self.registry

    def toolbox(self, inputs: JsonObject | None = None, ask: AskUser | None = None) -> Toolbox:
        """Return the tools for one run; the user's settings take effect at its next call."""
        box = self._make_box(lambda: self.registry, inputs, ask, self.allow_tools)
        self._boxes.add(box)
        return box

    async def try_tool(
        self,
        tool: ToolId,
        arguments: JsonObject,
        inputs: JsonObject | None = None,
        ask: AskUser | None = None,
    ) -> ToolOutcome:
        """Call one tool at the user's request: even if it is disabled, and without approval."""
        entry = self.registry.entry(tool)
        box = self._make_box(lambda: self.registry.change(tool, enabled=True), inputs, ask)
        self._tried = box
        return await timed(box.call(entry.name if entry else tool.name, arguments))

    async def read_live_output(self) -> str:
        """Return the newest output of that call, without secrets."""
        return self._tried.live_output() if self._tried is not None else ""

    def change(self, tool: ToolId, **changes: object) -> ToolRegistry:
        """Set `enabled`, `approval` or `mock` of a tool; an approval is stored for its folder."""
        self.registry = self.registry.change(tool, **changes)
        entry = self.registry.entry(tool)
        if "approval" in changes and self._folder is not None and entry is not None:
            self._trust.remember_approval(self._folder, tool, entry.approval)
            return self.allow_tools(tool)
        return self.registry

    def allow_own_tools(self) -> ToolRegistry:
        """Allow the Python functions of the trusted folder, so that they need no first approval."""
        own = (e.id for e in self.registry.entries if e.id.source.startswith("python:"))
        return self.allow_tools(*own)

    def allow_tools(self, *tools: ToolId) -> ToolRegistry:
        """Allow tools in their current form, so that they need no approval for their changes."""
        changed: dict[str, list[ToolChange]] = {}
        for entry in self.registry.entries:
            if entry.change is not None and entry.id in tools:
                changed.setdefault(entry.id.source, []).append(entry.change)
        for key, changes in changed.items():
            self._review.allow(key, changes)
        gone = {id(change) for changes in changed.values() for change in changes}
        entries = (
            replace(each, change=None) if id(each.change) in gone else each
            for each in self.registry.entries
        )
        self.registry = replace(self.registry, entries=tuple(entries)) if gone else self.registry
        return self.registry

    def allow_source(self, key: str) -> None:
        """Allow a server or a variable in its current form; takes effect at the next load."""
        want = self._consent.asked.get(key)
        if want is not None and want.folder is not None and self._trust.is_trusted(want.folder):
            self._trust.allow(want.folder, (want,))

    def approve_folder(self, approval: Approval | None) -> ToolRegistry:
        """Set the approval of all tools of the folder without their own; None for the default.

        Returns:
            The registry with the new approvals.
        """
        if self._folder is not None:
            self._trust.remember_approval(self._folder, WHOLE_FOLDER, approval)
            if approval == "allow":
                self.allow_tools(*(e.id for e in self.registry.entries if not e.marks))
            self.registry = self._with_chosen_approvals(self.registry.with_usual_approvals())
        return self.registry

    async def read_logs(self) -> ToolRegistry:
        """Return the registry with the servers' newest log output."""
        sources = tuple(
            status if (log := self.sources.log(status.key)) is None else replace(status, log=log)
            for status in self.registry.sources
        )
        if sources != self.registry.sources:
            self.registry = replace(self.registry, sources=sources)
        return self.registry

    async def request_text(self, tool: ToolId, arguments: JsonObject, inputs: JsonObject) -> str:
        """Return the request that a call of an OpenAPI tool would send, key masked, or "".

        Raises:
            ToolSourceError: the request cannot be built.
        """
        entry = self.registry.entry(tool)
        if entry is None or entry.mock is not None:
            return ""
        whole = inject_bindings(entry.spec, arguments, inputs)
        return await self.sources.request_text(tool.source, tool.name, whole)

    async def close(self) -> None:
        """End all sources."""
        async with self._loading:
            await self.sources.close()

    def _make_box(
        self,
        registry: Callable[[], ToolRegistry],
        inputs: JsonObject | None,
        ask: AskUser | None,
        approved: Callable[[ToolId], object] | None = None,
    ) -> Toolbox:
        return Toolbox(
            registry,
            self.sources.by_key,
            inputs=inputs,
            ask=ask,
            used=self._note_use,
            secrets=self._secrets,
            approved=approved,
            rule=lambda: self._rule,
        )

    async def _ask(
        self, key: str, declaration: SourceDeclaration
    ) -> tuple[SourceStatus, SourceTools | None]:
        """Return the state of a source, and its tools if it could list them."""
        label, path = opening.source_label(declaration), opening.source_path(declaration)
        fault = consent.fault_of(declaration, self._folder, self._trust)
        if fault is not None:
            return replace(fault, key=key, label=label, path=path), None
        doubt = self._consent.doubts.get(key)
        if doubt is not None:
            await self.sources.restart(key)
            return replace(consent.waiting(doubt), path=path), None
        source = self.sources.opened(key, declaration, self._limits)
        return await consent.list_source(
            source, declaration, self._review, self._find, self._secrets
        )

    def _with_chosen_approvals(self, registry: ToolRegistry) -> ToolRegistry:
        """Return the registry with the approvals of the user, the folder and this command."""
        if self._folder is None:
            return registry
        trust = self._trust.current
        for entry in registry.entries:
            chosen = trust.approval(self._folder, entry.id, entry.name, by_folder=not entry.marks)
            if chosen is not None and chosen != entry.approval:
                registry = registry.change(entry.id, approval=chosen)
        for name in self._allowed:
            if (named := registry.find(name)) is not None:
                registry = registry.change(named.id, approval="allow", change=None)
        return registry

    def _waiting_variables(self) -> Iterator[SourceStatus]:
        """Yield the statuses of variables that need permission; none in an untrusted folder."""
        if self._folder is None or not self._trust.is_trusted(self._folder):
            return
        for key, doubt in self._consent.doubts.items():
            if key.startswith(consent.GIVEN):
                yield consent.waiting(doubt)

    def _note_use(self, tool: ToolId, when: float) -> None:
        entry = self.registry.entry(tool)
        if entry is not None:
            self.registry = self.registry.change(tool, calls=entry.calls + 1, last_used=when)


def _given(
    declarations: Mapping[str, SourceDeclaration], variables: tuple[str, ...]
) -> dict[str, SourceDeclaration]:
    """Return the sources, with the allowed variables for Python files."""
    return {
        key: replace(item, variables=variables) if isinstance(item, PythonFile) else item
        for key, item in declarations.items()
    }


# The tools of a window: of the current document, and of those with runs.

_RESTING = 1
"""Number of other documents whose processes are kept, so that returning from a tool's file finds
them running.
"""


class ToolSession:
    """The tools of several documents, kept apart: a run keeps its tools when another is shown."""

    def __init__(
        self,
        trust: TrustStore,
        limits: ToolLimits = DEFAULT_LIMITS,
        own_servers: Path | None = None,
        masker: Masker | None = None,
        ask_input: AskForInput | None = None,
        allowed: Collection[str] = (),
    ) -> None:
        """Create a session.

        Args:
            trust: the trusted folders.
            limits: limits of a call, unless the document has its own.
            own_servers: the user's own MCP servers (`server_config.OWN_FILE`).
            masker: masks secrets, including those that sources get.
            ask_input: asks the user for input that an MCP server requests; None to refuse such
                requests.
            allowed: names of the tools that this command may call without approval.
        """
        self._allowed = allowed
        self._ask_input = ask_input
        self._masker = masker
        self.find_connection: FindConnection = no_connection
        """Function that returns the connection for a name; called in the loop at each call."""
        self._trust = trust
        self._limits = limits
        self._own_servers = own_servers
        self._started: set[str] = set()
        self._documents: dict[Path | None, DocumentTools] = {}
        self.current = self._make(None)
        """The tools of the current document."""
        self.on_reading: Callable[[Path | None, str, ReadingProgress | None], None] = (
            lambda path, key, progress: None
        )
        """Callback from any thread with a document's file, the key of a source, and the progress of
        reading its large description; None at the end.
        """
        self.on_change: Callable[[], None] = lambda: None
        """Callback in the loop when a server reports changed lists."""

    @property
    def registry(self) -> ToolRegistry:
        """The newest registry of the current document."""
        return self.current.registry

    async def load(
        self, document: PromptDocument, hoisted: Iterable[HoistedTool] = ()
    ) -> ToolRegistry:
        """Show a document's tools, updated and with the user's earlier settings.

        Sources of an untrusted folder are not started, only listed.
        """
        path = document.source.path
        tools = self._documents.pop(path, None) or self._make(path)
        self._documents[path] = self.current = tools  # the newest is last
        registry = await tools.load(document, hoisted, self._started)
        others = [each for each in self._documents.values() if each is not self.current]
        for other in others[: len(others) - _RESTING]:
            if not other.is_used:
                await other.close()
        return registry

    def leave(self) -> None:
        """Show no document any more."""
        self.current = self._make(None)

    async def open_toolbox(
        self,
        document: PromptDocument,
        hoisted: Iterable[HoistedTool] = (),
        inputs: JsonObject | None = None,
        ask: AskUser | None = None,
    ) -> Toolbox:
        """Return the tools of a run, updated for its document, whichever document is current."""
        path = document.source.path
        tools = self._documents.setdefault(path, self._make(path))
        box = tools.toolbox(inputs, ask)  # first: it marks the sources as used
        await tools.load(document, hoisted, self._started)
        return box

    def start_server(self, key: str) -> None:
        """Start a server that no prompt names with the next load, as the user has seen it."""
        self._started.add(key)
        self.current.allow_source(key)

    async def request_text(
        self,
        tool: ToolId,
        arguments: JsonObject,
        inputs: JsonObject | None = None,
        path: Path | None = None,
    ) -> str:
        """Return the request that a call of an OpenAPI tool would send, key masked, or "".

        Args:
            tool: the tool.
            arguments: arguments from the model or the user.
            inputs: values for bound parameters.
            path: the document of the tool; by default the current one.

        Raises:
            ToolSourceError: the request cannot be built.
        """
        tools = self._documents.get(path, self.current) if path else self.current
        return await tools.request_text(tool, arguments, inputs or {})

    async def close(self) -> None:
        """End all sources of all documents."""
        documents = {id(each): each for each in (*self._documents.values(), self.current)}
        await asyncio.gather(*(each.close() for each in documents.values()))

    def _make(self, path: Path | None) -> DocumentTools:
        return DocumentTools(
            path,
            self._trust,
            self._limits,
            self._own_servers,
            self._tell_of_change,
            self._find,
            self._masker,
            self._ask_input,
            partial(self._tell_of_reading, path),
            self._allowed,
        )

    def _find(self, name: str) -> NamedConnection | None:
        return self.find_connection(name)  # the current function, which may change

    def _tell_of_change(self) -> None:
        self.on_change()

    def _tell_of_reading(
        self, path: Path | None, key: str, progress: ReadingProgress | None
    ) -> None:
        self.on_reading(path, key, progress)  # the current callback, which may change
