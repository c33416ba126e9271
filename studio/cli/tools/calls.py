"""Calls of a source's tools: one, one for each row of a file, and saved ones as tests."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.application.tools.call_rows import calls_of_rows
from studio.application.tools.saved_calls import (
    SavedCall,
    SavedCallsError,
    call_line,
    difference,
    read_calls,
    saved,
)
from studio.cli.arguments import needs
from studio.cli.exit_codes import FINE, PROBLEMS, UsageError
from studio.cli.terminal import tell
from studio.cli.tools.opening import ToolSet, opened, wanted
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.amounts import counted
from studio.core.text.foreign_json import parse_json
from studio.core.text.invisible import reveal
from studio.core.text.reason import reason_of
from studio.core.text.values import Json, JsonObject


def call_tool(options: argparse.Namespace) -> int:
    """Call a tool once, or for each row of a file; a call that is recorded is written down."""
    return asyncio.run(_called(options, _arguments(options)))


def repeat_calls(options: argparse.Namespace) -> int:
    """Make saved calls again, and say which answers are not as they were."""
    return asyncio.run(_tested(options))


async def _tested(options: argparse.Namespace) -> int:
    needs(options.calls)
    async with opened(options) as tools:
        return await _check_calls(tools, options.calls, as_json=options.json)


async def _called(options: argparse.Namespace, arguments: JsonObject) -> int:
    async with opened(options) as tools:
        spec = await wanted(tools, options.name)
        if options.rows is not None:
            needs(options.rows)
            return await _call_rows(tools, spec, options.rows, options.output)
        outcome = await tools.call(spec.name, arguments)
    named = {"name": options.called} if options.called else {}
    whole = {
        **named, "tool": spec.name, "arguments": arguments, "status": outcome.status,
        "text": outcome.text, "value": outcome.value, "seconds": round(outcome.duration, 6),
        "truncated": outcome.truncated,
    }  # fmt: skip
    if outcome.stderr:
        sys.stderr.write(outcome.stderr)
    if options.output is not None:
        with options.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(whole, ensure_ascii=False) + "\n")
    if options.json:
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    elif outcome.is_error:
        tell(f"prompt-studio: {outcome.status}: {reveal(outcome.text)}")
    else:
        print(reveal(outcome.text) if sys.stdout.isatty() else outcome.text)
    return PROBLEMS if outcome.is_error else FINE


def _arguments(options: argparse.Namespace) -> JsonObject:
    """The arguments of a call.

    Raises:
        UsageError: they are not a JSON object, or one has no name.
    """
    try:
        whole = parse_json(options.arguments)
    except ValueError as error:
        raise UsageError(f"the arguments are not JSON: {reason_of(error)}") from None
    if not isinstance(whole, Mapping):
        raise UsageError("the arguments are one JSON object")
    made = dict(whole)
    for each in options.argument:
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
    """Call a tool for each row of a file; a line of JSON for each call.

    Args:
        tools: the source.
        spec: the tool.
        rows: CSV, JSONL, JSON or YAML; its columns are the arguments.
        output: the file that the lines are added to; None prints them.

    Raises:
        UsageError: the file cannot be used.
    """
    try:
        calls = calls_of_rows(rows, spec.name, spec.parameters)
    except SavedCallsError as error:
        raise UsageError(str(error)) from None
    failed = 0
    for call in calls:
        outcome = await tools.call(spec.name, call.arguments)
        failed += outcome.is_error
        line = json.dumps(call_line(saved(call, outcome)), ensure_ascii=False)
        if output is None:
            print(line, flush=True)
        else:
            with output.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
    if output is not None or failed:
        tell(f"{counted(len(calls), 'call')}, {failed:,} failed")
    return PROBLEMS if failed else FINE


async def _check_calls(tools: ToolSet, path: Path, *, as_json: bool) -> int:
    """Make saved calls again, and say which answers are not as they were.

    Raises:
        UsageError: the file cannot be used.
    """
    try:
        calls = read_calls(path)
    except SavedCallsError as error:
        raise UsageError(str(error)) from None
    if not calls:
        raise UsageError(f"{path}: there are no calls in it")
    known = {spec.name for spec in await tools.specs()}
    wrong: list[tuple[SavedCall, str]] = []
    for call in calls:
        if call.tool in known:
            differs = difference(call, await tools.call(call.tool, call.arguments))
        else:
            differs = f"there is no tool {call.tool!r}"
        if differs:
            wrong.append((call, differs))
        if not as_json:
            mark = f"not  {call.name}: {differs}" if differs else f"ok   {call.name}"
            print(reveal(mark, lines=False), flush=True)
    if as_json:
        print(json.dumps(_as_json(calls, wrong), ensure_ascii=False, indent=2))
    else:
        print(f"{len(calls) - len(wrong):,} of {len(calls):,} as they were")
    return PROBLEMS if wrong else FINE


def _as_json(calls: Sequence[SavedCall], wrong: Sequence[tuple[SavedCall, str]]) -> object:
    differences = {call.name: text for call, text in wrong}
    return [
        {"name": call.name, "tool": call.tool, "difference": differences.get(call.name, "")}
        for call in calls
    ]
