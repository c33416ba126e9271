"""Experiments made of what is at hand: saved input sets, and runs that are worth keeping."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from studio.application.experiments.prompts import ExperimentError
from studio.application.words import tr
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.naming import free_name
from studio.core.text.values import Json, JsonObject

_CHECKS = """\
defaultTest:
  assert:
    - type: no-error
    # what every answer must be, for example:
    # - {type: icontains, value: "{{ expected }}"}
    # - {type: latency, threshold: 5000}
"""
_EXPECTED = """\
defaultTest:
  assert:
    - {type: contains, value: "{{ expected }}"}
"""


def free_path(prompt: Path) -> Path:
    """Return a free path for an experiment of a prompt."""

    def path(stem: str) -> Path:
        return prompt.with_name(f"{stem}.experiment.yaml")

    return path(free_name(prompt.stem, lambda stem: path(stem).exists(), "-{}"))


def experiment_of(prompt: Path, sets: Mapping[str, JsonObject]) -> str:
    """Write an experiment that asks a prompt with each saved input set.

    Args:
        prompt: the prompt's file, beside which the experiment will stand.
        sets: values by the name of their set; without any, the samples are one row.
    """
    tests: list[Json] = [
        {"description": name, "vars": dict(values)} for name, values in sets.items()
    ]
    head = write_yaml({"prompts": [prompt.name], "tests": tests or ["samples"]})
    return "\n".join(head) + "\n" + _CHECKS


def experiment_of_run(prompt: Path, values: JsonObject, answer: str, name: str = "") -> str:
    """The text of an experiment with one row: what a run was asked, and its answer."""
    head = write_yaml({"prompts": [prompt.name], "tests": [_row(values, answer, name)]})
    return "\n".join(head) + "\n" + _EXPECTED


def with_row(text: str, values: JsonObject, answer: str, name: str = "") -> str:
    """An experiment's text with one more row; the rest of it stays as it is.

    Args:
        text: the experiment.
        values: the row's values.
        answer: what is expected.
        name: the row in a few words.

    Raises:
        ExperimentError: the text cannot be added to.
    """
    return with_item(text, "tests", _row(values, answer, name))


def with_item(text: str, key: str, item: Json) -> str:
    """An experiment's text with one more item in a list of its own; the rest stays as it is.

    Args:
        text: the experiment.
        key: of the list: `tests` or `prompts`.
        item: what is added.

    Raises:
        ExperimentError: the text cannot be added to.
    """
    reading = read_yaml(text)
    data = reading.value if isinstance(reading.value, Mapping) else None
    if reading.broken or data is None:
        raise ExperimentError(tr("The experiment cannot be read; fix it first."))
    items = data.get(key)
    known: list[Json] = items if isinstance(items, list) else [] if items is None else [items]
    entry = next((each for each in reading.entries if each.path == (key,)), None)
    if entry is None:
        added = f"{text.rstrip()}\n{_block(key, [item])}"
    elif not isinstance(items, list):
        whole = _block(key, [*known, item]).rstrip("\n")
        added = text[: entry.key.start] + whole + text[entry.value.end :]
    elif text[entry.value.start] == "[":
        end = text.rindex("]", entry.value.start, entry.value.end + 1)
        comma = ", " if items else ""
        added = f"{text[:end]}{comma}{json.dumps(item, ensure_ascii=False)}{text[end:]}"
    else:
        places = [each for each in reading.entries if each.path[:1] == (key,)]
        end = max(max(each.value.end, each.key.end) for each in places[1:])
        first = next(each.key for each in places if each.path == (key, 0))
        line = text.rfind("\n", 0, first.start) + 1
        dash = text.find("-", line, first.end + 1)
        until = end if text[end - 1 : end] == "\n" else text.find("\n", end) + 1
        before = text[:until] if until else f"{text}\n"
        added = before + _item(key, item, max(0, dash - line)) + text[len(before) :]
    again = read_yaml(added).value
    if not isinstance(again, Mapping) or {**data, key: [*known, item]} != dict(again):
        raise ExperimentError(tr("It cannot be added to the file; write it by hand."))
    return added


def _row(values: JsonObject, answer: str, name: str) -> dict[str, Json]:
    row: dict[str, Json] = {"description": name} if name else {}
    row["vars"] = dict(values)
    if answer:
        row["expected"] = answer
    return row


def _block(key: str, items: list[Json]) -> str:
    return "".join(f"{line}\n" for line in write_yaml({key: items}))


def _item(key: str, item: Json, indent: int) -> str:
    """One item of the list, at the column of its other dashes."""
    lines = write_yaml({key: [item]})[1:]
    own = len(lines[0]) - len(lines[0].lstrip(" "))
    return "".join(f"{' ' * indent}{line[own:]}\n" for line in lines)
