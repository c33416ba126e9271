"""`make interop`: every bundled prompt goes through every program that an export is for.

Prints a table; ends with 1 where a program reads something else and the export did not name it.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from studio.core.export.target import ExportSource, make_checked
from studio.core.export.targets import find_target
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import references_beside
from studio.core.text.values import Json
from studio.core.wire.request import Provider
from tests.interop import llmock_judge
from tests.interop.bodies import said_by_the_command, sent_by_curl, type_faults, values_of
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
    source = ExportSource(document, _made_up(document), references=references).for_target(form)
    made = make_checked(form, source)
    if made.blocked:
        return "blocked", made.problems[0].message
    with tempfile.TemporaryDirectory() as folder:
        told = reader(python, source, made, Path(folder))
    return ("same" if not told else "named" if made.losses else "silent"), told


def _made_up(document: PromptDocument) -> dict[str, Json]:
    """Return a value for each input that must be given and has no sample."""
    kinds: dict[str, Json] = {
        "integer": 3,
        "float": 1.5,
        "boolean": True,
        "array": [],
        "object": {},
    }
    return {
        item.name: kinds.get(item.kind, f"some {item.name}")
        for item in document.inputs
        if not item.has_sample and not item.has_default and "${" not in item.name
    }


def curl_row(paths: list[Path], provider: Provider) -> tuple[Counter[str], list[str]]:
    """Each prompt's curl command through a real shell: what came of it, what was silent."""
    silent: list[str] = []
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            told = sent_by_curl(path, provider, Path(folder))
        silent += [f"curl-{provider} {path.name}: {told}"] if told else []
    return Counter({"same": len(paths) - len(silent), "silent": len(silent)}), silent


def body_row(paths: list[Path], provider: Provider, python: Path) -> tuple[Counter[str], list[str]]:
    """Each prompt's request body through the types of the provider's own package."""
    bodies = [(provider, said_by_the_command(path, provider, values_of(path))) for path in paths]
    told = dict(zip(paths, type_faults(python, bodies), strict=True))
    silent = [f"{provider} {path.name}: {fault}" for path, fault in told.items() if fault]
    return Counter({"same": len(paths) - len(silent), "silent": len(silent)}), silent


def main(paths: list[Path]) -> int:
    """Build the environments, ask each program, print the table."""
    silent: list[str] = []
    print(f"{'export':22} {'program':12} {'same':>5} {'named':>6} {'blocked':>8} {'silent':>7}")
    for target, (environment, reader) in READERS.items():
        python = build(environment)
        if python is None:
            print(f"{target:22} {environment:12} not installed here")
            continue
        counts: Counter[str] = Counter()
        for path in paths:
            state, told = read_one(path, target, python, reader)
            counts[state] += 1
            if state == "silent":
                silent.append(f"{target} {path.name}: {told}")
        _print(target, environment, counts)
    for provider in PROVIDERS:
        counts, found = curl_row(paths, provider)
        silent += found
        _print(f"curl-{provider}", "sh, curl", counts)
    python = build("script")
    for provider in PROVIDERS if python is not None else ():
        assert python is not None
        counts, found = body_row(paths, provider, python)
        silent += found
        _print(provider, "its types", counts)
    for name, told in compared():
        print(f"{name:20} {told or 'sends the same body and reads the same reply'}")
        if told and told != MISSING:
            silent.append(f"{name}: {told}")
    if llmock_judge.main():
        silent.append("llmock: its verdict on the client is above")
    print(*silent, sep="\n")
    return 1 if silent else 0


def _print(target: str, program: str, counts: Counter[str]) -> None:
    row = "".join(f"{counts[each]:>{width}}" for each, width in COLUMNS.items())
    print(f"{target:22} {program:12}{row}", flush=True)


PROVIDERS: tuple[Provider, ...] = ("openai-chat", "openai-responses", "anthropic")
COLUMNS = {"same": 6, "named": 7, "blocked": 9, "silent": 8}

if __name__ == "__main__":
    sys.exit(main([Path(each) for each in sys.argv[1:]] or PROMPTS))
