"""A file of rows as calls of one tool: each column is the argument of its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from studio.application.tools.saved_calls import SavedCall, SavedCallsError
from studio.core.experiments.datasets import DatasetError, read_dataset
from studio.core.experiments.values import DatasetReference, ExperimentCase
from studio.core.prompty.document import ToolId
from studio.core.text.values import Json, JsonObject, object_of, parse_json


def calls_of_rows(path: Path, tool: ToolId, schema: JsonObject) -> tuple[SavedCall, ...]:
    """Return the calls that the rows of a CSV, JSONL, JSON or YAML file ask for.

    Args:
        path: the file.
        tool: the tool.
        schema: of its arguments; a text of a CSV file becomes what the schema wants there.

    Raises:
        SavedCallsError: the file cannot be read, or no column of it is an argument.
    """
    try:
        cases = read_dataset(DatasetReference(path.name), path).cases
    except DatasetError as error:
        raise SavedCallsError(str(error)) from None
    properties = object_of(schema.get("properties"))
    calls = tuple(
        SavedCall(case.id or f"{path.stem} {number}", tool, _arguments(case, properties))
        for number, case in enumerate(cases, 1)
    )
    if not any(call.arguments for call in calls):
        names = ", ".join(properties) or "none"
        raise SavedCallsError(
            f"{path.name}: no column is an argument of {tool.name}; its arguments are {names}"
        )
    return calls


def _arguments(case: ExperimentCase, properties: Mapping[str, Json]) -> dict[str, Json]:
    """Return the cells of a row by column, also those that mean something else in an experiment."""
    own: dict[str, Json] = {"id": case.id, "expected": case.expected, "tags": list(case.tags)}
    cells = {**{name: value for name, value in own.items() if value}, **case.variables}
    return {
        name: _typed(value, properties[name])
        for name, value in cells.items()
        if name in properties and value != ""
    }


def _typed(value: Json, schema: Json) -> Json:
    """Return a text's JSON value if the schema wants another type than text."""
    if not isinstance(value, str) or not isinstance(schema, Mapping):
        return value
    kinds = schema.get("type")
    wanted = kinds if isinstance(kinds, list) else [kinds]
    if "string" in wanted or (wanted == [None] and "enum" in schema):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value
