"""Where the bundled files are: beside a checkout, or inside the installed package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from studio.core.text.bounded_file import read_text

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


def resource_text(*parts: str) -> str:
    """Read the text of one bundled file."""
    return read_text(resource(*parts), encoding="utf-8")


def resource_table(*parts: str) -> Mapping[str, Mapping[str, str]]:
    """Read a bundled table: the rows below each `[section]`, by their first word.

    Two blanks or more stand between the word and the rest of its row; `#` begins a comment.

    Raises:
        ValueError: A row has one word alone, or stands before the first section.
    """
    sections: dict[str, dict[str, str]] = {}
    rows: dict[str, str] | None = None
    for line in resource_text(*parts).splitlines():
        word, _, rest = line.partition("  ")
        if line.startswith("["):
            rows = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            if rows is None or not rest:
                raise ValueError(f"{'/'.join(parts)}: {line!r} is no row of a section")
            rows[word] = rest.strip()
    return sections
