"""The command line: the same core as the window, for scripts and CI.

Exit codes: 0 fine, 1 problems found, 2 wrong usage. Findings go to standard error as
`file:line:column: severity code message`, results to standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from studio import __version__
from studio.application.trust import references_of
from studio.cli.exit_codes import FINE, PROBLEMS, USAGE
from studio.core.agent.loop.first_step import first_step_values
from studio.core.agent.protocols.choose import choose_protocol
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import RESERVED_SAMPLES
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.shapes import message_text, messages_to_json, tools_to_json
from studio.core.text.problem import Problem, Severity
from studio.core.text.values import Json
from studio.core.tools.document import declared_tools
from studio.core.tools.registry import SourceStatus
from studio.core.tools.trust import TrustStore
from studio.core.wire.request import Provider, provider_of, to_request

SUFFIX = ".prompty"


class UsageError(Exception):
    """The command was not called as it wants to be; the text says how."""


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        result: int = options.action(options)
    except UsageError as error:
        print(f"prompt-studio: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        # The reader (`| head`) has gone; closing quietly is what every such program does.
        sys.stderr.close()
        return FINE
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="prompt-studio", description="Prompts and agents kept as files, without a window."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    check = commands.add_parser("check", help="find problems in prompt files")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files or folders")
    check.add_argument("--json", action="store_true", help="write findings as JSON")
    add_trust(check, "what they refer to is read")
    check.set_defaults(action=_check)

    messages = commands.add_parser("messages", help="the messages a model would get")
    add_inputs(messages)
    messages.add_argument("--json", action="store_true", help="write JSON")
    add_trust(messages, "what it refers to is read")
    messages.set_defaults(action=_messages)

    request = commands.add_parser("request", help="the exact body a provider would get")
    add_inputs(request)
    request.add_argument("--provider", choices=get_args(Provider), help="form of the body")
    add_trust(request, "what it refers to is read")
    request.set_defaults(action=_request)

    from studio.cli.run import add_run

    add_run(commands.add_parser("run", help="run a prompt or agent to its end"))

    from studio.cli.export import add_export, add_import

    add_export(commands.add_parser("export", help="write a checked file in one of many forms"))
    add_import(commands.add_parser("import", help="make a prompt file of another format"))

    from studio.cli.convert import add_convert, add_fmt

    add_convert(commands.add_parser("convert", help="write a file in another dialect"))
    add_fmt(commands.add_parser("fmt", help="tidy files without changing what they say"))

    from studio.cli.runs import add_runs

    add_runs(commands.add_parser("runs", help="the history: list, show, export, import, prune"))

    from studio.cli.tools import add_tools

    add_tools(commands.add_parser("tools", help="serve or list a Python file of tools"))

    plugins = commands.add_parser(
        "plugins", help="the installed plug-ins, and what is wrong with them"
    )
    plugins.set_defaults(action=_plugins)
    return parser


def _plugins(_: argparse.Namespace) -> int:
    from studio.core.plugins import GROUPS, all_plugins

    found = [each for group in GROUPS for each in all_plugins(group)]
    for each in found:
        print(f"{each.group:13} {each.name:24} {each.package}")
        if each.error:
            print(each.error, file=sys.stderr)
    if not found:
        print("No plug-ins are installed, or they are off.", file=sys.stderr)
    return PROBLEMS if any(each.error for each in found) else FINE


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that every command on one prompt takes."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of an input; read as JSON where the input is not a string",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of a parameter, ${params:NAME}; -i and --inputs give them too",
    )
    parser.add_argument(
        "--inputs", type=Path, metavar="FILE", help="inputs and parameters as a JSON object"
    )


def add_trust(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--trust`, by which the user trusts the folder, now and from then on.

    Args:
        parser: the command's.
        what: what it is good for, as the end of a sentence.
    """
    parser.add_argument("--trust", action="store_true", help=f"trust the prompt's folder: {what}")


def trust_of(options: argparse.Namespace, *paths: Path) -> TrustStore:
    """What the user trusts, with the folders of the command's own files where it says `--trust`."""
    trust = TrustStore()
    for path in paths if options.trust else ():
        trust.trust(path if path.is_dir() else path.resolve().parent)
    return trust


def allow_named(options: argparse.Namespace, document: PromptDocument, trust: TrustStore) -> None:
    """With `--trust`: allow the servers, and the variables for tools, that a document names."""
    if options.trust:
        # Here, because other commands would wait for what tools need.
        from studio.core.tools.consent import wants_of

        trust.allow(options.file.resolve().parent, wants_of(document))


def load(path: Path) -> PromptDocument:
    """Read and parse one file.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: this line is not UTF-8; save the file as UTF-8") from None
    # Whole, so that whatever is named beside it is found from any working directory.
    return parse(text, path.resolve())


def given_inputs(options: argparse.Namespace, document: PromptDocument) -> dict[str, Json]:
    """The values that the arguments give.

    Raises:
        UsageError: a value is not what its input wants, or the file is no JSON object.
    """
    values: dict[str, Json] = {}
    if options.inputs is not None:
        try:
            loaded = json.loads(options.inputs.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{options.inputs}: {error}") from None
        if not isinstance(loaded, dict):
            raise UsageError(f"{options.inputs}: inputs are a JSON object of names and values")
        values.update(loaded)
    for argument in options.input:
        name, text = _pair(argument, "input", "-i")
        values[name] = _value(document, name, text)
    named = {item.name for item in document.parameters}
    known = _known_inputs(document)
    for argument in options.param:
        name, text = _pair(argument, "parameter", "--param")
        values[name] = _value(document, name, text)
        if name not in named:
            print(f"prompt-studio: the prompt uses no parameter {name!r}", file=sys.stderr)
            known.add(name)
    for name in sorted(values.keys() - known):
        # They pass (Prompty 2 §12.2), and a slip of the pen would too.
        print(f"prompt-studio: the prompt uses no input {name!r}", file=sys.stderr)
    return values


def _pair(argument: str, what: str, option: str) -> tuple[str, str]:
    """Name and text of `name=value`.

    Raises:
        UsageError: it is none.
    """
    name, equals, text = argument.partition("=")
    if not equals or not name:
        raise UsageError(f"{argument!r} is no {what}; write {option} name=value")
    return name, text


def _known_inputs(document: PromptDocument) -> set[str]:
    known = {item.name for item in document.inputs}
    known |= {variable.name for variable in document.variables}
    known |= {parameter.name for parameter in document.parameters}
    known |= {name for tool in document.tools for name in tool.bindings.values()}
    return known | RESERVED_SAMPLES.keys()


def _value(document: PromptDocument, name: str, text: str) -> Json:
    declared, parameter = document.input(name), document.parameter(name)
    kind = declared.kind if declared else parameter.kind if parameter else "string"
    if kind in ("string", "image", "file", "audio"):
        return text
    try:
        value: Json = json.loads(text)
    except ValueError:
        what = "input" if declared else "parameter"
        how = "is declared as" if declared else "is used as"
        raise UsageError(f"{what} {name!r} {how} {kind}; {text!r} is not one in JSON") from None
    return value


def report(document: PromptDocument, problems: Iterable[Problem]) -> int:
    """Write problems to standard error; returns the exit code that they call for."""
    code = FINE
    for problem in problems:
        print(finding(document, problem), file=sys.stderr)
        if problem.severity is not Severity.HINT:
            code = PROBLEMS
    return code


def report_sources(sources: Iterable[SourceStatus]) -> None:
    """Write to standard error what is wrong with the sources of a prompt's tools."""
    for status in sources:
        is_well = status.state == "ready" and not status.message
        if not is_well and status.state != "available":  # such as a server that it does not name
            way = " (--trust allows it)" if status.state == "waiting" else ""
            print(f"prompt-studio: {status.label}: {status.message}{way}", file=sys.stderr)


def finding(document: PromptDocument, problem: Problem) -> str:
    """One problem as compilers write it."""
    place = document.source.position(problem.span.start)
    where = f"{_shown(document.source.path)}:{place.line}:{place.column}"
    return f"{where}: {problem.severity} {problem.code} {problem.message}"


def _shown(path: Path | None) -> str:
    """A path as short as the working directory allows."""
    if path is None:
        return "<text>"
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def prompt_files(paths: Sequence[Path]) -> list[Path]:
    """The files themselves, and the prompt files of folders.

    Raises:
        UsageError: a path does not exist.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(path.rglob(f"*{SUFFIX}"))
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"{path}: no such file")
    return found


def check_file(path: Path, trust: TrustStore) -> tuple[PromptDocument, tuple[Problem, ...]]:
    """One file with everything that can be found in it without running it."""
    document = load(path)
    context = references_of(document.source.path, trust, masked=True)
    prepared = prepare(document, {}, references=context, preview=True)
    return document, _merged(document.problems, prepared.problems)


def _merged(*lists: Sequence[Problem]) -> tuple[Problem, ...]:
    """All problems in source order, each once."""
    unique = dict.fromkeys(problem for problems in lists for problem in problems)
    return tuple(sorted(unique, key=lambda problem: problem.span))


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
        "file": _shown(document.source.path),
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "severity": str(problem.severity),
        "code": problem.code,
        "message": problem.message,
        "fixes": [fix.title for fix in problem.fixes],
    }


def prepared_prompt(options: argparse.Namespace, *, preview: bool = False) -> Prepared:
    """The prompt of the arguments as the first model call would get it, secrets left out.

    Args:
        options: with `file`, `input`, `inputs` and `trust`.
        preview: fill in samples where values are missing.
    """
    document = load(options.file)
    values = given_inputs(options, document)
    values = first_step_values(document, values, document.tools) | values
    context = references_of(document.source.path, trust_of(options, options.file), masked=True)
    return prepare(document, values, references=context, preview=preview)


def _report_all(prepared: Prepared) -> int:
    document = prepared.document
    return report(document, _merged(document.problems, prepared.problems))


def _messages(options: argparse.Namespace) -> int:
    prepared = prepared_prompt(options)
    code = _report_all(prepared)
    messages = prepared.messages
    if options.json:
        shape: Json = messages_to_json(messages, prepared.document.dialect)
        if messages.tools:
            shape = {"tools": tools_to_json(messages.tools), "messages": shape}
        print(json.dumps(shape, ensure_ascii=False, indent=2))
        return code
    for message in messages.messages:
        attributes = "".join(f" {key}={value!r}" for key, value in message.attributes.items())
        print(f"── {message.role}{attributes}")
        print(message_text(message))
    return code


def _request(options: argparse.Namespace) -> int:
    prepared = prepared_prompt(options)
    code = _report_all(prepared)
    document = prepared.document
    is_native = choose_protocol(document).protocol == "native"
    request = to_request(
        prepared.messages.messages,
        declared_tools(document, prepared.messages.tools) if is_native else (),
        document.model,
        provider=options.provider or provider_of(document.model),
        outputs=document.outputs,
    )
    print(json.dumps(request.body, ensure_ascii=False, indent=2))
    return max(code, report(document, request.problems))
