"""The tools of the body's `tools:` section: rendered, resolved, and read as structure.

Seed: prompt section, "Tools". Values never become structure; where loops or conditions decide which
tools there are, those run first (`rendered_yaml`), otherwise each scalar is rendered by itself
(`source_yaml`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from studio.core.prompty.body.rendered_yaml import RenderedYaml
from studio.core.prompty.body.source_yaml import SourceYaml
from studio.core.prompty.document import BodySection, PromptDocument
from studio.core.prompty.look_up import LookUp
from studio.core.prompty.messages import HoistedTool
from studio.core.prompty.reference_values import whole_reference
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.text.values import Json

_OWN_KEYS = ("id", "name", "type", "kind", "options", "function")


class _NoToolError(Exception):
    """An item that is not a tool; `code` is the problem's code, the text its message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def hoist_tools(
    document: PromptDocument,
    section: BodySection,
    inputs: Mapping[str, Json],
    look_up: LookUp | None = None,
) -> tuple[tuple[HoistedTool, ...], tuple[Problem, ...]]:
    """The tools of one `tools:` section without loops and conditions.

    Args:
        document: The prompt.
        section: The section, as the document has it.
        inputs: Values of the inputs.
        look_up: Finds the values of references; None leaves them as written.
    """
    yaml = SourceYaml(document, section.content, inputs, look_up)
    value, is_broken = yaml.read()
    yaml.problems[:] = map(_as_tools, yaml.problems)
    raw = document.source.slice(section.content)
    whole = Span(section.content.start, section.content.start + len(raw.rstrip()))
    tools: list[HoistedTool] = []
    if isinstance(value, list):
        for index, item in enumerate(value):
            made, used = yaml.filled(item, (index,))
            waits = isinstance(item, Mapping) and yaml.has_expression(item.get("id"))
            place = yaml.place((index,))
            _add_tool(tools, yaml.problems, made, used, place, whole, waits=waits)
        return tuple(tools), tuple(yaml.problems)
    held, used = yaml.filled(value, ())  # one reference may hold the whole list
    if isinstance(held, list):
        for item in held:
            _add_tool(tools, yaml.problems, item, used, None, whole)
    elif value is not None or not is_broken:
        _add_not_list(yaml.problems, held, whole)
    return tuple(tools), tuple(yaml.problems)


def hoist_rendered(
    yaml: RenderedYaml, place: Span
) -> tuple[tuple[HoistedTool, ...], tuple[Problem, ...]]:
    """The tools of a `tools:` section whose loops and conditions have been run.

    Args:
        yaml: The section's content as it was rendered.
        place: The section in the source, for what has no place of its own.
    """
    problems = [
        replace(_as_tools(problem), span=yaml.source(problem.span) or place, fixes=())
        for problem in yaml.problems
    ]
    items = yaml.items()
    if items is None:
        if yaml.value is not None:
            _add_not_list(problems, yaml.value, place)
        return (), tuple(problems)
    tools: list[HoistedTool] = []
    for value, used, span in items:
        _add_tool(tools, problems, value, used, span, place)
    return tuple(tools), tuple(problems)


def has_statements(document: PromptDocument, section: BodySection) -> bool:
    """Whether the template decides which tools of a section there are (a loop, a condition)."""
    raw = document.source.slice(section.content)
    match document.template.format:
        case "jinja2":
            return "{%" in raw
        case "mustache":
            return "{{#" in raw or "{{^" in raw
        case "fstring":
            return False


def _add_not_list(problems: list[Problem], value: Json, place: Span) -> None:
    """Say that a section holds no list; of a reference without a value something else is said."""
    if isinstance(value, str) and whole_reference(value) is not None:
        return
    message = "A tools: section holds a list of tools."
    problems.append(Problem("tools-not-list", Severity.ERROR, message, place))


def _add_tool(
    tools: list[HoistedTool],
    problems: list[Problem],
    value: Json,
    used: Collection[str],
    span: Span | None,
    section: Span,
    *,
    waits: bool = False,
) -> None:
    """Add a tool; `waits`: its id is an expression, which may have no value yet."""
    try:
        tools.append(_tool_of(value, span, used))
    except _NoToolError as error:
        severity, text = Severity.ERROR, str(error)
        if error.code == "tool-without-id" and waits:
            severity = Severity.WARNING
            text = "The id of this tool has no value here, and the tool is left out."
        problems.append(Problem(error.code, severity, text, span or section))


def _tool_of(rendered: Json, span: Span | None, used: Collection[str]) -> HoistedTool:
    """The tool that a rendered item says.

    Raises:
        _NoToolError: it says none.
    """
    if not isinstance(rendered, Mapping):
        raise _NoToolError("tool-shape", "A tool is a mapping with id, type and options.")
    function = rendered.get("function")
    if isinstance(function, Mapping):
        rendered = {**rendered, **function}
    name = rendered.get("id", rendered.get("name"))
    if isinstance(name, int | float) and not isinstance(name, bool):
        name = str(name)  # `id: 3` is the id "3"
    if not isinstance(name, str) or not name:
        raise _NoToolError("tool-without-id", "This tool has no id; give it one.")
    kind = rendered.get("type", rendered.get("kind"))
    options, reference = rendered.get("options"), ""
    if isinstance(options, str) and whole_reference(options) is not None:
        reference = options
    elif options is not None and not isinstance(options, Mapping):
        what = f"The options of the tool {name!r} are keys and values, not {options!r}."
        raise _NoToolError("tool-options", what)
    rest = {key: value for key, value in rendered.items() if key not in _OWN_KEYS}
    return HoistedTool(
        name,
        "function" if kind is None else str(kind),
        {**rest, **options} if isinstance(options, Mapping) else rest,
        span,
        tuple(sorted(used)),
        reference,
    )


def _as_tools(problem: Problem) -> Problem:
    """A finding of the YAML reader, which speaks of front matter, about a `tools:` section."""
    what = problem.message.removeprefix("Invalid frontmatter: ")
    return (
        replace(problem, message=f"These tools cannot be read as YAML: {what}")
        if (what != problem.message)
        else problem
    )
