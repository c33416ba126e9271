"""What the sources of a prompt's tools offer, asked once and let go of again."""

from __future__ import annotations

from studio.application.connections.tools import tool_session
from studio.application.trust import is_trusted
from studio.core.models.connection_file import Connections
from studio.core.models.secrets import SecretStore
from studio.core.prompty.document import PromptDocument
from studio.core.tools.document import named_sources
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.trust.store import TrustStore


def asks_sources(document: PromptDocument, trust: TrustStore) -> bool:
    """Whether a prompt names sources of tools, and they may be asked."""
    return bool(named_sources(document)) and is_trusted(document.source.path, trust)


async def registry_of(
    document: PromptDocument, trust: TrustStore, connections: Connections, secrets: SecretStore
) -> ToolRegistry:
    """The tools that a prompt has, each source asked."""
    session = tool_session(trust, connections, secrets)
    try:
        return await session.load(document)
    finally:
        await session.close()
