"""What an MCP server offers, as text of a prompt."""

from __future__ import annotations

from studio.core.imports.compose import literal, with_quoted_markers
from studio.core.prompty.document import TemplateFormat
from studio.core.tools.source import OfferContent


def offered_text(content: OfferContent, form: TemplateFormat) -> str:
    """A prompt or resource as text of a body; nothing in it acts as a template or a role marker.

    Args:
        content: what was opened; the messages of a prompt get role markers.
        form: how the body is written.
    """
    parts = []
    for role, text in content.parts:
        safe = text if form == "jinja2" else with_quoted_markers(text)
        shown = literal(safe, form)
        parts.append(f"\n{role}:\n{shown.rstrip()}\n" if role else shown)
    return "".join(parts) if any(role for role, _ in content.parts) else "\n".join(parts)
