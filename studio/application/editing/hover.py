"""What hovering tells: problems, keys, inputs and tools, as rich text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from studio.application.editing.editor_context import NOTHING, EditorContext
from studio.application.editing.names import file_at, name_at, variable_at, word_at
from studio.application.preview.secrets import mask_secrets
from studio.application.words import translate
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.front.schema import key_at
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem

_LONGEST = 240


def hover(
    document: PromptDocument,
    problems: Sequence[Problem],
    offset: int,
    editor_context: EditorContext = NOTHING,
) -> str:
    """The tooltip for a place; empty when there is nothing to say."""
    parts = [
        f"<b>{problem.severity.value.capitalize()}</b>&nbsp; {escape(problem.message)}"
        + (translate("Hover", "<br><i>Ctrl+. offers a fix</i>") if problem.fixes else "")
        for problem in problems
        if problem.span.touches(offset)
    ][:3]
    about = (
        _variable(document, offset, editor_context)
        or _file(document, offset)
        or _name(document, offset, editor_context)
        or _key(document, offset)
        or _tool(document, offset, editor_context)
    )
    if about:
        parts.append(about)
    return "<hr>".join(parts)


def _variable(document: PromptDocument, offset: int, editor_context: EditorContext) -> str:
    """Whether an environment variable is set; its value is never shown."""
    found = variable_at(document, offset)
    if found is None:
        return ""
    name, default = found
    known = editor_context.environment()
    if known is None:
        said = translate("Hover", "not looked up: this folder is not trusted")
    elif name in known:
        said = translate("Hover", "set in the environment; its value is not shown")
    elif default is not None:
        said = translate("Hover", "not set; the default is used")
    else:
        said = translate("Hover", "not set, and there is no default")
    return f"<b>{escape(name)}</b>: {escape(said)}"


def _file(document: PromptDocument, offset: int) -> str:
    name = file_at(document, offset)
    if name is None:
        return ""
    own = document.source.path
    path = own.parent / name if own is not None else Path(name)
    try:
        said = translate("Hover", "{size:,} bytes; F12 opens it").format(size=path.stat().st_size)
    except OSError:
        said = translate("Hover", "there is no such file beside the prompt")
    return f"<b>{escape(name)}</b>: {escape(said)}"


def _name(document: PromptDocument, offset: int, editor_context: EditorContext) -> str:
    name = name_at(document, offset)
    if name is None:
        return ""
    declared = document.input(name)
    if declared is None and document.parameter(name) is not None:
        return _parameter(name, editor_context)
    if declared is None:
        return translate("Hover", "<b>{name}</b> is not declared under <code>inputs</code>").format(
            name=escape(name)
        )
    return _input(declared, editor_context)


def _parameter(name: str, editor_context: EditorContext) -> str:
    lines = [translate("Hover", "<b>{name}</b>: a parameter of the run").format(name=escape(name))]
    if name in editor_context.values:
        shown = mask_secrets({name: editor_context.values[name]})
        said = translate("Hover", "Value now: <code>{value}</code>")
        lines.append(said.format(value=_value(shown[name])))
    return "<br>".join(lines)


def _input(declared: InputDeclaration, editor_context: EditorContext) -> str:
    head = f"<b>{escape(declared.name)}</b>: {escape(declared.kind)}"
    head += " (required)" if declared.required else ""
    lines = [head]
    if declared.description:
        lines.append(escape(declared.description))
    if declared.enum:
        lines.append(
            translate("Hover", "One of ") + ", ".join(escape(str(value)) for value in declared.enum)
        )
    if declared.has_default:
        lines.append(
            translate("Hover", "Default: <code>{default}</code>").format(
                default=_value(declared.default)
            )
        )
    if declared.has_sample:
        lines.append(
            translate("Hover", "Sample: <code>{sample}</code>").format(
                sample=_value(declared.sample)
            )
        )
    if declared.name in editor_context.values:
        shown = mask_secrets({declared.name: editor_context.values[declared.name]})
        lines.append(
            translate("Hover", "Value now: <code>{value}</code>").format(
                value=_value(shown[declared.name])
            )
        )
    return "<br>".join(lines)


def _key(document: PromptDocument, offset: int) -> str:
    for entry in document.entries:
        if entry.key.touches(offset):
            key = key_at(entry.path)
            if key is None:
                return ""
            text = f"<b>{escape(key.name)}</b><br>{escape(key.help)}"
            if key.values:
                text += translate("Hover", "<br>One of ") + ", ".join(
                    f"<code>{escape(value)}</code>" for value in key.values
                )
            return text
    return ""


def _tool(document: PromptDocument, offset: int, editor_context: EditorContext) -> str:
    word = word_at(document.source.text, offset)
    found = next((tool for tool in document.tools if tool.name == word), None)
    found = found or editor_context.tool(word)
    return _spec(found) if found is not None else ""


def _spec(tool: ToolSpec) -> str:
    text = translate("Hover", "<b>{name}</b> ({kind} tool)").format(
        name=escape(tool.name), kind=escape(tool.kind)
    )
    if tool.description:
        text += f"<br>{escape(tool.description)}"
    schema = json.dumps(tool.parameters, ensure_ascii=False, default=str)
    return text + f"<br><code>{escape(_short(schema))}</code>"


def _value(value: object) -> str:
    return escape(_short(json.dumps(value, ensure_ascii=False, default=str)))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
