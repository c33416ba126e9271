"""Edits of files of rows: change a value, add rows, delete rows. All other bytes stay.

Rows are identified by the line number from `read_dataset`.
"""

import csv
import json
from collections.abc import Collection, Mapping, Sequence
from io import StringIO
from pathlib import Path

from studio.core.experiments import datasets
from studio.core.prompty.document import FrontMatterEntry
from studio.core.prompty.edit.edits import write_scalar
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.source import SourceText
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath, parse_json, text_or_json

_TABLES = (".csv", ".tsv")
_LINES = (".jsonl", ".ndjson")


def with_value(
    text: str, path: Path, line: int, name: str, value: Json, held: JsonObject | None = None
) -> str:
    """Return the text of a file with one value of a row changed.

    Args:
        text: text of the file.
        path: path of the file, whose suffix decides the format.
        line: line of the row.
        name: the column.
        value: the new value.
        held: values that the row must still have, to detect changes.

    Raises:
        DatasetError: the row is missing, or cannot store the value.
    """
    suffix = path.suffix.lower()
    if suffix in _TABLES:
        return _with_cell(text, path, line, name, text_or_json(value), held or {})
    if suffix in _LINES:
        return _with_line(text, path, line, name, value, held or {})
    return _with_entry(text, path, line, name, value, held or {})


def with_rows(text: str, path: Path, rows: Sequence[JsonObject]) -> str:
    """Return the text of a file with rows appended; a table gets the columns that it lacks.

    Args:
        text: text of the file; an empty table gets the columns of the first row.
        path: path of the file, whose suffix decides the format.
        rows: values by column.

    Raises:
        DatasetError: rows cannot be added to such a file.
    """
    suffix = path.suffix.lower()
    gap = "" if not text or text.endswith("\n") else "\n"
    if suffix in _TABLES:
        records = _records(text, path)
        known = records[0].cells if records else list(rows[0])
        for name in dict.fromkeys(name for row in rows for name in row if name not in known):
            text = _with_column(text, records, 0, name, "") if records else text
            records = _records(text, path)
        if records:
            delimiter, head = records[0].delimiter, records[0].cells
        else:
            delimiter, head = "\t" if suffix == ".tsv" else ",", list(rows[0]) if rows else []
        lines = [] if records else [list(head)]
        lines += [[text_or_json(row.get(name, "")) for name in head] for row in rows]
        ending = _line_end(text)
        made = (delimiter.join(_quoted(each, delimiter) for each in line) or '""' for line in lines)
        return text + (ending if gap else "") + "".join(f"{line}{ending}" for line in made)
    if suffix in _LINES:
        lines_of = (json.dumps(dict(row), ensure_ascii=False) for row in rows)
        return text + gap + "".join(f"{line}\n" for line in lines_of)
    if suffix == ".json":
        return _with_json_rows(text, path, rows)
    if text.strip() and not isinstance(read_yaml(text).value, list):
        raise datasets.DatasetError(f"{path.name} is not a list of rows; add them yourself")
    return text + gap + "".join(f"{line}\n" for line in write_yaml({"rows": list(rows)})[1:])


def without_rows(text: str, path: Path, lines: Collection[int]) -> str:
    """Return the text of a file without the rows at `lines`.

    Raises:
        DatasetError: rows of such a file can only be deleted by hand.
    """
    suffix = path.suffix.lower()
    if suffix in _TABLES:
        gone = [each for each in _records(text, path)[1:] if each.line in lines]
        for record in reversed(gone):
            text = text[: record.start] + text[record.end :]
        return text
    if suffix in _LINES:
        kept = StringIO(text, newline="").readlines()  # a text may hold other line separators
        return "".join(line for number, line in enumerate(kept, 1) if number not in lines)
    raise datasets.DatasetError(f"{path.name}: rows of JSON and YAML must be removed by hand")


# CSV ----------------------------------------------------------------------------------------------


class _Record:
    """A record of a table, with the span of each cell in the text."""

    def __init__(
        self, cells: list[str], line: int, start: int, source: str, delimiter: str
    ) -> None:
        self.cells = cells
        self.line = line
        self.start = start
        self.end = start + len(source)
        self.delimiter = delimiter
        self._body = source.rstrip("\r\n")

    @property
    def content_end(self) -> int:
        """Offset of the end of the last cell."""
        return self.start + len(self._body)

    def span(self, at: int) -> tuple[int, int]:
        """Return the start and end of a cell, including quotes."""
        body, begin, number, is_inside = self._body, 0, 0, False
        for place, character in enumerate(body):
            if character == '"' and body.startswith('"', begin):
                is_inside = not is_inside
            elif character == self.delimiter and not is_inside:
                if number == at:
                    return self.start + begin, self.start + place
                begin, number = place + 1, number + 1
        return self.start + begin, self.content_end


def _records(text: str, path: Path) -> list[_Record]:
    """Return the header of a table and its records; empty for an empty text."""
    whole = text.removeprefix("\ufeff")
    lines = StringIO(whole, newline="").readlines()
    delimiter = datasets.csv_delimiter(lines[0], path) if lines else ","
    reader = csv.reader(iter(lines), delimiter=delimiter)
    made: list[_Record] = []
    start, before = len(text) - len(whole), 0
    try:
        for cells in reader:
            source = "".join(lines[before : reader.line_num])
            names = [each.strip() for each in cells] if not made else cells
            made.append(_Record(names, before + 1, start, source, delimiter))
            start, before = start + len(source), reader.line_num
    except csv.Error as error:
        raise datasets.DatasetError(f"{path.name}, line {reader.line_num}: {error}") from None
    return made


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _quoted(text: str, delimiter: str) -> str:
    if any(each in text for each in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _with_cell(text: str, path: Path, line: int, name: str, value: str, held: JsonObject) -> str:
    records = _records(text, path)
    if not records:
        raise _gone(path, line)
    head = records[0]
    found = next((each for each in records[1:] if each.line == line), None)
    if found is None or not _holds(dict(zip(head.cells, found.cells, strict=False)), held):
        raise _gone(path, line)
    if name not in head.cells:
        return _with_column(text, records, line, name, value)
    at = head.cells.index(name)
    if at >= len(found.cells):
        raise _gone(path, line)
    start, end = found.span(at)
    written = _quoted(value, head.delimiter) or '""' * (len(head.cells) == 1)
    return text[:start] + written + text[end:]


def _with_column(text: str, records: Sequence[_Record], line: int, name: str, value: str) -> str:
    delimiter = records[0].delimiter
    for record in reversed(records):
        cell = {1: name, line: value}.get(record.line, "")
        end = record.content_end
        if record.cells:
            text = text[:end] + delimiter + _quoted(cell, delimiter) + text[end:]
    return text


def _holds(found: JsonObject, held: JsonObject) -> bool:
    """Return whether a record still has the values that were read."""
    return all(
        str(found.get(name, value)) == str(value)
        for name, value in held.items()
        if name != "expected" and not isinstance(value, list | dict | bool | float)
    )


def _gone(path: Path, line: int) -> datasets.DatasetError:
    return datasets.DatasetError(f"{path.name}: the row of line {line} no longer exists")


# JSON and YAML ------------------------------------------------------------------------------------


def _with_line(text: str, path: Path, line: int, name: str, value: Json, held: JsonObject) -> str:
    lines = text.split("\n")
    try:
        row = parse_json(lines[line - 1])
    except (IndexError, ValueError):
        raise _gone(path, line) from None
    if not isinstance(row, dict) or not _holds(_values_of(row), held):
        raise _gone(path, line)
    _values_of(row, name)[name] = value
    end = "\r" if lines[line - 1].endswith("\r") else ""
    lines[line - 1] = json.dumps(row, ensure_ascii=False) + end
    return "\n".join(lines)


def _values_of(row: JsonDict, name: str = "") -> JsonDict:
    """Return the mapping of a row that contains a column: its `vars`, or the row itself."""
    item = row.get("item")
    inner = item if isinstance(item, dict) else row
    values = inner.get("vars")
    return values if isinstance(values, dict) and name != "expected" else inner


def _with_entry(text: str, path: Path, line: int, name: str, value: Json, held: JsonObject) -> str:
    """Return the text of a JSON or YAML document with a value of a row replaced."""
    is_json = path.suffix.lower() == ".json"
    rows, entries = _document(text, path)
    found = next((each for each in rows if each.line == line), None)
    if found is None or not isinstance(found.value, dict):
        raise _gone(path, line)
    if not _holds(_values_of(found.value), held):
        raise _gone(path, line)
    inner = _values_of(found.value, name)
    place = (*found.path, "vars") if inner is found.value.get("vars") else found.path
    is_text = isinstance(value, str) and not is_json
    written = write_scalar(str(value)) if is_text else json.dumps(value, ensure_ascii=False)
    there = entries.get((*place, name))
    first = entries.get((*place, *list(inner)[:1]))
    if there is not None:
        after = text[: there.value.start] + written + text[there.value.end :]
    elif inner and first is not None:
        start = first.key.start
        head = text[text.rfind("\n", 0, start) + 1 : start]
        is_flow = is_json or "{" in head
        gap = ", " if is_flow else "\n" + " " * len(head)
        key = json.dumps(name) if is_json else write_scalar(name)
        after = f"{text[:start]}{key}: {written}{gap}{text[start:]}"
    else:
        raise datasets.DatasetError(f"{path.name}, line {line}: the row is empty; write it by hand")
    again = next((each for each in _document(after, path)[0] if each.path == found.path), None)
    wanted = {**inner, name: value}
    if (
        again is None
        or not isinstance(again.value, dict)
        or _values_of(again.value, name) != wanted
    ):
        raise datasets.DatasetError(f"{path.name}, line {line}: the value cannot be stored there")
    return after


def _document(
    text: str, path: Path
) -> tuple[list[datasets.DocumentRow], dict[KeyPath, FrontMatterEntry]]:
    """Return the rows of a document and the places of its keys."""
    reading, source = read_yaml(text), SourceText(text, path)
    is_json = path.suffix.lower() == ".json"
    value = parse_json(text) if is_json else reading.value
    rows = datasets.document_rows(value, () if is_json else reading.entries, source, path)
    return rows, {each.path: each for each in reading.entries}


def _with_json_rows(text: str, path: Path, rows: Sequence[JsonObject]) -> str:
    """Return JSON with rows appended to a list, or named rows to an object of input sets."""
    value = parse_json(text) if text.strip() else {} if datasets.is_set_file(path) else []
    if datasets.is_set_file(path) and isinstance(value, Mapping):
        stem, count = path.name.removesuffix(".inputs.json"), len(value)
        named = {f"{stem} {count + number}": dict(row) for number, row in enumerate(rows, 1)}
        return json.dumps({**value, **named}, ensure_ascii=False, indent=2) + "\n"
    if not isinstance(value, list):
        raise datasets.DatasetError(f"{path.name} is not a list of rows; add them yourself")
    added = ",\n  ".join(json.dumps(dict(row), ensure_ascii=False) for row in rows)
    closing = "]\n"
    end = text.rindex("]") if text.strip() else 0
    before = text[:end].rstrip() or "["
    return f"{before}{',' if value else ''}\n  {added}\n{text[end:] or closing}"
