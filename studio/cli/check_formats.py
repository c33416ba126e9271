"""Findings in the forms that people and other programs read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from urllib.parse import quote

from studio import __version__
from studio.application.document.checked_file import CheckedFile, finding_as_json
from studio.cli.findings import shown_path
from studio.cli.terminal import printable
from studio.core.text.amounts import counted
from studio.core.text.problem import Problem, Severity
from studio.core.text.values import Json
from studio.core.text.workflow_commands import command_property, command_text

_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.HINT: "36"}


def as_text(found: Sequence[CheckedFile], *, color: bool = False) -> str:
    """A line each, as compilers write them: `file:line:column: severity code message`."""
    lines = []
    for file, problem in _each(found):
        place = file.source.position(problem.span.start)
        word = str(problem.severity)
        if color:
            word = f"\x1b[{_COLORS[problem.severity]}m{word}\x1b[0m"
        where = f"{shown_path(file.source.path)}:{place.line}:{place.column}"
        words = printable(f"{problem.code} {problem.message}")
        lines.append(f"{printable(where)}: {word} {words}\n")
    return "".join(lines)


def as_json(found: Sequence[CheckedFile]) -> str:
    """A list of findings."""
    made = [
        finding_as_json(file, problem, shown_path(file.source.path))
        for file, problem in _each(found)
    ]
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def as_github(found: Sequence[CheckedFile]) -> str:
    """Workflow commands that GitHub shows beside the lines of a change."""
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "notice"}
    lines = []
    for file, problem in _each(found):
        start, end = _place(file, problem.span.start), _place(file, problem.span.end)
        where = {
            "file": _posix(file),
            "line": start[0],
            "col": start[1],
            "endLine": end[0],
            "endColumn": end[1],
            "title": problem.code,
        }
        options = ",".join(f"{key}={command_property(str(value))}" for key, value in where.items())
        message = command_text(problem.message)
        lines.append(printable(f"::{words[problem.severity]} {options}::{message}") + "\n")
    return "".join(lines)


def as_sarif(found: Sequence[CheckedFile]) -> str:
    """SARIF 2.1.0, which code scanning reads."""
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}
    codes = sorted({problem.code for _, problem in _each(found)})
    results: list[Json] = []
    for file, problem in _each(found):
        start, end = _place(file, problem.span.start), _place(file, problem.span.end)
        region: Json = {
            "startLine": start[0],
            "startColumn": start[1],
            "endLine": end[0],
            "endColumn": end[1],
        }
        results.append(
            {
                "ruleId": problem.code,
                "ruleIndex": codes.index(problem.code),
                "level": levels[problem.severity],
                "message": {"text": problem.message},
                "locations": [
                    {
                        "physicalLocation": {
                            "artifactLocation": {"uri": _uri(file)},
                            "region": region,
                        }
                    }
                ],
            }
        )
    driver: Json = {
        "name": "prompt-studio",
        "version": __version__,
        "rules": [{"id": code} for code in codes],
    }
    log: Json = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def as_junit(found: Sequence[CheckedFile]) -> str:
    """A test case for each file; its findings are its failure."""
    from xml.etree import ElementTree as ET

    failed = sum(bool(file.problems) for file in found)
    suite = ET.Element(
        "testsuite", name="prompt-studio check", tests=str(len(found)), failures=str(failed)
    )
    for file in found:
        case = ET.SubElement(suite, "testcase", classname="check", name=_posix(file))
        if file.problems:
            text = as_text([file])
            failure = ET.SubElement(case, "failure", message=_count(len(file.problems)))
            failure.text = "".join(each if each in "\n\t" or each >= " " else "?" for each in text)
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


FORMATS: Mapping[str, Callable[[Sequence[CheckedFile]], str]] = MappingProxyType(
    {
        "text": as_text,
        "json": as_json,
        "github": as_github,
        "sarif": as_sarif,
        "junit": as_junit,
    }
)
"""By the name that `--format` takes."""


def _count(findings: int) -> str:
    return counted(findings, "finding")


def _each(found: Iterable[CheckedFile]) -> Iterable[tuple[CheckedFile, Problem]]:
    return ((file, problem) for file in found for problem in file.problems)


def _place(file: CheckedFile, offset: int) -> tuple[int, int]:
    place = file.source.position(offset)
    return place.line, place.column


def _posix(file: CheckedFile) -> str:
    return shown_path(file.source.path).replace("\\", "/")


def _uri(file: CheckedFile) -> str:
    """A URI reference (RFC 3986): relative below the working directory, `file:` elsewhere."""
    shown = PurePath(shown_path(file.source.path))
    return shown.as_uri() if shown.is_absolute() else quote(shown.as_posix())
