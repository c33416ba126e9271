"""The forms that a prompt can be exported to."""

from __future__ import annotations

from studio.core.export.agentschema import AgentSchemaFile
from studio.core.export.bundle import Bundle
from studio.core.export.langchain.target import LangChainPrompt
from studio.core.export.markdown import MarkdownDocument
from studio.core.export.prompt_files import DialectFile, PromptFile
from studio.core.export.python.script import PythonScript
from studio.core.export.requests import CurlCommand, MessagesJsonl, RequestBody
from studio.core.export.target import ExportTarget

TARGETS: tuple[ExportTarget, ...] = (
    PromptFile(),
    DialectFile("prompty"),
    DialectFile("section"),
    DialectFile("legacy"),
    AgentSchemaFile(),
    RequestBody("openai-chat"),
    RequestBody("openai-responses"),
    RequestBody("anthropic"),
    CurlCommand("openai-chat"),
    CurlCommand("openai-responses"),
    CurlCommand("anthropic"),
    PythonScript(),
    LangChainPrompt(),
    MessagesJsonl(),
    MarkdownDocument(),
    Bundle(),
)
"""Every form, in the order in which a list shows them."""


def find_target(name: str) -> ExportTarget | None:
    """The form of that name."""
    return next((target for target in TARGETS if target.name == name), None)
