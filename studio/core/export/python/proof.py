"""The proof of an exported script: what it holds is read out of it and rendered as it will."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from studio.core.export.chat_items import as_sent, fill_items
from studio.core.export.consumers import CannotRender, check_bounds, script_renderer
from studio.core.export.proof import Meaning, compare
from studio.core.export.target import ExportSource, Round
from studio.core.prompty.document import TemplateFormat
from studio.core.text.values import Json
from studio.core.wire.draft import is_sendable


def script_rounds(text: str, source: ExportSource, form: TemplateFormat | None) -> Iterator[Round]:
    """Read messages and tools out of the script, and render them as the script will."""
    found = _constants(text)
    items = found.get("MESSAGES")
    listed = items if isinstance(items, list) else []
    tools = found.get("TOOLS")
    names = [
        str(inner.get("name"))
        for tool in (tools if isinstance(tools, list) else [])
        if isinstance(tool, Mapping) and isinstance(inner := tool.get("function"), Mapping)
    ]
    wanted = [tool.name for tool in source.all_tools if is_sendable(tool)]
    render = script_renderer(form) if form else None
    for name, prepared in source.rounds.items():
        try:
            check_bounds(prepared)
            got = fill_items(listed, render, prepared.inputs, drops=True)
        except CannotRender as error:
            yield Round(name, f"the script cannot render the prompt: {error}")
            continue
        made = compare(name, Meaning(as_sent(prepared.messages.messages)), Meaning(as_sent(got)))
        if made.is_same and names != wanted:
            told = f"the tools are {', '.join(names) or 'none'} instead of {', '.join(wanted)}."
            made = replace(made, difference=told)
        yield replace(made, tools=len(names))


def _constants(text: str) -> dict[str, Json]:
    """The literals that a script sets at its top level."""
    found: dict[str, Json] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found
