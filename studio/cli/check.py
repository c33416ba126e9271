"""`check`: the problems of prompt files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from studio.cli.arguments import add_trust, prompt_files, trust_of
from studio.cli.exit_codes import FINE, PROBLEMS
from studio.cli.findings import check_file, report, shown_path
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Problem, Severity
from studio.core.text.values import Json


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `check`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files or folders")
    parser.add_argument("--json", action="store_true", help="write findings as JSON")
    add_trust(parser, "what they refer to is read")
    parser.set_defaults(action=_check)


def _check(options: argparse.Namespace) -> int:
    code = FINE
    found = []
    trust = trust_of(options, *options.files)
    for path in prompt_files(options.files):
        document, problems = check_file(path, trust)
        if options.json:
            found += [_finding_json(document, problem) for problem in problems]
            if any(problem.severity is not Severity.HINT for problem in problems):
                code = PROBLEMS
        else:
            code = max(code, report(document, problems))
    if options.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
    return code


def _finding_json(document: PromptDocument, problem: Problem) -> dict[str, Json]:
    start = document.source.position(problem.span.start)
    end = document.source.position(problem.span.end)
    return {
        "file": shown_path(document.source.path),
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "severity": str(problem.severity),
        "code": problem.code,
        "message": problem.message,
        "fixes": [fix.title for fix in problem.fixes],
    }
