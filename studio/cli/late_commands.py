"""Commands of a command whose modules are imported when they are used, so that no other one is."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping, Sequence


class LateCommands(argparse._SubParsersAction):  # type: ignore[type-arg] # noqa: SLF001
    """Takes the arguments of a command from its module once it is named."""

    def offer(self, commands: Mapping[str, tuple[str, str]]) -> None:
        """Add commands: their help, and the `module:function` that adds their arguments."""
        self._left = {name: where for name, (_, where) in commands.items()}
        for name, (about, _) in commands.items():
            if about:
                self.add_parser(name, help=about)
            else:  # a command of the studio's own, which no list shows
                self.add_parser(name)

    def parser_of(self, name: str) -> argparse.ArgumentParser:
        """The parser of a command, with its arguments."""
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
        """Parse the arguments of the command that is named."""
        if values and values[0] in self.choices:
            self.parser_of(values[0])
        super().__call__(parser, namespace, values, option_string)


def add_commands(parser: argparse.ArgumentParser, commands: Mapping[str, tuple[str, str]]) -> None:
    """Give a command commands of its own; see `LateCommands.offer`."""
    group = parser.add_subparsers(metavar="COMMAND", required=True, action=LateCommands)
    assert isinstance(group, LateCommands)
    group.offer(commands)
