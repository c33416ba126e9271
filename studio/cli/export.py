"""`prompt-studio export` and `import`: write a checked file, or list the problems."""

import argparse
import json
import sys
from pathlib import Path

from studio.application.exchange.export import PROGRAMS, NoJudgeError, difference
from studio.application.exchange.judge import judge_names, run_in
from studio.application.inputs.sets import InputFileError, read_sets, sets_path
from studio.application.tools.saved_calls import calls_file
from studio.application.trust import references_of
from studio.cli import arguments
from studio.cli.prepared import offered_tools
from studio.cli.terminal import FINE, PROBLEMS, UsageError, tell, whole
from studio.core.export.target import ExportResult, ExportSource, make_checked
from studio.core.export.targets import TARGETS, all_targets, find_target
from studio.core.imports.imported import Imported, ImportFailure, experiment_path
from studio.core.imports.recognize import import_file
from studio.core.text.amounts import counted
from studio.core.text.files import read_bounded, write_atomically, write_bytes_atomically
from studio.core.text.values import JsonObject


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `export`."""
    arguments.add_inputs(parser)
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help="file to write")
    parser.add_argument(
        "--target",
        default=TARGETS[0].name,
        choices=[target.name for target in all_targets()],
        help="form to write (default: %(default)s)",
    )
    parser.add_argument(
        "--accept-losses",
        action="store_true",
        help="write the file even if something is lost or changed; each loss is named",
    )
    parser.add_argument(
        "--accept-error",
        action="append",
        default=[],
        metavar="CODE",
        help="write the file despite errors with this code; repeat for each code",
    )
    parser.add_argument("--diff", action="store_true", help="show the difference, write nothing")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.add_argument(
        "--run-in",
        choices=judge_names(),
        help="let the target program send the request of the result to a server on this machine, "
        "and list the differences",
    )
    parser.add_argument(
        "--python",
        type=Path,
        metavar="PYTHON",
        help="Python with the package of --run-in, or the program itself (promptfoo, curl)",
    )
    arguments.add_trust(parser, "its tools are listed, and files and variables it names are read")
    parser.set_defaults(action=_export)


def add_import(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `import`."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help="prompt file to write")
    parser.add_argument(
        "--pick",
        type=whole(1),
        default=1,
        metavar="NUMBER",
        help="number of the prompt, if there are several",
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.set_defaults(action=_import)


def _export(options: argparse.Namespace) -> int:
    target = find_target(options.target)
    if target is None:
        raise UsageError(f"there is no target {options.target!r}")
    document = arguments.load(options.file)
    trust = arguments.trust_of(options, options.file)
    arguments.allow_named(options, document, trust)
    source = ExportSource(
        document,
        arguments.given_inputs(options, document),
        _sets(options.file),
        offered_tools(document, trust),
        references=references_of(document.source.path, trust, masked=True),
    ).for_target(target)
    made = make_checked(target, source)
    arguments.report(document, made.problems)
    for each in made.round_trips:
        state = "same request" if each.is_same else each.difference
        tell(f"prompt-studio: round trip, {each.name}: {state}")
    if made.round_trips:
        words = f"by the rules of {made.judge}" if made.judge else "by this program only"
        tell(f"prompt-studio: read back {words}")
    for loss in made.losses:
        tell(f"{options.file}: lost or changed: {loss}")
    if options.run_in is not None and not _judged(options, source, made):
        return PROBLEMS
    if options.diff:
        sys.stdout.write(difference(made, options.out).text)
        return PROBLEMS if made.blocked or made.needs_consent else FINE
    if not made.may_write(errors=options.accept_error, losses=options.accept_losses):
        tell(f"prompt-studio: nothing was written: {_way_out(made, options)}")
        return PROBLEMS
    if options.out is not None and not options.force and _is_other(options.out, made):
        words = "the prompt itself" if _is_same_file(options.out, options.file) else "there already"
        raise UsageError(f"{options.out} is {words}; use --force to overwrite it")
    _put(options.out, made)
    return FINE


def _way_out(made: ExportResult, options: argparse.Namespace) -> str:
    """Return advice about an export that was not written."""
    left = [code for code in made.errors if code not in options.accept_error]
    if made.is_impossible:
        return "fix the errors first"
    words = [f"--accept-error {code}" for code in left]
    if made.needs_consent and not options.accept_losses:
        words.append("--accept-losses")
    how = f"use {' '.join(words)} to write it anyway"
    return f"fix the errors first, or {how}" if left else how


def _judged(options: argparse.Namespace, source: ExportSource, made: ExportResult) -> bool:
    """Return whether the target program reads the file in the same way as the preview.

    Raises:
        UsageError: the program is not installed, or does not read this target.
    """
    forms = PROGRAMS[options.run_in].forms
    if options.target not in forms:
        raise UsageError(f"--run-in {options.run_in} supports --target {' or '.join(forms)}")
    try:
        found = run_in(options.run_in, options.target, source, made, options.python)
    except NoJudgeError as error:
        raise UsageError(str(error)) from None
    for each in found.rounds:
        state = "same request" if each.is_same else each.difference
        tell(f"{found.program}, {each.name}: {state}")
    return all(each.is_same for each in found.rounds) or options.accept_losses


def _is_other(out: Path, made: ExportResult) -> bool:
    """Return whether the file exists with different content."""
    try:
        return out.is_file() and read_bounded(out) != made.content
    except OSError:
        return True


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _sets(path: Path) -> dict[str, JsonObject]:
    """Return the input sets of the prompt, with which the export is verified.

    Raises:
        UsageError: the file of the input sets cannot be read.
    """
    try:
        return read_sets(path)
    except InputFileError as error:
        raise UsageError(str(error)) from None


def _put(out: Path | None, made: ExportResult) -> None:
    """Write the file, or print it without a path.

    Raises:
        UsageError: the file cannot be written; an existing file stays unchanged.
    """
    if out is None:
        sys.stdout.flush()
        if made.data is not None:
            sys.stdout.buffer.write(made.data)
        else:
            sys.stdout.write(made.text)
        return
    try:
        write_bytes_atomically(out, made.content)
    except OSError as error:
        raise UsageError(f"{out}: {error.strerror or error}") from None


def _import(options: argparse.Namespace) -> int:
    try:
        made = import_file(options.file, options.pick - 1)
    except ImportFailure as error:
        raise UsageError(f"{options.file}: {error}") from None
    tell(f"{options.file}: {made.form}")
    for note in made.notes:
        tell(f"{options.file}: {note}")
    put_import(options.out, made, force=options.force)
    return FINE


def put_import(out: Path | None, made: Imported, *, force: bool) -> None:
    """Write the prompt and the files that belong to it; print it if no path is given.

    Raises:
        UsageError: a file exists or cannot be written.
    """
    if out is None:
        sys.stdout.write(made.text)
        if made.input_sets:
            words = "input sets are only written with -o"
            tell(f"prompt-studio: {words}: {', '.join(made.input_sets)}")
        if made.experiment:
            tell("prompt-studio: the experiment is only written with -o")
        if made.answers:
            tell("prompt-studio: the answers of tools are only written with -o")
        return
    beside, asked, calls = sets_path(out), experiment_path(out), calls_file(out)
    wanted = [out, *([beside] if made.input_sets else []), *([asked] if made.experiment else [])]
    wanted += [calls] if made.answers else []
    if not force and (there := [path for path in wanted if path.exists()]):
        raise UsageError(f"{there[0]} already exists; use --force to overwrite it")
    try:
        write_atomically(out, made.text)
        if made.input_sets:
            sets = {name: dict(values) for name, values in made.input_sets.items()}
            write_atomically(beside, json.dumps(sets, ensure_ascii=False, indent=2) + "\n")
            tell(f"{beside}: {counted(len(sets), 'input set')}")
        if made.experiment:
            write_atomically(asked, made.experiment_text(out))
            words = "assertions of the tests, as an experiment"
            tell(f"{asked}: {words if made.experiment.get('tests') else 'an experiment of them'}")
        if made.answers:
            write_atomically(calls, made.answers_text())
            tell(f"{calls}: {counted(len(made.answers), 'answer')} of tools, for mocks")
    except OSError as error:
        raise UsageError(f"{out}: {error.strerror or error}") from None
