"""Read files of rows: CSV, JSONL, JSON and YAML. No text in them is a template."""

import csv
import errno
import random
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from studio.core.experiments.file.cases import assertion_of_column, read_case
from studio.core.experiments.file.nodes import ExperimentFindings, YamlNode
from studio.core.experiments.values import AssertionSpec, DatasetReference, ExperimentCase
from studio.core.prompty.document import FrontMatterEntry
from studio.core.prompty.templates.jinja.conditions import ConditionError, compile_condition
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.amounts import counted, size
from studio.core.text.files import open_regular, open_text, read_text
from studio.core.text.source import SourceText
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    KeyPath,
    parse_json,
    reason_of,
    text_or_json,
)

MOST_ROWS = 200_000
"""Maximum number of rows from one file without `take`."""

_LONGEST_CELL = 4_000_000
_LONGEST_FILE = 64_000_000
"""Maximum size of a JSON or YAML file, which is read at once, in bytes."""

_REPORTED_ROWS = 2_000
_VALUES = (".yaml", ".yml", ".json")
"""Suffixes of files with the values of one row."""

_NOTHING: JsonObject = {}
"""Shared by all rows without metadata and options, since there may be very many."""

_OWN_COLUMNS = frozenset(("id", "tags", "expected"))


class DatasetError(Exception):
    """Raised when a file of rows cannot be used; the text says which line, and what to do."""


@dataclass(frozen=True, slots=True)
class DatasetRows:
    """The rows of a file."""

    cases: tuple[ExperimentCase, ...]
    """The rows in the order of the file."""

    warnings: tuple[str, ...] = ()
    """Warnings, one sentence each."""


def read_dataset(
    reference: DatasetReference, path: Path, on_rows: Callable[[int], None] | None = None
) -> DatasetRows:
    """Read the rows of a file.

    Args:
        reference: the experiment's reference to the file.
        path: the file.
        on_rows: called repeatedly with the number of rows read since its last call.

    Raises:
        DatasetError: the file is missing, or a row is invalid.
    """
    warnings: list[str] = []
    try:
        found = _cases(reference, path, warnings)
        if on_rows is not None:
            found = _counted(found, on_rows)
        kept = _where(found, reference.where, path)
        if reference.take is not None:
            return DatasetRows(tuple(_drawn(kept, reference.take, reference.seed)), tuple(warnings))
        cases = tuple(islice(kept, MOST_ROWS + 1))
    except FileNotFoundError:
        raise DatasetError(f"{path.name}: the file does not exist beside the experiment") from None
    except OSError as error:
        raise DatasetError(f"{path.name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DatasetError(_encoding_fault(path)) from None
    if len(cases) > MOST_ROWS:
        raise DatasetError(
            f"{path.name} has more than {MOST_ROWS:,} rows; draw a sample with `take: 1000`"
        )
    if not cases and not reference.where:
        warnings.append(f"{path.name} contains no rows.")
    return DatasetRows(cases, tuple(warnings))


def _encoding_fault(path: Path) -> str:
    """Return where a file is not UTF-8, as words for a message."""
    with open_regular(path) as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            return f"{path.name}: the text is UTF-16; save the file as UTF-8"
        file.seek(0)
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                place = f"{path.name}, line {number}"
                return (
                    f"{place}: the byte {error.object[error.start]:#04x} is not UTF-8; save "
                    "the file as UTF-8"
                )
    return f"{path.name}: the text is not UTF-8; save the file as UTF-8"


def _counted(
    cases: Iterator[ExperimentCase], on_rows: Callable[[int], None]
) -> Iterator[ExperimentCase]:
    for number, case in enumerate(cases, 1):
        if number % _REPORTED_ROWS == 0:
            on_rows(_REPORTED_ROWS)
        yield case


def dataset_columns(reference: DatasetReference, path: Path) -> tuple[str, ...]:
    """Return the value names of the first row of a file; empty if it cannot be read."""
    try:
        first = next(_cases(reference, path, []), None)
    except (DatasetError, OSError, UnicodeDecodeError):
        return ()
    return tuple(first.variables) if first is not None else ()


def _cases(
    reference: DatasetReference, path: Path, warnings: list[str]
) -> Iterator[ExperimentCase]:
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return _csv(reference, path, warnings)
        case ".jsonl" | ".ndjson":
            return _jsonl(reference, path)
        case _:
            return _document(reference, path)


def _drawn(cases: Iterator[ExperimentCase], count: int, seed: int) -> list[ExperimentCase]:
    """Draw some cases at random (reservoir sampling), in the order of the file."""
    chance = random.Random(seed)
    held: list[tuple[int, ExperimentCase]] = []
    for number, case in enumerate(cases):
        if len(held) < count:
            held.append((number, case))
        else:
            at = chance.randint(0, number)
            if at < count:
                held[at] = (number, case)
    return [case for _, case in sorted(held, key=lambda each: each[0])]


def _where(cases: Iterator[ExperimentCase], condition: str, path: Path) -> Iterator[ExperimentCase]:
    """Yield the cases whose columns meet a condition."""
    if not condition:
        yield from cases
        return
    for case in cases:
        values: JsonDict = {
            "tags": list(case.tags),
            "id": case.id,
            "expected": case.expected,
            "metadata": dict(case.metadata),
            **case.variables,
        }
        try:
            if compile_condition(condition, tuple(values)).holds(values):
                yield case
        except ConditionError as error:
            raise DatasetError(f"{path.name}: where {condition!r}: {error}") from None


# CSV ----------------------------------------------------------------------------------------------


def table_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return a CSV file's header, and the line and cells of each record, for display.

    Raises:
        DatasetError: a line is invalid.
        OSError: the file cannot be read.
        UnicodeDecodeError: the file is not UTF-8.
    """
    records = _csv_records(path, [])
    _, head = next(records)
    return head, list(islice(records, MOST_ROWS))


def _csv(reference: DatasetReference, path: Path, warnings: list[str]) -> Iterator[ExperimentCase]:
    records = _csv_records(path, warnings)
    _, head = next(records)
    for line, cells in records:
        yield _row(dict(zip(head, cells, strict=True)), reference, path, line)


def _csv_records(path: Path, warnings: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the records of a file, each with its first line."""
    csv.field_size_limit(_LONGEST_CELL)
    with open_text(path, newline="") as file:
        head_line = file.readline()
        file.seek(0)
        delimiter, last = csv_delimiter(head_line, path), [""]
        reader = csv.reader(_without_nul(file, path, last), delimiter=delimiter)
        try:
            head = [name.strip() for name in next(reader, [])]
            _check_head(head, path, warnings)
            yield 1, head
            line = before = reader.line_num
            for cells in reader:
                line, before = before + 1, reader.line_num
                if not cells:
                    continue
                if len(cells) != len(head):
                    raise DatasetError(
                        f"{path.name}, line {line}: the row has {counted(len(cells), 'cell')} and "
                        f"the head has {len(head)}; quote cells with commas or line breaks"
                    )
                yield line, cells
            _check_end(last[0], delimiter, path, line, reader.line_num)
        except csv.Error as error:
            raise DatasetError(f"{path.name}, line {reader.line_num}: {error}") from None


def _without_nul(lines: Iterable[str], path: Path, last: list[str]) -> Iterator[str]:
    line = ""
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise DatasetError(f"{path.name}, line {number}: the line contains a NUL character")
        yield line
    last[0] = line


def _check_end(last: str, delimiter: str, path: Path, first: int, number: int) -> None:
    """Refuse a file that ends inside quotes: Python's reader would accept its last record.

    Args:
        last: the last line.
        delimiter: delimiter of cells.
        path: the file.
        first: number of the line where the last record begins.
        number: number of the last line.
    """
    rest = f'"{last}' if number > first else last
    try:
        list(csv.reader([rest], delimiter=delimiter, strict=True))
    except csv.Error as error:
        if "unexpected end" in str(error):
            words = "a quotation mark is not closed: the file is truncated, or a mark is missing"
            raise DatasetError(f"{path.name}, line {first}: {words}") from None


def csv_delimiter(head: str, path: Path) -> str:
    """Return a table's delimiter; spreadsheets with decimal commas use semicolons."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    return next((each for each in (",", ";", "\t") if each in head), ",")


def _check_head(head: list[str], path: Path, warnings: list[str]) -> None:
    if not any(head):
        raise DatasetError(f"{path.name}: the first line must name the columns")
    twice = sorted({name for name in head if name and head.count(name) > 1})
    if twice:
        raise DatasetError(f"{path.name}, line 1: the column {twice[0]!r} occurs twice")
    for name in head:
        if name.startswith("__") and not _is_known(name):
            warnings.append(f"{path.name}: the column {name!r} is unknown; it is ignored.")


def _is_known(name: str) -> bool:
    exact = (
        "__expected",
        "__threshold",
        "__metric",
        "__description",
        "__prefix",
        "__suffix",
        "__metadata",
        "__providerOutput",
    )
    numbered = name.startswith("__expected") and name.removeprefix("__expected").isdecimal()
    return name in exact or numbered or name.startswith(("__metadata:", "__config:__expected"))


def _row(
    cells: Mapping[str, str], reference: DatasetReference, path: Path, line: int
) -> ExperimentCase:
    """Build a case from the cells of a line."""
    metric = cells.get("__metric", "")
    assertions: list[AssertionSpec] = []
    stated: JsonDict = {}
    for name, text in cells.items():
        if name == "__expected" or _expected_number(name):
            stated[name] = text
        if name not in stated or not text.strip():
            continue
        try:
            spec = assertion_of_column(text)
        except ValueError as error:
            raise DatasetError(f"{path.name}, line {line}: {error}") from None
        number = _expected_number(name) or 1
        given = next(
            (
                cells[key]
                for key in (
                    f"__config:__expected{number}:threshold",
                    *(("__config:__expected:threshold",) if number == 1 else ()),
                )
                if key in cells
            ),
            "",
        )
        threshold = _float(given, path, line) if given else spec.threshold
        assertions.append(replace(spec, metric=metric or spec.metric, threshold=threshold))
    metadata: JsonDict = {}
    for name, text in cells.items():
        if name.startswith("__metadata:") and text:
            key = name.removeprefix("__metadata:")
            metadata[key.removesuffix("[]")] = (
                [each.strip() for each in text.split(",")] if key.endswith("[]") else text
            )
    least = cells.get("__threshold", "").strip()
    options = {key: cells[f"__{key}"] for key in ("prefix", "suffix") if cells.get(f"__{key}")}
    variables: JsonDict = {
        name: text for name, text in cells.items() if name and not name.startswith("__")
    }
    case = ExperimentCase(
        variables=variables,
        assertions=tuple(assertions),
        stated=stated or _NOTHING,
        description=cells.get("__description", ""),
        metadata=metadata or _NOTHING,
        threshold=_float(least, path, line) if least else None,
        options=options or _NOTHING,
    )
    return _placed(_named(case, reference), path, line)


def _expected_number(name: str) -> int:
    digits = name.removeprefix("__expected")
    return int(digits) if name.startswith("__expected") and digits.isdecimal() else 0


def _float(text: str, path: Path, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise DatasetError(
            f"{path.name}, line {line}: the threshold {text!r} is not a number"
        ) from None


# JSON and YAML ------------------------------------------------------------------------------------


def _jsonl(reference: DatasetReference, path: Path) -> Iterator[ExperimentCase]:
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                value = parse_json(line.rstrip())
            except ValueError as error:
                words = getattr(error, "msg", str(error))
                column = getattr(error, "colno", 1)
                raise DatasetError(
                    f"{path.name}, line {number}, column {column}: no JSON ({words})"
                ) from None
            yield _record(value, reference, path, number)


def _document(reference: DatasetReference, path: Path) -> Iterator[ExperimentCase]:
    try:
        text = read_text(path, _LONGEST_FILE, encoding="utf-8-sig")
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise DatasetError(
            f"{path.name} has more than {size(_LONGEST_FILE)}; "
            "write large datasets as JSONL or CSV, which are read line by line"
        ) from None
    entries: Sequence[FrontMatterEntry] = ()
    source = SourceText(text, path)
    if path.suffix.lower() == ".json":
        try:
            value = parse_json(text)
        except ValueError as error:
            raise DatasetError(f"{path.name}: no JSON ({reason_of(error)})") from None
    else:
        reading = read_yaml(text)
        if reading.broken or any(each.code == "yaml-too-large" for each in reading.problems):
            problem = reading.problems[0]
            line = source.position(problem.span.start).line
            raise DatasetError(f"{path.name}, line {line}: {problem.message}")
        value, entries = reading.value, reading.entries
    for row in document_rows(value, entries, source, path):
        case = _record(row.value, reference, path, row.line)
        yield replace(case, description=str(row.path[0])) if is_set_file(path) else case


def is_set_file(path: Path) -> bool:
    """Return whether a file contains the input sets of a prompt: an object of named rows."""
    return path.name.endswith(".inputs.json")


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A row of a JSON or YAML document."""

    path: KeyPath
    """Keys that lead to the row."""

    value: Json
    """Content of the row."""

    line: int
    """Line of the row in YAML, its number in JSON; from 1."""


def document_rows(
    value: Json, entries: Sequence[FrontMatterEntry], source: SourceText, path: Path
) -> list[DocumentRow]:
    """Return the rows of a document, in order.

    Args:
        value: content of the document.
        entries: places of its keys and items from the YAML reader; empty for JSON.
        source: text of the document.
        path: the file.

    Raises:
        DatasetError: the document has no list of rows.
    """
    if is_set_file(path) and isinstance(value, Mapping):
        named = enumerate(value.items(), 1)
        return [DocumentRow((name,), item, number) for number, (name, item) in named]
    place = _list_in(value) if isinstance(value, Mapping) else ()
    if isinstance(value, Mapping) and place is None:
        return [DocumentRow((), value, 1)]
    items = value[place[0]] if place and isinstance(value, Mapping) else value
    if not isinstance(items, list):
        raise DatasetError(f"{path.name} must contain a list of rows")
    place = place or ()
    lines = {
        entry.path[-1]: source.position(entry.key.start).line
        for entry in entries
        if len(entry.path) == len(place) + 1 and entry.path[:-1] == place
    }
    return [
        DocumentRow((*place, index), item, lines.get(index, index + 1))
        for index, item in enumerate(items)
    ]


def _list_in(value: JsonObject) -> tuple[str, ...] | None:
    """Return the key of the rows in an object: `tests`, `data`, or its only list of objects.

    An object that only contains a conversation is a single row, like one without such a key.
    """
    for name in ("tests", "data"):
        if value.get(name) is not None:
            return (name,)
    name, only = next(iter(value.items()), ("", None))
    first = only[0] if isinstance(only, list) and only else None
    is_list = len(value) == 1 and isinstance(first, Mapping) and "role" not in first
    return (name,) if is_list else None


def _record(value: Json, reference: DatasetReference, path: Path, line: int) -> ExperimentCase:
    """Build a case from an object: a test with `vars`, an item of OpenAI's Evals, or columns."""
    if not isinstance(value, Mapping):
        raise DatasetError(f"{path.name}, line {line}: a row is an object with names and values")
    if isinstance(value.get("item"), Mapping) and set(value) <= {"item", "sample"}:
        value = value["item"]  # OpenAI Evals: {"item": {…}, "sample": {…}}
        assert isinstance(value, Mapping)
    if not isinstance(value.get("vars"), Mapping) and not _is_test(value):
        columns = {str(key): item for key, item in value.items()}
        if "input" in columns and "target" in columns and "expected" not in columns:
            columns["expected"] = columns["target"]  # Inspect's names: input and target
        return _placed(_named(ExperimentCase(variables=columns), reference), path, line)
    findings = ExperimentFindings()
    node = YamlNode(value, (), {}, findings)
    case = read_case(node, {}, SourceText("", path))
    wrong = next((each for each in findings.problems if each.severity == "error"), None)
    if wrong is not None:
        raise DatasetError(f"{path.name}, line {line}: {wrong.message}")
    return _placed(_mapped(case, reference), path, line)


def _is_test(value: JsonObject) -> bool:
    """Return whether an object is a test without values: it has assertions or files."""
    files = value.get("vars")
    first = files[0] if isinstance(files, list) and files else files
    is_file = isinstance(first, str) and (first.startswith("file://") or first.endswith(_VALUES))
    return "assert" in value or is_file


def _placed(case: ExperimentCase, path: Path, line: int) -> ExperimentCase:
    return replace(case, file=path.name, line=line)


def _mapped(case: ExperimentCase, reference: DatasetReference) -> ExperimentCase:
    """Return a case with its columns mapped as the experiment says."""
    if not reference.columns:
        return case
    variables = dict(case.variables)
    for column, meaning in reference.columns.items():
        if column in variables:
            value = variables.pop(column)
            variables[meaning.removeprefix("vars.")] = value
    return replace(case, variables=variables)


def _named(case: ExperimentCase, reference: DatasetReference) -> ExperimentCase:
    """Return a case with `id`, `tags` and `expected` from its columns, which also stay values."""
    case = _mapped(case, reference)
    variables = case.variables
    tags, expected, identity = (variables.get(name) for name in ("tags", "expected", "id"))
    listed = [str(each) for each in tags] if isinstance(tags, list) else str(tags or "").split(",")
    return replace(
        case,
        id=str(identity) if isinstance(identity, str | int) else "",
        tags=tuple(each.strip() for each in listed if each.strip()),
        expected=text_or_json(expected) if expected is not None else None,
    )


def unread_columns(cases: Iterable[ExperimentCase], read: frozenset[str]) -> tuple[str, ...]:
    """Return the columns that no prompt of the experiment uses, in order, without `id` etc."""
    names = dict.fromkeys(name for case in cases for name in case.variables)
    return tuple(name for name in names if name not in read and name not in _OWN_COLUMNS)
