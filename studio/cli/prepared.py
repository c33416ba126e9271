"""Prepare the prompt of the arguments with values and tools, as the preview of the window does."""

import argparse
import asyncio
from collections.abc import Iterable

from studio.application.preview.build import shown_prompt
from studio.application.tools.server_content import asks_sources, registry_of
from studio.cli.arguments import allow_named, given_inputs, load, trust_of
from studio.cli.terminal import tell
from studio.core.models.connections import user_connections
from studio.core.models.secrets import secret_store
from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.prompty.prepare import Prepared
from studio.core.tools.registry import SourceStatus
from studio.core.tools.trust.store import TrustStore


def report_sources(document: PromptDocument, sources: Iterable[SourceStatus]) -> None:
    """Print problems of a prompt's tool sources to standard error."""
    path = document.source.path
    for status in sources:
        is_well = status.state == "ready" and not status.message
        if not is_well and status.state != "available":  # such as an unnamed server
            way = " (--trust allows it)" if status.state == "waiting" else ""
            if path is not None and status.state == "untrusted" and status.folder == path.parent:
                way = " (--trust trusts the folder permanently)"
            tell(f"prompt-studio: {status.label}: {status.message}{way}")


def prepared_prompt(options: argparse.Namespace) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    """Prepare the prompt of the arguments as the preview shows it, without secrets.

    Each sample that replaces a missing value is named on standard error.

    Args:
        options: with `file`, `input`, `inputs` and `trust`.
    """
    document = load(options.file)
    values = given_inputs(options, document)
    trust = trust_of(options, options.file)
    allow_named(options, document, trust)
    shown = shown_prompt(document, values, offered_tools(document, trust), trust)
    if shown.prepared.samples:
        names = ", ".join(sorted(shown.prepared.samples))
        tell(f"prompt-studio: sample, not sent by a run: {names}")
    if shown.tool_choice:
        tell(f"prompt-studio: {shown.tool_choice}")
    return shown.prepared, shown.tools


def offered_tools(document: PromptDocument, trust: TrustStore) -> tuple[ToolSpec, ...] | None:
    """Return the tools of the prompt's sources if they may be started; None without sources."""
    if not asks_sources(document, trust):
        return None
    registry = asyncio.run(registry_of(document, trust, user_connections(), secret_store()))
    report_sources(document, registry.sources)
    return registry.specs
