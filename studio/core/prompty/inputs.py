"""Values for a rendering: defaults for a run, samples for a preview."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from studio.core.prompty.document import InputDeclaration, PromptDocument, ResolvedInputs
from studio.core.prompty.example_actions import example_actions
from studio.core.prompty.loop_format import undeclared_question
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.text.values import Json

RESERVED_SAMPLES: Mapping[str, Json] = MappingProxyType(
    {
        "question": "What is 12 * 7?",
        "input": "What is 12 * 7?",
        "history": [
            {
                "thought": "I need the product of two numbers.",
                "action": "calculator",
                "arguments": {"expression": "12 * 7"},
                "observation": "84",
            }
        ],
        "tools": [
            {
                "name": "calculator",
                "description": "Work out an arithmetic expression.",
                "arguments": [
                    {
                        "name": "expression",
                        "type": "string",
                        "description": "Numbers with + - * / and brackets.",
                        "required": True,
                    }
                ],
            }
        ],
        "tool_names": '"calculator"',
        "examples": "",
        "chat_history": "Human: What is 12 * 7?",
        "agent_scratchpad": "",
        "thread": [
            {"role": "user", "content": "What is 12 * 7?"},
            {"role": "assistant", "content": "84"},
        ],
    }
)
"""Names that a run supplies, with what a preview shows for them (docs/design/file-format.md)."""

_TOOLS_AS_TEXT = '- "calculator": Work out an arithmetic expression. Input: expression (string)'


def resolve_inputs(
    document: PromptDocument, given: Mapping[str, Json]
) -> tuple[ResolvedInputs, tuple[Problem, ...]]:
    """Values for a run (Prompty 2 §2.9, §12.2).

    A value that is given counts, null too; extra ones pass; without one the default counts, unless
    it is null; an example or sample never does. A required input without either is an error.

    Returns:
        The values by name, and a `missing-input` problem for each required input without one.
    """
    values = {item.name: item.default for item in document.inputs if _has_default(item)}
    values.update(given)
    return values, tuple(_missing(document, item) for item in missing_inputs(document, given))


def missing_inputs(
    document: PromptDocument, given: Mapping[str, Json]
) -> tuple[InputDeclaration, ...]:
    """The required inputs that have neither a given value nor a default, in their order."""
    return tuple(
        item
        for item in document.inputs
        if item.name and item.required and item.name not in given and not _has_default(item)
    )


def _has_default(item: InputDeclaration) -> bool:
    return bool(item.name) and item.has_default and item.default is not None


def preview_inputs(
    document: PromptDocument, given: Mapping[str, Json]
) -> tuple[ResolvedInputs, frozenset[str]]:
    """Values for a preview: what is given, else default, else sample, else a reserved sample.

    Returns:
        The values by name, and the names whose value is only a sample.
    """
    values: dict[str, Json] = {}
    samples: set[str] = set()
    declared = {item.name: item for item in document.inputs if item.name}
    for name, item in declared.items():
        if name in given:
            continue
        if item.has_default and item.default is not None:
            values[name] = item.default
        elif item.has_sample:
            values[name] = item.sample
            samples.add(name)
    for name in _wanted(document):
        if name not in given and name not in values:
            values[name] = _reserved_sample(document, name)
            if values[name] != "":  # a run has nothing there either
                samples.add(name)
    values.update(given)
    return values, frozenset(samples)


def stands_for_thread(document: PromptDocument) -> bool:
    """Whether `![thread]` or `thread:` stands for the input `thread`, which nobody declares."""
    threads = [item.name for item in document.inputs if item.kind == "thread"]
    return (
        len(threads) != 1
        and document.dialect != "prompty"
        and (
            any(section.role == "thread" for section in document.sections)
            or "![thread]" in document.source.text
        )
    )


def _wanted(document: PromptDocument) -> list[str]:
    """Reserved names that the template uses, or that an input declares without a value."""
    used = {variable.name for variable in document.variables}
    used |= {item.name for item in document.inputs} | {undeclared_question(document)}
    used -= {item.name for item in document.inputs if item.kind == "thread"}  # the run fills it
    return [name for name in RESERVED_SAMPLES if name in used]


def _reserved_sample(document: PromptDocument, name: str) -> Json:
    if name == "examples":
        return example_actions(document.tools)
    if document.tools and name in ("tools", "tool_names"):
        return _own_tools(document, name)
    if document.template.format == "fstring" and name == "tools":
        return _TOOLS_AS_TEXT
    if document.template.format == "fstring" and name in ("history", "thread"):
        return ""
    return RESERVED_SAMPLES[name]


def _own_tools(document: PromptDocument, name: str) -> Json:
    """The file's own tools, as a run would show them."""
    if name == "tool_names":
        return ", ".join(f'"{tool.name}"' for tool in document.tools)
    items: list[Json] = []
    for tool in document.tools:
        properties = tool.parameters.get("properties")
        required = tool.parameters.get("required")
        arguments: list[Json] = [
            {
                "name": parameter,
                "type": schema.get("type", "string"),
                "description": schema.get("description", ""),
                "required": isinstance(required, list) and parameter in required,
            }
            for parameter, schema in (properties.items() if isinstance(properties, Mapping) else ())
            if isinstance(schema, Mapping)
        ]
        items.append({"name": tool.name, "description": tool.description, "arguments": arguments})
    if document.template.format != "fstring":
        return items
    return "\n".join(f'- "{tool.name}": {tool.description}' for tool in document.tools)


def _missing(document: PromptDocument, item: InputDeclaration) -> Problem:
    start = document.body.start
    return Problem(
        "missing-input",
        Severity.ERROR,
        f"Missing required input {item.name!r}; give it a value, or a default in the front matter.",
        item.name_span or item.span or Span(start, start),
    )
