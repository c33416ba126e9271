"""A document in the shape of Prompty's `load` vectors."""

from __future__ import annotations

from collections.abc import Mapping

from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.front.declarations import is_declaration
from studio.core.prompty.reference_values import (
    ReferenceContext,
    UnresolvedReference,
    as_text,
    resolve_reference,
    whole_reference,
)
from studio.core.text.values import Json


def document_to_json(
    document: PromptDocument, references: ReferenceContext | None = None
) -> dict[str, Json]:
    """A document as Prompty 2 loads it (the `load` vectors), what is absent left out.

    Args:
        document: The document; with references resolved where their values are wanted.
        references: Where a body that is one reference as a whole finds its text (Prompty 2 §4.3);
            without it such a body stays as it is written.
    """
    data = document.data
    found: dict[str, Json] = {"kind": "prompt"}
    for key in ("name", "displayName", "description", "metadata"):
        if data.get(key) is not None:
            found[key] = data[key]
    if document.model.id or isinstance(data.get("model"), Mapping):
        found["model"] = _model(document)
    for key, declarations in (("inputs", document.inputs), ("outputs", document.outputs)):
        if declarations:
            found[key] = _properties(declarations, data.get(key))
    tools = _tools(data.get("tools"))
    if tools:
        found["tools"] = tools
    template = document.template
    format_block: dict[str, Json] = {"kind": template.format}
    if not template.strict:
        format_block["strict"] = False
    found["template"] = {
        "format": format_block,
        "parser": {"kind": template.parser or "prompty"},
    }
    found["instructions"] = _instructions(document, references)
    return found


def _instructions(document: PromptDocument, references: ReferenceContext | None) -> str:
    body = document.source.slice(document.body).lstrip()
    reference = whole_reference(body.strip())
    if reference is None or references is None:
        return body
    try:
        return as_text(resolve_reference(reference, references))
    except UnresolvedReference:
        return body  # resolving the document reports it


def _model(document: PromptDocument) -> dict[str, Json]:
    model = document.model
    found: dict[str, Json] = {"id": model.id, "apiType": model.api_type}
    if model.provider:
        found["provider"] = model.provider
    if model.connection:
        found["connection"] = model.connection
    if model.options:
        found["options"] = model.options
    return found


def _properties(declarations: tuple[InputDeclaration, ...], raw: Json) -> list[Json]:
    """Properties as a list, each with its name and kind and all that was written."""
    found: list[Json] = []
    for index, item in enumerate(declarations):
        written: Json = None
        if isinstance(raw, Mapping):
            written = raw.get(item.name)
        elif isinstance(raw, list) and index < len(raw):
            written = raw[index]
        fields: dict[str, Json] = {"name": item.name, "kind": item.kind}
        if is_declaration(written):
            fields = {**written, **fields}
        elif item.has_default:
            fields["default"] = item.default
        found.append(fields)
    return found


def _tools(raw: Json) -> list[Json]:
    if isinstance(raw, Mapping):
        return [
            {"name": name, **(item if isinstance(item, Mapping) else {"kind": item})}
            for name, item in raw.items()
        ]
    return [item for item in raw if isinstance(item, Mapping)] if isinstance(raw, list) else []
