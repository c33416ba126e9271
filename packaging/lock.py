"""Renew the lock files and print what changed; `make lock` calls it.

Each lock names every package of one purpose with its version and its hashes, for Python 3.11 to
3.14 on Linux, macOS and Windows, and no index: `pip install -r FILE` alone installs from it.

    python packaging/lock.py            renew all locks to the newest versions
    python packaging/lock.py --keep     add what is missing; keep the versions that are locked
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "packaging" / "lock"
INTEROP = ROOT / "tests" / "interop"
UV = "uv==0.13.9"
OLDEST_PYTHON = "3.11"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)(?: ; ([^\\\n]*))?", re.MULTILINE)


@dataclass(frozen=True)
class Lock:
    """One lock file and where its packages come from."""

    path: Path
    """The file."""

    arguments: tuple[str, ...]
    """What `uv pip compile` gets: sources, groups, constraints."""

    requirements: tuple[str, ...] = ()
    """Requirements, where they are not in pyproject.toml."""


def shared_lock(purpose: str) -> Path:
    """Return the lock of one purpose, for the environment of the studio."""
    return FOLDER / f"requirements-{purpose}.txt"


def locks() -> Iterator[Lock]:
    """Yield the locks in the order in which they are made.

    The first one has everything that shares an environment; the next ones are parts of it.
    """
    everything = shared_lock("all")
    project = ("pyproject.toml", "--group", "build")
    shared = ("dev", "bench", "fuzz", "tour", "dist")
    groups = [word for group in shared for word in ("--group", group)]
    yield Lock(everything, (*project, "--all-extras", *groups))
    agreeing = ("-c", str(everything))
    yield Lock(shared_lock("run"), ("pyproject.toml", *agreeing))
    yield Lock(shared_lock("dev"), (*project, "--all-extras", "--group", "dev", *agreeing))
    yield Lock(shared_lock("dist"), (*project, "--group", "dist", *agreeing))
    for group in ("build", "bench", "fuzz", "tour"):
        yield Lock(shared_lock(group), ("--group", group, *agreeing))
    yield Lock(shared_lock("weights"), ("--group", "weights", "--no-deps"))
    table = tomllib.loads((INTEROP / "packages.toml").read_text(encoding="utf-8"))
    for name, requirements in table["python"].items():
        yield Lock(INTEROP / "lock" / f"{name}.txt", ("-",), tuple(requirements))


def main() -> int:
    """Renew the locks; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--keep", action="store_true", help="keep the versions that are locked")
    keep = parser.parse_args().keep
    with tempfile.TemporaryDirectory() as folder:
        install = [sys.executable, "-m", "pip", "install", "-q", "--target", folder, UV]
        subprocess.run(install, check=True)
        uv = Path(folder) / "bin" / "uv"
        for lock in locks():
            before = pins(lock.path)
            compile_lock(uv if uv.exists() else uv.with_suffix(".exe"), lock, keep=keep)
            report(lock, before, pins(lock.path))
    return 0


def compile_lock(uv: Path, lock: Lock, *, keep: bool) -> None:
    """Write one lock file; stop with uv's message where its packages do not agree."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    if not keep:
        lock.path.unlink(missing_ok=True)
    command = [
        *(str(uv), "pip", "compile", *lock.arguments, "-o", str(lock.path), "-q"),
        *("--universal", "--python-version", OLDEST_PYTHON, "--generate-hashes"),
        *("--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"),
        "--no-strip-extras",  # pip 23 takes the newest release of `a[b]` beside a locked `a`
    ]
    wanted = "\n".join(lock.requirements)
    ended = subprocess.run(command, cwd=ROOT, check=False, input=wanted, text=True)
    if ended.returncode:
        sys.exit(f"lock: {lock.path.relative_to(ROOT)} could not be made")


def pins(path: Path) -> dict[str, str]:
    """Return the version of each package in a lock, by name and marker."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return {
        f"{name} ({marker.strip()})" if marker else name: version
        for name, version, marker in _PIN.findall(text)
    }


def report(lock: Lock, before: dict[str, str], after: dict[str, str]) -> None:
    """Print what changed in one lock."""
    changes = [
        f"  {name}: {before.get(name, 'new')} -> {after.get(name, 'gone')}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    name = lock.path.relative_to(ROOT)
    print(f"{name}: {len(after)} packages, {len(changes)} changed", flush=True)
    if before and changes:
        print(*changes, sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
