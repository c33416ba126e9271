"""Content of an MCP server as text of a prompt."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from studio.application.connections.model import tool_session
from studio.application.trust import is_trusted, references_of
from studio.core.imports.compose import literal, placeholder, with_quoted_markers
from studio.core.models.connections import Connections
from studio.core.models.secrets import SecretStore
from studio.core.prompty.document import PromptDocument, TemplateFormat
from studio.core.prompty.edit.edits import insert_below
from studio.core.prompty.prepare import settled_document
from studio.core.text.naming import free_name
from studio.core.text.source import Span, TextEdit
from studio.core.tools.document import named_sources
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.source import OfferContent
from studio.core.tools.trust.store import TrustStore

_NO_NAMES = frozenset("and else false if in is n no none not null off on or true y yes".split())
"""Words that are values in YAML, or not valid as names in a template."""

_NO_NAME = re.compile(r"\W+")
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class KeptContent:
    """Content of a server, saved as a file beside the prompt for `${file:…}`."""

    file: str
    """Name of the file; no other file has it."""

    text: str
    """Text of the file."""

    edits: tuple[TextEdit, ...]
    """Edits that declare the input and insert it."""


def can_be_kept(content: OfferContent) -> bool:
    """Return whether it can be saved in a file: texts without roles can."""
    return bool(content.parts) and not any(role for role, _ in content.parts)


def kept_content(
    document: PromptDocument,
    content: OfferContent,
    name: str,
    caret: int,
    is_taken: Callable[[str], bool],
) -> KeptContent:
    """Convert a resource to a file; a run or preview then reads it without calling the server.

    Args:
        document: the prompt.
        content: the opened content, without roles.
        name: the resource's name or address.
        caret: offset at which to insert it; outside the body, the end of the body.
        is_taken: returns whether a file of that name exists beside the prompt.
    """
    last = name.rstrip("/").rpartition("/")[2].partition(".")[0] or name
    plain = _NO_NAME.sub("_", last)[:_LONGEST_NAME].strip("_") or "resource"
    plain = plain if plain.isidentifier() else f"_{plain}"
    taken = {each.name for each in document.variables} | {each.name for each in document.inputs}
    wanted = free_name(
        plain,
        lambda each: each in taken or each.lower() in _NO_NAMES or is_taken(f"{each}.md"),
        "_{}",
    )
    file = f"{wanted}.md"
    reference = f'"${{file:{file}}}"'
    lines = [f"{wanted}:", "  kind: string", f"  default: {reference}"]
    flow = f"{wanted}: {{kind: string, default: {reference}}}"
    if isinstance(document.data.get("inputs"), list):
        lines = [f"- name: {wanted}", "  kind: string", f"  default: {reference}"]
        flow = f"{{name: {wanted}, kind: string, default: {reference}}}"
    body = document.body.start
    place = caret if caret >= body else len(document.source.text)
    reads = placeholder(wanted, document.template.format)
    if place == body and document.source.text[:body][-1:] not in ("", "\n"):
        reads = f"\n{reads}"  # the last line of the front matter has no line end yet
    used = TextEdit(Span(place, place), reads)
    declared = insert_below(document, ("inputs",), lines, flow)
    text = "\n\n".join(text for _, text in content.parts)
    return KeptContent(file, text, (*declared, used))


def offered_text(content: OfferContent, form: TemplateFormat) -> str:
    """Return a prompt or resource as body text in which template code and role markers are escaped.

    Args:
        content: the opened content; the messages of a prompt get role markers.
        form: template format of the body.
    """
    parts = []
    for role, text in content.parts:
        safe = text if form == "jinja2" else with_quoted_markers(text)
        shown = literal(safe, form)
        parts.append(f"\n{role}:\n{shown.rstrip()}\n" if role else shown)
    return "".join(parts) if any(role for role, _ in content.parts) else "\n".join(parts)


# The tools of a prompt's sources, listed once and then closed.


def asks_sources(document: PromptDocument, trust: TrustStore) -> bool:
    """Return whether a prompt names sources of tools that may be listed."""
    return bool(named_sources(document)) and is_trusted(document.source.path, trust)


async def registry_of(
    document: PromptDocument, trust: TrustStore, connections: Connections, secrets: SecretStore
) -> ToolRegistry:
    """Return the tools of a prompt, after listing each source."""
    session = tool_session(trust, connections, secrets)
    references = references_of(document.source.path, trust)
    try:
        return await session.load(settled_document(document, {}, references))
    finally:
        await session.close()
