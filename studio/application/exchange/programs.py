"""The programs that read exports: what they need, and how they are asked to send the request.

Each runs in a process of its own. What it would send to a server goes to one on this machine
(`recorder`), with the address that it was meant for in a header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

JudgeName: TypeAlias = Literal[
    "prompty", "prompty1", "langchain", "agent-framework", "promptfoo", "python", "curl"
]
"""Programs that can be asked."""


class NoJudgeError(Exception):
    """The program is not there, or gave no answer; the text says what to do."""


@dataclass(frozen=True, slots=True)
class ForeignProgram:
    """A program that reads exports."""

    forms: tuple[str, ...]
    """Names of the export forms that it reads."""

    package: str = ""
    """Python package whose version is told; empty for another kind of program."""

    wanted: str = ""
    """Requirement that pip installs it by."""

    newest: str = ""
    """Beginning of the versions that are taken; empty for all."""

    code: str = ""
    """Python that defines `prepare()` and `ask(path, values)`, which makes the request."""

    suffix: str = ".py"
    """Name ending of the file, for a package of Python."""


_REDIRECT = """
import importlib, json, sys
order = json.loads(sys.stdin.read())
state = {"round": 0}
def redirect(name):
    try:
        http = importlib.import_module(name)
    except ImportError:
        return
    def wrapped(real):
        def send(self, request, **further):
            request.headers["x-studio-address"] = str(request.url)
            request.headers["x-studio-round"] = str(state["round"])
            request.extensions.pop("openai.azure_auth_origin", None)  # else it takes the key out
            request.url = http.URL(order["recorder"])
            return real(self, request, **further)
        return send
    for kind in (http.Client, http.AsyncClient):
        kind.send = wrapped(kind.send)
redirect("httpx")
redirect("httpx2")
"""

ROUNDS = """
def tried(values):
    try:
        return {"messages": ask(order["path"], values)}
    except BaseException as error:
        return {"fault": f"{type(error).__name__}: {error}"}
try:
    from importlib.metadata import version
    found = {"version": version(order["package"])}
    prepare()
    found["sets"] = []
    for number, values in enumerate(order["sets"]):
        state["round"] = number
        found["sets"].append(tried(values))
except ImportError as error:
    found = {"missing": str(error)}
print("\\n" + json.dumps(found, default=str))
"""

_PROMPTY2 = """
def prepare():
    global prompty
    import prompty
def ask(path, values):
    agent = prompty.load(path)
    model = agent.model = agent.model or prompty.Model()
    model.id = model.id or order["model"]
    if model.provider in (None, "", "*"):
        model.provider = "openai"
    given = model.connection
    if not isinstance(given, prompty.ApiKeyConnection):
        model.connection = prompty.ApiKeyConnection(endpoint=getattr(given, "endpoint", "") or "")
    model.connection.api_key = model.connection.api_key or order["key"]
    prompty.run(agent, prompty.prepare(agent, values), raw=True)
"""
"""What the file leaves to its reader (model, provider, key) is given as the studio has it."""

_PROMPTY1 = """
def prepare():
    global prompty
    import prompty
def parts(content):
    if isinstance(content, str):
        return content
    return [p for p in content]
def ask(path, values):
    prompt = prompty.load(path)
    prompt.model.api = prompt.model.api or "chat"
    return [{**m, "content": parts(m["content"])} for m in prompty.prepare(prompt, values)]
"""

_LANGCHAIN = """
def prepare():
    global spec
    import importlib.util
    import langchain_core
def ask(path, values):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.make_model()
    model.invoke(module.prompt.invoke(values))
"""

_AGENT_FRAMEWORK = """
def prepare():
    global asyncio, AgentFactory
    import asyncio
    from agent_framework_declarative import AgentFactory
def ask(path, values):
    async def run():
        agent = AgentFactory(safe_mode=False).create_agent_from_yaml_path(path)
        await agent.run("")
    asyncio.run(run())
"""

_SCRIPT = """
def prepare():
    global runpy, os
    import os, runpy
def ask(path, values):
    given = []
    for name, value in values.items():
        given += [f"--{name}", value if isinstance(value, str) else json.dumps(value)]
    sys.argv = [path, *given]
    runpy.run_path(path, run_name="__main__")
"""

PROGRAMS: Mapping[JudgeName, ForeignProgram] = {
    "prompty": ForeignProgram(
        ("prompty",), "prompty", "prompty[jinja2,openai]>=2.1", "2.", _PROMPTY2, ".prompty"
    ),
    "prompty1": ForeignProgram(
        ("legacy",), "prompty", "prompty==0.1.50", "0.", _PROMPTY1, ".prompty"
    ),
    "langchain": ForeignProgram(
        ("langchain",), "langchain-openai", "langchain-openai jinja2", "", _LANGCHAIN
    ),
    "agent-framework": ForeignProgram(
        ("agentschema",),
        "agent-framework-declarative",
        "agent-framework-declarative agent-framework-openai",
        "",
        _AGENT_FRAMEWORK,
        ".yaml",
    ),
    "promptfoo": ForeignProgram(("promptfoo",)),
    "python": ForeignProgram(("python",), "openai", "openai jinja2 chevron", "", _SCRIPT),
    "curl": ForeignProgram(("curl-openai-chat", "curl-openai-responses", "curl-anthropic")),
}
"""Every program that can be asked, by the name that `--run-in` takes."""


def python_source(program: ForeignProgram) -> str:
    """Return the code that a Python runs to ask a program."""
    return _REDIRECT + program.code + ROUNDS


FETCH = r"""
const real = globalThis.fetch;
globalThis.fetch = (target, options = {}) => {
  const address = String(target.url ?? target);
  if (/^https:\/\/([^/]*\.)?promptfoo\.(app|dev)\//.test(address)) {
    return Promise.resolve(new Response('{}'));  // nothing of a trial leaves the machine
  }
  const {dispatcher, ...further} = options;
  const headers = new Headers(further.headers ?? target.headers ?? {});
  headers.set('x-studio-address', address);
  return real(process.env.STUDIO_RECORDER, {...further, headers});
};
"""
"""Loaded into Node before promptfoo: sends what it sends to the recorder."""

CURL = """#!/bin/sh
for argument do
  shift
  case $argument in
    http://*|https://*)
      set -- "$@" --header "x-studio-address: $argument" --noproxy '*' "$STUDIO_RECORDER" ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "$STUDIO_CURL" "$@"
"""
"""Stands before curl on the path: sends what it sends to the recorder."""
