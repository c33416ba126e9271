"""Where the bundled files are: beside a checkout, or inside the installed package."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def resource_root() -> Path:
    """The folder of bundled resources.

    A wheel carries it as `studio/_resources`, a checkout has it beside the package.

    Raises:
        FileNotFoundError: neither exists; the installation is broken.
    """
    for candidate in (_PACKAGE / "_resources", _PACKAGE.parent / "resources"):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError("bundled resources are missing; install Prompt Studio again")


def docs_root() -> Path:
    """The folder of the user guide's pages, in a wheel among the resources.

    Raises:
        FileNotFoundError: there is none; the installation is broken.
    """
    for candidate in (resource_root() / "docs", _PACKAGE.parent / "docs"):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError("the user guide is missing; install Prompt Studio again")


def resource(*parts: str) -> Path:
    """The path of one bundled file, whether or not it exists."""
    return resource_root().joinpath(*parts)
