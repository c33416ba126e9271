"""A choice among an API's operations, as text of the prompt that names it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import flow_value, remove_entry, set_value
from studio.core.text.problem import TextEdit
from studio.core.text.values import Json
from studio.core.tools.openapi.overview import OperationRow


def choice_value(rows: Sequence[OperationRow], chosen: Collection[str]) -> Json:
    """What `operations:` says for a choice: nothing for all, tags where they say it, or ids.

    Args:
        rows: all operations.
        chosen: the names of those that are wanted.
    """
    wanted = [row for row in rows if row.name in chosen]
    if len(wanted) == len(rows):
        return None
    tags = list(dict.fromkeys(row.tag for row in wanted if row.tag))
    by_tags = [row for row in rows if set(row.tags) & set(tags)]
    if wanted and by_tags == wanted and not any(set(tag) & set("*?[") for tag in tags):
        return {"tags": list[Json](tags)}
    return [_escaped(row.identifier) for row in wanted]


def write_choice(document: PromptDocument, name: str, value: Json) -> tuple[TextEdit, ...]:
    """Edits that write `operations:` of a tool.

    Args:
        document: the prompt.
        name: the declared tool.
        value: what it says; None to take it away.

    Raises:
        LookupError: the document declares no such tool.
    """
    path = ("tools", _place(document, name), "operations")
    if value is None:
        entry = document.entry(*path)
        return remove_entry(document, entry) if entry is not None else ()
    return set_value(document, path, flow_value(value))


def _place(document: PromptDocument, name: str) -> str | int:
    tools = document.data.get("tools")
    if isinstance(tools, Mapping) and name in tools:
        return name
    for place, item in enumerate(tools if isinstance(tools, list | tuple) else ()):
        if isinstance(item, Mapping) and name in (item.get("name"), item.get("id")):
            return place
    raise LookupError(name)


def _escaped(identifier: str) -> str:
    """An identifier as a pattern that fits it alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in identifier)
