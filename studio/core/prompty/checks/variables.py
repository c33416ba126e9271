"""Checks of the template's variables against the declared inputs."""

import re
from collections.abc import Iterable, Iterator, Set
from itertools import islice

from studio.core.prompty.body.sections import fenced_ranges, is_inside
from studio.core.prompty.document import EACH, LOOP, FieldUse, PromptDocument, Variable
from studio.core.prompty.edit.edits import declare_inputs, set_value
from studio.core.prompty.front.declarations import RICH_KINDS
from studio.core.prompty.inputs import RESERVED_SAMPLES
from studio.core.prompty.known_fields import Known, known_at, used_kinds
from studio.core.prompty.loop_format import QUESTION_NAMES, drives_loop
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit

# Placeholders in the syntax of other programs, which are text here.

_BRACES = re.compile(r"(?<![{$])\{([a-z_][a-z_0-9]*)\}(?!\})")
_LOOP_WORDS = frozenset({"tools", "tool_names", "examples", "chat_history", "agent_scratchpad"})
_ESCAPED_FENCE = re.compile(r"^[ \t]*(?P<escape>\\)```", re.MULTILINE)
_NAME = r"[ \t]*([A-Za-z_]\w*)[ \t]*"
_SURE = (
    re.compile(r"\{[ \t]+\{" + _NAME + r"\}[ \t]*\}"),
    re.compile(r"\{\{" + _NAME + r"\}[ \t]+\}"),
    re.compile(r"\{\(" + _NAME + r"\)\}"),
)
"""Matches inputs in foreign syntax that is never meant as text."""
_LIKELY = (
    (re.compile(r"\{" + _NAME + r"\}(?!\})"), re.compile(r"[{$%\w]")),
    (re.compile(r"\[\[" + _NAME + r"\]\](?![(\]])"), re.compile(r"[!\[]")),
    (re.compile(r"\$\{([A-Za-z_]\w*)\}"), None),
    (re.compile(r"\$([A-Za-z_]\w*)(?![\w(])"), re.compile(r"[\w$]")),
    (re.compile(r"%([A-Za-z_]\w*)%(?!\w)"), re.compile(r"[\w%]")),
    (re.compile(r"<([A-Za-z_]\w*)>"), None),
    (re.compile(r"\[([A-Za-z_]\w*)\](?![\[(:\]])"), re.compile(r"[\w!\]\[]")),
)
"""Matches foreign syntax if nothing else inserts the value of that input; each with the characters
that must not precede it, which are checked last because a look-behind is slow.
"""
_OPENING = re.compile(r"\{%[-+]?[ \t]*(?P<raw>raw)[ \t]*[-+]?%\}|\{\{|\{%|\{#")
_END_TAG = re.compile(r"</([^<>\n]+)>")
_RAW_END = re.compile(r"\{%[-+]?[ \t]*endraw\b")
_CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_SPLIT_TAG = re.compile(
    r"\{[ \t]+%-?[ \t]*(?P<tag>(?:if|elif|else|endif|for|endfor|set|macro|endmacro)\b[^%{}\n]*?)"
    r"[ \t]*-?%[ \t]*\}"
)


def check_placeholders(
    document: PromptDocument, placeholders: Iterable[tuple[str, re.Match[str]]]
) -> Iterator[Problem]:
    """Report `{ question }` with an input's name, which stays text instead of the value."""
    if document.template.format == "fstring" or meant_as_fstring(document) is not None:
        return
    offset = document.body.start
    for item, found in placeholders:
        place = Span(*found.span()).shift(offset)
        right = f"{{{{ {item} }}}}"
        message = f"{found[0]!r} is text here; two braces insert the value: {right}."
        fix = Fix(f"Write {right}", (TextEdit(place, right),))
        yield Problem("single-braces", Severity.WARNING, message, place, (fix,))
    if document.template.format != "jinja2":
        return
    split = list(_SPLIT_TAG.finditer(document.source.slice(document.body)))
    edits = tuple(
        TextEdit(Span(*found.span()).shift(offset), f"{{% {found['tag']} %}}") for found in split
    )
    if edits:
        message = f"{split[0][0]!r} is text here; a tag begins with {{% and ends with %}}."
        fix = Fix("Remove the space within the tags", edits)
        yield Problem("single-braces", Severity.WARNING, message, edits[0].span, (fix,))


def used_elsewhere(document: PromptDocument) -> Set[str]:
    """Return the names of inputs whose value is inserted without a template variable."""
    used = {parameter.name for parameter in document.parameters}
    used.update(*(tool.bindings.values() for tool in document.tools))
    is_asked = any(each.name == "chat_history" for each in document.variables)
    if is_asked and drives_loop(document):
        used |= {*QUESTION_NAMES}  # the run adds the question to the conversation
    return used


def placeholders_of(document: PromptDocument) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the names of inputs in foreign placeholders, in source order."""
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
    pairs = {*_END_TAG.findall(body)}
    for each in sorted(found, key=lambda each: (each.start(), -each.end())):
        start, is_in_code = each.start(), is_inside(fences, each.start())
        if start < done or is_inside(tags, start) or (is_in_code and each[0][0] != "{"):
            continue  # inside one that is reported, or in code
        if each[0].startswith("<") and each[1] in pairs:
            continue  # a tag around text
        done = each.end()
        yield each[1], each


def _template_code(body: str) -> Iterator[Span]:
    """Yield the expressions, tags, comments and raw blocks of a template."""
    at = 0
    while (opening := _OPENING.search(body, at)) is not None:
        if opening["raw"]:
            closing = _RAW_END.search(body, opening.end())
            end = closing.end() if closing else -1
        else:
            end = body.find(_CLOSES[opening[0]], opening.end())
        if end < 0:
            return
        # A span begins after the first brace: `{{city} }` begins with one.
        yield Span(opening.start() + 1, end)
        at = end


def meant_as_fstring(document: PromptDocument) -> tuple[Span, tuple[Fix, ...]] | None:
    """Return the first placeholder of a body with only `{tools}`-style ones, and the fix."""
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
    """Yield the edits that remove a web page's backslashes before fences in code blocks."""
    for found in _ESCAPED_FENCE.finditer(document.source.slice(document.body)):
        at = document.body.start + found.start("escape")
        yield TextEdit(Span(at, at + 1), "")


_MOST_NAMES = 30


def check_variables(document: PromptDocument) -> Iterator[Problem]:
    """Report undeclared variables, unused inputs, and a body meant as format string."""
    yield from _undeclared(document)
    placeholders = list(placeholders_of(document))
    yield from _unused(document, {name for name, _ in placeholders})
    yield from _meant_as_fstring(document)
    yield from _escaped_fences(document)
    yield from check_placeholders(document, placeholders)


def _escaped_fences(document: PromptDocument) -> Iterator[Problem]:
    """Report a fence with the backslash of the web page it was copied from."""
    if meant_as_fstring(document) is not None:
        return  # its fix removes them too
    edits = tuple(unescaped_fences(document))
    if edits:
        message = (
            "The backslash before this fence is sent to the model; it is only needed in web pages."
        )
        fix = Fix("Take the backslashes away", edits)
        yield Problem("escaped-fence", Severity.WARNING, message, edits[0].span, (fix,))


def _undeclared(document: PromptDocument) -> Iterator[Problem]:
    if isinstance(document.data.get("inputs"), str):
        return  # a reference: the names are in another file
    declared = {item.name for item in document.inputs if item.name}
    uses: dict[str, list[Variable]] = {}
    for variable in document.variables:
        if variable.name not in declared | RESERVED_SAMPLES.keys() and variable.certain:
            uses.setdefault(variable.name, []).append(variable)
    kinds = used_kinds(document)
    names = list(uses)[:_MOST_NAMES]
    every = declare_inputs(document, {name: kinds[name] for name in names})
    for name in names:
        spans = [variable.span for variable in uses[name]]
        often = f", used {len(spans)} times," if len(spans) > 1 else ""
        near = nearest(name, sorted(declared))
        change = Fix(f"Change to {near!r}", tuple(TextEdit(span, near) for span in spans))
        fixes = [change] if near else []
        hint = f"did you mean {near!r}?" if near else "without a value, it renders as nothing."
        message = f"{name!r}{often} is not declared as an input; {hint}"
        if name == "loop":
            message = "'loop' only exists inside a 'for'; here it renders as nothing."
            yield Problem("undeclared-variable", Severity.WARNING, message, spans[0])
            continue
        fixes.append(Fix(f"Declare input {name!r}", declare_inputs(document, {name: kinds[name]})))
        if len(names) > 1:
            fixes.append(Fix(f"Declare all {len(names)} inputs", every))
        yield Problem("undeclared-variable", Severity.WARNING, message, spans[0], tuple(fixes))


def _unused(document: PromptDocument, told: Set[str]) -> Iterator[Problem]:
    if any(problem.code.startswith("template-") for problem in document.problems):
        return  # the variables of the template are not known
    used = {variable.name for variable in document.variables}
    used |= used_elsewhere(document) | told  # reported ones, at their place
    declared = [item.name for item in document.inputs if item.name not in used]
    for name in islice(used - {item.name for item in document.inputs}, _MOST_NAMES):
        used.add(nearest(name, declared))  # reported there too
    for item in document.inputs:
        place = item.name_span
        if place is None or not item.name or item.name in used or item.kind in RICH_KINDS:
            continue
        message = f"The input {item.name!r} is declared but not used."
        yield Problem("unused-input", Severity.HINT, message, place)


def _meant_as_fstring(document: PromptDocument) -> Iterator[Problem]:
    found = meant_as_fstring(document)
    if found is None:
        return
    place, fixes = found
    message = (
        f"{document.source.slice(place)} looks like a format string, and this body is read as "
        f"{document.template.format}, where it is plain text."
    )
    yield Problem("fstring-suggested", Severity.WARNING, message, place, fixes)


# Fields that a template reads, compared with the prompt's own values.

_METHODS = frozenset(dir(dict))
_OF_LIST, _OF_TEXT = frozenset(dir(list)), frozenset(dir(str))
_OF_LOOP = tuple(
    """
    index index0 first last length revindex revindex0 previtem nextitem depth depth0 cycle changed
""".split()
)
_COUNTS = frozenset(("length", "size", "len"))
_MOST_NAMED = 6


def check_fields(document: PromptDocument) -> Iterator[Problem]:
    """Report a field that no value of the prompt has: it renders as an empty text."""
    parents: dict[tuple[str, ...], tuple[Known, frozenset[str] | None]] = {}
    for use in document.fields:
        parent, name = use.path[:-1], use.path[-1]
        if parent == (LOOP,):
            yield from _of_loop(use, name)
            continue
        if parent not in parents:
            known = known_at(document, parent)
            parents[parent] = known, frozenset(known.fields) if known.is_object else None
        known, fields = parents[parent]
        if fields is None:
            yield from _of_no_object(document, use, known)
        elif name != EACH and name not in fields and name not in _METHODS:
            problem = _unknown(use, name, known)
            if problem is not None:
                yield problem


def _of_loop(use: FieldUse, name: str) -> Iterator[Problem]:
    """Report unknown attributes of `loop`, such as `loop.idx`."""
    if name in _OF_LOOP:
        return
    near = nearest(name, _OF_LOOP)
    message = f"'loop' has no {name!r}; it has {', '.join(_OF_LOOP)}."
    fixes: tuple[Fix, ...] = ()
    if near:
        message = f"'loop' has no {name!r}; did you mean {near!r}?"
        fixes = (Fix(f"Change to {near!r}", (TextEdit(use.span, near),)),)
    yield Problem("unknown-field", Severity.WARNING, message, use.span, fixes)


def _of_no_object(document: PromptDocument, use: FieldUse, known: Known) -> Iterator[Problem]:
    """Report `stops.length` or `stops.town` for a list, `city.length` for a text."""
    name, values = use.path[-1], [each for each in known.values if each is not None]
    is_list = all(isinstance(each, list | tuple) for each in values) and (
        bool(values) or any(each.kind == "array" for each in known.declared)
    )
    is_text = bool(values) and all(isinstance(each, str) for each in values)
    if name == EACH or not (is_list or is_text) or name in (_OF_LIST if is_list else _OF_TEXT):
        return
    what = ".".join(each for each in use.path[:-1] if each != EACH)
    kind = "a list" if is_list else "a text"
    has_filters = document.template.format == "jinja2"
    if name in _COUNTS and not has_filters:
        message = f"{what!r} is {kind} and has no {name!r}; pass the count as an input."
        yield Problem("unknown-field", Severity.WARNING, message, use.span)
    elif name in _COUNTS:
        dot = Span(use.span.start - 1, use.span.end)
        message = f"{what!r} is {kind} and has no {name!r}; the filter 'length' counts it."
        is_dotted = document.source.slice(dot) == f".{name}"
        fix = Fix("Write | length", (TextEdit(dot, " | length"),))
        fixes = (fix,) if is_dotted else ()
        yield Problem("unknown-field", Severity.WARNING, message, use.span, fixes)
    elif not use.is_guarded and is_list and name in known.at(EACH).fields:
        message = (
            f"{what!r} is a list, and {name!r} is a field of each of its items: "
            + ("" if document.template.format == "fstring" else "go through them with 'for', or ")
            + f"take one, {what}[0].{name}."
        )
        yield Problem("unknown-field", Severity.WARNING, message, use.span)


def _unknown(use: FieldUse, name: str, known: Known) -> Problem | None:
    meant = nearest(name, known.fields, surely=use.is_guarded)
    where = _where(use.path[:-1])
    if meant:
        message = f"{where} has {name!r}; did you mean {meant!r}?"
        fix = Fix(f"Change to {meant!r}", (TextEdit(use.span, meant),))
        return Problem("unknown-field", Severity.WARNING, message, use.span, (fix,))
    if use.is_guarded or known.is_supplied:
        return None  # it may be missing, or a run has more fields than the preview
    listed = ", ".join(known.fields[:_MOST_NAMED])
    more = ", …" if len(known.fields) > _MOST_NAMED else ""
    message = f"{where} has {name!r} in this file; its known fields: {listed}{more}."
    is_declared = any(each.properties for each in known.declared)
    severity = Severity.WARNING if is_declared else Severity.HINT
    return Problem("unknown-field", severity, message, use.span)


def _where(path: tuple[str, ...]) -> str:
    """Return the start of the sentence: no item of a list, or no value of a name."""
    if path[-1] == EACH:
        return f"No item of {'.'.join(each for each in path if each != EACH)!r}"
    return f"No value of {'.'.join(each for each in path if each != EACH)!r}"
