"""Every number of the command line has bounds, and what lies beyond them is wrong usage."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import pytest

from studio.cli.completion import LateCommands
from studio.cli.main import parser_of
from studio.cli.terminal import COMMANDS, amount, whole
from studio.cli.window_arguments import window_parser

_SAMPLES = ("1", "0.5", "800x600")
_NEVER = ("-1", "-0.5", "nan", "inf", "-inf", "1e999", "9" * 30, "9" * 5_000, "٣", "0x10", "")


def options(parser: argparse.ArgumentParser, command: str) -> Iterator[tuple[str, Callable]]:  # type: ignore[type-arg]
    """All options that read a number, those of sub-commands too."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                inner = action.parser_of(name) if isinstance(action, LateCommands) else each
                yield from options(inner, f"{command} {name}")
        elif callable(action.type) and any(_reads(action.type, text) for text in _SAMPLES):
            yield f"{command} {action.option_strings or action.dest}", action.type


def _reads(read: Callable[[str], object], text: str) -> bool:
    try:
        return isinstance(read(text), int | float | tuple)
    except (ValueError, argparse.ArgumentTypeError):
        return False


def test_every_number_is_bounded() -> None:
    found = [*options(window_parser(), "window")]
    for command in COMMANDS:
        found += options(parser_of(command), command)
    assert len(found) > 25, "the options that are there today"
    taken = [(name, text[:20]) for name, read in found for text in _NEVER if _reads(read, text)]
    assert taken == []


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (whole(), "0", 0),
        (whole(1), "0007", 7),
        (whole(0, 9), "9", 9),
        (whole(), "1000000000000000", 10**15),
        (amount(), "0", 0),
        (amount(most=1), "1", 1),
        (amount(above=True), "1e-9", 1e-9),
    ],
)
def test_what_lies_within_is_read(read: Callable[[str], float], text: str, value: float) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (
            whole(1, 10_000),
            "99999999999999",
            "'99999999999999' is not a whole number from 1 to 10,000",
        ),
        (whole(), "-1", "'-1' is not a whole number from 0 to 1,000,000,000,000,000"),
        (amount(above=True), "0", "'0' is not a number above 0"),
        (amount(most=1), "1.5", "'1.5' is not a number from 0 to 1"),
        (whole(), "1" * 99, "'11111111111111111111111…' is not a whole number"),
    ],
)
def test_what_lies_beyond_is_said_with_the_bounds(
    read: Callable[[str], float], text: str, said: str
) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as told:
        read(text)
    assert said in str(told.value)
