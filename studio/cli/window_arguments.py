"""Options of the window; this module is read at each start, so it imports little."""

import argparse
from pathlib import Path

from studio import __version__
from studio.cli.terminal import COMMANDS
from studio.core.text.amounts import whole_number

_MOST_PIXELS = 16_384


def window_parser() -> argparse.ArgumentParser:
    """Return the parser for the options of the window."""
    parser = argparse.ArgumentParser(
        prog="prompt-studio",
        description="A desktop studio for prompts and agents kept as files.",
        epilog=f"Commands without a window: {', '.join(COMMANDS)} (prompt-studio COMMAND --help).",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="prompts to open")
    parser.add_argument(
        "--screenshot",
        type=Path,
        metavar="OUT.png",
        help="save a screenshot of the window and exit",
    )
    parser.add_argument(
        "--example",
        action="store_true",
        help="open a bundled agent if there is nothing else to open",
    )
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument(
        "--run", dest="begin", action="store_const", const="run", help="run the last FILE at once"
    )
    begin.add_argument(
        "--step",
        dest="begin",
        action="store_const",
        const="step",
        help="run the last FILE, and pause at its first point",
    )
    parser.add_argument(
        "--safe",
        action="store_true",
        help="default settings, nothing restored, no tools, no plug-ins, no trusted folder",
    )
    parser.add_argument(
        "--new-window",
        action="store_true",
        help="open a separate window, even if a studio is running",
    )
    parser.add_argument("--theme", choices=("light", "dark", "system"), help="theme for this start")
    parser.add_argument(
        "--size", type=_size, default=(1440, 900), metavar="WxH", help="size of the screenshot"
    )
    return parser


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    pixels = whole_number(width) or 0, whole_number(height) or 0
    if not 0 < min(pixels) <= max(pixels) <= _MOST_PIXELS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write 1440x900")
    return pixels
