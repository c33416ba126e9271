# The annotations are values: the SDK makes the schemas of them, and finds what is asked of the user
# in them. As texts it could not look up the functions that ask.
"""Prompts whose files say so are tools: another agent calls them as it calls a function.

The front matter says it with `metadata: {mcp: {tool: true}}`; only trusted folders are listened to.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Elicit, Resolve
from pydantic import Field

from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.parse import parse
from studio.servers.mcp.consent import UserConsent, needs
from studio.servers.mcp.debug_tools import ask_to_send
from studio.servers.mcp.live_runs import LiveRuns, wish_for
from studio.servers.mcp.prompt_tools import Answer
from studio.servers.mcp.served_folder import ServedFolder

_KINDS: Mapping[str, Any] = {
    "string": str, "integer": int, "number": float, "float": float, "boolean": bool,
    "array": list[Any], "object": dict[str, Any],
}  # fmt: skip
_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class PromptTool:
    """A prompt as a tool."""

    name: str
    """What it is called by."""

    description: str
    """What it is good for, as its file says."""

    call: Callable[..., Awaitable[Answer]]
    """Runs it; its signature has the prompt's inputs."""


def prompt_tools(folder: ServedFolder, runs: LiveRuns) -> Iterator[PromptTool]:
    """A tool for each prompt of the folder that says it is one, and may be run."""
    taken: set[str] = set()
    for path in folder.prompts():
        try:
            document = parse(path.read_bytes().decode("utf-8"), path)
        except (OSError, UnicodeDecodeError):
            continue
        name = re.sub(r"\W+", "_", path.stem, flags=re.ASCII)[:60]
        if is_tool(document) and folder.is_trusted(document) and name not in taken:
            taken.add(name)
            yield _tool(folder, runs, document, folder.name(path), name)


def is_tool(document: PromptDocument) -> bool:
    """Whether a prompt's file says that it is a tool."""
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
    told = document.description or f"Runs the prompt {document.name or file}."
    return PromptTool(name, told, call)


def _is_passable(item: InputDeclaration) -> bool:
    """Whether an input can be a parameter; another keeps its default."""
    return item.name.isidentifier() and not item.name.startswith("_")


def _parameter(item: InputDeclaration) -> inspect.Parameter:
    kind = _KINDS.get(item.kind, Any)
    is_needed = item.required and not item.has_default
    told = Field(description=item.description or None)
    return inspect.Parameter(
        item.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if is_needed else None,
        annotation=Annotated[kind if is_needed else kind | None, told],
    )
