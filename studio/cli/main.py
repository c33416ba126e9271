"""The command line: the same core as the window, for scripts and CI.

Exit codes: 0 fine, 1 problems found, 2 wrong usage, 130 interrupted. What a command is asked for
goes to standard output (the findings of `check` too, as `file:line:column: severity code message`);
what else there is to say goes to standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from studio import __version__
from studio.cli.arguments import UsageError
from studio.cli.check import add_check
from studio.cli.exit_codes import FINE, INTERRUPTED, PROBLEMS, USAGE
from studio.cli.messages import add_messages, add_request


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
    except KeyboardInterrupt:
        print("prompt-studio: interrupted", file=sys.stderr)
        return INTERRUPTED
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="prompt-studio", description="Prompts and agents kept as files, without a window."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    add_check(commands.add_parser("check", help="find problems in prompt files"))
    add_messages(commands.add_parser("messages", help="the messages a model would get"))
    add_request(commands.add_parser("request", help="the exact body a provider would get"))

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

    add_tools(
        commands.add_parser("tools", help="list, show, call and record tools; serve a Python file")
    )

    from studio.cli.lsp import add_lsp

    add_lsp(commands.add_parser("lsp", help="the language server, for editors"))

    from studio.cli.experiment import add_baseline, add_experiment

    add_experiment(commands.add_parser("experiment", help="rows × variants × repeats, marked"))
    add_baseline(commands.add_parser("baseline", help="what experiments are compared with"))

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
