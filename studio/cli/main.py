"""The command line: the same core as the window, for scripts and CI.

Exit codes: 0 fine, 1 problems found, 2 wrong usage, 130 interrupted. The result of a command goes
to standard output (also the problems of `check`, as `file:line:column: severity code message`); all
other messages go to standard error.
"""

import argparse
import importlib
from collections.abc import Sequence

from studio import __version__
from studio.cli.terminal import COMMANDS, FINE, PROBLEMS, USAGE, UsageError, tell
from studio.core.paths import narrow_home, user_paths
from studio.core.prompty.evaluation import TooLongError, failure


def run_command(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code.

    A file system error that the command does not handle is printed with its path and reason.
    """
    options = _parser(arguments[0] if arguments else "").parse_args(arguments)
    narrow_home(user_paths())
    try:
        result: int = options.action(options)
    except UsageError as error:
        tell(f"prompt-studio: {error}".replace("\n", "\\n"))  # a file name may contain one
        return USAGE
    except (MemoryError, TooLongError) as error:
        tell(f"prompt-studio: {failure(error).message}")
        return PROBLEMS
    except OSError as error:
        if error.filename is None:
            raise  # standard output is closed; `ended` handles it
        tell(f"prompt-studio: {error.filename}: {error.strerror}")
        return USAGE
    return result


def _parser(command: str) -> argparse.ArgumentParser:
    """Return a parser with all command names but only one command's arguments loaded."""
    parser = argparse.ArgumentParser(
        prog="prompt-studio", description="Prompts and agents kept as files, without a window."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (help_, where) in COMMANDS.items():
        subparser = commands.add_parser(name, help=help_)
        if name == command:
            _fill(subparser, where)
    return parser


def parser_of(command: str) -> argparse.ArgumentParser:
    """Return the parser of one command's arguments."""
    parser = argparse.ArgumentParser(prog=f"prompt-studio {command}")
    _fill(parser, COMMANDS[command][1])
    return parser


def _fill(parser: argparse.ArgumentParser, where: str) -> None:
    module, _, function = where.partition(":")
    getattr(importlib.import_module(f"studio.cli.{module}"), function)(parser)


def add_plugins(parser: argparse.ArgumentParser) -> None:
    """Add the command `plugins`, which takes no arguments."""
    parser.set_defaults(action=_plugins)


def _plugins(_: argparse.Namespace) -> int:
    from studio.core.plugins import GROUPS, all_plugins

    found = [each for group in GROUPS for each in all_plugins(group)]
    for each in found:
        print(f"{each.group:13} {each.name:24} {each.package}")
        if each.error:
            tell(each.error)
    if not found:
        tell("No plug-ins are installed, or they are disabled.")
    return PROBLEMS if any(each.error for each in found) else FINE
