"""Questions to the user before something leaves the machine or changes a file: elicitation.

A client that cannot ask its user gets a refusal that says how the user allows it beforehand.
"""

from __future__ import annotations

from mcp.server.mcpserver import Context, Elicit
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from studio.servers.mcp.served_folder import ServedFolder


class UserConsent(BaseModel):
    """The user's word on one act."""

    allow: bool = Field(title="Allow", description="Whether this may be done now")


def ask(folder: ServedFolder, context: Context, question: str) -> Elicit[UserConsent] | UserConsent:
    """Ask the user for an act; nothing is asked where it was allowed at the start of the server.

    Args:
        folder: the folder, which knows what was allowed.
        context: the call.
        question: what is to be done, with a question mark. The same in each round of a call.

    Raises:
        ToolError: the client cannot ask.
    """
    if folder.allow_all:
        return UserConsent(allow=True)
    capabilities = context.client_capabilities
    asked = capabilities.elicitation if capabilities is not None else None
    if asked is None or (asked.form is None and asked.url is not None):
        raise ToolError(
            f"This needs the user's consent, and this client cannot ask for it: {question} "
            "The user can allow it by starting the server with --yes."
        )
    return Elicit(question, UserConsent)


def needs(consent: UserConsent) -> None:
    """Go on only with consent.

    Raises:
        ToolError: the user did not give it.
    """
    if not consent.allow:
        raise ToolError("The user did not allow it. Nothing was done.")
