"""Names under `_meta` by which our own MCP server sends the studio more than MCP defines."""

from __future__ import annotations

LINE = "promptstudio/line"
"""On a tool: line of its `def`. On an error: line that raised it."""

PYTHON_NAMES = "promptstudio/python-names"
"""On a tool: the names that the file has for it, where a library gave it another."""

PROBLEMS = "promptstudio/problems"
"""On a list of tools: [message, line] of each function that cannot be a tool."""

TRUNCATED = "promptstudio/truncated"
"""On a result: it was cut at the output limit."""

VALUE = "promptstudio/value"
"""On a result: "json" where the text is the JSON of a value that is not a text."""

RETURNS = "promptstudio/returns"
"""On a tool: JSON schema of what it gives, for the studio, which takes what comes as it is."""

ARGUMENTS = "promptstudio/arguments"
"""On an error: true where the arguments were refused and the function was not called."""
