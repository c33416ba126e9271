"""How each program reads an exported file: what differs, as a sentence; empty if nothing does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from studio.application.exchange.export import JudgeName, NoJudgeError
from studio.application.exchange.judge import run_in
from studio.core.export.target import ExportResult, ExportSource
from studio.core.prompty.messages import TextPart
from studio.core.text.files import write_bytes_atomically
from tests.interop.environments import LIMIT, promptfoo_command

Reader = Callable[[Path, ExportSource, ExportResult, Path], str]
"""Python of the environment, what was exported, the result, and an empty folder."""

_AGENTSCHEMA = """
import sys, yaml, agentschema
agent = agentschema.AgentDefinition.load(yaml.safe_load(open(sys.argv[1], encoding="utf-8")))
assert isinstance(agent, agentschema.PromptAgent), type(agent).__name__
"""

_LANGCHAIN = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("exported", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
values = json.loads(sys.stdin.read())
roles = {"human": "user", "ai": "assistant"}
print(json.dumps([
    [roles.get(m.type, m.type), m.content if isinstance(m.content, str) else None]
    for m in module.prompt.format_messages(**values)
]))
"""


def judged(name: JudgeName, target: str) -> Reader:
    """Return a reader that compares the request of a program (`run_in`), with every set."""

    def read(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
        found = run_in(name, target, source, made, python)
        return next((each.difference for each in found.rounds if not each.is_same), "")

    return read


def agentschema(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
    """The package that defines AgentSchema loads it as a prompt agent."""
    path = folder / "agent.yaml"
    path.write_bytes(made.content)
    return _failure(python, _AGENTSCHEMA, path, "")


def langchain(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
    """The module is imported, and makes the same messages of the values of now."""
    path = folder / "exported.py"
    path.write_bytes(made.content)
    values = dict(source.prepared.inputs)
    done = _run(python, _LANGCHAIN, path, json.dumps(values, default=str))
    if done.returncode:
        return done.stderr.strip().rpartition("\n")[2]
    got = json.loads(done.stdout)
    wanted = [
        [m.role, m.text if all(isinstance(p, TextPart) for p in m.parts) else None]
        for m in source.prepared.messages.messages
    ]
    if [each[0] for each in got] != [each[0] for each in wanted]:
        return f"the roles are {[each[0] for each in got]} instead of {[e[0] for e in wanted]}"
    for one, other in zip(wanted, got, strict=True):
        if None not in (one[1], other[1]) and one[1].strip("\n") != other[1].strip("\n"):
            return f"{one[0]}: {other[1]!r:.80} instead of {one[1]!r:.80}"
    return ""


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
    "langchain": ("langchain", langchain),
    "python": ("script", script),
    "promptfoo": ("promptfoo", promptfoo),
}
"""Export forms with a program that reads them: its environment, and how it is asked."""

__all__ = ["READERS", "NoJudgeError", "Reader"]
