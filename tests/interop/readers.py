"""How each program reads an exported file: what differs, as a sentence; empty if nothing does."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

from studio.application.exchange.judge import NoJudgeError, run_in
from studio.core.export.chat_items import as_sent
from studio.core.export.target import VALUES_OF_NOW, ExportResult, ExportSource
from studio.core.prompty.meaning import first_difference
from studio.core.prompty.messages import TextPart
from studio.core.prompty.threads import read_thread
from studio.core.text.atomic_file import write_bytes_atomically
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


def prompty2(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
    """Prompty's own runtime, with every set."""
    judged = run_in("prompty", source, made, python)
    return next((each.difference for each in judged.rounds if not each.is_same), "")


def prompty1(python: Path, source: ExportSource, made: ExportResult, folder: Path) -> str:
    """The last runtime of Prompty 1, with every set."""
    judged = run_in("prompty1", source, made, python)
    return next((each.difference for each in judged.rounds if not each.is_same), "")


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
    """promptfoo takes the configuration, and renders each set to the messages of the preview.

    It asks `echo`, which answers with the prompt.
    """
    command = promptfoo_command(python)
    away = {"TELEMETRY", "UPDATE", "REMOTE_GENERATION"}
    environment = {
        **os.environ,
        **{f"PROMPTFOO_DISABLE_{word}": "1" for word in away},
        "PROMPTFOO_CONFIG_DIR": str(folder / "config"),
    }

    def ask(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
            cwd=folder,
            env=environment,
        )
        return "" if done.returncode in (0, 100) else (done.stdout + done.stderr).strip()

    path = folder / "promptfooconfig.yaml"
    path.write_bytes(made.content)
    told = ask("validate", "-c", str(path))
    if told:
        return f"it refuses the configuration: {told:.200}"
    data = yaml.safe_load(made.text)
    asked = [{k: v for k, v in test.items() if k != "assert"} for test in data["tests"]]
    config = {"prompts": data["prompts"], "providers": ["echo"], "tests": asked}
    path.write_text(json.dumps(config, default=str), encoding="utf-8")
    told = ask("eval", "-c", str(path), "-o", "out.json", "--no-cache", "--no-table", "-j", "1")
    if told:
        return f"it cannot run the configuration: {told:.200}"
    answers = json.loads((folder / "out.json").read_text(encoding="utf-8"))["results"]["results"]
    if len(answers) != len(asked):
        return f"it makes {len(answers)} tests of {len(asked)}"
    answers.sort(key=lambda each: each["testIdx"])
    names = [test.get("description", VALUES_OF_NOW) for test in asked]
    for name, answer in zip(names, answers, strict=True):
        output = (answer.get("response") or {}).get("output")
        if output is None:
            return f"{name}: {answer.get('error')}"
        got = read_thread(json.loads(output) if isinstance(output, str) else output, {}, None) or ()
        wanted = source.round_trips[name].messages.messages
        told = first_difference(as_sent(wanted), as_sent(got))
        if told:
            return f"{name}: {told}"
    return ""


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
    "prompty": ("prompty2", prompty2),
    "legacy": ("prompty1", prompty1),
    "agentschema": ("agentschema", agentschema),
    "langchain": ("langchain", langchain),
    "python": ("script", script),
    "promptfoo": ("promptfoo", promptfoo),
}
"""Export forms with a program that reads them: its environment, and how it is asked."""

__all__ = ["READERS", "NoJudgeError", "Reader"]
