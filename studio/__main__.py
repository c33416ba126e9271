"""`prompt-studio`: with a command it works on files, otherwise the window opens."""

from __future__ import annotations

import sys

from studio.cli import COMMANDS, run_command


def main(arguments: list[str] | None = None) -> int:
    """Run the program; returns its exit code (0 fine, 1 problems found, 2 wrong usage)."""
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] in COMMANDS:
        return run_command(given)
    # Qt is imported only where a window is wanted: commands work on machines without it.
    from studio.app import open_studio

    return open_studio(given)


if __name__ == "__main__":
    sys.exit(main())
