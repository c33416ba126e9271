"""`prompt-studio export`: a checked file, or the list of what stands in the way."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from studio.cli import FINE, PROBLEMS, UsageError, add_inputs, prepared_prompt, report
from studio.core.export.target import ExportSource
from studio.core.export.targets import TARGETS, find_target
from studio.core.export.write import write_atomically


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `export`."""
    add_inputs(parser)
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help="file to write")
    parser.add_argument(
        "--target",
        default=TARGETS[0].name,
        choices=[target.name for target in TARGETS],
        help="what to make of it (default: %(default)s)",
    )
    parser.set_defaults(action=_export)


def _export(options: argparse.Namespace) -> int:
    target = find_target(options.target)
    if target is None:
        raise UsageError(f"there is no target {options.target!r}")
    # The file itself needs no values: samples stand in while its messages are compared.
    prepared = prepared_prompt(options, preview=target.name == TARGETS[0].name)
    made = target.make(ExportSource(prepared))
    report(prepared.document, made.problems)
    if made.blocked:
        print("prompt-studio: nothing was written: mend the errors first", file=sys.stderr)
        return PROBLEMS
    if options.out is None:
        sys.stdout.write(made.text)
        return FINE
    try:
        write_atomically(options.out, made.text)
    except OSError as error:
        raise UsageError(f"{options.out}: {error.strerror or error}") from None
    return FINE
