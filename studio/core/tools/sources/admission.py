"""Which sources of a document may be started, and the words for those that may not (or not yet)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from studio.core.prompty.document import PromptDocument
from studio.core.tools.document import McpServer, OpenApi, SourceDeclaration, needs_reading
from studio.core.tools.mcp.server_config import WorkspaceServers, address_pin
from studio.core.tools.openapi.named_connection import FindConnection, name_of
from studio.core.tools.registry import VARIABLES_KEY, SourceStatus
from studio.core.tools.sources.consent import GIVEN
from studio.core.tools.sources.opening import source_key, source_label, source_path
from studio.core.tools.trust.store import TrustStore
from studio.core.tools.trust.wants import Doubt

VARIABLES = "variables and files"
"""Label of what is not a source, and wants trust like one: a prompt's `${env:}` and `${file:}`."""


def fault_of(
    declaration: SourceDeclaration, folder: Path | None, trust: TrustStore
) -> SourceStatus | None:
    """Why a source may not be started; None where it may.

    Args:
        declaration: the source as it is named.
        folder: the prompt's folder; None while it is not saved: pasted text starts nothing.
        trust: which folders are trusted.

    Returns:
        A status whose key and label its caller fills in.
    """
    if folder is None:
        message = "it is not run before the prompt is saved in a folder that you trust"
        return SourceStatus("", "", "untrusted", message)
    place = source_path(declaration)
    for each in (folder, place.parent if place else None):
        if each is not None and not trust.is_trusted(each):
            message = f"{each} is not trusted, so nothing of it is run"
            return SourceStatus("", "", "untrusted", message, folder=each)
    if place is not None and not trust.is_trusted(place):
        message = f"{place} leads out of the trusted folder, so it is not run"
        return SourceStatus("", "", "untrusted", message, folder=place.resolve().parent)
    if isinstance(declaration, McpServer) and declaration.address is None:
        return SourceStatus(
            "",
            "",
            "failed",
            f"nothing says how to reach the server {declaration.name!r}: "
            "name it in .mcp.json, or give its connection an endpoint",
        )
    return None


def waiting(doubt: Doubt) -> SourceStatus:
    """That something new in a trusted folder, or something that changed, waits for a yes."""
    want = doubt.want
    is_variable = want.key.startswith(GIVEN)
    what = f"its tools are to be given {want.text}" if is_variable else want.text
    if doubt.before is None:
        message = f"new in a trusted folder, so it waits until you allow it: {what}"
    else:
        before = "; ".join(doubt.before.lines) or "something else"
        now = "; ".join(want.pin.lines) if want.pin is not None else what
        message = f"not what you allowed, so it waits. Before: {before}. Now: {now}"
    label = VARIABLES if is_variable else want.of
    return SourceStatus(want.key, label, "waiting", message, doubt=doubt)


def remark_on(declaration: SourceDeclaration, find: FindConnection) -> str:
    """What a source will do without although it is asked for; empty where there is nothing."""
    if isinstance(declaration, OpenApi):
        name = name_of(declaration.connection)
        if name and find(name) is None:
            return (
                f"the connection {name!r} is not set up here, so no key is sent: add it in "
                "Run → Connections, or give the tool's own connection an apiKey, as ${env:NAME}"
            )
    return ""


def unresolved_variables(document: PromptDocument, trust: TrustStore) -> Iterable[SourceStatus]:
    """That the prompt's references are not read, where its folder is not trusted."""
    path = document.source.path
    if path is None or trust.is_trusted(path.parent) or not needs_reading(document):
        return ()
    message = f"{path.parent} is not trusted, so no ${{env:}} and no ${{file:}} of it is read"
    return (SourceStatus(VARIABLES_KEY, VARIABLES, "untrusted", message, folder=path.parent),)


def available(server: McpServer) -> SourceStatus:
    """A server that the prompt does not name, with what would be started or reached."""
    where = server.origin.name if server.origin else "your settings"
    what = f": {address_pin(server.address).lines[0]}" if server.address is not None else ""
    return SourceStatus(
        source_key(server),
        source_label(server),
        "available",
        f"named in {where}, not used by this prompt{what}",
        server.origin,
    )


def broken_files(*files: WorkspaceServers) -> Iterable[SourceStatus]:
    """Files of servers in which something is wrong."""
    return (
        SourceStatus(f"servers:{each.path}", each.path.name, "failed", each.problem, each.path)
        for each in files
        if each.problem and each.path is not None
    )
