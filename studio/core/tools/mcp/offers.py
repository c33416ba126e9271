"""What a server has beside its tools: prompts and resources, listed, opened and completed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from studio.core.tools.mcp.connection import McpConnection
from studio.core.tools.mcp.values import ConnectionLost, ServerRefusal, block_pictures, block_text
from studio.core.tools.source import OfferArgument, OfferContent, ServerOffer

if TYPE_CHECKING:
    import mcp_types as types

_GAP = re.compile(r"\{[+#./;?&]?([^{}]+)\}")


async def open_offer(
    connection: McpConnection, offer: ServerOffer, given: Mapping[str, str]
) -> OfferContent:
    """Open a prompt or a resource.

    Args:
        connection: to the server.
        offer: as the server listed it.
        given: its arguments; empty ones are not sent.

    Raises:
        ServerRefusal: the server refuses.
        ConnectionLost: it went away.
    """
    values = {name: text for name, text in given.items() if text}
    if offer.kind == "prompt":
        prompt = await connection.request(connection.client.get_prompt(offer.name, values))
        return OfferContent(
            tuple((each.role, block_text(each.content)) for each in prompt.messages),
            block_pictures(each.content for each in prompt.messages),
        )
    uri = _filled(offer.name, values) if offer.kind == "resource template" else offer.name
    read = await connection.request(connection.client.read_resource(uri))
    return OfferContent(
        tuple(("", block_text(each)) for each in read.contents), block_pictures(read.contents)
    )


async def complete_offer(
    connection: McpConnection,
    offer: ServerOffer,
    argument: str,
    text: str,
    given: Mapping[str, str],
) -> tuple[str, ...]:
    """What the server proposes for an argument; nothing where it has no completion.

    Args:
        connection: to the server.
        offer: the prompt or template.
        argument: the argument's name.
        text: what is written so far.
        given: the other arguments.
    """
    import mcp_types as types

    if not connection.is_open or connection.client.server_capabilities.completions is None:
        return ()
    reference: types.PromptReference | types.ResourceTemplateReference
    if offer.kind == "prompt":
        reference = types.PromptReference(type="ref/prompt", name=offer.name)
    else:
        reference = types.ResourceTemplateReference(type="ref/resource", uri=offer.name)
    others = {name: value for name, value in given.items() if value and name != argument}
    asked = {"name": argument, "value": text}
    try:
        answer = await connection.request(
            connection.client.complete(reference, asked, others or None)
        )
    except (ServerRefusal, ConnectionLost):
        return ()
    return tuple(answer.completion.values)


async def list_offers(connection: McpConnection) -> tuple[ServerOffer, ...]:
    """The server's prompts, resources and templates of resources, all pages of each.

    Raises:
        ServerRefusal: the server refuses.
        ConnectionLost: it went away.
    """
    client = connection.client
    able = client.server_capabilities
    found: list[ServerOffer] = []
    if able.prompts is not None:
        async for prompts in connection.pages(client.list_prompts):
            found += (_offer("prompt", item, item.name) for item in prompts.prompts)
    if able.resources is not None:
        async for page in connection.pages(client.list_resources):
            found += (_offer("resource", item, str(item.uri)) for item in page.resources)
        async for templates in connection.pages(client.list_resource_templates):
            found += (
                _offer("resource template", item, item.uri_template)
                for item in templates.resource_templates
            )
    return tuple(found)


def _offer(
    kind: Literal["prompt", "resource", "resource template"],
    item: types.Prompt | types.Resource | types.ResourceTemplate,
    name: str,
) -> ServerOffer:
    """A prompt or resource of the SDK as ours; without a description its title, or its name."""
    words = item.description or item.title or (item.name if item.name != name else "")
    return ServerOffer(kind, name, " ".join(words.split()), _arguments(item))


def _arguments(
    item: types.Prompt | types.Resource | types.ResourceTemplate,
) -> tuple[OfferArgument, ...]:
    given = getattr(item, "arguments", None) or ()
    template = getattr(item, "uri_template", "")
    names = [name.rstrip("*") for gap in _GAP.findall(template) for name in gap.split(",")]
    return (
        *(OfferArgument(each.name, each.description or "", bool(each.required)) for each in given),
        *(OfferArgument(name, required=True) for name in dict.fromkeys(names)),
    )


def _filled(template: str, values: Mapping[str, str]) -> str:
    """An address of its template (RFC 6570, levels 1 and 2), with each value encoded."""

    def value(match: re.Match[str]) -> str:
        names = [name.rstrip("*") for name in match[1].split(",")]
        mark = match[0][1]
        parts = [
            quote(values.get(name, ""), safe="/:?#[]@!$&'()*+,;=" if mark in "+#" else "")
            for name in names
        ]
        match mark:
            case "?" | "&":
                return mark + "&".join(
                    f"{name}={part}" for name, part in zip(names, parts, strict=True)
                )
            case "/" | "." | "#":
                return mark + (mark if mark != "#" else ",").join(parts)
            case ";":
                return "".join(f";{n}={part}" for n, part in zip(names, parts, strict=True))
            case _:
                return ",".join(parts)

    return _GAP.sub(value, template)
