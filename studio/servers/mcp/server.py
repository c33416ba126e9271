"""`prompt-studio mcp`: an MCP server that gives coding agents the studio's tools and prompts.

It serves standard input and output, or HTTP on this machine only, where each request must carry a
token that is printed at the start.

Each prompt of the folder is an MCP prompt with its name, arguments and messages. With `metadata:
{mcp: {tool: true}}` in its front matter, a prompt in a trusted folder is also a tool, which another
agent can call.
"""

import hmac
import inspect
import json
import logging
import re
import secrets
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    Tool,
)
from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from studio import __version__
from studio.application.document.checked_file import trials
from studio.application.run.start.session import refusal_of
from studio.application.trust import references_of
from studio.core.prompty.document import TEXT_KINDS, InputDeclaration, PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.shapes import message_text
from studio.core.text.amounts import shortened
from studio.core.text.values import Json, parse_json, text_or_json
from studio.core.tools.trust.store import TrustStore
from studio.servers.mcp.debug_tools import OUTWARD, Answer, add_debug_tools, ask_to_send
from studio.servers.mcp.experiment_tools import add_experiment_tools
from studio.servers.mcp.live_runs import LiveRuns, wish_for
from studio.servers.mcp.prompt_tools import add_prompt_tools
from studio.servers.mcp.record_tool import ProgramRecording, add_record_tool
from studio.servers.mcp.served_folder import ServedFolder, UserConsent, needs
from studio.servers.mcp.state_tools import add_state_tools

_KINDS: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "float": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
}
_SECONDS = 600.0
_MOST_PROPOSED = 100  # limit of the protocol


def listed_prompts(folder: ServedFolder) -> list[Prompt]:
    """Return every prompt of the folder; unreadable ones are skipped, and `check` reports them."""
    return [_listed(_name(folder, path), document) for path, document in _documents(folder)]


def prompt_messages(
    folder: ServedFolder, name: str, arguments: Mapping[str, str] | None
) -> GetPromptResult:
    """Return the messages of a prompt.

    A system message becomes a user message: MCP has no system role.

    Args:
        folder: the served folder.
        name: name from the list of prompts.
        arguments: values of the inputs; if an input is not a string, its value is read as JSON.

    Raises:
        MCPError: there is no such prompt, or a value is missing or wrong.
    """
    document = _named(folder, name)
    values = {key: _value(document, key, text) for key, text in (arguments or {}).items()}
    references = references_of(document.source.path, folder.trust, masked=True)
    refusal = refusal_of(document, values, references)
    if refusal is not None:
        raise MCPError(INVALID_PARAMS, refusal.text)
    prepared = prepare(document, values, references=references)
    return GetPromptResult(
        description=document.description or None,
        messages=[
            PromptMessage(
                role=_role(each.role), content=TextContent(type="text", text=message_text(each))
            )
            for each in prepared.messages.messages
        ],
    )


def proposed_values(folder: ServedFolder, name: str, argument: str, text: str) -> Completion:
    """Return the allowed values of a prompt's argument, or examples from its file.

    Args:
        folder: the served folder.
        name: name from the list of prompts.
        argument: the input.
        text: start of the value.

    Raises:
        MCPError: there is no such prompt or input.
    """
    declared = _named(folder, name).input(argument)
    if declared is None:
        raise MCPError(INVALID_PARAMS, f"The prompt {name!r} has no argument {argument!r}.")
    known: tuple[Json, ...] = declared.enum or ((True, False) if declared.kind == "boolean" else ())
    shown = (declared.default, declared.sample)
    values = known or tuple(each for each in shown if each is not None)
    texts = (each if isinstance(each, str) else json.dumps(each) for each in values)
    found = [each for each in dict.fromkeys(texts) if each.startswith(text)]
    more = len(found) > _MOST_PROPOSED
    return Completion(values=found[:_MOST_PROPOSED], total=len(found), has_more=more)


def _named(folder: ServedFolder, name: str) -> PromptDocument:
    found = (each for path, each in _documents(folder) if _name(folder, path) == name)
    document = next(found, None)
    if document is None:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {name!r}.")
    return document


def _documents(folder: ServedFolder) -> Iterator[tuple[Path, PromptDocument]]:
    for text, path in folder.tried(folder.prompts()):
        yield path, parse(text, path)


def _name(folder: ServedFolder, path: Path) -> str:
    return folder.name(path).removesuffix(path.suffix)


def _listed(name: str, document: PromptDocument) -> Prompt:
    declared = [_argument(each) for each in document.inputs if each.name]
    return Prompt(
        name=name,
        title=document.name or None,
        description=document.description or f"The prompt {document.name or name}.",
        arguments=declared or None,
    )


def _argument(item: InputDeclaration) -> PromptArgument:
    kind = "" if item.kind == "string" else f"({item.kind}, as JSON)"
    words = " ".join(filter(None, (item.description, kind)))
    return PromptArgument(
        name=item.name,
        description=words or None,
        required=bool(item.required and not item.has_default),
    )


def _value(document: PromptDocument, name: str, text: str) -> Json:
    declared = document.input(name)
    if declared is None or declared.kind in TEXT_KINDS:
        return text
    try:
        return parse_json(text)
    except ValueError:
        raise MCPError(INVALID_PARAMS, f"{name!r} is {declared.kind}, written as JSON.") from None


def _role(role: str) -> Literal["user", "assistant"]:
    return "assistant" if role == "assistant" else "user"


@dataclass(frozen=True, slots=True)
class PromptTool:
    """A prompt that is served as a tool."""

    name: str
    """Name of the prompt."""

    description: str
    """Description of the prompt, from its file."""

    call: Callable[..., Awaitable[Answer]]
    """Function that runs the prompt; its signature has the prompt's inputs."""


def prompt_tools(folder: ServedFolder, runs: LiveRuns) -> Iterator[PromptTool]:
    """Yield a tool for each runnable prompt of the folder that is marked as one."""
    taken: set[str] = set()
    for path, document in _documents(folder):
        name = re.sub(r"\W+", "_", path.stem, flags=re.ASCII)[:60]
        if is_tool(document) and folder.is_trusted(document) and name not in taken:
            taken.add(name)
            yield _tool(folder, runs, document, folder.name(path), name)


def is_tool(document: PromptDocument) -> bool:
    """Return whether the front matter of a prompt marks it as a tool."""
    metadata = document.data.get("metadata")
    block = metadata.get("mcp") if isinstance(metadata, Mapping) else None
    return isinstance(block, Mapping) and block.get("tool") is True


def _tool(
    folder: ServedFolder, runs: LiveRuns, document: PromptDocument, file: str, name: str
) -> PromptTool:
    async def may_send(ctx: Context) -> Elicit[UserConsent] | UserConsent:
        return ask_to_send(folder, ctx, file, "", "")

    async def call(**arguments: Any) -> Answer:  # noqa: ANN401 - the inputs of any prompt
        needs(arguments.pop("consent_of_the_user"))
        given = {key: value for key, value in arguments.items() if value is not None}
        live = await runs.begin(wish_for(folder, file, given, "", ""))
        await live.settle(_SECONDS)
        return runs.described(live)

    asked = inspect.Parameter(
        "consent_of_the_user",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[UserConsent, Resolve(may_send)],
    )
    inputs = [_parameter(each) for each in document.inputs if _is_passable(each)]
    signature = inspect.Signature([asked, *inputs], return_annotation=Answer)
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__annotations__ = {
        **{each.name: each.annotation for each in signature.parameters.values()},
        "return": Answer,
    }
    words = document.description or f"Runs the prompt {document.name or file}."
    return PromptTool(name, words, call)


def _is_passable(item: InputDeclaration) -> bool:
    """Return whether an input can be a parameter; otherwise it keeps its default."""
    return item.name.isidentifier() and not item.name.startswith("_")


def _parameter(item: InputDeclaration) -> inspect.Parameter:
    kind = _KINDS.get(item.kind, Any)
    is_needed = item.required and not item.has_default
    about = Field(description=item.description or None)
    return inspect.Parameter(
        item.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if is_needed else None,
        annotation=Annotated[kind if is_needed else kind | None, about],
    )


_INSTRUCTIONS = """\
Prompt Studio works on .prompty files in one folder. `check` finds their problems and `fix` makes \
the fixes; `messages` and `request` show exactly what a model would get, and `explain_value` which \
text of the file made a piece of it. `start`, `step`, `continue`, `evaluate`, `edit` and `fork` \
are a debugger for prompts and agents: each answer holds what is new, `state` with `whole` all. \
`record` is one for any program; `experiment_run` proves a change. What leaves the machine, \
and each tool call that needs approval, is asked of the user. Every run stands in the history of \
the Prompt Studio window."""

LOOPBACK = "127.0.0.1"
"""The only address that the server listens on."""


def _misfit(error: ErrorDetails) -> str:
    """Describe an invalid argument: its name, the expected type and the value."""
    place = ".".join(map(str, error["loc"]))
    takes, _, _ = error["msg"].removeprefix("Input should be ").partition(", unable to")
    is_sentence = takes == error["msg"]
    words = f"{takes[:1].lower()}{takes[1:]}" if is_sentence else f"it must be {takes}"
    return f"{place} is {shortened(text_or_json(error['input']), 80)!r}: {words}"


class StudioServer(MCPServer[Any]):
    """The server with its tools and the current prompts of its folder."""

    def __init__(self, folder: ServedFolder) -> None:
        super().__init__(
            "prompt-studio",
            title="Prompt Studio",
            instructions=_INSTRUCTIONS,
            version=__version__,
            log_level="WARNING",
        )
        self._folder = folder
        self._runs = LiveRuns(folder)
        add_prompt_tools(self, folder)
        add_debug_tools(self, folder, self._runs)
        add_state_tools(self, folder, self._runs)
        add_experiment_tools(self, folder)
        self._recording = ProgramRecording(folder, self._runs)
        add_record_tool(self, folder, self._recording)
        self._own = frozenset(tool.name for tool in self._tool_manager.list_tools())
        self._prompts: list[str] = []
        self.completion()(self._propose)  # type: ignore[no-untyped-call]

    async def list_tools(self) -> list[Tool]:
        """List the tools, including prompts that are tools."""
        await self._refresh_prompts()
        return await super().list_tools()

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: there is no such tool, or the call fails.
        """
        if name not in self._own:  # a prompt: its file is read again
            await self._refresh_prompts()
        elif fault := self._misnamed(name, arguments):
            raise ToolError(fault)
        try:
            result = await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(cause := error.__cause__, ValidationError):
                raise ToolError(f"{name}: {'; '.join(map(_misfit, cause.errors()))}.") from None
            raise
        if isinstance(result, CallToolResult) and result.structured_content is not None:
            compact = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
            result.content = [TextContent(type="text", text=compact(result.structured_content))]
        return result

    def _misnamed(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Report unknown argument names, which would otherwise be ignored."""
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            return ""
        known = tool.parameters.get("properties", {})
        missing = [each for each in tool.parameters.get("required", ()) if each not in arguments]
        unknown = [each for each in arguments if each not in known]
        lines = [f"it needs {each!r}" for each in missing]
        lines += [f"it has no argument {each!r}" for each in unknown]
        return f"{name}: {', '.join(lines)}. It takes {', '.join(known)}." if lines else ""

    async def _refresh_prompts(self) -> None:
        find = partial(prompt_tools, self._folder, self._runs)
        found = await anyio.to_thread.run_sync(lambda: list(find()))
        for name in self._prompts:
            self.remove_tool(name)
        offered = [each for each in found if each.name not in self._own]
        self._prompts = [each.name for each in offered]
        for each in offered:
            self.add_tool(each.call, each.name, None, each.description, OUTWARD)

    async def list_prompts(self) -> list[Prompt]:
        """List the prompts of the folder."""
        return await anyio.to_thread.run_sync(listed_prompts, self._folder)

    async def _propose(
        self,
        reference: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """Propose values for an argument of a prompt."""
        del context
        if not isinstance(reference, PromptReference):
            return None
        asked = (reference.name, argument.name, argument.value)
        return await anyio.to_thread.run_sync(proposed_values, self._folder, *asked)

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """Return the messages of a prompt.

        Raises:
            MCPError: there is no such prompt, or a value is missing or wrong.
        """
        del context
        return await anyio.to_thread.run_sync(
            partial(prompt_messages, self._folder, name, arguments)
        )

    async def close(self) -> None:
        """Stop all runs and close what was opened."""
        await self._recording.stop()
        await self._runs.close()
        await self._folder.close()


def serve(root: Path, *, port: int | None, allow_all: bool, trust: TrustStore) -> None:
    """Serve a folder until the client disconnects or the process is interrupted.

    Args:
        root: the folder.
        port: a port for HTTP, 0 for any free one; None for standard input and output.
        allow_all: whether everything that the user would be asked is allowed.
        trust: the folders that the user trusts.
    """
    # A library that prints would corrupt the stream; the log goes to standard error.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    anyio.run(_serve, ServedFolder(root.resolve(), allow_all, trust, trials()), port)


async def _serve(folder: ServedFolder, port: int | None) -> None:
    server = StudioServer(folder)
    try:
        if port is None:
            await server.run_stdio_async()
        else:
            await _serve_http(server, port)
    finally:
        with anyio.CancelScope(shield=True):
            await server.close()


async def _serve_http(server: StudioServer, port: int) -> None:
    import socket

    import uvicorn

    token = secrets.token_urlsafe(32)
    listening = socket.create_server((LOOPBACK, port))
    address = f"http://{LOOPBACK}:{listening.getsockname()[1]}/mcp"
    app = TokenGuard(server.streamable_http_app(host=LOOPBACK), token)
    config = uvicorn.Config(app, log_level="warning")
    print(f"{address}\nAuthorization: Bearer {token}", file=sys.stderr, flush=True)  # noqa: T201
    with listening:
        await uvicorn.Server(config).serve([listening])


class TokenGuard:
    """Forwards requests that carry the token and refuses all others."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "http" and not self._is_known(scope):
            refusal = PlainTextResponse(
                "The request has no token or a wrong one.",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._wanted)
