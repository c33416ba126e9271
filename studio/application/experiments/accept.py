"""Accepting an answer: it is written to its row as the expected one, and can be taken back."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from studio.application.words import tr
from studio.core.experiments.results.result import ResultRow
from studio.core.prompty.edit.edits import write_scalar
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.atomic_file import write_atomically
from studio.core.text.bounded_file import read_bounded
from studio.core.text.foreign_json import parse_json
from studio.core.text.source import SourceText
from studio.core.text.values import Json


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
    if read_bounded(path).decode("utf-8") != old:
        raise AcceptError(tr("{name} has changed meanwhile.").format(name=path.name))
    write_atomically(path, new)


def accept_answer(experiment: Path, row: ResultRow, answer: str) -> AcceptedAnswer:
    """The change that makes an answer the expected one of its row.

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
    try:
        text = read_bounded(path).decode("utf-8")
    except OSError as error:
        raise AcceptError(f"{path.name}: {error.strerror or error}") from None
    match path.suffix.lower():
        case ".csv":
            after = _in_csv(text, line, row, answer)
        case ".jsonl" | ".ndjson":
            after = _in_jsonl(text, line, row, answer)
        case ".yaml" | ".yml":
            after = _in_yaml(text, line, row, answer)
        case _:
            raise AcceptError(
                tr("{name} is not written: rows of JSON are edited by hand.").format(name=path.name)
            )
    return AcceptedAnswer(path, text, after)


def _gone(row: ResultRow) -> AcceptError:
    return AcceptError(tr("Row {number} is not there any more.").format(number=row.number))


def _in_csv(text: str, line: int, row: ResultRow, answer: str) -> str:
    """The text with one cell of one record written; every other byte stays."""
    lines = text.splitlines(keepends=True)
    reader = csv.reader(iter(lines))
    head = [each.strip().lstrip("\ufeff") for each in next(reader, [])]
    if "expected" not in head:
        raise AcceptError(tr("The file has no column `expected`; add one to its first line."))
    before = reader.line_num
    for cells in reader:
        if before + 1 == line:
            if not _is_row(dict(zip(head, cells, strict=False)), row):
                raise _gone(row)
            cells[head.index("expected")] = answer
            out = StringIO()
            ending = "\r\n" if lines[before].endswith("\r\n") else "\n"
            csv.writer(out, lineterminator=ending).writerow(cells)
            return "".join([*lines[:before], out.getvalue(), *lines[reader.line_num :]])
        before = reader.line_num
    raise _gone(row)


def _in_jsonl(text: str, line: int, row: ResultRow, answer: str) -> str:
    lines = text.splitlines(keepends=True)
    try:
        value: Any = parse_json(lines[line - 1])
    except (IndexError, ValueError):
        raise _gone(row) from None
    inner = value.get("item") if isinstance(value.get("item"), dict) else value
    variables = inner.get("vars") if isinstance(inner.get("vars"), dict) else inner
    if not _is_row(variables, row):
        raise _gone(row)
    inner["expected"] = answer
    lines[line - 1] = json.dumps(value, ensure_ascii=False) + "\n"
    return "".join(lines)


def _in_yaml(text: str, line: int, row: ResultRow, answer: str) -> str:
    """`expected` beside the `vars` of the case; the rest of the text stays as it is."""
    source = SourceText(text)
    entries = read_yaml(text).entries
    found = next(
        (
            each
            for each in entries
            if each.path[-1:] == ("vars",) and source.position(each.key.start).line >= line
        ),
        None,
    )
    if found is None:
        raise _gone(row)
    written = write_scalar(answer)
    held = next((each for each in entries if each.path == (*found.path[:-1], "expected")), None)
    if held is not None:
        return text[: held.value.start] + written + text[held.value.end :]
    at = source.position(found.key.start)
    start = source.offset(type(at)(at.line, 1))
    before = text[start : found.key.start]
    if "{" in before:  # {vars: {…}}
        return f"{text[: found.key.start]}expected: {written}, {text[found.key.start :]}"
    indent = " " * len(before)
    return f"{text[: found.key.start]}expected: {written}\n{indent}{text[found.key.start :]}"


def _is_row(found: Mapping[str, Json], row: ResultRow) -> bool:
    """Whether a record still holds the values that were asked."""
    asked = row.facts.get("vars")
    if not isinstance(asked, Mapping):
        return True
    return all(
        str(found.get(name, value)) == str(value)
        for name, value in asked.items()
        if name != "expected" and not isinstance(value, list | dict | bool | float)
    )
