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
    DialectFile(
        "prompty",
        "Prompty 2 file",
        "Microsoft's Prompty 2: its runtimes for Python, C# and JavaScript load it.",
    ),
    DialectFile(
        "section",
        "Section dialect file",
        "The older prompt sections: body tools, tool calls, media and threads are markers.",
    ),
    DialectFile(
        "legacy",
        "Prompty 1 file (legacy)",
        "For runtimes that stayed with Prompty 1: model.configuration, parameters, sample.",
    ),
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
    added = (_of_plugin(each) for each in installed("exporters"))
    return (*TARGETS, *(target for target in added if target.name not in taken))


@dataclass(frozen=True, slots=True)
class PluginTarget:
    """The form of a plug-in; whatever it raises blocks that one export and is named."""

    plugin: Plugin
    """Holds an `ExportTarget`, whose texts the fields below are."""

    name: str
    label: str
    group: TargetGroup
    suffix: str
    needs_values: bool
    about: str

    def make(self, source: ExportSource) -> ExportResult:
        """Make the text; a failure is a problem of the result."""
        try:
            made = cast("ExportTarget", self.plugin.value).make(source)
            if not isinstance(made, ExportResult):
                raise TypeError(f"make() gave {type(made).__name__}, no ExportResult")
        except Exception as error:  # noqa: BLE001 - foreign code; nothing is written, the error is told
            problem = Problem(
                "plugin-failed", Severity.ERROR, fault(self.plugin, error), Span(0, 0)
            )
            return ExportResult("", (problem,), blocked=True)
        return made


def _of_plugin(plugin: Plugin) -> PluginTarget:
    given = cast("ExportTarget", plugin.value)
    about = f"{given.about} (By {plugin.package}.)"
    words = (str(given.name), str(given.label), given.group, str(given.suffix))
    return PluginTarget(plugin, *words, bool(given.needs_values), about)
