"""Hover texts for problems, keys, inputs and tools, as rich text."""

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from studio.application.editing.editor_context import NOTHING, EditorContext
from studio.application.editing.experiment.assist import experiment_hover
from studio.application.editing.names import file_at, name_at, variable_at, word_at
from studio.application.editing.template import loops_at, tag_at
from studio.application.editing.words import FILTERS, LOOP_FIELDS, TESTS
from studio.application.preview.variables import mask_secrets
from studio.application.words import tr
from studio.core.prompty.document import EACH, LOOP, InputDeclaration, PromptDocument, ToolSpec
from studio.core.prompty.front.schema import key_at
from studio.core.prompty.known_fields import known_at
from studio.core.text.amounts import shortened, size
from studio.core.text.source import Problem
from studio.core.text.values import Json

_LONGEST = 240
_MOST_VALUES = 3
_TAIL = re.compile(r"[\w-]*$")
_ASKS = re.compile(r"\bis(\s+not)?$")


def hover(
    document: PromptDocument,
    problems: Sequence[Problem],
    offset: int,
    editor_context: EditorContext = NOTHING,
) -> str:
    """Return the tooltip at an offset; empty if there is none."""
    parts = [
        f"<b>{problem.severity.value.capitalize()}</b>&nbsp; {escape(problem.message)}"
        + (tr("<br><i>Ctrl+. offers a fix</i>") if problem.fixes else "")
        for problem in problems
        if problem.span.touches(offset)
    ][:3]
    if document.is_experiment:
        return "<hr>".join(filter(None, (*parts, experiment_hover(document, offset))))
    if document.agent_file:
        return "<hr>".join(parts)
    about = (
        _variable(document, offset, editor_context)
        or _file(document, offset)
        or _field(document, offset, editor_context)
        or _name(document, offset, editor_context)
        or _of_template(document, offset)
        or _key(document, offset)
        or _tool(document, offset, editor_context)
    )
    if about:
        parts.append(about)
    return "<hr>".join(parts)


def _variable(document: PromptDocument, offset: int, editor_context: EditorContext) -> str:
    """Describe whether an environment variable is set, without its value."""
    found = variable_at(document, offset)
    if found is None:
        return ""
    name, default = found
    known = editor_context.environment()
    if known is None:
        words = tr("not looked up: this folder is not trusted")
    elif name in known:
        words = tr("set in the environment; its value is not shown")
    elif default is not None:
        words = tr("not set; the default is used")
    else:
        words = tr("not set, and there is no default")
    return f"<b>{escape(name)}</b>: {escape(words)}"


def _file(document: PromptDocument, offset: int) -> str:
    name = file_at(document, offset)
    if name is None:
        return ""
    own = document.source.path
    path = own.parent / name if own is not None else Path(name)
    try:
        words = tr("{size}; F12 opens it").format(size=size(path.stat().st_size))
    except OSError:
        words = tr("the file does not exist in the prompt's folder")
    return f"<b>{escape(name)}</b>: {escape(words)}"


def _field(document: PromptDocument, offset: int, editor_context: EditorContext) -> str:
    """Describe a field of a value: its declaration, and its known values."""
    use = next((each for each in document.fields if each.span.touches(offset)), None)
    if use is None:
        return ""
    if use.path[0] == LOOP:
        words = LOOP_FIELDS.get(use.path[-1], "") if len(use.path) == 2 else ""
        return f"<b>loop.{escape(use.path[-1])}</b><br>{escape(words)}" if words else ""
    known = known_at(document, use.path, editor_context.given)
    if not known.declared and not known.values:
        return ""
    dotted = ".".join(name for name in use.path if name != EACH)
    kinds = [escape(declared.kind) for declared in known.declared[:1]]
    lines = [": ".join([f"<b>{escape(dotted)}</b>", *kinds])]
    lines += [escape(declared.description) for declared in known.declared if declared.description]
    values = list(dict.fromkeys(_masked(use.path[-1], value) for value in known.values))
    if values:
        words = tr("Values: <code>{values}</code>")
        lines.append(words.format(values="</code>, <code>".join(values[:_MOST_VALUES])))
    return "<br>".join(lines)


def _masked(name: str, value: Json) -> str:
    return _value(mask_secrets({name: value})[name])


def _of_template(document: PromptDocument, offset: int) -> str:
    """Describe a filter, a test, or a loop name in the template."""
    if document.template.format != "jinja2" or not document.body.touches(offset):
        return ""
    text = document.source.text
    word = word_at(text, offset)
    around = tag_at(text, offset, document.body.start)
    if not word or around.kind not in ("expression", "statement"):
        return ""
    inside = text[around.start : offset]
    before = inside[: len(inside) - len(_TAIL.search(inside)[0])].rstrip()  # type: ignore[index]
    table = FILTERS if before.endswith("|") else TESTS if _ASKS.search(before) else {}
    if word in table:
        return f"<b>{escape(word)}</b><br>{escape(table[word])}"
    for names, source in reversed(loops_at(text, offset)):
        if word in names:
            words = tr("each item of {source}").format(source=source)
            return f"<b>{escape(word)}</b>: {escape(words)}"
    return ""


def _name(document: PromptDocument, offset: int, editor_context: EditorContext) -> str:
    name = name_at(document, offset)
    if name is None:
        return ""
    declared = document.input(name)
    if declared is None and document.parameter(name) is not None:
        return _parameter(name, editor_context)
    if declared is None:
        return tr("<b>{name}</b> is not declared under <code>inputs</code>").format(
            name=escape(name)
        )
    return _input(declared, editor_context)


def _parameter(name: str, editor_context: EditorContext) -> str:
    lines = [tr("<b>{name}</b>: a parameter of the run").format(name=escape(name))]
    if name in editor_context.values:
        shown = mask_secrets({name: editor_context.values[name]})
        lines.append(tr("Value now: <code>{value}</code>").format(value=_value(shown[name])))
    return "<br>".join(lines)


def _input(declared: InputDeclaration, editor_context: EditorContext) -> str:
    head = f"<b>{escape(declared.name)}</b>: {escape(declared.kind)}"
    head += " (required)" if declared.required else ""
    lines = [head]
    if declared.description:
        lines.append(escape(declared.description))
    if declared.enum:
        lines.append(tr("One of ") + ", ".join(escape(str(value)) for value in declared.enum))
    if declared.has_default:
        lines.append(tr("Default: <code>{default}</code>").format(default=_value(declared.default)))
    if declared.has_sample:
        lines.append(tr("Sample: <code>{sample}</code>").format(sample=_value(declared.sample)))
    if declared.name in editor_context.values:
        shown = mask_secrets({declared.name: editor_context.values[declared.name]})
        lines.append(
            tr("Value now: <code>{value}</code>").format(value=_value(shown[declared.name]))
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
                text += tr("<br>One of ") + ", ".join(
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
    text = tr("<b>{name}</b> ({kind} tool)").format(name=escape(tool.name), kind=escape(tool.kind))
    if tool.description:
        text += f"<br>{escape(tool.description)}"
    schema = json.dumps(tool.parameters, ensure_ascii=False, default=str)
    return text + f"<br><code>{escape(shortened(schema, _LONGEST))}</code>"


def _value(value: object) -> str:
    return escape(shortened(json.dumps(value, ensure_ascii=False, default=str), _LONGEST))
