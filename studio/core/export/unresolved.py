"""Facts unknown to an export: tools of sources that were not listed, values of references."""

from collections.abc import Iterator

from studio.core.export.target import ExportSource
from studio.core.prompty.document import PromptDocument, TextPart, ToolResultPart
from studio.core.prompty.reference_values import Protocol, ReferenceContext, find_references
from studio.core.prompty.references import resolve_document
from studio.core.tools.document import McpServer, PythonFile, named_sources


def unlisted_tools(source: ExportSource) -> Iterator[str]:
    """Yield the sources whose tools are not listed."""
    if source.tools is not None:
        return
    declares = bool(source.document.tools) or bool(source.prepared.messages.tools)
    for item in named_sources(source.document):
        if isinstance(item, PythonFile) and not declares:
            yield (
                f"The functions of {item.path.name} are not among the tools: the file was not run "
                "to read them. Trust its folder, or declare the tools in the prompt."
            )
        elif isinstance(item, McpServer) and item.name not in {
            t.name for t in source.document.tools
        }:
            yield f"The tools of the MCP server {item.name} are left out: it was not started."


def unresolved_references(source: ExportSource) -> Iterator[str]:
    """Yield the references to variables that stay as written: an export contains no secret."""
    texts = [source.prepared.document.model.id]
    for message in source.prepared.messages.messages:
        texts += (
            part.text for part in message.parts if isinstance(part, TextPart | ToolResultPart)
        )
    found = [reference for text in texts for reference in find_references(text)]
    for name in dict.fromkeys(item.argument for item in found if item.protocol == "env"):
        yield (
            f"The reference ${{env:{name}}} stays unchanged: an export never contains values of "
            "variables."
        )


def settled_for_code(source: ExportSource) -> tuple[PromptDocument, tuple[str, ...]]:
    """Return the document with its settings' parameters and files filled in, and their names.

    In code, parameters of messages become inputs; model and options are constants. Variables stay
    references, which are looked up when the code runs.
    """
    document, reported = _with_fixed_parameters(source)
    front = document.front_matter
    names = [
        reference.argument
        for reference in find_references(document.source.slice(front) if front else "")
        if reference.protocol == "file"
    ]
    if not names:
        return document, reported
    context = source.references
    if context is None or not context.trusted:
        return document, (
            *reported,
            *(f"The file {each} is not read, and is left out." for each in names),
        )
    only: tuple[Protocol, ...] = ("file",)
    filled, problems = resolve_document(document, context, only=only)
    return filled, (*reported, *(problem.message for problem in problems))


def _with_fixed_parameters(source: ExportSource) -> tuple[PromptDocument, tuple[str, ...]]:
    """Return the document with its settings' parameters filled in, and a description of them."""
    document, prepared = source.document, source.prepared
    if document.front_matter is None or not document.parameters:
        return document, ()
    given = {
        item.name: prepared.inputs[item.name]
        for item in document.parameters
        if item.name in prepared.inputs and item.name not in prepared.samples
    }
    context = ReferenceContext(params=given, trusted=False)
    only: tuple[Protocol, ...] = ("params",)
    filled, _ = resolve_document(document, context, only=only)
    front = document.front_matter
    names = [
        item.name
        for item in document.parameters
        if any(front.start <= span.start < front.end for span in item.uses)
    ]
    lines = tuple(
        f"The parameter {name!r} of the settings is fixed to its current value."
        if name in given
        else f"The parameter {name!r} of the settings has no value; its reference stays as written."
        for name in names
    )
    return filled, lines
