"""Terminal output and exit codes: control characters in foreign texts are printed as escapes."""

import argparse
import codecs
import errno
import io
import json
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType

from studio.core.text.amounts import LARGEST, shortened, whole_number

# Constants of the command line that must be available before the commands are imported.

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "check": ("find problems in prompt files", "check:add_check"),
        "messages": ("show the messages that a model would get", "messages:add_messages"),
        "request": ("show the exact body that a provider would get", "messages:add_request"),
        "run": ("run a prompt or agent", "run.drive:add_run"),
        "record": ("record, hold and edit the calls of any program", "record:add_record"),
        "replay": ("replay a recording to a program, offline", "record:add_replay"),
        "trace": ("receive traces from programs (OTLP)", "record:add_trace"),
        "export": ("write a checked file for another program", "export:add_export"),
        "import": ("create a prompt file from another format", "export:add_import"),
        "convert": ("write a file in another dialect", "convert:add_convert"),
        "fmt": ("tidy files without changing their meaning", "convert:add_fmt"),
        "runs": ("the history: list, show, open, export, import, prune, repair", "runs:add_runs"),
        "tools": (
            "list, show, call and record tools; serve a Python file",
            "tools.commands:add_tools",
        ),
        "experiment": (
            "run rows × variants × repeats, and grade the answers",
            "experiment.commands:add_experiment",
        ),
        "baseline": ("set the baseline of experiments", "experiment.commands:add_baseline"),
        "cluster": ("create certificates for workers of experiments", "servers:add_cluster"),
        "connections": (
            "list, test, add and remove connections to models",
            "connections:add_connections",
        ),
        "lsp": ("language server for editors", "servers:add_lsp"),
        "mcp": ("server for coding agents (MCP)", "servers:add_mcp"),
        "completion": ("shell completion for bash, zsh and fish", "completion:add_completion"),
        "plugins": ("list the installed plug-ins and their errors", "main:add_plugins"),
    }
)
"""Description of each command and the function in `studio.cli` that adds its arguments.

Any other first word is the name of a file to open.
"""

FINE, PROBLEMS, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: success, problems found, wrong usage, interrupted by Ctrl+C."""

UNFINISHED, PAUSED = 3, 4
"""Exit codes of experiments: cells failed with errors, or a budget is exceeded."""


class UsageError(Exception):
    """Error for an incorrect use of a command; the text explains the correct use."""


# Control characters (a terminal acts on them), bidirectional marks, and lone surrogates.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return the text with control characters and unwritable characters as escapes."""
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text.replace("\r\n", "\n"))


def tell(text: object, *, end: str = "\n") -> None:
    """Write to standard error with escapes: the text may come from a file, a server or a model."""
    print(printable(str(text)), end=end, file=sys.stderr, flush=True)


def agreed(question: str, *, yes: bool, options: str = "--yes") -> bool:
    """Ask the user for agreement; without a terminal, only an option can give it.

    Args:
        question: the question.
        yes: whether an option already gave agreement.
        options: options that give agreement, for the message without a terminal.
    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        tell(f"prompt-studio: {question} Without a terminal, use {options} to agree.")
        return False
    tell(f"{question} [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# Exit with a message if the output is closed or cannot encode the text.

_CANNOT_WRITE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO))


def ended(run: Callable[[], int]) -> int:
    """Run a function, flush the outputs, and return the exit code.

    Python flushes small output at its exit, where errors can no longer be handled.
    """
    if sys.stdout is None or sys.stderr is None:  # `>&-`, or a program without a console
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - held to the end
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    if sys.stdin is None:  # `<&-`: standard input is closed
        sys.stdin = io.TextIOWrapper(io.BytesIO(), "utf-8")
    _escape_what_is_not_in(sys.stdout)
    code = FINE
    try:
        try:
            code = run()
        finally:
            if not sys.stdout.closed:
                sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`| head`) closed the pipe; like other programs, end without a message.
        _discard()
    except KeyboardInterrupt:
        tell("prompt-studio: interrupted")
        return INTERRUPTED
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        _discard()
        tell(f"prompt-studio: cannot write: {error.strerror}")
        return PROBLEMS
    return code


def _escape_what_is_not_in(output: object) -> None:
    """Make an output write characters that its encoding (ASCII, …) lacks as JSON escapes."""
    if not isinstance(output, io.TextIOWrapper):
        return
    if output.errors == "strict" or codecs.lookup(output.encoding).name != "utf-8":
        codecs.register_error("escaped", _escaped)
        output.reconfigure(errors="escaped")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _discard() -> None:
    """Discard the output that is not written yet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


class Interruption:
    """Records whether a signal asked the command to stop."""

    def __init__(self, stop: Callable[[], object], *numbers: signal.Signals) -> None:
        """Listen for signals in the running event loop.

        An ignored signal stays ignored, as in background jobs of a shell and under `nohup`.

        Args:
            stop: called for each signal.
            numbers: the signals; Ctrl+C if none is given.
        """
        import asyncio  # not needed by commands that never wait

        self._stop = stop
        self.number = 0
        """Number of the last signal; 0 if there was none."""
        with suppress(NotImplementedError):  # Windows
            for each in numbers or (signal.SIGINT,):
                if signal.getsignal(each) != signal.SIG_IGN:
                    asyncio.get_running_loop().add_signal_handler(each, self._come, each)

    def _come(self, number: int) -> None:
        self.number = number
        self._stop()


# Number arguments with bounds, for the `type` of argparse.


def whole(least: int = 0, most: int = LARGEST) -> Callable[[str], int]:
    """Return a parser of integers within bounds, which raises argparse errors."""

    def read(text: str) -> int:
        number = whole_number(text)
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(
                f"{_shown(text)} is not a whole number {_bounds(least, most)}"
            )
        return number

    return read


def amount(
    least: float = 0, most: float = LARGEST, *, above: bool = False
) -> Callable[[str], float]:
    """Return a parser of numbers within bounds.

    Args:
        least: the minimum.
        most: the maximum.
        above: whether the minimum itself is excluded.
    """

    def read(text: str) -> float:
        try:
            found = float(text) if text.isascii() else math.nan
        except ValueError:
            found = math.nan
        if not least <= found <= most or (above and found == least):
            bounds = f"above {least:g}" if above else _bounds(least, most)
            raise argparse.ArgumentTypeError(f"{_shown(text)} is not a number {bounds}")
        return found

    return read


def _shown(text: str) -> str:
    return repr(shortened(text, 24))


def _bounds(least: float, most: float) -> str:
    return f"from {least:g} to {most:,.16g}"
