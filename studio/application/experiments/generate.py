"""Rows that a model invents from a prompt's inputs, one request for each kind of case.

What comes back is data: values that fit the inputs' declarations, never a role, a tool or a
reference. `add_rows` gives the change that adds rows; nothing is
written before the user has seen them.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from jsonschema.validators import Draft202012Validator

from studio.application.connections.model import Answerers
from studio.application.experiments.plan import (
    ExperimentChoices,
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.providers import choice_for
from studio.application.run.start.session import begin_run
from studio.application.words import tr
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.options import RunOptions
from studio.core.experiments.assertions.structure import objects_in
from studio.core.experiments.datasets import DatasetError, is_set_file
from studio.core.experiments.file.cases import plain_expected
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.results.cells import ResultRow
from studio.core.experiments.row_edits import with_rows, with_value
from studio.core.experiments.values import DatasetReference, ProviderEntry
from studio.core.models.choice import ModelChoice
from studio.core.paths import resource
from studio.core.patterns import with_bounded_patterns
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.declarations import output_schema, property_schema
from studio.core.prompty.parse import parse
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.files import read_bounded, read_text, write_atomically
from studio.core.text.naming import free_name
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, parse_json, reason_of

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
        variants: JsonDict = {}
        for each in self.columns:
            column: JsonDict = {"prompt": each.prompt or self.prompt.name}
            variants[each.name] = column | ({"provider": each.provider} if each.provider else {})
        made: JsonDict = {"variants": variants, "tests": [self._place_of_rows()]}
        judge: JsonDict = {"options": {"provider": self.judge}} if self.judge else {}
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
            return _mappings_in(parse_json(whole))
        with suppress(ValueError):
            return _mappings_in([parse_json(line) for line in whole.splitlines()])
    delimiter = "\t" if "\t" in whole.partition("\n")[0] else ","
    lines = [each for each in csv.reader(io.StringIO(whole), delimiter=delimiter) if any(each)]
    if not lines:
        return []
    head = [each.strip() for each in lines[0]]
    names = columns
    if set(head) & set(columns) and len(set(head)) == len(head):
        names, lines = head, lines[1:]
    return [dict(zip(names, line, strict=False)) for line in lines]


def _mappings_in(value: Json) -> list[JsonObject]:
    items = value if isinstance(value, list) else [value]
    return [dict(item) for item in items if isinstance(item, Mapping)]


def case_files(prompt: Path) -> list[Path]:
    """Return the files beside a prompt that may hold its cases, those with its name first."""
    own: list[Path] = []
    others: list[Path] = []
    for path in sorted(prompt.parent.iterdir()):
        is_own = path.name.startswith(f"{prompt.stem}.") and ".experiment." not in path.name
        if path.name.endswith(".calls.jsonl"):
            continue  # the answers of tools
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


# Accepting an answer: it is written to its row as the expected one, and can be taken back.


class AcceptError(Exception):
    """An answer that cannot be written to its row; the text says why."""


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """A change of one file, not yet written."""

    path: Path
    """The dataset, or the experiment file."""

    before: str
    """Its text, to take the change back."""

    after: str
    """Its text with the answer."""

    def write(self) -> None:
        """Write the change.

        Raises:
            AcceptError: the file was changed meanwhile.
            OSError: it cannot be written.
        """
        _replace(self.path, self.before, self.after)

    def undo(self) -> None:
        """Take the change back.

        Raises:
            AcceptError: the file was changed meanwhile.
            OSError: it cannot be written.
        """
        _replace(self.path, self.after, self.before)


def _replace(path: Path, old: str, new: str) -> None:
    if (read_bounded(path).decode("utf-8") if path.exists() else "") != old:
        raise AcceptError(tr("{name} has changed meanwhile.").format(name=path.name))
    if new:
        write_atomically(path, new)
    else:
        path.unlink()


def accept_answer(experiment: Path, row: ResultRow, answer: str) -> AcceptedAnswer:
    """Return the change that makes an answer the expected one of its row.

    Args:
        experiment: the experiment file.
        row: the row, as its result keeps it.
        answer: the answer.

    Raises:
        AcceptError: the row is not there any more, or has no room for it.
    """
    name, line = row.facts.get("file"), row.facts.get("line")
    if not isinstance(line, int):
        raise AcceptError(tr("The row has no place in a file."))
    path = experiment.parent / str(name) if name else experiment
    held = object_of(row.facts.get("vars"))
    words = plain_expected(answer)
    return changed_rows(path, lambda text: with_value(text, path, line, "expected", words, held))


def changed_rows(path: Path, change: Callable[[str], str]) -> AcceptedAnswer:
    """Return the change of a file of rows; a file that is not there begins empty.

    Raises:
        AcceptError: the file cannot be read, or the change has no place in it.
    """
    try:
        before = read_bounded(path).decode("utf-8") if path.exists() else ""
        return AcceptedAnswer(path, before, change(before))
    except OSError as error:
        raise AcceptError(f"{path.name}: {error.strerror or error}") from None
    except (UnicodeDecodeError, DatasetError) as error:
        raise AcceptError(reason_of(error)) from None


def kept_case(document: PromptDocument, prompt: Path, row: JsonObject) -> AcceptedAnswer:
    """Return the change that adds a row to the cases of a prompt, of which it may be the first.

    Raises:
        AcceptError: the file of its cases cannot be read, or the row has no place in it.
    """
    own = (each for each in case_files(prompt) if each.name.startswith(f"{prompt.stem}."))
    file = next((each for each in own if not is_set_file(each)), None)
    file = file or new_case_file(document, prompt)
    return changed_rows(file, lambda text: with_rows(text, file, [row]))


ROW_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "typical": "usual cases, as most users would write them",
        "empty": "empty or missing values: empty texts, only spaces, empty lists, nulls where the "
        "schema allows them",
        "long": "very long values, of several hundred words",
        "language": "values in other languages and scripts, each row in another one",
        "injection": "values that try to give the prompt other instructions, or to end its format",
        "ambiguous": "values that can be understood in two ways, or that contradict themselves",
    }
)
"""Kinds of rows by name, and what the model is asked for."""

MOST_COUNT = 50
"""Rows of one kind that are asked for at most."""

_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class RowRequest:
    """A request for new rows."""

    kinds: tuple[str, ...] = tuple(ROW_KINDS)
    """Names in `ROW_KINDS`, or words of the user's own."""

    count: int = 3
    """Rows of each kind."""

    about: str = ""
    """Purpose of the prompt; empty uses its description."""

    earlier: tuple[JsonObject, ...] = ()
    """Values of rows that exist."""


@dataclass(frozen=True, slots=True)
class GeneratedRow:
    """A row that fits the prompt's inputs and is like no other."""

    kind: str
    """Its kind, kept as its tag."""

    values: JsonObject
    """Values by input name."""

    @property
    def line(self) -> str:
        """The row as a line of a JSONL dataset."""
        row = {"vars": dict(self.values), "tags": [self.kind]}
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class GeneratedRows:
    """The outcome of a request for rows."""

    rows: tuple[GeneratedRow, ...]
    """In the order of kinds."""

    left_out: tuple[str, ...]
    """Reason why something is not among them, a sentence each."""

    cost: float | None = None
    """US dollars; None where the price is not known."""


def generator_choice(
    document: PromptDocument, provider: str, services: ExperimentServices, *, trusted: bool
) -> ModelChoice:
    """Return the model that will be asked.

    Raises:
        ExperimentError: there is none of that name, or the prompt has no inputs.
    """
    if not document.inputs:
        raise ExperimentError(
            tr("The prompt declares no inputs, so there is nothing to invent values for.")
        )
    choice = choice_for(ProviderEntry(provider), document, services.connections, trusted=trusted)
    if choice is None:
        raise ExperimentError(tr("`echo` invents nothing."))
    return choice


async def generate_rows(
    document: PromptDocument,
    choice: ModelChoice,
    services: ExperimentServices,
    asked: RowRequest,
    *,
    trusted: bool,
) -> GeneratedRows:
    """Ask for rows of each kind, one request after the other.

    Raises:
        ModelError: the model cannot be opened.
    """
    schema = _schema(document)
    path = resource("generators", "rows.prompty")
    generator = parse(read_text(path), path)
    answerers = Answerers(services.connections, services.secrets, services.embedded)
    model = answerers.open(choice, document.source.path, trusted=trusted)
    found: list[GeneratedRow] = []
    left_out: list[str] = []
    names = {each.name for each in document.inputs}  # a dataset has other columns too
    earlier = [{name: each[name] for name in each if name in names} for each in asked.earlier]
    seen = {_likeness(each) for each in earlier}
    cost: float | None = 0.0
    try:
        for kind in asked.kinds:
            known = [*earlier[-20:], *(each.values for each in found)]
            inputs: JsonDict = {
                "schema": json.dumps(schema, ensure_ascii=False),
                "about": asked.about or document.description or document.name,
                "kind": ROW_KINDS.get(kind, kind),
                "count": max(1, min(asked.count, MOST_COUNT)),
                "earlier": "\n".join(json.dumps(dict(each), ensure_ascii=False) for each in known),
            }
            options = RunOptions(protocol="native", headless=True)
            state = await begin_run(RunPlan(generator, inputs, model, options=options)).go()
            spent = state.usage.cost
            cost = cost + spent if cost is not None and spent is not None else None
            if state.answer is None:
                words = state.error.message if state.error is not None else state.status
                left_out.append(tr("{kind}: no answer ({said})").format(kind=kind, said=words))
                continue
            found += _rows(kind, state.answer, schema, seen, left_out)
    finally:
        await model.close()
    return GeneratedRows(tuple(found), tuple(left_out), cost)


def _schema(document: PromptDocument) -> JsonDict:
    properties: JsonDict = {each.name: property_schema(each) for each in document.inputs}
    required: list[Json] = [each.name for each in document.inputs if each.required]
    return {"type": "object", "properties": properties, "required": required}


def _rows(
    kind: str, text: str, schema: JsonObject, seen: set[str], left_out: list[str]
) -> Iterator[GeneratedRow]:
    """Yield the rows of a reply that can be used; `seen` and `left_out` grow."""
    validator = with_bounded_patterns(Draft202012Validator)(schema)
    properties = schema["properties"]
    assert isinstance(properties, Mapping)
    number = 0
    for number, item in enumerate(_objects(text), 1):
        values = {name: value for name, value in item.items() if name in properties}
        error = next(iter(validator.iter_errors(values)), None)
        if error is not None or not values:
            words = error.message if error is not None else tr("it has none of the inputs")
            left_out.append(
                tr("{kind}, row {number}: {said}").format(kind=kind, number=number, said=words)
            )
            continue
        likeness = _likeness(values)
        if likeness in seen:
            left_out.append(
                tr("{kind}, row {number}: like an earlier row").format(kind=kind, number=number)
            )
            continue
        seen.add(likeness)
        yield GeneratedRow(kind, values)
    if not number:
        left_out.append(tr("{kind}: the reply holds no JSON list of rows").format(kind=kind))


def _objects(text: str) -> Iterator[JsonObject]:
    """Yield the objects of a reply: of its lists, or one after another."""
    for value, _ in objects_in(text):
        items: Iterable[Json] = value if isinstance(value, Sequence) else (value,)
        yield from (each for each in items if isinstance(each, Mapping))


def _likeness(values: JsonObject) -> str:
    """Return a text that is the same for rows equal but for case, spaces and punctuation."""
    text = json.dumps(dict(values), sort_keys=True, ensure_ascii=False)
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(each if each.isalnum() else " " for each in folded).split())


def rows_file(experiment: Path, text: str) -> Path:
    """Return the file for new rows: the experiment's own JSON lines file if it has one."""
    for each in read_experiment(text, experiment).cases:
        if isinstance(each, DatasetReference) and each.path.lower().endswith(_LINES):
            path = (experiment.parent / each.path).resolve()
            if path.is_relative_to(experiment.parent.resolve()) and path.is_file():
                return path
    return experiment


def add_rows(experiment: Path, rows: Sequence[GeneratedRow]) -> AcceptedAnswer:
    """Return the change that adds rows; nothing is written yet.

    Raises:
        ExperimentError: the experiment cannot be added to.
        OSError: a file cannot be read.
    """
    path = rows_file(experiment, read_bounded(experiment).decode("utf-8-sig", "replace"))
    items: list[JsonObject] = [{"vars": dict(row.values), "tags": [row.kind]} for row in rows]

    def added(text: str) -> str:
        if path != experiment:
            return with_rows(text, path, items)
        for item in items:
            text = with_item(text, "tests", item)
        return text

    try:
        return changed_rows(path, added)
    except AcceptError as error:
        raise ExperimentError(str(error)) from None
