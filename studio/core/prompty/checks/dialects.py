"""Checks for constructs of other dialects and for loop prompts; filter of follow-up problems."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from studio.core.prompty.body.media import find_media, find_threads
from studio.core.prompty.dialect import section_markers
from studio.core.prompty.document import PromptDocument, hides_text
from studio.core.prompty.edit.edits import set_value
from studio.core.prompty.loop_format import agent_settings, drives_loop
from studio.core.prompty.reference_values import NOT_TRUSTED, PROTOCOLS, find_references
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import object_of

_BARE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_OTHER_WORD = re.compile(r"\$\{(?P<word>[A-Za-z]{2,12}):[^{}\n]*\}")
_UNCLOSED = re.compile(
    r"\$\{(?:env|file|params):[^{}\s\"']*[^{}\s\"'\])](?P<end>[\])]?)(?=[ \t]*$)", re.MULTILINE
)

_ODD = re.compile(r"[\s\"'`$,;\[\]<>|&]")
"""Matches characters that no shell allows in a variable's name; names on Windows have brackets."""


def check_dialect(document: PromptDocument) -> Iterator[Problem]:
    """Report constructs that a Prompty 2 runtime would send as text, and Prompty 1 files."""
    yield from _bare_references(document)
    yield from _odd_variables(document)
    yield from _near_references(document)
    match document.dialect:
        case "prompty":
            yield from _in_prompty(document)
        case "legacy":
            yield from _legacy(document)
        case "section":
            yield from _in_section(document)


def _bare_references(document: PromptDocument) -> Iterator[Problem]:
    """Report a shell variable `${NAME}`, which no Prompty runtime reads."""
    if "${" not in document.source.text or document.front_matter is None:
        return
    for entry in document.entries:
        found = _BARE.fullmatch(document.source.slice(entry.value).strip("\"'"))
        if found is not None:
            message = f"{found[0]} stays unchanged; an environment variable is ${{env:{found[1]}}}."
            edit = TextEdit(entry.value, f"${{env:{found[1]}}}")
            fix = Fix(f"Write ${{env:{found[1]}}}", (edit,))
            yield Problem("bare-reference", Severity.WARNING, message, entry.value, (fix,))


def _odd_variables(document: PromptDocument) -> Iterator[Problem]:
    """Report a typing error in a variable's name (`${env:KEY"}`), which no runtime finds."""
    if document.front_matter is None:
        return
    for reference in find_references(document.source.slice(document.front_matter)):
        name = reference.argument
        if reference.protocol != "env" or not name or not _ODD.search(name):
            continue
        right = _ODD.sub("", name)
        place = reference.span.shift(document.front_matter.start)
        fixes: tuple[Fix, ...] = ()
        if right:
            start = place.start + len("${env:")
            edit = TextEdit(Span(start, start + len(name)), right)
            fixes = (Fix(f"Write ${{env:{right}}}", (edit,)),)
        message = (
            f"{name!r} is not a valid name of an environment variable: use letters, digits and _."
        )
        yield Problem("variable-name", Severity.WARNING, message, place, fixes)


def _near_references(document: PromptDocument) -> Iterator[Problem]:
    """Report text that is similar to a reference: `${fle:rules.txt}`, `${env:KEY`."""
    text = document.source.text
    if "${" not in text:
        return
    for found in _OTHER_WORD.finditer(text):
        near = _slip_of(found["word"].lower())
        if near is not None:
            place = Span(*found.span("word"))
            message = f"{found[0]} stays unchanged; did you mean {near!r}?"
            fix = Fix(f"Change to {near!r}", (TextEdit(place, near),))
            yield Problem("bare-reference", Severity.WARNING, message, place, (fix,))
    for found in _UNCLOSED.finditer(text):
        message = "This ${ is never closed by }, so it stays unchanged."
        fix = Fix("Close it with }", (TextEdit(Span(*found.span("end")), "}"),))
        yield Problem("bare-reference", Severity.WARNING, message, Span(*found.span()), (fix,))


def _slip_of(word: str) -> str | None:
    """Return the protocol with one typing error; `${title:-x}` and `${filter:y}` are foreign."""
    if word in PROTOCOLS:
        return None
    near = nearest(word, PROTOCOLS)
    if near and abs(len(word) - len(near)) <= 1:
        return near
    return next((each for each in PROTOCOLS if sorted(word) == sorted(each)), None)


def _in_prompty(document: PromptDocument) -> Iterator[Problem]:
    body = document.source.slice(document.body)
    fix = Fix(
        "Use the section dialect", set_value(document, ("template", "parser", "kind"), "section")
    )
    for what, place in _section_constructs(body):
        message = f"A Prompty 2 runtime sends {what} to the model as text."
        yield Problem(
            "section-construct", Severity.WARNING, message, place.shift(document.body.start), (fix,)
        )


def _section_constructs(body: str) -> Iterator[tuple[str, Span]]:
    for role, span in section_markers(body):
        yield f"the {role}: section" if role else "the meaning of type=", span
    for place in find_threads(body):
        yield "![thread]", place
    for token in find_media(body):
        if token.alt is None:
            yield f"![{token.kind}](…)", token.span
    for reference in find_references(body):
        if reference.protocol == "params":
            yield "${params:…}", reference.span


def _legacy(document: PromptDocument) -> Iterator[Problem]:
    front = document.front_matter
    place = Span(front.start, front.start) if front else Span(0, 0)
    entry = next((item for item in document.entries if item.path == ("model",)), None)
    message = (
        f"This is a Prompty 1 file ({document.dialect_reason}). It works here, but Prompty 2 "
        "runtimes reject it; converting it lists all changes."
    )
    yield Problem("legacy-file", Severity.HINT, message, entry.key if entry else place)
    for name, value in object_of(document.data.get("inputs")).items():
        if isinstance(value, Mapping) and not value.keys() - {"type", "default", "description"}:
            continue
        entry = document.entry("inputs", name)
        message = (
            f"prompty 0.1.50 refuses the input {name!r}: it takes an object of type, default and "
            "description."
        )
        yield Problem("legacy-key", Severity.HINT, message, entry.key if entry else place)


def _in_section(document: PromptDocument) -> Iterator[Problem]:
    """Report Prompty 2's rich inputs: they work, but the section dialect has its own syntax."""
    if document.template.parser != "section":
        return
    for item in document.inputs:
        if item.kind == "thread" and item.name != "thread" and item.name_span is not None:
            message = (
                f"Inputs of kind thread are a construct of Prompty 2; here the conversation is "
                f"![thread], or {{{{{item.name}}}}} as in Prompty 2."
            )
            yield Problem("prompty-construct", Severity.HINT, message, item.name_span)


_LOOP = re.compile(
    r"\{%[-+]?[ \t]*for[ \t]+(?P<name>\w+)[ \t]+in[ \t]+history\b[^%]{0,200}%\}\r?\n?"
)
_MOST_LOOPS = 20
_END = re.compile(r"\{%[-+]?[ \t]*endfor[ \t]*[-+]?%\}")
_FOR = re.compile(r"\{%[-+]?[ \t]*for\b")
_ITEMS = re.compile(
    r"\{[ \t]*\r?\n\{%[-+]?[ \t]*for[^%\n]{1,120}\.arguments\.items\(\)[ \t]*[-+]?%\}"
    r"(?P<inner>[^{]*(?:\{(?!%)[^{]*)*)\{%[-+]?[ \t]*endfor[ \t]*[-+]?%\}[ \t]*\}"
)
_QUOTED = re.compile(r'"\{\{[-+]?[ \t]*(?P<path>\w+\.(?:action|observation))[ \t]*[-+]?\}\}"')
_NO_ANSWER = re.compile(
    r'"action":[ \t]*"final_answer",[ \t\r\n]*"action_input":[ \t]*(?P<null>null)'
)
_ANSWER_IS_NULL = re.compile(r"(?m)^[^\n]{0,200}?final_answer\b[^\n]{0,200}?(?P<null>\bnull\b)")
"""Matches a line that describes a final answer without a value."""


def check_loop_prompt(document: PromptDocument) -> Iterator[Problem]:
    """Report a history with invalid JSON or no thoughts, and tools or answers without text."""
    body = document.source.slice(document.body)
    offset = document.body.start
    if document.template.format == "jinja2":
        for loop in islice(_LOOP.finditer(body), _MOST_LOOPS):
            yield from _history(body, loop, _end_of_loop(body, loop.end()), offset)
        yield from _all_required(body, offset)
    yield from _without_user(document)
    yield from _without_tools(document)
    agent = document.metadata.get("agent")
    is_composed = isinstance(agent, Mapping) and bool(agent.get("compose"))
    found = _NO_ANSWER.search(body)
    if found is not None and not is_composed:
        place = Span(*found.span("null")).shift(offset)
        message = "This final answer has no text; let the model put the answer into action_input."
        # The same is written elsewhere, as text or JSON; a remaining one would contradict this one.
        others = chain(_NO_ANSWER.finditer(body), _ANSWER_IS_NULL.finditer(body))
        edits = []
        for start, end in sorted({other.span("null") for other in others}):
            is_json = body[:start].rstrip().endswith(":")
            words = '"the answer, as text"' if is_json else "the answer, as text"
            edits.append(TextEdit(Span(start, end).shift(offset), words))
        fix = Fix("Name the answer instead of null", tuple(edits))
        yield Problem("answer-without-words", Severity.HINT, message, place, (fix,))


_ARGUMENTS = re.compile(
    r"\{%[-+]?[ \t]*for[ \t]+(?P<name>\w+)[ \t]+in[ \t]+\w+\.arguments\b[^%]{0,200}%\}"
    r"(?P<line>[^{]{0,80}?)(?P<word>[Rr]equired)\b"
)


def _all_required(body: str, offset: int) -> Iterator[Problem]:
    """Report a list of arguments that describes each one as required, regardless of its schema."""
    for found in islice(_ARGUMENTS.finditer(body), _MOST_LOOPS):
        end = body.find("{%", found.end())
        path = f"{found['name']}.required"
        if path in body[found.start() : end if end >= 0 else None]:
            continue
        place = Span(*found.span("word")).shift(offset)
        word = found["word"]
        other = "Optional" if word[0] == "R" else "optional"
        message = f"This marks every argument as {word.lower()}, including optional ones."
        text = f'{{{{ "{word}" if {path} else "{other}" }}}}'
        fix = Fix("Say it of each argument", (TextEdit(place, text),))
        yield Problem("all-required", Severity.HINT, message, place, (fix,))


_LISTED = frozenset({"tools", "tool_names"})


def _without_tools(document: PromptDocument) -> Iterator[Problem]:
    """Report a loop over tools in a prompt without tools: the list would be empty."""
    if document.tools or agent_settings(document).get("tools") or not drives_loop(document):
        return
    declared = {item.name for item in document.inputs}
    listed = [item for item in document.variables if item.name in _LISTED - declared]
    if not listed or any(section.role == "tools" for section in document.sections):
        return
    place = min(item.span for item in listed)
    message = (
        "The prompt lists its tools to the model but has none: declare tools:, or name a "
        "Python file of functions under metadata.agent.tools."
    )
    yield Problem("loop-without-tools", Severity.HINT, message, place)


_FOR_SYSTEM = frozenset({"system", "developer", "tools", ""})


def _without_user(document: PromptDocument) -> Iterator[Problem]:
    """Report an agent prompt with only a system message; providers require a user message."""
    roles = {section.role for section in document.sections}
    is_as_published = document.dialect == "section" and not roles - {"", "tools"}
    if not roles <= _FOR_SYSTEM or is_as_published or not drives_loop(document):
        return
    body = document.source.slice(document.body)
    if not body.strip() or "![thread]" in body:
        return
    at = document.body.start
    place = Span(at, at)
    if roles & {"system", "developer"}:
        asked = (item for item in document.variables if item.name in _OF_THE_USER)
        question = min((item.expression.start for item in asked), default=None)
        if question is None:
            return
        at = document.source.text.rfind("\n", 0, question) + 1
        place = Span(at, question)
    newline = "\r\n" if "\r\n" in document.source.text else "\n"
    message = "All of this is a system message without a user message, which some providers reject."
    fix = Fix("Put user: before it", (TextEdit(Span(at, at), f"user:{newline}"),))
    yield Problem("loop-without-user", Severity.WARNING, message, place, (fix,))


_OF_THE_USER = frozenset({"question", "input", "chat_history"})


def _history(body: str, loop: re.Match[str], end: int, offset: int) -> Iterator[Problem]:
    inner = body[loop.end() : end]
    at = offset + loop.end()
    name = loop["name"]
    if ".action" in inner and f"{name}.thought" not in inner:
        message = "The history omits every Thought, so the model does not see its reasons."
        place = Span(at, at)
        line = f"Thought: {{{{ {name}.thought }}}}\n"
        fix = Fix("Add the Thought line", (TextEdit(place, line),))
        span = Span(offset + loop.start(), offset + loop.start() + len(loop[0].rstrip()))
        yield Problem("history-without-thought", Severity.WARNING, message, span, (fix,))
    arguments = _ITEMS.search(inner)
    if arguments is not None:
        place = Span(*arguments.span()).shift(at)
        message = "This writes the arguments without commas and escapes, which is not valid JSON."
        fix = Fix(
            "Write them with tojson", (TextEdit(place, f"{{{{ {name}.arguments | tojson }}}}"),)
        )
        yield Problem("history-not-json", Severity.WARNING, message, place, (fix,))
    for quoted in _QUOTED.finditer(inner):
        place = Span(*quoted.span()).shift(at)
        message = "The reply format has no quotes here, so the history should have none."
        fix = Fix("Leave the quotes out", (TextEdit(place, quoted[0][1:-1]),))
        yield Problem("history-quoted", Severity.HINT, message, place, (fix,))


def _end_of_loop(body: str, at: int) -> int:
    """Return the end of the loop that starts before `at`, skipping nested loops."""
    depth = 1
    while depth:
        end = _END.search(body, at)
        if end is None:
            return len(body)
        depth += len(_FOR.findall(body[at : end.start()])) - 1
        if depth <= 0:
            return end.start()
        at = end.end()
    return at


_OF_FRONT = frozenset(
    {
        "duplicate-key",
        "default-kind",
        "front-matter-not-mapping",
        "invalid-value",
        "tool-without-dash",
    }
)
_OF_INPUTS = frozenset({"undeclared-variable"})


def without_echoes(document: PromptDocument, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that do not follow from others, in order.

    Removed are problems of keys below an unreadable line, of names whose declarations are
    unreadable or below a misspelled `inputs`, and of the YAML in a section before an unreadable
    marker.
    """
    found = list(problems)
    front = document.front_matter
    broken = min(
        (
            each.span.start
            for each in found
            if (hides_text(each) and each.code not in _OF_FRONT) or each.code == "front-matter-late"
            if front is None or each.span.start <= front.end
        ),
        default=None,
    )
    no_names = broken is not None or any(
        each.code == "unknown-key"
        and any(edit.text == "inputs" for fix in each.fixes for edit in fix.edits)
        for each in found
    )
    is_dashes = any(
        each.code == "front-matter-open"
        and (document.source.slice(each.span) not in ("---", "+++"))
        for each in found
    )
    bad_keys = [each.span.start for each in found if each.code == "yaml-key"]
    is_late = any(each.code == "front-matter-late" for each in found)
    not_found = {each.span for each in found if each.code == "media-missing"}
    bad_markers = [each.span for each in found if each.code == "attribute-syntax"]

    def is_echo(problem: Problem) -> bool:
        if problem.code in _OF_FRONT:
            return broken is not None and (front is None or problem.span.start <= front.end)
        if problem.code in _OF_INPUTS:
            return no_names
        if problem.code == "wrong-type":
            return any(problem.span.touches(at) for at in bad_keys)
        if problem.code == "marker-in-fence":
            return is_late  # the whole file is in the code block
        if problem.code == NOT_TRUSTED:
            return problem.span in not_found  # it could not be read in a trusted folder either
        if problem.code == "yaml-syntax" and is_dashes and broken is not None:
            return front is None or problem.span.start <= front.end
        if problem.code == "yaml-syntax":
            return any(span.touches(problem.span.start) for span in bad_markers)
        return False

    return [each for each in found if not is_echo(each)]
