"""A source is asked for its tools: how it fares, and what it offers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from studio.core.prompty.document import ToolSpec
from studio.core.tools.arguments import LARGE_TOOL, about_tokens, spec_size
from studio.core.tools.document import McpServer, SourceDeclaration
from studio.core.tools.mcp.source import McpSource, ServerFacts
from studio.core.tools.openapi.credentials import FindConnection
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import UnusableToolFileError
from studio.core.tools.registry import SourceStatus, SourceTools
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import ToolSource, ToolSourceError
from studio.core.tools.sources.consent import remark_on
from studio.core.tools.sources.opening import (
    declared_approvals,
    source_key,
    source_label,
    source_path,
)
from studio.core.tools.trust.store import ToolReview

MOST_TOOLS = 128
"""Limit of OpenAI for the tools of a request; most others take as many, or fewer."""

_MOST_PROBLEMS = 5
_LONGEST_INSTRUCTIONS = 20_000
_OPERATIONS = "'operations' (ids, tags, paths, methods)"


async def list_source(
    source: ToolSource,
    declaration: SourceDeclaration,
    review: ToolReview,
    find: FindConnection,
    secrets: ToolSecrets,
) -> tuple[SourceStatus, SourceTools | None]:
    """Return the state of a source, and its tools if it could list them.

    Args:
        source: the source, which may be started.
        declaration: as the document names it.
        review: says which of its tools are not as they were allowed.
        find: finds the connections that tools name.
        secrets: takes out of what it says what it was given.
    """
    key, label, path = source_key(declaration), source_label(declaration), source_path(declaration)
    try:
        specs = secrets.masked(await source.list_tools())
        facts = await source.facts() if isinstance(source, McpSource) else ServerFacts()
    except ToolSourceError as error:
        line = error.line if isinstance(error, UnusableToolFileError) else 0
        log = source.log if isinstance(source, McpSource) else ""
        stopped = isinstance(source, OpenApiSource) and source.is_stopped
        failed = SourceStatus(
            key, label, "failed", str(error), path, line, log=log, stopped=stopped
        )
        return secrets.masked(failed), None
    remark = remark_on(declaration, find)
    status = SourceStatus(key, label, "ready", remark, path, tools=len(specs))
    changes = review.changes(key, source, specs)
    offered = SourceTools(
        key, label, specs, path=path, changes=changes, marks=review.marks(key, specs)
    )
    if isinstance(source, PythonFileSource):
        status = replace(status, facts={"python": source.python})
        first = source.problems[0] if source.problems else None
        if first is not None:
            message = "; ".join(problem.message for problem in source.problems)
            status = replace(status, message=message, line=first.line)
        return status, replace(offered, lines=source.lines, python_names=source.python_names)
    if isinstance(source, OpenApiSource | McpSource):
        chosen_by = "'allowedTools'" if isinstance(source, McpSource) else _OPERATIONS
        remarks = (remark, *_size_remarks(specs, chosen_by), *source.problems[:_MOST_PROBLEMS])
        status = replace(status, message="; ".join(filter(None, remarks)))
    if isinstance(source, OpenApiSource):
        routes = {each.spec.name: (each.method.upper(), each.path) for each in source.operations}
        offered = replace(offered, routes=routes)
    if isinstance(source, McpSource):
        status = replace(status, facts=facts.words, offers=facts.offers, log=source.log)
        status = secrets.masked(status)
        told = status.facts.get("instructions", "")[:_LONGEST_INSTRUCTIONS]
        offered = replace(offered, specs=tuple(replace(s, instructions=told) for s in specs))
    return status, replace(
        offered,
        stands_alone=True,
        further=isinstance(declaration, McpServer) and declaration.further,
        approvals=declared_approvals(declaration, specs),
        allowed=declaration.allowed if isinstance(declaration, McpServer) else (),
    )


def _size_remarks(specs: Sequence[ToolSpec], chosen_by: str) -> Iterator[str]:
    """Yield what is remarkable about the number of tools and their sizes.

    Args:
        specs: the tools.
        chosen_by: the key of the prompt that chooses some of them.
    """
    sizes = {spec.name: spec_size(spec) for spec in specs}
    if len(specs) > MOST_TOOLS:
        yield (
            f"{len(specs):,} tools, about {about_tokens(sizes.values()):,} tokens with each "
            f"request; providers take {MOST_TOOLS}: choose some by {chosen_by}"
        )
    large = [f"{name} ({size // 1024} KB)" for name, size in sizes.items() if size > LARGE_TOOL]
    if large:
        more = f" and {len(large) - _MOST_PROBLEMS} more" if len(large) > _MOST_PROBLEMS else ""
        yield (
            f"larger than {LARGE_TOOL // 1024} KB in each request: "
            f"{', '.join(large[:_MOST_PROBLEMS])}{more}"
        )
