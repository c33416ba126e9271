"""The targets to which a prompt can be exported."""

from functools import partial
from typing import cast

from studio.core.export.agentschema import agent_schema_file
from studio.core.export.bundle import bundle
from studio.core.export.langchain.target import langchain_prompt
from studio.core.export.markdown import markdown_document
from studio.core.export.prompt_files import dialect_file, prompt_file
from studio.core.export.promptfoo import promptfoo_config
from studio.core.export.python.script import python_script
from studio.core.export.sent import LABELS, CurlCommand, messages_jsonl, request_body
from studio.core.export.target import ExportResult, ExportSource, ExportTarget, FileTarget
from studio.core.plugins import Plugin, fault, installed
from studio.core.prompty.document import Dialect
from studio.core.text.source import Problem, Severity, Span
from studio.core.wire.request import Provider


def _dialect(name: Dialect, label: str, about: str) -> FileTarget:
    make = partial(dialect_file, name)
    return FileTarget(name, label, "Other prompt formats", ".prompty", about, make)


def _body(provider: Provider) -> FileTarget:
    return FileTarget(
        provider,
        f"Request body: {LABELS[provider]}",
        "Use in code",
        ".json",
        f"The request body for {LABELS[provider]} as JSON, including the values of the inputs and "
        "the pictures.",
        partial(request_body, provider),
        needs_values=True,
    )


def _curl(provider: Provider) -> FileTarget:
    return FileTarget(
        f"curl-{provider}",
        f"curl command: {LABELS[provider]}",
        "Use in code",
        ".sh",
        "A shell script that sends the request with curl to the address in the prompt. The key "
        "is read from the environment and is not in the script.",
        CurlCommand(provider).make,
        needs_values=True,
    )


TARGETS: tuple[ExportTarget, ...] = (
    FileTarget(
        "file",
        "Prompt file, unchanged",
        "Give to a colleague",
        ".prompty",
        "The text of the editor, byte for byte, after checking it.",
        prompt_file,
    ),
    _dialect(
        "prompty",
        "Prompty 2 file",
        "Microsoft's Prompty 2, for its runtimes for Python, C# and JavaScript.",
    ),
    _dialect(
        "section",
        "Section dialect file",
        "The older section dialect: body tools, tool calls, media and threads are markers.",
    ),
    _dialect(
        "legacy",
        "Prompty 1 file (legacy)",
        "For runtimes of Prompty 1: model.configuration, parameters, sample.",
    ),
    FileTarget(
        "agentschema",
        "AgentSchema YAML",
        "Other prompt formats",
        ".yaml",
        "A prompt agent of Microsoft's AgentSchema: one YAML document with the body as its "
        "instructions. The agentschema package and Foundry read it.",
        agent_schema_file,
    ),
    _body("openai-chat"),
    _body("openai-responses"),
    _body("anthropic"),
    _curl("openai-chat"),
    _curl("openai-responses"),
    _curl("anthropic"),
    FileTarget(
        "python",
        "Python script (openai)",
        "Use in code",
        ".py",
        "A complete script: fills in the inputs, calls the model with the openai package, runs "
        "the Python tools and repeats until there is an answer.",
        python_script,
    ),
    FileTarget(
        "langchain",
        "LangChain prompt (Python)",
        "Use in code",
        ".py",
        "A Python file with a ChatPromptTemplate: import prompt from it, and bind its TOOLS to a "
        "model.",
        langchain_prompt,
    ),
    FileTarget(
        "promptfoo",
        "promptfoo configuration",
        "Other prompt formats",
        ".yaml",
        "The prompt with its model, and each saved input set as a test, for promptfoo eval. "
        "promptfoo renders with Nunjucks; it is read back here with Jinja2 and JavaScript's "
        "values.",
        promptfoo_config,
    ),
    FileTarget(
        "messages-jsonl",
        "Messages (JSONL)",
        "Use in code",
        ".jsonl",
        "One line per saved input set (without sets, one for the current values), in the form that "
        "evaluation and training sets take.",
        messages_jsonl,
        needs_values=True,
    ),
    FileTarget(
        "markdown",
        "Markdown document",
        "Give to a colleague",
        ".md",
        "For readers: inputs and tools as tables, and every message exactly as sent, in a code "
        "block.",
        markdown_document,
        needs_values=True,
    ),
    FileTarget(
        "bundle",
        "Bundle (zip)",
        "Give to a colleague",
        ".zip",
        "One file to pass on: the prompt, the files and pictures it refers to, its Python tools, "
        "its input sets, and a manifest with a hash of each. Equal prompts give equal bytes.",
        bundle,
    ),
)
"""The studio's own targets, in the order of lists."""


def find_target(name: str) -> ExportTarget | None:
    """Return the target with that name; None if there is none."""
    return next((target for target in all_targets() if target.name == name), None)


def all_targets() -> tuple[ExportTarget, ...]:
    """Return the studio's own targets, and those of plug-ins whose names are free."""
    taken = {target.name for target in TARGETS}
    added = (_of_plugin(each) for each in installed("exporters"))
    return (*TARGETS, *(target for target in added if target.name not in taken))


def _of_plugin(plugin: Plugin) -> FileTarget:
    given = cast("ExportTarget", plugin.value)
    about = f"{given.about} (By {plugin.package}.)"
    words = (str(given.name), str(given.label), given.group, str(given.suffix), about)
    return FileTarget(*words, partial(_made_by, plugin), bool(given.needs_values))


def _made_by(plugin: Plugin, source: ExportSource) -> ExportResult:
    """Run a plug-in's target; an exception blocks that export and is reported."""
    try:
        made = cast("ExportTarget", plugin.value).make(source)
        if not isinstance(made, ExportResult):
            raise TypeError(f"make() gave {type(made).__name__}, no ExportResult")
    except Exception as error:  # noqa: BLE001 - foreign code; nothing is written, the error is told
        problem = Problem("plugin-failed", Severity.ERROR, fault(plugin, error), Span(0, 0))
        return ExportResult("", (problem,), blocked=True)
    return made
