"""Fuzzing of the files that come from elsewhere: `make fuzz`, or

    python -m tests.fuzz.fuzz_files SECONDS [SEED]

Imports, experiment files, input sets, files of saved calls, journals and traces. Whole files are
changed in their structure (a value by one of another kind, a key twice, a part left out) and in
their letters, and read; journals and traces are also written as a report. Each reader may refuse a
file in its own words; any other exception is a finding. The changes follow from the seed, so that a
finding happens again.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from studio.application.exchange.runs import take_text
from studio.application.experiments.plan import ExperimentServices, plan_experiment
from studio.application.experiments.prompts import ExperimentError
from studio.application.inputs.sets import InputFileError, read_sets
from studio.application.tools.saved_calls import SavedCallsError, read_calls
from studio.core.experiments.datasets import DatasetError, read_dataset
from studio.core.experiments.values import DatasetReference
from studio.core.imports.imported import ImportFailure
from studio.core.imports.recognize import import_text
from studio.core.models.connections import EMBEDDED, Connection, Connections
from studio.core.models.secrets import secret_store
from studio.core.prompty.parse import parse
from studio.core.prompty.yaml.reader import write_yaml
from studio.core.runs.codec import JournalError
from studio.core.runs.exchange import FORMS, export_run
from studio.core.runs.store import RunStore, StoreError
from studio.core.tools.trust.store import TrustStore
from tests.fuzz.seeds_of_files import EXPERIMENTS, IMPORTS

ROOT = Path(__file__).resolve().parents[2]

ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    float("nan"),
    "",
    "x",
    "{{",
    "{% if",
    "\ud800",
    "\x00",
    "user:\n",
    "file://../x",
    "file://",
    "*",
    "${env:HOME}",
    [],
    [None],
    [[]],
    ["a", 1],
    {},
    {"": None},
    {"role": 5},
    {"type": []},
    {"a": {"b": [1, {"c": None}]}},
)
PIECES = (
    *[
        "{{",
        "}}",
        "{%",
        "#each",
        "/each",
        ">",
        "'",
        ":",
        "-",
        "---",
        "[",
        "]",
        "{",
        "}",
        "\x00",
        "\ufeff",
        "&a",
        "*a",
        "!!",
        "|",
        "this.",
        "../",
        ".length",
        "role",
    ],
    *('"', "\n", "\n- ", "media url=", "history"),
)


def changed(value: Any, chance: random.Random) -> Any:
    """Return a copy of a JSON value with one to three places changed."""
    made = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        places = list(_places(made))
        if not places:
            return chance.choice(ODD)
        holder, key = chance.choice(places)
        match chance.randint(0, 4):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[chance.choice((str(key) + "s", "type", "role", "id", "kind"))] = holder[key]
            case 2:
                holder[key] = [holder[key]]
            case 3 if isinstance(holder[key], str):
                holder[key] = letters(holder[key], chance)
            case _:
                holder[key] = copy.deepcopy(chance.choice(ODD))
    return made


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def letters(text: str, chance: random.Random) -> str:
    """Return a text with some of its letters changed."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((0, 0, 1, 5, 40)))
        text = text[:start] + chance.choice((*PIECES, "")) + text[end:]
    return text


def files(chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield names and texts without end: of each kind one after the other."""
    data = ROOT / "tests/data/from_0_1_0"
    journals = [each.read_text(encoding="utf-8") for each in (data / "journals").glob("*.jsonl")]
    traces = [each.read_text(encoding="utf-8") for each in (data.parent / "traces").glob("*")]
    calls = (data / "prompts/calls.jsonl").read_text(encoding="utf-8")
    sets = json.loads((data / "prompts/trip.inputs.json").read_text(encoding="utf-8"))
    while True:
        name, seed = chance.choice(IMPORTS)
        yield f"import.{name}", _file(name, seed, chance)
        yield "a.experiment.yaml", _file("yaml", chance.choice(EXPERIMENTS), chance)
        yield "sets.inputs.json", _file("json", sets, chance)
        yield f"rows.{chance.choice(('json', 'yaml', 'csv'))}", _file("json", [sets], chance)
        yield "calls.jsonl", _lines(calls, chance)
        yield "journal.jsonl", _lines(chance.choice(journals), chance)
        yield "trace.jsonl", _lines(chance.choice(traces), chance)


def _file(name: str, seed: Any, chance: random.Random) -> str:
    if isinstance(seed, str):
        return letters(seed, chance)
    value = changed(seed, chance)
    if name.endswith("json") or not isinstance(value, dict):
        text = json.dumps(value)
    else:
        text = "\n".join(write_yaml(json.loads(json.dumps(value)))) + "\n"
    return letters(text, chance) if chance.random() < 0.2 else text


def _lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines()
    at = chance.randrange(len(lines))
    try:
        lines[at] = json.dumps(changed(json.loads(lines[at]), chance))
    except ValueError:
        lines[at] = letters(lines[at], chance)
    if chance.random() < 0.1:
        lines.insert(chance.randrange(len(lines)), lines[at])
    return "\n".join(lines)


_SERVICES = ExperimentServices(
    TrustStore(),
    Connections(
        (EMBEDDED, Connection("small", "compatible", model="m", base_url="http://127.0.0.1:9"))
    ),
    secret_store(),
)


def read(name: str, text: str, folder: Path, store: RunStore) -> None:
    """Read one file as the studio does."""
    path = folder / name
    if name.startswith("import."):
        made = import_text(text, path)
        parse(made.text)
        made.experiment_text(folder / "a.prompty")
        json.dumps(dict(made.input_sets))
        return
    if name.endswith(".experiment.yaml"):
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        plan_experiment(path, _SERVICES)
        return
    if name in ("journal.jsonl", "trace.jsonl"):
        for run in take_text(text, store):
            store.summary(run)
            export_run([*store.events(run)], FORMS[0], "0")
        return
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    if name == "calls.jsonl":
        read_calls(path)
    elif name == "sets.inputs.json":
        read_sets(folder / "sets.prompty")
    read_dataset(DatasetReference(path.name), path)


REFUSALS = (
    DatasetError,
    ExperimentError,
    ImportFailure,
    InputFileError,
    SavedCallsError,
    JournalError,
    StoreError,
)


def findings(seed: int, goes_on: Callable[[int], bool]) -> dict[str, str]:
    """Read changed files; returns the different exceptions by their places, with their files.

    Args:
        seed: what the changes follow from.
        goes_on: whether to read on after a number of files.
    """
    chance = random.Random(seed)
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as place:
        store = RunStore(Path(place) / "runs.sqlite")
        for count, (name, text) in enumerate(files(chance)):
            if not goes_on(count):
                break
            try:
                read(name, text, Path(place), store)
            except REFUSALS:
                continue
            except Exception as error:  # noqa: BLE001 - each is a finding
                where = traceback.extract_tb(error.__traceback__)[-1]
                key = f"{type(error).__name__} {where.filename}:{where.lineno}: {error}"
                found.setdefault(key, f"{name}: {text}")
        store.close()
    return found


def main(seconds: float, seed: int) -> int:
    """Read changed files for a time; returns the number of different findings."""
    ends = time.monotonic() + seconds
    counts: list[int] = []

    def goes_on(count: int) -> bool:
        counts.append(count)
        return time.monotonic() < ends

    found = findings(seed, goes_on)
    for key, text in found.items():
        print(f"FOUND {key}\n{text[:2000]!r}")
    print(f"fuzz_files: seed {seed}, {counts[-1]} files, {len(found)} findings")
    return len(found)


if __name__ == "__main__":
    given = [*sys.argv[1:], *("1200", str(int(time.time())))[len(sys.argv) - 1 :]]
    sys.exit(1 if main(float(given[0]), int(given[1])) else 0)
