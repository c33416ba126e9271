"""`prompt-studio convert` and `fmt`: change the text of a file and nothing else."""

import argparse
import sys
from pathlib import Path
from typing import get_args

from studio.cli.arguments import named_files, read_text, refuse_other_file
from studio.cli.terminal import FINE, PROBLEMS, UsageError, tell
from studio.core.agent.protocols.convert import convert_fix
from studio.core.models.base import ProtocolName
from studio.core.prompty.convert.whole import convert, prove
from studio.core.prompty.document import PromptDocument, first_unreadable
from studio.core.prompty.fmt import tidy_edits
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.diff import unified_diff
from studio.core.text.files import write_atomically
from studio.core.text.source import apply_edits


def add_convert(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `convert`."""
    parser.add_argument("file", type=Path, metavar="FILE")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--to", choices=("prompty", "section", "legacy"), help="dialect to write")
    how.add_argument(
        "--protocol",
        choices=get_args(ProtocolName),
        help="agent protocol to rewrite the template for",
    )
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help="file to write")
    parser.add_argument("--write", action="store_true", help="change FILE itself")
    parser.add_argument("--diff", action="store_true", help="show the difference, write nothing")
    parser.set_defaults(action=_convert)


def add_fmt(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fmt`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files or folders")
    parser.add_argument("--check", action="store_true", help="only list the files, write nothing")
    parser.add_argument("--diff", action="store_true", help="show the difference, write nothing")
    parser.set_defaults(action=_fmt)


def _convert(options: argparse.Namespace) -> int:
    document = _load_exactly(options.file)
    unreadable = first_unreadable(document)
    if unreadable is not None:
        place = document.source.position(unreadable.span.start)
        where = f"{options.file}:{place.line}:{place.column}"
        tell(f"{where}: {unreadable.message}")
        tell("prompt-studio: nothing was converted: fix this first")
        return PROBLEMS
    if options.protocol is not None:
        return _convert_protocol(options, document)
    beside = _files_beside(document)
    made = convert(document, options.to, beside)
    if not made.edits and options.to != "section":
        made = prove(document, options.to, beside)
    for note in made.notes:
        tell(f"{options.file}: {note}")
    for loss in made.losses:
        tell(f"{options.file}: lost or changed: {loss}")
    _put(options, document.source.text, made.text)
    return FINE if made.same_messages and not made.losses else PROBLEMS


def _files_beside(document: PromptDocument) -> ReferenceContext | None:
    """Return a context that resolves files in the prompt's folder but no variables.

    The user named the prompt, so its sample and tool files may be read; no code is run.
    """
    path = document.source.path
    return ReferenceContext(path.parent, environment={}) if path is not None else None


def _convert_protocol(options: argparse.Namespace, document: PromptDocument) -> int:
    fix = convert_fix(document, options.protocol)
    old = document.source.text
    if fix is None:
        tell(f"{options.file}: already uses {options.protocol}")
    _put(options, old, old if fix is None else apply_edits(old, fix.edits))
    return FINE


def _put(options: argparse.Namespace, old: str, new: str) -> None:
    """Show the difference, write the file, or print the text, as requested."""
    if options.diff:
        sys.stdout.write(unified_diff(old, new, str(options.file)))
    elif options.write or options.out is not None:
        _write(options.out or options.file, new)
    else:
        sys.stdout.write(new)


def _fmt(options: argparse.Namespace) -> int:
    is_dry = options.check or options.diff
    changed = 0
    for path in named_files(options.files):
        document = _load_exactly(path)
        old = document.source.text
        tidy = apply_edits(old, tidy_edits(document))
        if tidy == old:
            continue
        changed += 1
        if options.diff:
            sys.stdout.write(unified_diff(old, tidy, str(path)))
        elif is_dry:
            tell(f"{path}: not tidy")
        else:
            _write(path, tidy)
            tell(f"{path}: tidied")
    return PROBLEMS if is_dry and changed else FINE


def _load_exactly(path: Path) -> PromptDocument:
    """Parse a file that may be rewritten, so every byte must decode exactly.

    Raises:
        UsageError: the file cannot be read, is not UTF-8, or is not a prompt.
    """
    refuse_other_file(path)
    return parse(read_text(path), path.resolve())


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
