"""`experiment generate`: generate rows with a model and show them before they are written."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from studio.application.experiments import cases
from studio.application.experiments.plan import ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.application.trust import is_trusted
from studio.cli.arguments import add_trust, trust_of
from studio.cli.terminal import FINE, PROBLEMS, USAGE, agreed, tell, whole
from studio.core.experiments.datasets import DatasetError, read_dataset
from studio.core.experiments.values import DatasetReference
from studio.core.models.base import ModelError
from studio.core.models.connections import user_connections
from studio.core.models.secrets import secret_store
from studio.core.prompty.parse import parse
from studio.core.text.amounts import counted
from studio.core.text.files import read_bounded, read_text
from studio.core.text.values import JsonObject, reason_of


def add_generate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `generate`."""
    parser.add_argument(
        "prompt", type=Path, metavar="PROMPT", help="prompt for whose inputs rows are generated"
    )
    parser.add_argument(
        "--model",
        default="",
        metavar="NAME",
        help="a connection, or connection:model (default: the prompt's own)",
    )
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar="KIND",
        help=f"{', '.join(cases.ROW_KINDS)}, or your own words (default: all of these)",
    )
    parser.add_argument(
        "--count",
        type=whole(1, cases.MOST_COUNT),
        default=3,
        metavar="N",
        help=f"number of rows of each kind, at most {cases.MOST_COUNT} (default: 3)",
    )
    parser.add_argument("--about", default="", metavar="TEXT", help="what the prompt is for")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.jsonl", help="add the rows to this dataset"
    )
    parser.add_argument("--yes", action="store_true", help="send and write without asking")
    add_trust(parser, "files and variables it names are read")
    parser.set_defaults(action=_generate)


def _generate(options: argparse.Namespace) -> int:
    connections = user_connections()
    services = ExperimentServices(trust_of(options, options.prompt), connections, secret_store())
    try:
        document = parse(read_text(options.prompt, encoding="utf-8-sig"), options.prompt.resolve())
        trusted = is_trusted(options.prompt.resolve(), services.trust)
        choice = cases.generator_choice(document, options.model, services, trusted=trusted)
        kinds = tuple(options.kind) or tuple(cases.ROW_KINDS)
        asked = cases.RowRequest(kinds, options.count, options.about, _earlier(options.output))
        model = choice.declaration.id or choice.connection.model
        sent = counted(len(kinds), "request")
        if not agreed(f"Send {sent} to {choice.connection.name} {model}?", yes=options.yes):
            tell("prompt-studio: nothing was sent")
            return PROBLEMS
        found = asyncio.run(cases.generate_rows(document, choice, services, asked, trusted=trusted))
    except (OSError, UnicodeDecodeError) as error:
        tell(f"prompt-studio: {options.prompt}: {reason_of(error)}")
        return USAGE
    except (ExperimentError, DatasetError) as error:
        tell(f"prompt-studio: {error}")
        return USAGE
    except ModelError as error:
        tell(f"prompt-studio: {error} {error.hint}".rstrip())
        return PROBLEMS
    return _show(options, found)


def _show(options: argparse.Namespace, found: cases.GeneratedRows) -> int:
    for row in found.rows:
        print(row.line)
    for sentence in found.left_out:
        tell(f"prompt-studio: {sentence}")
    if not found.rows:
        return PROBLEMS
    if options.output is None:
        return FINE
    if not agreed(f"Add {counted(len(found.rows), 'row')} to {options.output}?", yes=options.yes):
        tell("prompt-studio: nothing was written")
        return FINE
    try:
        _append(options.output, [row.line for row in found.rows])
    except OSError as error:
        tell(f"prompt-studio: {options.output}: {error.strerror}")
        return PROBLEMS
    return FINE


def _earlier(path: Path | None) -> tuple[JsonObject, ...]:
    """Return the values of the existing rows of a dataset.

    Raises:
        DatasetError: the file is not a dataset in JSON Lines.
    """
    if path is None or not path.exists():
        return ()
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise DatasetError(f"{path.name}: rows are added to datasets of JSON lines (.jsonl) only")
    found = read_dataset(DatasetReference(path.name), path)
    return tuple(case.variables for case in found.cases)


def _append(path: Path, lines: Sequence[str]) -> None:
    before = read_bounded(path) if path.exists() else b""
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    with path.open("ab") as file:
        file.write(gap + "".join(f"{line}\n" for line in lines).encode("utf-8"))
