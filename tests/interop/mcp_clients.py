"""`make interop`, second part: the programs that speak with `prompt-studio mcp`.

The protocol's inspector and its conformance suite (both from npm), and an agent of openai-agents
that repairs prompts with three mistakes, and proves it by an experiment. The mistakes are drawn,
the same in each call; `AGENT_SEEDS` says how often (8).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from studio.servers.mcp.served_folder import ServedFolder
from studio.servers.mcp.server import LOOPBACK, StudioServer
from tests.interop.environments import (
    FOLDER,
    LIMIT,
    NPM_INSTALL,
    build,
    npm_package,
    python_of,
)
from tests.support.chat_server import chat_server

STUDIO = str(Path(sys.executable).parent / "prompt-studio")
TOOLS = tuple(npm_package(f"@modelcontextprotocol/{name}") for name in ("inspector", "conformance"))
FOR_ANY_SERVER = (
    "completion-complete",
    "tools-list",
    "tools-call-error",
    "server-sse-multiple-streams",
    "resources-list",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "dns-rebinding-protection",
)
SCENARIOS = {
    "2026-07-28": (*FOR_ANY_SERVER, "sep-2164-resource-not-found", "caching"),
    "2025-11-25": (*FOR_ANY_SERVER, "server-initialize", "ping"),
}
"""By revision of the specification; the others call what the suite's own server has."""

PROMPT = """\
---
name: Capital
description: Names a capital
inputs:
  country:
    kind: string
    description: A country
    default: Norway
  tone:
    kind: string
    default: calm
model:
  apiType: chat
template:
  format:
    kind: jinja2
  parser:
    kind: prompty
---
system:
Answer in one word. Be {{ tone }}.

user:
What is the capital of {{ country | upper }}?
{% if country == "Peru" %}Think.{% endif %}
"""
EXPERIMENT = """\
prompts: [capital.prompty]
providers: [small]
tests:
  - {vars: {country: Norway}, assert: [{type: equals, value: Oslo}]}
  - {vars: {country: Italy}, assert: [{type: equals, value: Rome}]}
gates: {pass_rate: 1}
"""
MISTAKES: tuple[tuple[str, str], ...] = (
    ("name: Capital", "nmae: Capital"),
    ("description: Names", "descripton: Names"),
    ("inputs:", "input:"),
    ("template:\n", "templte:\n"),
    ("kind: prompty", "kind: promty"),
    ("kind: jinja2", "kind: jinja"),
    ("    kind: string\n    default: calm", "    kind: strng\n    default: calm"),
    ("    kind: string\n    description", "    kind: String\n    description"),
    ("    description: A", "    descrption: A"),
    ("    default: calm", "    defalt: calm"),
    ("  apiType: chat", "  apiTpye: chat"),
    ("model:\n", "modle:\n"),
    ("system:\n", "System:\n"),
    ("system:\n", "system: "),
    ("user:\n", "user :\n"),
    ("{{ tone }}", "{ tone }"),
    ("{{ tone }}", "{{ tonne }}"),
    ("{{ country | upper }}", "{{ country | uper }}"),
    ("{{ country | upper }}", "{{ country | upper }"),
    ("{% endif %}", "{% endfi %}"),
)
"""Twenty slips of the pen: what is right, and what is written instead."""


def inspected(script: Path, folder: Path, place: list[str], *arguments: str) -> object:
    """What the inspector prints as JSON."""
    done = subprocess.run(
        [str(_node("node")), str(script), "--cli", *place, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
        cwd=folder,
    )
    return json.loads(done.stdout)


def inspect(folder: Path) -> Iterator[tuple[str, bool]]:
    """What the inspector sees of a server over pipes, and over HTTP with the token."""
    script = _package("inspector")
    (folder / "capital.prompty").write_text(
        PROMPT.replace("{{ tone }}", "{{ tonne }}"), encoding="utf-8"
    )
    ask = ("--method", "tools/call", "--tool-name", "check")
    pipes = [STUDIO, "mcp", str(folder)]
    shown = inspected(script, folder, pipes, "--method", "tools/list")
    yield "tools over pipes", len(shown["tools"]) > 20  # type: ignore[index,call-overload]
    over_pipes = inspected(script, folder, pipes, *ask)
    yield "check over pipes", "undeclared-variable" in json.dumps(over_pipes)
    got = inspected(
        script,
        folder,
        pipes,
        "--method",
        "prompts/get",
        "--prompt-name",
        "capital",
        "--prompt-args",
        "country=Italy",
    )
    yield "prompts/get", "capital of ITALY" in json.dumps(got)
    command = [*pipes, "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address, header = server.stderr.readline().strip(), server.stderr.readline().strip()
            there = [address, "--transport", "http", "--header", header]
            yield "check over HTTP", inspected(script, folder, there, *ask) == over_pipes
        finally:
            server.terminate()


def conform(folder: Path) -> Iterator[tuple[str, bool]]:
    """The scenarios of the conformance suite that are for any server."""
    script = _package("conformance")
    (folder / "test_simple_prompt.prompty").write_text(
        "---\nname: Simple\n---\nuser:\nThis is a simple prompt for testing.\n", encoding="utf-8"
    )
    declared = "".join(f"  arg{n}: {{kind: string, required: true}}\n" for n in (1, 2))
    (folder / "test_prompt_with_arguments.prompty").write_text(
        f"---\nname: With arguments\ninputs:\n{declared}---\nuser:\n"
        "Prompt with arguments: arg1={{ arg1 }}, arg2={{ arg2 }}\n",
        encoding="utf-8",
    )
    with _listening(folder) as address:
        playing = [str(_node("node")), str(script), "server", "--url", address]
        for era, name in ((era, name) for era, names in SCENARIOS.items() for name in names):
            done = subprocess.run(
                [*playing, "--spec-version", era, "--scenario", name],
                capture_output=True,
                text=True,
                check=False,
                timeout=LIMIT,
                cwd=folder,
            )
            yield f"{era} {name}", done.returncode == 0


@contextmanager
def _listening(folder: Path) -> Iterator[str]:
    """The server without its token, which the suite cannot send; tests/servers/mcp holds that."""
    server = StudioServer(ServedFolder(folder.resolve()))
    app = server.streamable_http_app(host=LOOPBACK)
    web = uvicorn.Server(uvicorn.Config(app, host=LOOPBACK, port=0, log_level="error"))
    thread = threading.Thread(target=web.run)
    thread.start()
    try:
        while not (web.started and web.servers):
            thread.join(0.05)
        yield f"http://{LOOPBACK}:{web.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        web.should_exit = True
        thread.join()


def repair(folder: Path, seed: int) -> tuple[str, bool]:
    """Let the agent repair a prompt with three mistakes."""
    python = build("agents")
    assert python is not None
    text, chosen = PROMPT, []
    for right, wrong in random.Random(seed).sample(MISTAKES, len(MISTAKES)):
        if len(chosen) < 3 and right in text:
            text = text.replace(right, wrong, 1)
            chosen.append(wrong.strip())
    (folder / "capital.prompty").write_text(text, encoding="utf-8")
    (folder / "capital.experiment.yaml").write_text(EXPERIMENT, encoding="utf-8")
    home = folder.parent / "home"
    (home / "config").mkdir(parents=True, exist_ok=True)
    with chat_server() as server:
        server.always(_answering())
        (home / "config" / "connections.toml").write_text(
            f'[[connection]]\nname = "small"\nkind = "compatible"\nmodel = "m"\n'
            f'base_url = "{server.url}"\n',
            encoding="utf-8",
        )
        script = Path(__file__).with_name("repair_agent.py")
        done = subprocess.run(
            [
                str(python),
                str(script),
                STUDIO,
                str(folder),
                "capital.prompty",
                "capital.experiment.yaml",
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
            env={**os.environ, "PROMPT_STUDIO_HOME": str(home)},
        )
    told = done.stdout.strip()
    is_proved = '"gates_hold": true' in told
    left = "" if is_proved else f": {told or done.stderr[-600:]}"
    return f"agent, seed {seed}: {', '.join(chosen)}{left}", is_proved


def _answering() -> Callable[..., object]:
    from tests.application.experiments.conftest import answering

    def answer(text: str) -> str:
        if "capital of NORWAY" in text:
            return "Oslo"
        return "Rome" if "capital of ITALY" in text else "I do not know."

    return answering([], answer)


def _node(program: str) -> Path:
    python = python_of("nodejs")
    assert python is not None
    return python.with_name(program)


def _package(name: str) -> Path:
    """The script of a package of npm, installed once."""
    where = FOLDER / "npm"
    mark = where / ".made-of"
    if not mark.is_file() or mark.read_text(encoding="utf-8") != " ".join(TOOLS):
        subprocess.run(
            [_node("npm"), *NPM_INSTALL, "--no-save", "--prefix", where, *TOOLS],
            check=True,
            env={**os.environ, "PATH": f"{_node('npm').parent}:{os.environ['PATH']}"},
        )
        mark.write_text(" ".join(TOOLS), encoding="utf-8")
    folder = where / "node_modules" / "@modelcontextprotocol" / name
    scripts = json.loads((folder / "package.json").read_text(encoding="utf-8"))["bin"]
    found = scripts if isinstance(scripts, str) else next(iter(scripts.values()))
    return (folder / found).resolve()


def main() -> int:
    """Ask each program, print what came of it."""
    failed = 0

    def show(what: str, *, is_well: bool) -> None:
        nonlocal failed
        failed += not is_well
        print(f"{'ok    ' if is_well else 'FAILED'} {what}", flush=True)

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "served"
        os.environ["PROMPT_STUDIO_HOME"] = str(Path(made) / "home")
        if build("nodejs") is not None:
            for part in (inspect, conform):
                folder.mkdir()
                for name, is_well in part(folder):
                    show(f"{part.__name__}: {name}", is_well=is_well)
                shutil.rmtree(folder)
        if build("agents") is not None:
            for seed in range(int(os.environ.get("AGENT_SEEDS", "8"))):
                folder.mkdir()
                what, is_well = repair(folder, seed)
                show(what, is_well=is_well)
                shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
