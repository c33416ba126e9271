"""The words of the command line that its first look needs, apart from what the commands import."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "check": ("find problems in prompt files", "check:add_check"),
        "messages": ("show the messages that a model would get", "messages:add_messages"),
        "request": ("show the exact body that a provider would get", "messages:add_request"),
        "run": ("run a prompt or agent to its end", "run.commands:add_run"),
        "record": ("record, hold and edit the calls of any program", "record:add_record"),
        "replay": ("answer a program from a recording, offline", "record:add_replay"),
        "export": ("write a checked file for another program", "export:add_export"),
        "import": ("make a prompt file from another format", "export:add_import"),
        "convert": ("write a file in another dialect", "convert:add_convert"),
        "fmt": ("tidy files without changing their meaning", "convert:add_fmt"),
        "runs": ("the history: list, show, export, import, prune", "runs:add_runs"),
        "tools": (
            "list, show, call and record tools; serve a Python file",
            "tools.commands:add_tools",
        ),
        "experiment": (
            "run rows × variants × repeats, and mark the answers",
            "experiment.commands:add_experiment",
        ),
        "baseline": ("set what experiments are compared with", "experiment.commands:add_baseline"),
        "cluster": ("make certificates for workers of experiments", "cluster:add_cluster"),
        "connections": (
            "list, test, add and remove the places where models answer",
            "connections:add_connections",
        ),
        "lsp": ("language server for editors", "lsp:add_lsp"),
        "mcp": ("server for coding agents (MCP)", "mcp:add_mcp"),
        "completion": ("completion at Tab for bash, zsh and fish", "completion:add_completion"),
        "plugins": ("list the installed plug-ins and their errors", "main:add_plugins"),
    }
)
"""Description of each command, and the function of `studio.cli` that adds its arguments.

Any other first word is a file to open.
"""

FINE, PROBLEMS, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all is well, problems were found, it was called in a wrong way, Ctrl-C."""

UNFINISHED, PAUSED = 3, 4
"""Exit codes of experiments: errors kept cells from finishing, a budget is used up."""


class UsageError(Exception):
    """The command was not called as it wants to be; the text says how."""
