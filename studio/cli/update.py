"""`prompt-studio update`: whether there is a newer version, and what installs it."""

from __future__ import annotations

import argparse
import asyncio

from studio import __version__
from studio.cli.exit_codes import FINE, PROBLEMS
from studio.cli.terminal import tell


def add_update(parser: argparse.ArgumentParser) -> None:
    """It takes no arguments; it asks the package source, and installs nothing."""
    parser.set_defaults(action=_update)


def _update(_: argparse.Namespace) -> int:
    from studio.core.models.base import ModelError
    from studio.core.models.new_version import find_new_version

    try:
        found = asyncio.run(find_new_version())
    except ModelError as error:
        tell(f"prompt-studio: {error.message} {error.hint}".rstrip())
        return PROBLEMS
    if found is None:
        print(f"{__version__} is the newest.")
    else:
        print(f"{found.version} can be had from {found.source}: {found.command}")
    return FINE
