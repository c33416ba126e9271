"""`check`: find the problems of prompt files."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path, PurePath
from types import MappingProxyType
from urllib.parse import quote

from studio import __version__
from studio.application.document.checked_file import (
    CheckedFile,
    check_text,
    finding_as_json,
    fix_all,
    unreadable,
)
from studio.application.document.folder_files import prompt_files
from studio.application.document.project_settings import CheckSettings, settings_for
from studio.cli.arguments import add_trust, read_text, shown_path, trust_of
from studio.cli.terminal import FINE, PROBLEMS, UsageError, printable
from studio.core.project_file import SettingsError
from studio.core.prompty.evaluation import in_worker
from studio.core.text.amounts import counted
from studio.core.text.source import Problem, Severity, SourceText
from studio.core.text.values import Json, reason_of
from studio.core.text.workflow_commands import command_property, command_text
from studio.core.tools.trust.store import TrustStore

# Output formats for people and other programs.

_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.HINT: "36"}


def as_text(found: Sequence[CheckedFile], *, color: bool = False) -> str:
    """Format one problem per line, as compilers do: `file:line:column: severity code message`."""
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
    """Format the problems as a JSON list."""
    made = [
        finding_as_json(file, problem, shown_path(file.source.path))
        for file, problem in _each(found)
    ]
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def as_github(found: Sequence[CheckedFile]) -> str:
    """Format workflow commands, which GitHub shows beside the lines of a change."""
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
    """Format SARIF 2.1.0, which code scanning reads."""
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
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }
    return json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def as_junit(found: Sequence[CheckedFile]) -> str:
    """Format JUnit XML: a test case for each file, whose failure lists its problems."""
    from xml.etree import ElementTree as ET

    failed = sum(bool(file.problems) for file in found)
    suite = ET.Element(
        "testsuite", name="prompt-studio check", tests=str(len(found)), failures=str(failed)
    )
    for file in found:
        case = ET.SubElement(suite, "testcase", classname="check", name=_posix(file))
        if file.problems:
            text = as_text([file])
            failure = ET.SubElement(case, "failure", message=counted(len(file.problems), "finding"))
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
"""Formatting function for each value of `--format`."""


def _each(found: Iterable[CheckedFile]) -> Iterable[tuple[CheckedFile, Problem]]:
    return ((file, problem) for file in found for problem in file.problems)


def _place(file: CheckedFile, offset: int) -> tuple[int, int]:
    place = file.source.position(offset)
    return place.line, place.column


def _posix(file: CheckedFile) -> str:
    return shown_path(file.source.path).replace("\\", "/")


def _uri(file: CheckedFile) -> str:
    """Return a URI reference (RFC 3986): relative if below the working directory, else `file:`."""
    shown = PurePath(shown_path(file.source.path))
    return shown.as_uri() if shown.is_absolute() else quote(shown.as_posix())


_STDIN = Path("-")


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `check`."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="files or folders; - for stdin"
    )
    parser.add_argument(
        "--stdin-name", type=Path, metavar="FILE", help="file name for the text on stdin"
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="output format (default: %(default)s)"
    )
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help="same as --format json"
    )
    parser.add_argument(
        "--select",
        metavar="CODES",
        help="report only these: codes or patterns, such as unused-*,yaml-syntax",
    )
    parser.add_argument("--ignore", metavar="CODES", help="do not report these")
    parser.add_argument(
        "--severity",
        choices=[each.value for each in Severity],
        help="lowest severity that makes the exit code 1 (default: warning)",
    )
    parser.add_argument("--exit-zero", action="store_true", help="always exit with 0")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="apply the first fix of each finding, and report the rest",
    )
    parser.add_argument(
        "--portability",
        action="store_true",
        help="also report what Prompty's TypeScript and C# runtimes render differently",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="files to skip, as in a .gitignore",
    )
    parser.add_argument(
        "--no-ignore", action="store_true", help="also check files that a .gitignore excludes"
    )
    add_trust(parser, "files and variables the prompts name are read")
    parser.set_defaults(action=_check)


def _check(options: argparse.Namespace) -> int:
    settings_of = cache(partial(_settings, options))
    trust = trust_of(options, *(path for path in options.files if path != _STDIN))
    jobs = []
    for path in _files(options, settings_of):
        name = (options.stdin_name or Path("stdin")) if path == _STDIN else path
        jobs.append((path, settings_of(name.resolve().parent)))

    def check(job: tuple[Path, CheckSettings]) -> CheckedFile:
        return _fixed(*job, trust) if options.fix else _look(job[0], options, job[1], trust)

    def failed(job: tuple[Path, CheckSettings], problem: Problem) -> CheckedFile:
        return CheckedFile(SourceText("", job[0]), (problem,))

    found = list(in_worker(jobs, check, failed))
    is_counted = any(
        settings.counts(problem)
        for (_, settings), one in zip(jobs, found, strict=True)
        for problem in one.problems
    )
    with suppress(BrokenPipeError):  # a closed output pipe must not change the exit code
        if options.format == "text":
            sys.stdout.write(as_text(found, color=_has_colors()))
        else:
            sys.stdout.write(FORMATS[options.format](found))
    return PROBLEMS if is_counted and not options.exit_zero else FINE


def _settings(options: argparse.Namespace, folder: Path) -> CheckSettings:
    """Return the settings of a folder's project, overridden by the arguments.

    Raises:
        UsageError: the settings cannot be read.
    """
    try:
        settings = settings_for(folder)
    except SettingsError as error:
        raise UsageError(str(error)) from None
    if options.portability:
        settings = replace(settings, portability=True)
    if options.select is not None:
        settings = replace(settings, select=_codes(options.select))
    if options.ignore is not None:
        settings = replace(settings, ignore=_codes(options.ignore))
    if options.severity is not None:
        settings = replace(settings, severity=Severity(options.severity))
    if options.exclude is not None:
        settings = replace(settings, exclude=tuple(options.exclude))
    return settings


def _codes(text: str) -> tuple[str, ...]:
    return tuple(code.strip() for code in text.split(",") if code.strip())


def _files(
    options: argparse.Namespace, settings_of: Callable[[Path], CheckSettings]
) -> Iterator[Path]:
    """Yield the named files and the files of the named folders.

    Raises:
        UsageError: a path does not exist, or `--fix` is used with standard input.
    """
    for path in options.files:
        if path == _STDIN:
            if options.fix:
                raise UsageError("--fix changes files; there is none on stdin")
            yield path
        elif path.is_dir():
            exclude = settings_of(path.resolve()).exclude
            yield from prompt_files([path], exclude, ignored=options.no_ignore, with_others=True)
        elif path.exists():
            yield path
        else:
            raise UsageError(f"{path}: no such file")


def _look(
    path: Path, options: argparse.Namespace, settings: CheckSettings, trust: TrustStore
) -> CheckedFile:
    if path == _STDIN:
        name = options.stdin_name.resolve() if options.stdin_name else None
        try:
            return check_text(sys.stdin.buffer.read().decode("utf-8"), name, trust, settings)
        except UnicodeDecodeError:
            return unreadable(name or _STDIN, "the text on stdin is not UTF-8")
    return _read_file(path, settings, trust)


def _read_file(path: Path, settings: CheckSettings, trust: TrustStore) -> CheckedFile:
    try:
        text = read_text(path)
    except UsageError as error:
        return unreadable(path, str(error).partition(": ")[2] or str(error))
    return check_text(text, path.resolve(), trust, settings)


def _fixed(path: Path, settings: CheckSettings, trust: TrustStore) -> CheckedFile:
    """Apply the fixes of the reported problems to a file, and write it if it changed."""
    from studio.core.text.files import write_atomically

    before = _read_file(path, settings, trust)
    one, made = fix_all(before, trust, settings.shows, settings=settings)
    if made:
        try:
            write_atomically(path, one.source.text)
        except OSError as error:
            return unreadable(path, f"the fixes cannot be written: {reason_of(error)}")
    return one


def _has_colors() -> bool:
    """Return whether to use colors: no with NO_COLOR, yes with FORCE_COLOR, else on a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
