"""How each program reads an exported file: what differs, as a sentence; empty if nothing does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from studio.application.exchange.export import PROGRAMS, JudgeName, NoJudgeError
from studio.application.exchange.judge import run_in
from studio.core.export.target import ExportResult, ExportSource
from studio.core.text.files import write_bytes_atomically
from tests.interop.environments import LIMIT, promptfoo_command

Reader = Callable[[Path, ExportSource, ExportResult, Path], str]
"""Python of the environment, what was exported, the result, and an empty folder."""

_AGENTSCHEMA = """
import sys, yaml, agentschema
agent = agentschema.AgentDefinition.load(yaml.safe_load(open(sys.argv[1], encoding="utf-8")))
assert isinstance(agent, agentschema.PromptAgent), type(agent).__name__
"""


def judged(name: JudgeName, target: str) -> Reader:
    """Return a reader that compares the request of a program (`run_in`), with every set."""

    def read(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
        found = run_in(name, target, source, made, python)
        return next((each.difference for each in found.rounds if not each.is_same), "")

    return read


def curl(target: str) -> Reader:
    """Return a reader that compares the request that a shell sends with a curl command."""

    def read(_: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
        return judged("curl", target)(Path(str(shutil.which("curl"))), source, made, folder)

    return read


def agentschema(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
    """The package that defines AgentSchema loads it as a prompt agent."""
    path = folder / "agent.yaml"
    path.write_bytes(made.content)
    return _failure(python, _AGENTSCHEMA, path, "")


def script(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
    """The script is sound for ruff and mypy, and tells its usage."""
    path = folder / "script.py"
    known = str(python.parents[1] / "mypy")  # the packages that the scripts use are read once
    write_bytes_atomically(path, made.content)
    checks: Mapping[str, tuple[str, ...]] = {
        "ruff": ("-m", "ruff", "check", "--isolated", "-q", str(path)),
        "mypy": ("-m", "mypy", "--ignore-missing-imports", "--cache-dir", known, str(path)),
        "help": (str(path), "--help"),
    }
    for name, arguments in checks.items():
        done = subprocess.run(
            [str(python), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
            cwd=folder,
        )
        if done.returncode:
            return f"{name}: {(done.stdout or done.stderr).strip().partition(chr(10))[0]}"
    return ""


def promptfoo(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
    """promptfoo takes the configuration, and sends the request of the studio for each set."""
    program = folder / "promptfoo"
    node, entry = promptfoo_command(python)
    program.write_text(f'#!/bin/sh\nexec "{node}" "{entry}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return judged("promptfoo", "promptfoo")(program, source, made, folder)


def _failure(python: Path, code: str, path: Path, given: str) -> str:
    done = _run(python, code, path, given)
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


def _run(python: Path, code: str, path: Path, given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-I", "-c", code, str(path)],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


READERS: Mapping[str, tuple[str, Reader]] = {
    "prompty": ("prompty2", judged("prompty", "prompty")),
    "legacy": ("prompty1", judged("prompty1", "legacy")),
    "agentschema": ("agentschema", agentschema),
    "langchain": ("langchain", judged("langchain", "langchain")),
    "python": ("script", script),
    "promptfoo": ("promptfoo", promptfoo),
}
"""Export forms with a program that reads them: its environment, and how it is asked."""

REQUESTS: Mapping[str, tuple[str, Reader]] = {
    **{name: READERS[name] for name in ("prompty", "legacy", "langchain", "promptfoo")},
    "agentschema": ("agent-framework", judged("agent-framework", "agentschema")),
    "python": ("script", judged("python", "python")),
    **{name: ("script", curl(name)) for name in PROGRAMS["curl"].forms},
}
"""Export forms whose program sends a request: its environment, and how it is asked."""

__all__ = ["READERS", "REQUESTS", "NoJudgeError", "Reader"]
