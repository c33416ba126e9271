"""System libraries that the installed wheels load: asked of the loader (`ldd`), never listed.

    python packaging/libraries.py FOLDER    the missing ones, with Debian's packages

FOLDER is an environment's `site-packages`, or a frozen program. Used by `bootstrap.py` and
`distribution.py`; needs nothing but Python.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from studio.core.system_libraries import debian_package  # noqa: E402

_ELF = b"\x7fELF"
_LINE = re.compile(r"^\s*(?P<name>\S+) => (?P<path>not found|\S+)")
_OF_QT = re.compile(r"lib(?:Qt6|pyside6|shiboken6)\w*\.")

# Qt comes with all of its modules and plugins in one wheel. The studio loads the modules that it
# imports, and Qt for them plugins of these kinds; a window needs one of these platforms.
PLUGINS = (
    "iconengines",
    "imageformats",
    "platforminputcontexts",
    "platforms",
    "styles",
    "tls",
    "wayland-decoration-client",
    "wayland-graphics-integration-client",
    "wayland-shell-integration",
    "xcbglintegrations",
)
PLATFORMS = ("offscreen", "wayland", "xcb")


def missing(folder: Path) -> dict[str, Path]:
    """The libraries that are not there, each with a file that wants it."""
    found: dict[str, Path] = {}
    for path, needs in _needs(folder):
        for name, place in needs:
            if place is None and not _OF_QT.match(name):
                found.setdefault(name, path)
    return dict(sorted(found.items()))


def outside(folder: Path) -> set[Path]:
    """The files of the system that are loaded for what is in a folder."""
    home = folder.resolve()
    return {
        place.resolve()
        for _, needs in _needs(folder)
        for _, place in needs
        if place is not None and home not in place.resolve().parents
    }


def _needs(folder: Path) -> list[tuple[Path, list[tuple[str, Path | None]]]]:
    """What each loaded file of a folder wants, with where the loader finds it."""
    files = list(loaded_files(folder))
    with ThreadPoolExecutor() as pool:
        return list(zip(files, pool.map(needs_of, files), strict=True))


def needs_of(path: Path) -> list[tuple[str, Path | None]]:
    """The libraries that a file wants, also by way of others; None for one that is not there."""
    asked = subprocess.run(
        ["ldd", str(path)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    found = (match for line in asked.stdout.splitlines() if (match := _LINE.match(line)))
    return [
        (match["name"], None if match["path"] == "not found" else Path(match["path"]))
        for match in found
    ]


def loaded_files(folder: Path) -> Iterator[Path]:
    """The programs and libraries of a folder that the studio may load."""
    modules = qt_modules()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or not _is_elf(path):
            continue
        if _is_used(path.relative_to(folder), modules):
            yield path


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF


def _is_used(path: Path, modules: frozenset[str]) -> bool:
    """Whether the studio loads a file of Qt; any other it does."""
    parts = path.parts
    if "PySide6" not in parts:
        return True
    inside = parts[parts.index("PySide6") + 1 :]
    if inside[:2] == ("Qt", "plugins"):
        kind, name = inside[2], path.name.removeprefix("libq").partition(".")[0]
        return kind in PLUGINS and (kind != "platforms" or name in PLATFORMS)
    # What a module needs of Qt's own libraries, the loader tells of the module.
    return len(inside) == 1 and path.name.partition(".")[0] in modules


@cache
def qt_modules() -> frozenset[str]:
    """The modules of PySide6 that the studio imports."""
    found: set[str] = set()
    for path in (ROOT / "studio").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("PySide6."):
                found.add(str(node.module).split(".")[1])
    return frozenset(found)


def debian_names(
    libraries: Iterable[str], exists: Callable[[str], bool] | None = None
) -> list[str]:
    """The packages that bring libraries, as this release of Debian or Ubuntu calls them.

    Args:
        libraries: their names for the loader (`libgomp.so.1`).
        exists: tells whether there is a package of a name; apt is asked where None.
    """
    known = exists if exists is not None else _apt_knows
    made: list[str] = []
    for library in libraries:
        usual = debian_package(library)
        # Debian 13 and Ubuntu 24.04 renamed what a wider clock changed.
        newer = f"{usual}t64"
        made.append(newer if not known(usual) and known(newer) else usual)
    return sorted(set(made))


def _apt_knows(package: str) -> bool:
    if shutil.which("apt-cache") is None:
        return False
    asked = subprocess.run(["apt-cache", "show", package], check=False, capture_output=True)
    return asked.returncode == 0 and bool(asked.stdout)


def main(folder: str) -> int:
    """Tell what is missing; 1 where something is."""
    found = missing(Path(folder))
    for name, path in found.items():
        print(f"{name:28} {debian_names([name])[0]:28} for {path}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
