"""The programs that read exports: what they need, and how they are asked to send the request.

Each runs in a process of its own. What it would send to a server goes to one on this machine
(`recorder`), with the address that it was meant for in a header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.core.resource_files import resource_text

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


_REDIRECT = resource_text("export", "judges", "redirect.py.txt")

ROUNDS = resource_text("export", "judges", "rounds.py.txt")

_PROMPTY2 = resource_text("export", "judges", "prompty2.py.txt")
"""What the file leaves to its reader (model, provider, key) is given as the studio has it."""

_PROMPTY1 = resource_text("export", "judges", "prompty1.py.txt")

_LANGCHAIN = resource_text("export", "judges", "langchain.py.txt")

_AGENT_FRAMEWORK = resource_text("export", "judges", "agent_framework.py.txt")

_SCRIPT = resource_text("export", "judges", "script.py.txt")

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


FETCH = resource_text("export", "judges", "fetch.js")
"""Loaded into Node before promptfoo: sends what it sends to the recorder."""

CURL = resource_text("export", "judges", "curl.sh")
"""Stands before curl on the path: sends what it sends to the recorder."""
