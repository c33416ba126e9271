"""The prompts of the folder as MCP prompts: their names, arguments and messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from studio.application.run.start.readiness import refusal_of
from studio.application.trust import references_of
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.shapes import message_text
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json
from studio.servers.mcp.served_folder import ServedFolder


def listed_prompts(folder: ServedFolder) -> list[Prompt]:
    """Every prompt of the folder; one that cannot be read is left to `check`."""
    return [_listed(name, document) for name, document in _documents(folder)]


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
    document = next((each for known, each in _documents(folder) if known == name), None)
    if document is None:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {name!r}.")
    values = {key: _value(document, key, text) for key, text in (arguments or {}).items()}
    refusal = refusal_of(document, values)
    if refusal is not None:
        raise MCPError(INVALID_PARAMS, refusal.text)
    references = references_of(document.source.path, folder.trust, masked=True)
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


def _documents(folder: ServedFolder) -> Iterator[tuple[str, PromptDocument]]:
    for path in folder.prompts():
        try:
            text = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        yield folder.name(path).removesuffix(path.suffix), parse(text, path)


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
    told = " ".join(filter(None, (item.description, kind)))
    return PromptArgument(
        name=item.name,
        description=told or None,
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
