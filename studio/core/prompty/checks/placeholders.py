"""Places for values that are written as other programs write them: text here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import set_value
from studio.core.text.problem import Fix, Problem, Severity, TextEdit
from studio.core.text.span import Span

_BRACES = re.compile(r"(?<![{$])\{([a-z_][a-z_0-9]*)\}(?!\})")
_LOOP_WORDS = frozenset({"tools", "tool_names", "examples", "chat_history", "agent_scratchpad"})
_ESCAPED_FENCE = re.compile(r"^[ \t]*(?P<escape>\\)```", re.MULTILINE)
_NAME = r"[ \t]*([A-Za-z_]\w*)[ \t]*"
_SURE = (
    re.compile(r"\{[ \t]+\{" + _NAME + r"\}[ \t]*\}"),
    re.compile(r"\{\{" + _NAME + r"\}[ \t]+\}"),
    re.compile(r"\[\[" + _NAME + r"\]\](?!\()"),
    re.compile(r"\{\(" + _NAME + r"\)\}"),
)
"""Forms that nobody means as text, with the name of an input in them."""
_LIKELY = (
    (re.compile(r"\{" + _NAME + r"\}(?!\})"), re.compile(r"[{$%\w]")),
    (re.compile(r"\$\{([A-Za-z_]\w*)\}"), None),
    (re.compile(r"\$([A-Za-z_]\w*)(?![\w(])"), re.compile(r"[\w$]")),
    (re.compile(r"%([A-Za-z_]\w*)%(?!\w)"), re.compile(r"[\w%]")),
    (re.compile(r"<([A-Za-z_]\w*)>"), None),
    (re.compile(r"\[([A-Za-z_]\w*)\](?![\[(:\]])"), re.compile(r"[\w!\]\[]")),
)
"""Forms that may be text, and are none where nothing else puts in the value of that input; each
with what does not stand before it, which is looked at last: a look behind first is slow."""
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


def placeholders_of(document: PromptDocument) -> Iterator[tuple[str, re.Match[str]]]:
    """Names of inputs where another program would put in their value, in source order."""
    declared = {item.name for item in document.inputs if item.name}
    if not declared:
        return
    body = document.source.slice(document.body)
    unused = declared - {variable.name for variable in document.variables}
    found = [each for form in _SURE for each in form.finditer(body) if each[1] in declared]
    for form, never_before in _LIKELY if unused else ():
        found += [
            each
            for each in form.finditer(body)
            if each[1] in unused
            and (
                never_before is None
                or not never_before.fullmatch(body[each.start() - 1 : each.start()])
            )
            and f"</{each[1]}>" not in body
            and not _is_in(each, found)
        ]
    found.sort(key=lambda each: each.start())
    for each in found:
        yield each[1], each


def _is_in(found: re.Match[str], others: list[re.Match[str]]) -> bool:
    return any(each.start() <= found.start() and found.end() <= each.end() for each in others)


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
