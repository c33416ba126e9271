"""Public API for plug-ins, which import nothing else of the studio (docs/extending.md).

A name stays for at least one minor version after the changelog announces its removal.
"""

from studio.core.export.target import ExportResult, ExportSource, ExportTarget
from studio.core.imports.imported import Imported, Importer, ImportFailure, ImportSource
from studio.core.models.connections import Connection, Preset
from studio.core.prompty.checks import Check
from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome, ToolSource, ToolSourceKind

API_VERSION = 1
"""Version of the API; it rises when a name is removed or changes its meaning."""

__all__ = [
    "API_VERSION",
    "Check",
    "Connection",
    "ExportResult",
    "ExportSource",
    "ExportTarget",
    "Fix",
    "ImportFailure",
    "ImportSource",
    "Imported",
    "Importer",
    "JsonObject",
    "Preset",
    "Problem",
    "PromptDocument",
    "Severity",
    "Span",
    "TextEdit",
    "ToolOutcome",
    "ToolSource",
    "ToolSourceKind",
    "ToolSpec",
]
