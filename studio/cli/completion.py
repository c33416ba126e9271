"""`completion`: shell completion, computed from the argument parsers of the commands.

The shell scripts are short: they pass the typed words and show the results.
"""

import argparse
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from studio.cli.terminal import COMMANDS, FINE
from studio.cli.window_arguments import window_parser
from studio.core.paths import resource_text

# Subcommands whose modules are imported only when they are used.


class LateCommands(argparse._SubParsersAction):  # type: ignore[type-arg] # noqa: SLF001
    """Adds the arguments of a command from its module when the command is named."""

    def offer(self, commands: Mapping[str, tuple[str, str]]) -> None:
        """Add commands, each with its help and the `module:function` that adds its arguments."""
        self._left = {name: where for name, (_, where) in commands.items()}
        for name, (about, _) in commands.items():
            if about:
                self.add_parser(name, help=about)
            else:  # an internal command, hidden from lists
                self.add_parser(name)

    def parser_of(self, name: str) -> argparse.ArgumentParser:
        """Return the parser of a command with its arguments."""
        parser: argparse.ArgumentParser = self.choices[name]
        module, _, function = self._left.pop(name, "").partition(":")
        if module:
            getattr(importlib.import_module(f"studio.cli.{module}"), function)(parser)
        return parser

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Parse the arguments of the named command."""
        if values and values[0] in self.choices:
            self.parser_of(values[0])
        super().__call__(parser, namespace, values, option_string)


def add_commands(parser: argparse.ArgumentParser, commands: Mapping[str, tuple[str, str]]) -> None:
    """Add subcommands to a command; see `LateCommands.offer`."""
    group = parser.add_subparsers(metavar="COMMAND", required=True, action=LateCommands)
    assert isinstance(group, LateCommands)
    group.offer(commands)


SHELLS = ("bash", "zsh", "fish")
"""Shells with a script in `resources/completion`."""

FILES = ":files"
"""Placeholder for files and folders, which the shell completes."""


@dataclass(frozen=True, slots=True)
class CompletionWord:
    """A possible completion of a word."""

    word: str
    """The completed word."""

    about: str = ""
    """Description in one line."""


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `completion`."""
    parser.add_argument("shell", nargs="?", choices=SHELLS, help="print its script")
    parser.add_argument("--words", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(action=_completion)


def _completion(options: argparse.Namespace) -> int:
    if options.words:  # read from standard input, one per line: as arguments, `--` would be lost
        for offer in offers(sys.stdin.read().removesuffix("\n").split("\n")):
            print(f"{offer.word}\t{offer.about}".rstrip("\t"))
    else:
        print(resource_text("completion", f"prompt-studio.{options.shell or SHELLS[0]}"), end="")
    return FINE


def offers(words: Sequence[str]) -> list[CompletionWord]:
    """Return the completions of the last word.

    Args:
        words: the words after `prompt-studio`; the last is empty or incomplete.
    """
    *before, begun = words
    found = dict.fromkeys(_candidates(before, is_option=begun.startswith("-")))
    return [each for each in found if each.word == FILES or each.word.startswith(begun)]


def _candidates(before: Sequence[str], *, is_option: bool) -> Iterator[CompletionWord]:
    """Yield all words that may follow, regardless of how the last word begins."""
    if not before:
        yield from (CompletionWord(name, about) for name, (about, _) in COMMANDS.items())
    if not before or before[0] not in COMMANDS:
        if is_option or not before:
            yield from _options(window_parser(), ())
        if before or not is_option:
            yield CompletionWord(FILES)
        return
    from studio.cli.main import parser_of

    parser = parser_of(before[0])
    waiting: argparse.Action | None = None
    given: list[str] = []
    for word in before:
        if waiting is not None:
            waiting = None
        elif flag := parser._option_string_actions.get(word):  # noqa: SLF001
            given.append(word)
            waiting = flag if flag.nargs is None else None
        elif inner := _inner_parsers(parser).get(word):
            parser, given = inner, []
    if waiting is not None:
        yield from _values(waiting)
    elif is_option:
        yield from _options(parser, given)
    else:
        for action in parser._actions:  # noqa: SLF001
            yield from () if action.option_strings else _values(action)


def _options(parser: argparse.ArgumentParser, given: Sequence[str]) -> Iterator[CompletionWord]:
    """Yield the options that are not used yet, and those that can be repeated."""
    for action in parser._actions:  # noqa: SLF001
        may_repeat = isinstance(action, argparse._AppendAction)  # noqa: SLF001
        is_left = may_repeat or not set(given).intersection(action.option_strings)
        if is_left and action.help != argparse.SUPPRESS:
            yield from (CompletionWord(flag, _about(action)) for flag in action.option_strings)


def _values(action: argparse.Action) -> Iterator[CompletionWord]:
    """Yield the choices of an argument, with the help of commands; else the one for files."""
    if action.choices is None:
        yield CompletionWord(FILES)
    abouts = {each.dest: _about(each) for each in getattr(action, "_choices_actions", ())}
    for choice in map(str, action.choices or ()):
        yield CompletionWord(choice, abouts.get(choice, ""))


def _about(action: argparse.Action) -> str:
    text = (action.help or "").replace("%%", "%").replace("%(default)s", str(action.default))
    return " ".join(text.split())


def every_parser() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the name and parser of each command and subcommand, for the manual."""
    from studio.cli.main import parser_of

    left = [(name, parser_of(name)) for name in COMMANDS]
    while left:
        name, parser = left.pop(0)
        yield name, parser
        inner_parsers = _inner_parsers(parser).items()
        left[:0] = [(f"{name} {word}", inner) for word, inner in inner_parsers]


def _inner_parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of a command's subcommands by name."""
    groups = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001
    return {
        name: group.parser_of(name) if isinstance(group, LateCommands) else inner
        for group in groups
        for name, inner in group.choices.items()
    }
