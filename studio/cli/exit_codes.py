"""The words of the command line that its first look needs, apart from what the commands import."""

from __future__ import annotations

COMMANDS = (
    "check", "messages", "request", "run", "export", "import", "convert", "fmt", "runs", "tools",
    "plugins", "lsp", "experiment", "baseline",
)  # fmt: skip
"""Words that make an argument a command; anything else is a file to open."""

FINE, PROBLEMS, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all is well, problems were found, it was called in a wrong way, Ctrl-C."""

UNFINISHED, PAUSED = 3, 4
"""Exit codes of experiments: errors kept cells from finishing, a budget is used up."""
