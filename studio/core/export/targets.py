"""The forms that a prompt can be exported to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from studio.core.export.agentschema import AgentSchemaFile
from studio.core.export.bundle import Bundle
from studio.core.export.langchain.target import LangChainPrompt
from studio.core.export.markdown import MarkdownDocument
from studio.core.export.prompt_files import DialectFile, PromptFile
from studio.core.export.promptfoo import PromptfooConfig
from studio.core.export.python.script import PythonScript
from studio.core.export.requests import CurlCommand, MessagesJsonl, RequestBody
from studio.core.export.target import ExportResult, ExportSource, ExportTarget, TargetGroup
from studio.core.plugins import Plugin, fault, installed
from studio.core.text.source import Problem, Severity, Span

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
    PromptfooConfig(),
    MessagesJsonl(),
    MarkdownDocument(),
    Bundle(),
)
"""The studio's own forms, in the order in which a list shows them."""


def find_target(name: str) -> ExportTarget | None:
    """The form of that name."""
    return next((target for target in all_targets() if target.name == name), None)


def all_targets() -> tuple[ExportTarget, ...]:
    """The studio's own forms, and those of plug-ins under names that are free."""
    taken = {target.name for target in TARGETS}
    added = (PluginTarget(each) for each in installed("exporters"))
    return (*TARGETS, *(target for target in added if target.name not in taken))


@dataclass(frozen=True, slots=True)
class PluginTarget:
    """The form of a plug-in; whatever it raises blocks that one export and is named."""

    plugin: Plugin
    """Holds an `ExportTarget`."""

    @property
    def inner(self) -> ExportTarget:
        """The plug-in's own object."""
        return cast("ExportTarget", self.plugin.value)

    @property
    def name(self) -> str:
        """Stable name for the command line."""
        return str(self.inner.name)

    @property
    def label(self) -> str:
        """Name for people."""
        return str(self.inner.label)

    @property
    def group(self) -> TargetGroup:
        """Heading of its group."""
        return self.inner.group

    @property
    def suffix(self) -> str:
        """File name ending, with its dot."""
        return str(self.inner.suffix)

    @property
    def needs_values(self) -> bool:
        """Whether the file holds the values of inputs."""
        return bool(self.inner.needs_values)

    @property
    def about(self) -> str:
        """Describe the file and the package that writes it."""
        return f"{self.inner.about} (By {self.plugin.package}.)"

    def make(self, source: ExportSource) -> ExportResult:
        """Make the text; a failure is a problem of the result."""
        try:
            made = self.inner.make(source)
            if not isinstance(made, ExportResult):
                raise TypeError(f"make() gave {type(made).__name__}, no ExportResult")
        except Exception as error:  # noqa: BLE001 - foreign code; nothing is written, the error is told
            problem = Problem(
                "plugin-failed", Severity.ERROR, fault(self.plugin, error), Span(0, 0)
            )
            return ExportResult("", (problem,), blocked=True)
        return made
