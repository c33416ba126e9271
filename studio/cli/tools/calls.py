"""Tool calls: a single call, a call for each row of a file, and saved calls as tests."""

import argparse
import asyncio
import json
import sys
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path

from studio.application.tools.saved_calls import (
    SavedCall,
    SavedCallsError,
    call_line,
    difference,
    read_calls,
    saved,
)
from studio.cli.arguments import needs
from studio.cli.terminal import FINE, PROBLEMS, UsageError, tell
from studio.cli.tools.opening import SourceToolSet, ToolSet, opened, wanted
from studio.core.prompty.document import ToolSpec
from studio.core.text.amounts import counted
from studio.core.text.invisible import reveal
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json, reason_of
from studio.core.tools.source import ServerOffer


def call_tool(options: argparse.Namespace) -> int:
    """Call a tool once, or for each row of a file; with `--record`, save each call."""
    return _run(_called(options, _arguments(options)))


def repeat_calls(options: argparse.Namespace) -> int:
    """Repeat saved calls and report the answers that changed."""
    return _run(_check_calls(options))


def _run(work: Coroutine[object, object, int]) -> int:
    try:
        return asyncio.run(work)
    except SavedCallsError as error:
        raise UsageError(str(error)) from None


class _Said(list[str]):
    """A list that also prints each line of a running call to standard error."""

    def append(self, line: str) -> None:
        """Print a line."""
        super().append(line)
        tell(reveal(line))


async def _called(options: argparse.Namespace, arguments: JsonObject) -> int:
    said = _Said()
    async with opened(options, calls=True) as tools:
        spec = await wanted(tools, options.name)
        if options.rows is not None:
            needs(options.rows)
            return await _call_rows(tools, spec, options.rows, options.output)
        outcome = await tools.call(spec.name, arguments, said.append)
    more: JsonObject = {
        "value": outcome.value,
        "seconds": round(outcome.duration, 6),
        "truncated": outcome.truncated,
    }
    name = options.called or ""
    call = SavedCall(name, spec.id, arguments, outcome.status, outcome.text, more=more)
    whole = call_line(call, _folder(options.output))
    if outcome.stderr and not said:
        sys.stderr.write(outcome.stderr)
    if options.output is not None:
        _add(options.output, whole)
    if options.json:
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    elif outcome.is_error:
        tell(f"prompt-studio: {outcome.status}: {reveal(outcome.text)}")
    else:
        print(reveal(outcome.text) if sys.stdout.isatty() else outcome.text)
    return PROBLEMS if outcome.is_error else FINE


def _arguments(options: argparse.Namespace) -> JsonObject:
    """Return the arguments of a call.

    Raises:
        UsageError: the arguments are not a JSON object, or one has no name.
    """
    try:
        whole = parse_json(options.arguments)
    except ValueError as error:
        raise UsageError(f"the arguments are not JSON: {reason_of(error)}") from None
    if not isinstance(whole, Mapping):
        raise UsageError("the arguments must be a JSON object")
    return {**whole, **named_values(options.argument)}


def named_values(written: Sequence[str]) -> JsonDict:
    """Return the values of `-a NAME=VALUE`."""
    made: JsonDict = {}
    for each in written:
        name, equals, text = each.partition("=")
        if not equals or not name:
            raise UsageError(f"{each!r} is not NAME=VALUE")
        made[name] = _value(text)
    return made


def _value(text: str) -> Json:
    try:
        return parse_json(text)
    except ValueError:
        return text


async def _call_rows(tools: ToolSet, spec: ToolSpec, rows: Path, output: Path | None) -> int:
    """Call a tool for each row of a file and write a line of JSON for each call.

    Args:
        tools: the source.
        spec: the tool.
        rows: CSV, JSONL, JSON or YAML; its columns are the arguments.
        output: file to which the lines are appended; None prints them.

    Raises:
        SavedCallsError: the file cannot be used.
    """
    from studio.application.tools.saved_calls import (
        calls_of_rows,  # reads datasets: slow to import
    )

    calls = calls_of_rows(rows, spec.id, spec.parameters)
    failed = 0
    for call in calls:
        outcome = await tools.call(spec.name, call.arguments)
        failed += outcome.is_error
        _add(output, call_line(saved(call, outcome), _folder(output)))
    if output is not None or failed:
        tell(f"{counted(len(calls), 'call')}, {failed:,} failed")
    return PROBLEMS if failed else FINE


def _folder(output: Path | None) -> Path:
    """Return the folder of the file of saved calls; tool files are named relative to it."""
    return output.parent if output is not None else Path()


def _add(output: Path | None, call: JsonObject) -> None:
    """Append a call to a file as a line, or print it without a file."""
    line = json.dumps(call, ensure_ascii=False)
    if output is None:
        print(line, flush=True)
    else:
        with output.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


async def _check_calls(options: argparse.Namespace) -> int:
    """Repeat saved calls and report the answers that changed.

    Raises:
        SavedCallsError: the file cannot be used.
    """
    needs(options.calls)
    async with opened(options, calls=True) as tools:
        calls = read_calls(options.calls)
        if not calls:
            raise UsageError(f"{options.calls}: the file contains no calls")
        await tools.specs()
        differences: list[str] = []
        for call in calls:
            differs = f"there is no tool {call.tool.name!r}"
            if name := tools.find(call.tool):
                differs = difference(call, await tools.call(name, call.arguments))
            differences.append(differs)
            if not options.json:
                mark = f"not  {call.name}: {differs}" if differs else f"ok   {call.name}"
                print(reveal(mark, lines=False), flush=True)
    if options.json:
        whole = [
            {"name": call.name, "tool": call.tool.name, "difference": differs}
            for call, differs in zip(calls, differences, strict=True)
        ]
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    else:
        print(f"{differences.count(''):,} of {len(calls):,} as they were")
    return PROBLEMS if any(differences) else FINE


# `prompt-studio tools resources | prompts | complete`: what a server offers besides tools.


def show_offers(options: argparse.Namespace) -> int:
    """Print a server's prompts or resources, or the content of one.

    Args:
        options: with `kinds`, the kinds to print.
    """
    return asyncio.run(_shown(options))


def complete(options: argparse.Namespace) -> int:
    """Print a server's suggestions for an argument of a prompt or of a resource template."""
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
    """Return the named prompt or resource; a resource need not be listed.

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
