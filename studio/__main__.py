"""`prompt-studio`: run a command on files, or open the window if no command is given."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.cli.terminal import COMMANDS, USAGE, ended, tell
from studio.cli.window_arguments import window_parser
from studio.core.paths import TRIALS

MODEL_CHILD = "--embedded-model-child"
"""Option with which a frozen program starts itself as the process of the embedded model."""

COLLECT_AFTER = 20_000
"""Number of objects that a command allocates between two garbage collections: some megabytes.

Python's default of 700 costs 5 % of a start and 14 % of a cell of an experiment.
"""

_NO_DISPLAY = """\
prompt-studio: there is no display, so no window can open.
  To get a picture of the window all the same:  prompt-studio --screenshot OUT.png [FILE]
  To work without a window:                     prompt-studio check FILE (or messages, run, …)
  On a server with a virtual screen:            xvfb-run prompt-studio"""


def main(arguments: list[str] | None = None) -> int:
    """Run the program and return its exit code (0 fine, 1 problems found, 2 wrong usage)."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        return ended(lambda: _run(given))
    except ImportError as error:
        from studio.core.system_libraries import missing_library

        library = missing_library(str(error))
        if library is None:
            raise
        return _say_missing(library)


def _say_missing(library: str) -> int:
    from studio.core.system_libraries import advice

    print(f"prompt-studio: the system library {library} is missing.", file=sys.stderr)
    print(f"  {advice(library)}", file=sys.stderr)
    return USAGE


def _run(given: list[str]) -> int:
    if given and given[0] == MODEL_CHILD:
        from studio.core.models.embedded import child

        child.main()
        return 0
    if given and given[0] == TRIALS:
        from studio.application.document.checked_file import serve_trials

        serve_trials()
        return 0
    if given and given[0] in COMMANDS:
        gc.set_threshold(COLLECT_AFTER)
        # The modules of the commands take longer to import than a window takes to paint.
        from studio.cli.main import run_command

        return run_command(given)
    if given and (meant := _command_meant(given[0])):
        print(
            f"prompt-studio: there is no command and no file {given[0]!r}; did you mean {meant!r}?",
            file=sys.stderr,
        )
        return USAGE
    return open_studio(given)


def _command_meant(word: str) -> str:
    """Return the command that a word probably means; empty if the word is or may be a file."""
    if not word.isalpha() or Path(word).exists():
        return ""
    from studio.core.text.naming import nearest  # only if the word is neither a command nor a file

    return nearest(word, COMMANDS)


def open_studio(arguments: Sequence[str]) -> int:
    """Open the window, wait until it is closed, and return the exit code."""
    options = window_parser().parse_args(arguments)
    picture: Path | None = options.screenshot
    from studio.core.system_libraries import has_display  # not for `--help`

    if not has_display():
        if picture is None:
            print(_NO_DISPLAY, file=sys.stderr)
            return USAGE
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    missing = [path for path in options.files if not path.is_file()]
    if missing:
        tell(f"prompt-studio: {str(missing[0])!r}: no such file")
        return USAGE
    if options.safe:
        from studio.core.plugins import SWITCH

        os.environ[SWITCH] = "off"
    # Qt is imported only after the check that a window can open.
    alone = options.new_window or options.safe or picture is not None
    if not alone and _is_taken_over(options.files, options.begin or ""):
        return 0
    from studio import quick_start  # noqa: F401 - before Qt: it acts when imported
    from studio.app import Studio

    if sys.platform == "linux":
        library = missing_for_window(os.environ)
        if library is not None:
            return _say_missing(library)
    studio = Studio(theme=options.theme, is_safe=options.safe, alone=alone)
    if picture is not None:
        return studio.take_picture(picture, options.files, options.size)
    return studio.run(options.files, example=options.example, begin=options.begin or "")


def _is_taken_over(files: Sequence[Path], begin: str) -> bool:
    """Return whether a running studio opens the files; one that left no mark is not asked."""
    from studio.core.paths import user_paths  # not for `--help`

    data = user_paths().data
    if not (data / "instance").exists():
        return False
    from studio.viewmodels.app.instance import hand_over

    return hand_over(data, files, begin)


# Whether Qt can load its platform libraries; without them, it aborts with no explanation.


def missing_for_window(environment: Mapping[str, str]) -> str | None:
    """Return the missing system library if no platform plugin loads; None if one loads.

    Loading a plugin here costs nothing: Qt reuses the loaded one.

    Args:
        environment: environment variables of the process, which select the platform.
    """
    import ctypes  # not for a command

    from PySide6.QtCore import QCoreApplication

    from studio.core.system_libraries import missing_library

    folders = [Path(folder) / "platforms" for folder in QCoreApplication.libraryPaths()]
    missing = None
    for name in _platforms(environment):
        plugins = [folder / f"libq{name}.so" for folder in folders]
        plugin = next((path for path in plugins if path.exists()), None)
        if plugin is None:
            return None  # Qt's own message about an unknown platform is clear
        try:
            ctypes.CDLL(str(plugin))
        except OSError as error:
            missing = missing_library(str(error))
        else:
            return None
    return missing


def _platforms(environment: Mapping[str, str]) -> list[str]:
    """Return the platforms that Qt tries, in order."""
    wanted = environment.get("QT_QPA_PLATFORM", "")
    if wanted:
        return [name.partition(":")[0] for name in wanted.split(";")]
    return [
        name
        for name, variable in (("wayland", "WAYLAND_DISPLAY"), ("xcb", "DISPLAY"))
        if environment.get(variable)
    ]


if __name__ == "__main__":
    sys.exit(main())
