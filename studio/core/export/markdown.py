"""Export as a Markdown document for reading and review; fences keep messages unchanged."""

import json
import re
from collections.abc import Iterator, Sequence

from studio.core.export.prompt_files import utf8_problem
from studio.core.export.target import ExportResult, ExportSource, RoundTrip, result
from studio.core.imports.imported import read_markdown
from studio.core.prompty.document import (
    InputDeclaration,
    MediaPart,
    Message,
    Part,
    PromptDocument,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.prompty.meaning import first_difference
from studio.core.text.values import text_or_json
from studio.core.tools.forms import argument_items

_FENCE = re.compile(r"`{3,}")


def markdown_document(source: ExportSource) -> ExportResult:
    """Return the document, verified by reading its messages again."""
    text = _document(source, source.prepared.messages.messages)
    problems = list(source.problems)
    fault = utf8_problem(text)
    if fault is not None:
        problems.append(fault)
    return result(text, problems, (), _round_trips(source))


def _round_trips(source: ExportSource) -> Iterator[RoundTrip]:
    for name, each in source.rounds.items():
        messages = each.prepared.messages.messages
        again = read_markdown(_document(source, messages))
        plain = tuple(Message(message.role, message.parts) for message in messages)
        yield RoundTrip(name, first_difference(plain, again), len(plain))


def _document(source: ExportSource, messages: Sequence[Message]) -> str:
    document = source.prepared.document
    path = document.source.path
    title = document.name or (path.stem if path else "Prompt")
    lines = [f"# {title}", ""]
    if document.description:
        lines += [document.description, ""]
    lines += [*_model(document), *_inputs(document, source), *_tools(source.all_tools)]
    lines += ["## Messages", ""]
    for number, message in enumerate(messages, start=1):
        attributes = ", ".join(
            f"{key}={text_or_json(value)}" for key, value in message.attributes.items()
        )
        lines += [f"### {number}. {message.role}" + (f" ({attributes})" if attributes else ""), ""]
        for part in message.parts:
            lines += [*_fenced(part), ""]
        if not message.parts:
            lines += ["*(empty)*", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _model(document: PromptDocument) -> Iterator[str]:
    model = document.model
    if not model.id and not model.options:
        return
    yield "## Model"
    yield ""
    if model.id:
        provider = f" ({model.provider})" if model.provider else ""
        yield f"- Model: `{model.id}`{provider}"
    for key, value in model.options.items():
        yield f"- {key}: `{text_or_json(value)}`"
    yield ""


def _inputs(document: PromptDocument, source: ExportSource) -> Iterator[str]:
    if not document.inputs:
        return
    yield "## Inputs"
    yield ""
    yield "| name | kind | value here | description |"
    yield "| --- | --- | --- | --- |"
    for item in document.inputs:
        value = source.prepared.inputs.get(item.name)
        shown = _cell(text_or_json(value)) if item.name in source.prepared.inputs else ""
        yield f"| {_cell(item.name)} | {_kind(item)} | {shown} | {_cell(item.description)} |"
    yield ""


def _kind(item: InputDeclaration) -> str:
    return _cell(f"{item.kind}, required" if item.required else item.kind)


def _tools(tools: Sequence[ToolSpec]) -> Iterator[str]:
    if not tools:
        return
    yield "## Tools"
    yield ""
    for tool in tools:
        words = f": {' '.join(tool.description.split())}" if tool.description else ""
        yield f"- **{tool.name}**{words}"
        for item in argument_items(tool.parameters):
            need = "required" if item["required"] else "optional"
            what = f": {item['description']}" if item["description"] else ""
            yield f"  - `{item['name']}` ({item['type']}, {need}){what}"
    yield ""


def _fenced(part: Part) -> list[str]:
    match part:
        case TextPart(text=text):
            return _fence("text", text)
        case ToolResultPart(text=text):
            return _fence("result", text)
        case MediaPart():
            return _fence(
                "json media",
                json.dumps(
                    {
                        "kind": part.kind,
                        "source": part.source,
                        "alt": part.alt,
                        "attributes": part.attributes,
                    },
                    ensure_ascii=False,
                ),
            )
        case ToolCallPart():
            return _fence(
                "json call",
                json.dumps(
                    {"id": part.id, "name": part.name, "arguments": part.arguments},
                    ensure_ascii=False,
                ),
            )


def _fence(kind: str, text: str) -> list[str]:
    """Return a fenced block whose fence is longer than any in the text."""
    longest = max((len(found[0]) for found in _FENCE.finditer(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{kind}", text, fence]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
