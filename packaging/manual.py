"""The manual page: its words on options and commands are those of the parsers that read them."""

from __future__ import annotations

import argparse


def filled(page: str, version: str, day: str) -> str:
    """The page with everything that the program knows itself.

    Args:
        page: the frame, `linux/prompt-studio.1`.
        version: the program's.
        day: of the page, as an ISO date.
    """
    from studio.cli.completion import every_parser
    from studio.cli.terminal import COMMANDS
    from studio.cli.window_arguments import window_parser

    parts = []
    for name, parser in every_parser():
        if name == "experiment check-answers":
            continue  # the studio's own child
        told = COMMANDS[name][0] if name in COMMANDS else ""
        parts.append(f".SS {_plain(_usage(name, parser))}")
        parts += [f"{_plain(told[:1].upper() + told[1:])}."] * bool(told)
        parts += _arguments(parser)
    known = {
        "@VERSION@": version,
        "@DATE@": day,
        "@OPTIONS@": "\n".join(_arguments(window_parser())),
        "@COMMANDS@": "\n".join(parts),
    }
    for mark, text in known.items():
        page = page.replace(mark, text)
    return page


def _usage(name: str, parser: argparse.ArgumentParser) -> str:
    """A command with what stands behind it; its options are listed below."""
    words = [f"prompt-studio {name}"]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words.append("COMMAND")
        elif not action.option_strings:
            word = _metavar(action)
            many = action.nargs in ("+", "*")
            words.append(f"[{word}]" if action.nargs in ("?", "*") else word)
            words += ["..."] * many
    return " ".join(words)


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    lines = []
    for action in parser._actions:
        is_command = isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
        if is_command or action.help in (None, argparse.SUPPRESS):
            continue
        lines += [".TP", _head(action), _plain(_told(parser, action))]
    return lines


def _head(action: argparse.Action) -> str:
    if not action.option_strings:
        return f".I {_plain(_metavar(action))}"
    flags = ", ".join(action.option_strings)
    takes = action.nargs != 0
    return f'.BI "{_plain(flags)}"' + (f' " {_plain(_metavar(action))}"' if takes else "")


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    return action.dest.upper()


def _told(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = parser._get_formatter()._expand_help(action)
    return f"{text[:1].upper()}{text[1:]}."


def _plain(text: str) -> str:
    """A text for roff: nothing of it is a command of its own."""
    made = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    made = made.replace("…", "...").replace("×", "\\(mu").replace("→", "\\(->")
    return f"\\&{made}" if made.startswith((".", "'")) else made
