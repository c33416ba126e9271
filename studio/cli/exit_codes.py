"""The words of the command line that its first look needs, apart from what the commands import."""

from __future__ import annotations

COMMANDS = (
    "check", "messages", "request", "run", "export", "import", "convert", "fmt", "runs", "tools",
    "plugins", "lsp",
)  # fmt: skip
"""Words that make an argument a command; anything else is a file to open."""

FINE, PROBLEMS, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all is well, problems were found, it was called in a wrong way, Ctrl-C."""
