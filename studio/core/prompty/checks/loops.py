"""Prompts for the agent loop: defects of the two published prompts (docs/design/agent-loop.md)."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.loop_format import agent_settings, drives_loop
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit

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
"""Pattern of a line that describes a final answer without a value."""


def check_loop_prompt(document: PromptDocument) -> Iterator[Problem]:
    """Report a history with invalid JSON or without thoughts; tools and answers without words."""
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
        message = (
            "This final answer carries no words; let the model put the answer into action_input."
        )
        # The same is said elsewhere, in words or as JSON; one left would contradict this one.
        others = chain(_NO_ANSWER.finditer(body), _ANSWER_IS_NULL.finditer(body))
        edits = []
        for start, end in sorted({other.span("null") for other in others}):
            is_json = body[:start].rstrip().endswith(":")
            words = '"the answer, as text"' if is_json else "the answer, as text"
            edits.append(TextEdit(Span(start, end).shift(offset), words))
        fix = Fix("Ask for the answer there", tuple(edits))
        yield Problem("answer-without-words", Severity.HINT, message, place, (fix,))


_ARGUMENTS = re.compile(
    r"\{%[-+]?[ \t]*for[ \t]+(?P<name>\w+)[ \t]+in[ \t]+\w+\.arguments\b[^%]{0,200}%\}"
    r"(?P<line>[^{]{0,80}?)(?P<word>[Rr]equired)\b"
)


def _all_required(body: str, offset: int) -> Iterator[Problem]:
    """Report a list of arguments that calls each one required, whatever its schema says."""
    for found in islice(_ARGUMENTS.finditer(body), _MOST_LOOPS):
        end = body.find("{%", found.end())
        path = f"{found['name']}.required"
        if path in body[found.start() : end if end >= 0 else None]:
            continue
        place = Span(*found.span("word")).shift(offset)
        word = found["word"]
        other = "Optional" if word[0] == "R" else "optional"
        message = f"This calls every argument {word.lower()}, also one that a call may leave out."
        text = f'{{{{ "{word}" if {path} else "{other}" }}}}'
        fix = Fix("Say it of each argument", (TextEdit(place, text),))
        yield Problem("all-required", Severity.HINT, message, place, (fix,))


_LISTED = frozenset({"tools", "tool_names"})


def _without_tools(document: PromptDocument) -> Iterator[Problem]:
    """Report a loop that lists its tools to the model and has none: the list would be empty."""
    if document.tools or agent_settings(document).get("tools") or not drives_loop(document):
        return
    declared = {item.name for item in document.inputs}
    listed = [item for item in document.variables if item.name in _LISTED - declared]
    if not listed or any(section.role == "tools" for section in document.sections):
        return
    place = min(item.span for item in listed)
    message = (
        "The prompt lists its tools to the model, and it has none: declare tools:, or name a "
        "Python file of functions under metadata.agent.tools."
    )
    yield Problem("loop-without-tools", Severity.HINT, message, place)


_FOR_SYSTEM = frozenset({"system", "developer", "tools", ""})


def _without_user(document: PromptDocument) -> Iterator[Problem]:
    """Report a loop whose whole text is the system's: providers want a message of the user."""
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
    message = (
        "All of this is a system message, and no message of the user goes with it: some providers "
        "refuse that."
    )
    fix = Fix("Put user: before it", (TextEdit(Span(at, at), f"user:{newline}"),))
    yield Problem("loop-without-user", Severity.WARNING, message, place, (fix,))


_OF_THE_USER = frozenset({"question", "input", "chat_history"})


def _history(body: str, loop: re.Match[str], end: int, offset: int) -> Iterator[Problem]:
    inner = body[loop.end() : end]
    at = offset + loop.end()
    name = loop["name"]
    if ".action" in inner and f"{name}.thought" not in inner:
        message = "The history leaves every Thought out, so the model forgets why it acted."
        place = Span(at, at)
        line = f"Thought: {{{{ {name}.thought }}}}\n"
        fix = Fix("Add the Thought line", (TextEdit(place, line),))
        span = Span(offset + loop.start(), offset + loop.start() + len(loop[0].rstrip()))
        yield Problem("history-without-thought", Severity.WARNING, message, span, (fix,))
    arguments = _ITEMS.search(inner)
    if arguments is not None:
        place = Span(*arguments.span()).shift(at)
        message = "This writes the arguments without commas and escapes: it is not valid JSON."
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
    """Find the end of the loop that starts before `at`; loops inside it are skipped."""
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
