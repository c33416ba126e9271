"""Cases of a prompt: its files of rows, and the experiment that they are with columns."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from studio.application.experiments.plan import (
    ExperimentChoices,
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.words import tr
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.declarations import output_schema
from studio.core.prompty.parse import parse
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.files import read_text
from studio.core.text.naming import free_name
from studio.core.text.values import Json, JsonObject, parse_json, reason_of

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
_OF_THE_PROMPT = (".json", ".yaml", ".yml")
"""Files that may hold anything: they are cases where their name begins as the prompt's."""

_FLAT = frozenset(("string", "integer", "number", "float", "boolean", "image", "file", "audio"))


@dataclass(frozen=True, slots=True)
class CaseColumn:
    """A column of answers."""

    name: str = "this text"
    """Unique in the table."""

    prompt: str = ""
    """File beside the prompt, with `@revision` for one of git; empty for the prompt itself."""

    provider: str = ""
    """Connection, or `provider:model`; empty for the prompt's own."""


@dataclass(frozen=True, slots=True)
class CasesTable:
    """Cases of a prompt with columns of answers: an experiment without a file of its own."""

    prompt: Path
    """The prompt's file."""

    rows: Path | None = None
    """File of the cases; None asks with the samples of the prompt."""

    columns: tuple[CaseColumn, ...] = (CaseColumn(),)
    """The first one is the text in the editor."""

    at_once: int = 8
    """Requests under way at most."""

    judge: str = ""
    """Connection that decides what a judge decides; empty for none."""

    @property
    def path(self) -> Path:
        """The name under which its results are kept."""
        return self.prompt.with_name(f"{self.prompt.stem}.cases")

    def text(self, document: PromptDocument) -> str:
        """Return the text of the experiment that gives the same cells and verdicts.

        Args:
            document: the prompt, whose declared outputs are checked.
        """
        checks: list[Json] = []
        schema = output_schema(document.outputs)
        if schema is not None:
            checks.append({"type": "is-json", "value": schema})
        if document.input("expected") is None:
            checks.append({"type": "expected"})
        variants: dict[str, Json] = {}
        for each in self.columns:
            column: dict[str, Json] = {"prompt": each.prompt or self.prompt.name}
            variants[each.name] = column | ({"provider": each.provider} if each.provider else {})
        made: dict[str, Json] = {"variants": variants, "tests": [self._place_of_rows()]}
        judge: dict[str, Json] = {"options": {"provider": self.judge}} if self.judge else {}
        made["defaultTest"] = {"assert": checks, **judge}
        made["evaluateOptions"] = {"maxConcurrency": self.at_once}
        if len(variants) > 1:
            made["baseline"] = self.columns[0].name
        return "".join(f"{line}\n" for line in write_yaml(made))

    def _place_of_rows(self) -> str:
        if self.rows is None:
            return "samples"
        folder = self.prompt.parent
        near = self.rows.is_relative_to(folder)
        return self.rows.relative_to(folder).as_posix() if near else str(self.rows)


def plan_cases(
    table: CasesTable, services: ExperimentServices, on_rows: Callable[[int], None] | None = None
) -> ExperimentPlan:
    """Plan the cells of a table; rows that cannot be asked stay, each with its reason.

    Args:
        table: the cases.
        services: what they are asked with; the text of an open editor counts.
        on_rows: told now and then how many rows were read since it was told last.

    Raises:
        ExperimentError: the table cannot be planned; each line of the text is one reason.
    """
    path = table.prompt.resolve()
    try:
        draft = services.drafts.get(path)
        text = read_text(path, encoding="utf-8-sig") if draft is None else draft
    except (OSError, UnicodeDecodeError) as error:
        raise ExperimentError(f"{path.name}: {reason_of(error)}") from None
    choices = ExperimentChoices(keeps_faults=True)
    try:
        return plan_experiment(
            table.path, services, choices, table.text(parse(text, path)), on_rows
        )
    except ExperimentError as error:
        place = re.compile(rf"^{re.escape(table.path.name)}:\d+:\d+: ", re.MULTILINE)
        raise ExperimentError(place.sub("", str(error)), error.unconnected) from None


def pasted_rows(text: str, columns: Sequence[str]) -> list[JsonObject]:
    """Return the rows of a text from a sheet, a CSV file or JSON; none where it holds none.

    Args:
        text: a list of objects, a line of JSON each, or a table, with or without a head.
        columns: names of the table's columns, in order, for a table without a head.
    """
    whole = text.strip()
    if whole.startswith(("[", "{")):
        with suppress(ValueError):
            return _objects(parse_json(whole))
        with suppress(ValueError):
            return _objects([parse_json(line) for line in whole.splitlines()])
    delimiter = "\t" if "\t" in whole.partition("\n")[0] else ","
    lines = [each for each in csv.reader(io.StringIO(whole), delimiter=delimiter) if any(each)]
    if not lines:
        return []
    head = [each.strip() for each in lines[0]]
    names = columns
    if set(head) & set(columns) and len(set(head)) == len(head):
        names, lines = head, lines[1:]
    return [dict(zip(names, line, strict=False)) for line in lines]


def _objects(value: Json) -> list[JsonObject]:
    items = value if isinstance(value, list) else [value]
    return [dict(item) for item in items if isinstance(item, Mapping)]


def case_files(prompt: Path) -> list[Path]:
    """Return the files beside a prompt that may hold its cases, those with its name first."""
    own: list[Path] = []
    others: list[Path] = []
    for path in sorted(prompt.parent.iterdir()):
        is_own = path.name.startswith(f"{prompt.stem}.") and ".experiment." not in path.name
        if path.suffix.lower() in (_TABLES + _OF_THE_PROMPT if is_own else _TABLES):
            (own if is_own else others).append(path)
    return [*own, *others]


def new_case_file(document: PromptDocument, prompt: Path) -> Path:
    """Return the file for a prompt's first case: a table if a table can hold its inputs."""
    is_flat = all(each.kind in _FLAT for each in document.inputs)
    return prompt.with_name(f"{prompt.stem}.cases{'.csv' if is_flat else '.jsonl'}")


def free_path(prompt: Path, ending: str = ".experiment.yaml") -> Path:
    """Return a free path beside a prompt, for an experiment or another version of it."""

    def path(stem: str) -> Path:
        return prompt.with_name(f"{stem}{ending}")

    return path(free_name(prompt.stem, lambda stem: path(stem).exists(), "-{}"))


def with_item(text: str, key: str, item: Json) -> str:
    """Return an experiment's text with one more item in a list of its own; the rest stays as it is.

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


def _block(key: str, items: list[Json]) -> str:
    return "".join(f"{line}\n" for line in write_yaml({key: items}))


def _item(key: str, item: Json, indent: int) -> str:
    """Return one item of the list, at the column of its other dashes."""
    lines = write_yaml({key: [item]})[1:]
    own = len(lines[0]) - len(lines[0].lstrip(" "))
    return "".join(f"{' ' * indent}{line[own:]}\n" for line in lines)
