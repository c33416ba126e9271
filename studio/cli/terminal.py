"""Words for a terminal, and exit codes: controls in texts of others are shown, and not done."""

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

# The words of the command line that its first look needs, apart from what the commands import.

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "check": ("find problems in prompt files", "check:add_check"),
        "messages": ("show the messages that a model would get", "messages:add_messages"),
        "request": ("show the exact body that a provider would get", "messages:add_request"),
        "run": ("run a prompt or agent to its end", "run.drive:add_run"),
        "record": ("record, hold and edit the calls of any program", "record:add_record"),
        "replay": ("answer a program from a recording, offline", "record:add_replay"),
        "trace": ("take traces that programs send (OTLP)", "record:add_trace"),
        "export": ("write a checked file for another program", "export:add_export"),
        "import": ("make a prompt file from another format", "export:add_import"),
        "convert": ("write a file in another dialect", "convert:add_convert"),
        "fmt": ("tidy files without changing their meaning", "convert:add_fmt"),
        "runs": ("the history: list, show, open, export, import, prune, repair", "runs:add_runs"),
        "tools": (
            "list, show, call and record tools; serve a Python file",
            "tools.commands:add_tools",
        ),
        "experiment": (
            "run rows × variants × repeats, and mark the answers",
            "experiment.commands:add_experiment",
        ),
        "baseline": ("set what experiments are compared with", "experiment.commands:add_baseline"),
        "cluster": ("make certificates for workers of experiments", "servers:add_cluster"),
        "connections": (
            "list, test, add and remove the places where models answer",
            "connections:add_connections",
        ),
        "lsp": ("language server for editors", "servers:add_lsp"),
        "mcp": ("server for coding agents (MCP)", "servers:add_mcp"),
        "completion": ("completion at Tab for bash, zsh and fish", "completion:add_completion"),
        "plugins": ("list the installed plug-ins and their errors", "main:add_plugins"),
    }
)
"""Description of each command, and the function of `studio.cli` that adds its arguments.

Any other first word is a file to open.
"""

FINE, PROBLEMS, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all is well, problems were found, it was called in a wrong way, Ctrl-C."""

UNFINISHED, PAUSED = 3, 4
"""Exit codes of experiments: errors kept cells from finishing, a budget is used up."""


class UsageError(Exception):
    """The command was not called as it wants to be; the text says how."""


# Control characters (a terminal acts on them), what turns the direction of text, half characters.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return the text with control and unwritable characters shown as escapes."""
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text.replace("\r\n", "\n"))


def tell(text: object, *, end: str = "\n") -> None:
    """Write to standard error: a file, a server or a model may have chosen words of it."""
    print(printable(str(text)), end=end, file=sys.stderr, flush=True)


def agreed(question: str, *, yes: bool, options: str = "--yes") -> bool:
    """Return whether the user agrees; without a terminal only an option does.

    Args:
        question: what is asked.
        yes: whether an option said yes already.
        options: the options that say yes, for the message where nobody can be asked.
    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        tell(f"prompt-studio: {question} Say {options} where nobody can be asked.")
        return False
    tell(f"{question} [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# How the program ends when its output has nowhere to go, or cannot be said there: in words.

_CANNOT_WRITE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO))


def ended(run: Callable[[], int]) -> int:
    """Run, write what is still held back, and return the exit code.

    Python writes small output when it ends, where nothing can catch what fails.
    """
    if sys.stdout is None or sys.stderr is None:  # `>&-`, or a program without a console
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - held to the end
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    if sys.stdin is None:  # `<&-`: there is nothing to read
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
        # The reader (`| head`) has gone; closing quietly is what every such program does.
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
    """Write what an output's encoding has no sign for (ASCII, Windows' 1252) as JSON escapes it."""
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
    """Let what is still held back go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


class Interruption:
    """Whether a signal has asked the command to stop."""

    def __init__(self, stop: Callable[[], object], *numbers: signal.Signals) -> None:
        """Listen while the event loop goes, which must be running.

        A signal that is ignored stays so, as in a shell's background jobs and under `nohup`.

        Args:
            stop: called each time.
            numbers: the signals that ask; Ctrl+C where none is given.
        """
        import asyncio  # not for commands that never wait

        self._stop = stop
        self.number = 0
        """Number of the last signal; 0 before one came."""
        with suppress(NotImplementedError):  # Windows
            for each in numbers or (signal.SIGINT,):
                if signal.getsignal(each) != signal.SIG_IGN:
                    asyncio.get_running_loop().add_signal_handler(each, self._come, each)

    def _come(self, number: int) -> None:
        self.number = number
        self._stop()


# Numbers of the command line, with their bounds: for argparse's `type`.


def whole(least: int = 0, most: int = LARGEST) -> Callable[[str], int]:
    """Return a parser of whole numbers within bounds, which raises argparse's error."""

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
        least: the smallest one.
        most: the largest one.
        above: whether the smallest one itself is not taken.
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
