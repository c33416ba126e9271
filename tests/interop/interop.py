"""`make interop`: every bundled prompt goes through every program that an export is for.

Prints a table; ends with 1 where a program reads something else and the export did not name it.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from studio.core.export.source import ExportValues, make_source
from studio.core.export.targets import find_target
from studio.core.export.written_keys import make_checked
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import references_beside
from tests.interop import llmock_judge
from tests.interop.clients import MISSING, compared
from tests.interop.environments import ROOT, build
from tests.interop.readers import READERS, Reader

PROMPTS = sorted((ROOT / "resources").glob("*/*.prompty"))


def read_one(path: Path, target: str, python: Path, reader: Reader) -> tuple[str, str]:
    """What became of one prompt: `same`, `named`, `blocked` or `silent`, and the difference."""
    form = find_target(target)
    assert form is not None
    document = parse(path.read_text(encoding="utf-8"), path)
    references = references_beside(path, trusted=True, masked=True)
    source = make_source(document, form, ExportValues(), references)
    made = make_checked(form, source)
    if made.blocked:
        return "blocked", made.problems[0].message
    with tempfile.TemporaryDirectory() as folder:
        told = reader(python, source, made, Path(folder))
    return ("same" if not told else "named" if made.losses else "silent"), told


def main(paths: list[Path]) -> int:
    """Build the environments, ask each program, print the table."""
    silent: list[str] = []
    print(f"{'export':12} {'program':12} {'same':>5} {'named':>6} {'blocked':>8} {'silent':>7}")
    for target, (environment, reader) in READERS.items():
        python = build(environment)
        if python is None:
            print(f"{target:12} {environment:12} not installed here")
            continue
        counts: Counter[str] = Counter()
        for path in paths:
            state, told = read_one(path, target, python, reader)
            counts[state] += 1
            if state == "silent":
                silent.append(f"{target} {path.name}: {told}")
        row = "".join(f"{counts[each]:>{width}}" for each, width in COLUMNS.items())
        print(f"{target:12} {environment:12}{row}")
    for name, told in compared():
        print(f"{name:20} {told or 'sends the same body and reads the same reply'}")
        if told and told != MISSING:
            silent.append(f"{name}: {told}")
    if llmock_judge.main():
        silent.append("llmock: its verdict on the client is above")
    print(*silent, sep="\n")
    return 1 if silent else 0


COLUMNS = {"same": 6, "named": 7, "blocked": 9, "silent": 8}

if __name__ == "__main__":
    sys.exit(main([Path(each) for each in sys.argv[1:]] or PROMPTS))
