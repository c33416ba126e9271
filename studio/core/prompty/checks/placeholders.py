"""Places for values that are written as other programs write them: text here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set

from studio.core.prompty.body.sections import fenced_ranges, is_inside
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import set_value
from studio.core.prompty.front.declarations import RICH_KINDS
from studio.core.prompty.loop_format import QUESTION_NAMES, drives_loop
from studio.core.text.problem import Fix, Problem, Severity, TextEdit
from studio.core.text.span import Span

_BRACES = re.compile(r"(?<![{$])\{([a-z_][a-z_0-9]*)\}(?!\})")
_LOOP_WORDS = frozenset({"tools", "tool_names", "examples", "chat_history", "agent_scratchpad"})
_ESCAPED_FENCE = re.compile(r"^[ \t]*(?P<escape>\\)```", re.MULTILINE)
_NAME = r"[ \t]*([A-Za-z_]\w*)[ \t]*"
_SURE = (
    re.compile(r"\{[ \t]+\{" + _NAME + r"\}[ \t]*\}"),
    re.compile(r"\{\{" + _NAME + r"\}[ \t]+\}"),
    re.compile(r"\{\(" + _NAME + r"\)\}"),
)
"""Forms that nobody means as text, with the name of an input in them."""
_LIKELY = (
    (re.compile(r"\{" + _NAME + r"\}(?!\})"), re.compile(r"[{$%\w]")),
    (re.compile(r"\[\[" + _NAME + r"\]\](?![(\]])"), re.compile(r"[!\[]")),
    (re.compile(r"\$\{([A-Za-z_]\w*)\}"), None),
    (re.compile(r"\$([A-Za-z_]\w*)(?![\w(])"), re.compile(r"[\w$]")),
    (re.compile(r"%([A-Za-z_]\w*)%(?!\w)"), re.compile(r"[\w%]")),
    (re.compile(r"<([A-Za-z_]\w*)>"), None),
    (re.compile(r"\[([A-Za-z_]\w*)\](?![\[(:\]])"), re.compile(r"[\w!\]\[]")),
)
"""Forms that may be text, and are none where nothing else puts in the value of that input; each
with what does not stand before it, which is looked at last: a look behind first is slow."""
_OPENING = re.compile(r"\{%[-+]?[ \t]*(?P<raw>raw)[ \t]*[-+]?%\}|\{\{|\{%|\{#")
_RAW_END = re.compile(r"\{%[-+]?[ \t]*endraw\b")
_CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_SPLIT_TAG = re.compile(
    r"\{[ \t]+%-?[ \t]*(?P<tag>(?:if|elif|else|endif|for|endfor|set|macro|endmacro)\b[^%{}\n]*?)"
    r"[ \t]*-?%[ \t]*\}"
)


def check_placeholders(
    document: PromptDocument, placeholders: Iterable[tuple[str, re.Match[str]]]
) -> Iterator[Problem]:
    """`{ question }` with the name of an input: text, where the value is meant."""
    if document.template.format == "fstring" or meant_as_fstring(document) is not None:
        return
    offset = document.body.start
    for item, found in placeholders:
        place = Span(*found.span()).shift(offset)
        right = f"{{{{ {item} }}}}"
        message = f"{found[0]!r} is text here; two braces put in the value: {right}."
        fix = Fix(f"Write {right}", (TextEdit(place, right),))
        yield Problem("single-braces", Severity.WARNING, message, place, (fix,))
    if document.template.format != "jinja2":
        return
    split = list(_SPLIT_TAG.finditer(document.source.slice(document.body)))
    edits = tuple(
        TextEdit(Span(*found.span()).shift(offset), f"{{% {found['tag']} %}}") for found in split
    )
    if edits:
        message = f"{split[0][0]!r} is text here: {{ and % of a tag stand together, {{% … %}}."
        fix = Fix("Put the signs together", edits)
        yield Problem("single-braces", Severity.WARNING, message, edits[0].span, (fix,))


def used_elsewhere(document: PromptDocument) -> Set[str]:
    """Names of inputs whose value is put in without a variable of the template."""
    used = {parameter.name for parameter in document.parameters}
    used.update(*(tool.bindings.values() for tool in document.tools))
    is_asked = any(each.name == "chat_history" for each in document.variables)
    if is_asked and drives_loop(document):
        used |= {*QUESTION_NAMES}  # the run puts the question into the conversation
    return used


def placeholders_of(document: PromptDocument) -> Iterator[tuple[str, re.Match[str]]]:
    """Names of inputs where another program would put in their value, in source order."""
    declared = {item.name for item in document.inputs if item.name}
    if not declared:
        return
    body = document.source.slice(document.body)
    found = [each for form in _SURE for each in form.finditer(body) if each[1] in declared]
    unused = declared - {variable.name for variable in document.variables}
    unused -= used_elsewhere(document)
    unused -= {item.name for item in document.inputs if item.kind in RICH_KINDS}
    for form, never_before in _LIKELY if unused else ():
        found += [
            each
            for each in form.finditer(body)
            if each[1] in unused
            and (
                never_before is None
                or not never_before.fullmatch(body[each.start() - 1 : each.start()])
            )
        ]
    if not found:
        return
    tags, fences, done = list(_template_code(body)), fenced_ranges(body), 0
    pairs = {each[1]: f"</{each[1]}>" in body for each in found if each[0].startswith("<")}
    for each in sorted(found, key=lambda each: (each.start(), -each.end())):
        start, is_in_code = each.start(), is_inside(fences, each.start())
        if start < done or is_inside(tags, start) or (is_in_code and each[0][0] != "{"):
            continue  # in one that is told, or in code
        if each[0].startswith("<") and pairs[each[1]]:
            continue  # a tag around something
        done = each.end()
        yield each[1], each


def _template_code(body: str) -> Iterator[Span]:
    """Expressions, tags and comments of a template, and what it is told to leave alone."""
    at = 0
    while (opening := _OPENING.search(body, at)) is not None:
        if opening["raw"]:
            closing = _RAW_END.search(body, opening.end())
            end = closing.end() if closing else -1
        else:
            end = body.find(_CLOSES[opening[0]], opening.end())
        if end < 0:
            return
        # A span begins behind the first brace: `{{city} }` begins with one.
        yield Span(opening.start() + 1, end)
        at = end


def meant_as_fstring(document: PromptDocument) -> tuple[Span, tuple[Fix, ...]] | None:
    """The first placeholder of a body with only `{tools}`-style ones, and the fix; else None."""
    if document.entry("template", "format") is not None or document.variables:
        return None
    body = document.source.slice(document.body)
    found = next((item for item in _BRACES.finditer(body) if item[1] in _LOOP_WORDS), None)
    if found is None:
        return None
    fixes: tuple[Fix, ...] = ()
    if not isinstance(document.data.get("template"), str):
        edits = [*set_value(document, ("template", "format", "kind"), "fstring")]
        edits += unescaped_fences(document)
        fixes = (Fix("Read it as a format string", tuple(edits)),)
    return Span(*found.span()).shift(document.body.start), fixes


def unescaped_fences(document: PromptDocument) -> Iterator[TextEdit]:
    """Edits that take away the backslash by which a page writes a fence inside a code block."""
    body = document.source.slice(document.body)
    for found in _ESCAPED_FENCE.finditer(body):
        at = document.body.start + found.start("escape")
        yield TextEdit(Span(at, at + 1), "")
