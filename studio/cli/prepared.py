"""The prompt of the arguments with values and tools, as the window's preview shows it."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable
from dataclasses import replace

from studio.application.connections.tools import tool_session
from studio.application.document.findings import merged
from studio.application.preview.build import PreviewJob, prepare_order, supplied_values
from studio.application.run.start.readiness import refusal_of
from studio.application.trust import is_trusted, references_of
from studio.cli.arguments import allow_named, given_inputs, load, trust_of
from studio.core.models.connection_file import read_connections
from studio.core.models.secrets import secret_store
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.tools.document import declared_tools, named_sources
from studio.core.tools.registry import SourceStatus
from studio.core.tools.trust.store import TrustStore


def report_sources(sources: Iterable[SourceStatus]) -> None:
    """Write to standard error what is wrong with the sources of a prompt's tools."""
    for status in sources:
        is_well = status.state == "ready" and not status.message
        if not is_well and status.state != "available":  # such as a server that it does not name
            way = " (--trust allows it)" if status.state == "waiting" else ""
            print(f"prompt-studio: {status.label}: {status.message}{way}", file=sys.stderr)


def prepared_prompt(options: argparse.Namespace) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    """The prompt of the arguments as the window's preview shows it, and its tools; no secrets.

    Samples stand where values are missing; each is named on standard error, for no run takes one,
    and what a run is refused for is among the problems.

    Args:
        options: with `file`, `input`, `inputs` and `trust`.
    """
    document = load(options.file)
    values = given_inputs(options, document)
    trust = trust_of(options, options.file)
    allow_named(options, document, trust)
    order = PreviewJob(
        document,
        values,
        offered_tools(document, trust),
        trusted=is_trusted(document.source.path, trust),
    )
    shown, tools = prepare_order(order)
    supplied, _ = supplied_values(order, tools)
    samples = {name: shown.inputs[name] for name in shown.samples & shown.inputs.keys()}
    context = references_of(document.source.path, trust, masked=True)
    prepared = prepare(document, samples | supplied | values, references=context)
    refusal = refusal_of(document, values)
    refused = refusal.problems if refusal is not None and refusal.missing else ()
    problems = merged(refused, prepared.problems)
    prepared = replace(prepared, samples=shown.samples, problems=problems)
    named = {tool.name for tool in tools}
    hoisted = declared_tools(document, prepared.messages.tools)
    tools = (*tools, *(tool for tool in hoisted if tool.name not in named))
    if prepared.samples:
        names = ", ".join(sorted(prepared.samples))
        print(f"prompt-studio: sample, not sent by a run: {names}", file=sys.stderr)
    return prepared, tools


def offered_tools(document: PromptDocument, trust: TrustStore) -> tuple[ToolSpec, ...] | None:
    """What the prompt's sources offer, where they may be asked; None where there are none."""
    if not named_sources(document) or not is_trusted(document.source.path, trust):
        return None

    async def ask() -> tuple[ToolSpec, ...]:
        connections = read_connections(user_paths().config / "connections.toml")
        session = tool_session(trust, connections, secret_store())
        try:
            registry = await session.load(document)
            report_sources(registry.sources)
            return registry.specs
        finally:
            await session.close()

    return asyncio.run(ask())
