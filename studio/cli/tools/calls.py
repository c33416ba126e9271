"""Many calls of a source's tools: the rows of a file, and saved calls as tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from studio.application.tools.call_rows import calls_of_rows
from studio.application.tools.saved_calls import (
    SavedCall,
    SavedCallsError,
    call_line,
    difference,
    read_calls,
    saved,
)
from studio.cli.exit_codes import FINE, PROBLEMS, UsageError
from studio.cli.terminal import tell
from studio.core.text.counted import counted
from studio.core.text.invisible import reveal

if TYPE_CHECKING:
    from studio.cli.tools.sets import PromptToolSet, SourceToolSet
    from studio.core.prompty.tool_spec import ToolSpec

    ToolSet: TypeAlias = SourceToolSet | PromptToolSet


async def call_rows(tools: ToolSet, spec: ToolSpec, rows: Path, output: Path | None) -> int:
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


async def check_calls(tools: ToolSet, path: Path, *, as_json: bool) -> int:
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
        print(json.dumps(_told(calls, wrong), ensure_ascii=False, indent=2))
    else:
        print(f"{len(calls) - len(wrong):,} of {len(calls):,} as they were")
    return PROBLEMS if wrong else FINE


def _told(calls: Sequence[SavedCall], wrong: Sequence[tuple[SavedCall, str]]) -> object:
    differences = {call.name: text for call, text in wrong}
    return [
        {"name": call.name, "tool": call.tool, "difference": differences.get(call.name, "")}
        for call in calls
    ]
