"""`prompt-studio tools resources | prompts | complete`: what a server has beside its tools."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping

from studio.cli.exit_codes import FINE, UsageError
from studio.cli.tools.calls import named_values
from studio.cli.tools.opening import SourceToolSet, ToolSet, opened
from studio.core.text.invisible import reveal
from studio.core.tools.source import ServerOffer


def show_offers(options: argparse.Namespace) -> int:
    """Write a server's prompts or resources, or the contents of one.

    Args:
        options: with `kinds`, the kinds that are meant.
    """
    return asyncio.run(_shown(options))


def complete(options: argparse.Namespace) -> int:
    """Write what a server proposes for an argument of a prompt or a template of addresses."""
    return asyncio.run(_completed(options))


async def _shown(options: argparse.Namespace) -> int:
    async with opened(options) as opened_tools:
        tools = _server(opened_tools)
        offers = [each for each in await tools.offers() if each.kind in options.kinds]
        if options.name is None:
            _list(offers, options)
            return FINE
        content = await tools.open_offer(_found(offers, options), _values(options))
    if options.json:
        parts = [{"role": role, "text": text} for role, text in content.parts]
        print(json.dumps(parts, ensure_ascii=False, indent=2))
    for role, text in () if options.json else content.parts:
        print(reveal(f"{role}:\n{text}" if role else text))
    return FINE


async def _completed(options: argparse.Namespace) -> int:
    async with opened(options) as opened_tools:
        tools = _server(opened_tools)
        offer = _found(await tools.offers(), options)
        words = await tools.complete(offer, options.completed, options.text, _values(options))
    if options.json:
        print(json.dumps(words, ensure_ascii=False, indent=2))
    for word in () if options.json else words:
        print(reveal(word, lines=False))
    return FINE


def _server(tools: ToolSet) -> SourceToolSet:
    if not isinstance(tools, SourceToolSet):
        raise UsageError("name the server itself: a .mcp.json (--server NAME), or its address")
    return tools


def _list(offers: list[ServerOffer], options: argparse.Namespace) -> None:
    if options.json:
        listed = [
            {
                "kind": each.kind,
                "name": each.name,
                "description": each.description,
                "arguments": [argument.name for argument in each.arguments],
            }
            for each in offers
        ]
        print(json.dumps(listed, ensure_ascii=False, indent=2))
    for each in () if options.json else offers:
        takes = f" ({', '.join(argument.name for argument in each.arguments)})"
        words = f"{each.name}{takes if each.arguments else ''}: {each.description}"
        print(reveal(words.removesuffix(": "), lines=False))


def _found(
    offers: list[ServerOffer] | tuple[ServerOffer, ...], options: argparse.Namespace
) -> ServerOffer:
    """Return the offer that is named; a resource need not be listed.

    Raises:
        UsageError: the server has no such prompt.
    """
    found = next((each for each in offers if each.name == options.name), None)
    if found is None and "resource" in options.kinds and ":" in options.name:
        return ServerOffer("resource", options.name)
    if found is None:
        names = ", ".join(each.name for each in offers) or "none"
        raise UsageError(f"there is no {options.kinds[0]} {options.name!r}; there are {names}")
    return found


def _values(options: argparse.Namespace) -> Mapping[str, str]:
    values = named_values(options.argument)
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
    }
