# The annotations are values: the SDK makes the schemas of them, and finds what is asked of the user
# in them. As texts it could not look up the functions that ask.
"""The prompts of the folder, as MCP prompts and as tools.

Each is an MCP prompt, with its name, arguments and messages. One whose file says so is a tool as
well: another agent calls it as it calls a function. The front matter says it with
`metadata: {mcp: {tool: true}}`; only trusted folders are listened to.
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Completion,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)
from pydantic import Field

from studio.application.run.start.readiness import refusal_of
from studio.application.trust import references_of
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.shapes import message_text
from studio.core.text.bounded_file import read_bounded
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json
from studio.servers.mcp.consent import UserConsent, needs
from studio.servers.mcp.debug_tools import ask_to_send
from studio.servers.mcp.live_runs import LiveRuns, wish_for
from studio.servers.mcp.served_folder import ServedFolder
from studio.servers.mcp.tool_types import Answer

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
_MOST_PROPOSED = 100  # the protocol's own limit


def listed_prompts(folder: ServedFolder) -> list[Prompt]:
    """Every prompt of the folder; one that cannot be read is left to `check`."""
    return [_listed(_name(folder, path), document) for path, document in _documents(folder)]


def prompt_messages(
    folder: ServedFolder, name: str, arguments: Mapping[str, str] | None
) -> GetPromptResult:
    """The messages of a prompt.

    A message of the system becomes one of the user: the protocol has no other.

    Args:
        folder: where it is.
        name: as it was listed.
        arguments: values of its inputs; one that is no string in the prompt is read as JSON.

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
    """Return the values that an argument of a prompt may have, or that its file shows.

    Args:
        folder: where the prompt is.
        name: as it was listed.
        argument: the input.
        text: what its value begins with.

    Raises:
        MCPError: there is no such prompt, or input.
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
    for path in folder.prompts():
        try:
            text = read_bounded(path).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
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
    if declared is None or declared.kind in ("string", "image", "file", "audio"):
        return text
    try:
        return parse_json(text)
    except ValueError:
        raise MCPError(INVALID_PARAMS, f"{name!r} is {declared.kind}, written as JSON.") from None


def _role(role: str) -> Literal["user", "assistant"]:
    return "assistant" if role == "assistant" else "user"


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
    for path, document in _documents(folder):
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
    words = document.description or f"Runs the prompt {document.name or file}."
    return PromptTool(name, words, call)


def _is_passable(item: InputDeclaration) -> bool:
    """Whether an input can be a parameter; another keeps its default."""
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
