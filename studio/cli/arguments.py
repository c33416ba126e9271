"""Arguments that commands share: inputs, files and trust."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from studio.cli.terminal import FINE, PROBLEMS, UsageError, tell
from studio.core.prompty.agent_files.read import agent_file_kind
from studio.core.prompty.checks.variables import used_elsewhere
from studio.core.prompty.document import TEXT_KINDS, PromptDocument
from studio.core.prompty.evaluation import evaluation_limits
from studio.core.prompty.front.declarations import RICH_KINDS
from studio.core.prompty.inputs import value_kind
from studio.core.prompty.reference_values import whole_reference
from studio.core.text.files import read_bounded
from studio.core.text.source import Problem, Severity
from studio.core.text.values import Json, JsonDict, parse_json, reason_of
from studio.core.tools.trust.store import TooWideError, TrustStore


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that all commands for one prompt have."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of an input; read as JSON unless the input is a string",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of a parameter, ${params:NAME}; also possible with -i and --inputs",
    )
    parser.add_argument(
        "--inputs", type=Path, metavar="FILE", help="inputs and parameters as a JSON object"
    )


def add_trust(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--trust`, with which the user permanently trusts the folder.

    Args:
        parser: parser of the command.
        what: purpose of the trust, as the end of a sentence.
    """
    parser.add_argument("--trust", action="store_true", help=f"trust the prompt's folder: {what}")


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add `--allow`, which allows calls of tools that would otherwise need approval."""
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="NAME",
        help="call this tool in this run without approval; can be repeated",
    )


def trust_of(options: argparse.Namespace, *paths: Path) -> TrustStore:
    """Return the user's trust; with `--trust`, it includes the folders of the command's files.

    Raises:
        UsageError: such a folder can never be trusted as a whole.
    """
    trust = TrustStore()
    if trust.fault:
        tell(f"prompt-studio: {trust.fault}")
    try:
        for path in paths if options.trust else ():
            trust.trust(path if path.is_dir() else path.resolve().parent)
    except TooWideError as error:
        raise UsageError(str(error)) from None
    return trust


def allow_named(options: argparse.Namespace, document: PromptDocument, trust: TrustStore) -> None:
    """Allow the servers and tool variables that a document names, with `--trust`."""
    if options.trust:
        # Imported here, because other commands would wait for the modules of tools.
        from studio.core.tools.sources.consent import wants_of

        trust.allow(options.file.resolve().parent, wants_of(document))


@evaluation_limits()
def load(path: Path) -> PromptDocument:
    """Read and parse one file; a file of a coding agent is taken as the prompt that it becomes.

    Raises:
        UsageError: the file cannot be read, or is not a prompt.
    """
    if agent_file_kind(path) is not None and path.is_file():
        return _as_prompt(path)
    from studio.application.document.checked_file import read_document

    refuse_other_file(path)
    # Absolute, so that files beside it are found from any working directory.
    document = read_document(read_text(path), path.resolve())
    refuse_other_file(path, document)
    return document


def _as_prompt(path: Path) -> PromptDocument:
    """Return the prompt that an agent file becomes; what it does not carry is written to stderr."""
    from studio.core.imports.imported import ImportFailure
    from studio.core.imports.recognize import import_text
    from studio.core.prompty.parse import parse

    try:
        made = import_text(read_text(path), path.resolve())
    except ImportFailure as error:
        raise UsageError(f"{path}: {error}") from None
    for note in made.notes:
        tell(f"{path}: {note}")
    return parse(made.text, path.resolve())


def refuse_other_file(path: Path, document: PromptDocument | None = None) -> None:
    """Refuse a file that is never a prompt; see `not_a_prompt`.

    Raises:
        UsageError: the file is such a file.
    """
    from studio.application.document.checked_file import not_a_prompt

    words = not_a_prompt(path, document)
    if words:
        raise UsageError(f"{path} {words}")


def read_text(path: Path) -> str:
    """Read the text of a file without changing its line ends.

    Raises:
        UsageError: the file cannot be read, or is not UTF-8.
    """
    try:
        return read_bounded(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {reason_of(error)}") from None


def given_inputs(options: argparse.Namespace, document: PromptDocument) -> JsonDict:
    """Return the input values from the arguments.

    Raises:
        UsageError: a value does not fit its input, or the file is not a JSON object.
    """
    values: JsonDict = {}
    if options.inputs is not None:
        try:
            loaded = parse_json(read_text(options.inputs))
        except (OSError, ValueError) as error:
            raise UsageError(f"{options.inputs}: {reason_of(error)}") from None
        if not isinstance(loaded, dict):
            raise UsageError(f"{options.inputs}: inputs must be a JSON object of names and values")
        values.update(loaded)
    for argument in options.input:
        name, text = _pair(argument, "input", "-i")
        values[name] = _value(document, name, text)
    named = {item.name for item in document.parameters}
    unknown: set[str] = set()
    for argument in options.param:
        name, text = _pair(argument, "parameter", "--param")
        values[name] = _value(document, name, text)
        if name not in named:
            tell(f"prompt-studio: the prompt does not use the parameter {name!r}")
            unknown.add(name)
    for name in unread_inputs(document, values.keys() - unknown):
        # Unknown names are accepted (Prompty 2 §12.2), so a typing error must be reported.
        tell(f"prompt-studio: the prompt does not use the input {name!r}")
    return values


def unread_inputs(document: PromptDocument, names: Iterable[str]) -> list[str]:
    """Return the names of inputs whose values the prompt never reads."""
    body = document.source.slice(document.body)
    if whole_reference(body.strip()) is not None:
        return []  # the template is in another file
    known = {variable.name for variable in document.variables} | used_elsewhere(document)
    known |= {item.name for item in document.inputs if item.kind in RICH_KINDS}
    if "![thread]" in body or any(section.role == "thread" for section in document.sections):
        known.add("thread")
    return sorted(set(names) - known)


def _pair(argument: str, what: str, option: str) -> tuple[str, str]:
    """Split `name=value` into its name and text.

    Raises:
        UsageError: the argument has no `=` or no name.
    """
    name, equals, text = argument.partition("=")
    if not equals or not name:
        raise UsageError(f"{argument!r} is no {what}; write {option} name=value")
    return name, text


def _value(document: PromptDocument, name: str, text: str) -> Json:
    kind = value_kind(document, name)
    if kind in TEXT_KINDS:
        return text
    try:
        value = parse_json(text)
    except ValueError:
        declared = document.input(name)
        what = "parameter" if document.parameter(name) and not declared else "input"
        how = "is declared as" if declared else "is used as"
        raise UsageError(f"{what} {name!r} {how} {kind}; {text!r} is not one in JSON") from None
    return value


def named_files(paths: Sequence[Path]) -> list[Path]:
    """Return the named files and the prompt files of the named folders.

    Raises:
        UsageError: a path does not exist.
    """
    from studio.application.document.folder_files import prompt_files

    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += prompt_files([path])
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"{path}: no such file")
    return found


def needs(path: Path) -> None:
    """Require that a file exists.

    Raises:
        UsageError: the file does not exist.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file")


# Problems in the format of compilers.


def report(document: PromptDocument, problems: Iterable[Problem]) -> int:
    """Write problems to standard error and return the resulting exit code."""
    code = FINE
    for problem in problems:
        tell(finding(document, problem))
        if problem.severity is not Severity.HINT:
            code = PROBLEMS
    return code


def finding(document: PromptDocument, problem: Problem) -> str:
    """Format a problem as compilers do."""
    place = document.source.position(problem.span.start)
    where = f"{shown_path(document.source.path)}:{place.line}:{place.column}"
    return f"{where}: {problem.severity} {problem.code} {problem.message}"


def shown_path(path: Path | None) -> str:
    """Return a path relative to the working directory where that is shorter."""
    if path is None:
        return "<text>"
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
