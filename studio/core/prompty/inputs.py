"""The values of a prompt's inputs: given by the user, and resolved for each input."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from studio.core.paths import resource_text
from studio.core.prompty.document import (
    InputDeclaration,
    PromptDocument,
    ResolvedInputs,
    example_actions,
)
from studio.core.prompty.loop_format import undeclared_question
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject

RESERVED_SAMPLES: JsonObject = json.loads(resource_text("words", "reserved.json"))
"""Variables of a run, with the values that a preview shows (docs/design/file-format.md)."""

PERSONAL = frozenset({"question", "input"})
"""Reserved names whose value only the user can give."""

_TOOLS_AS_TEXT = '- "calculator": Work out an arithmetic expression. Input: expression (string)'


InputOrigin: TypeAlias = Literal["given", "default", "sample", "reserved", "missing"]
"""Origin of a value; a run uses no `sample` or `reserved` values."""


@dataclass(frozen=True, slots=True, eq=False)
class GivenInputs(JsonObject):
    """The user's values: a read-only mapping by name.

    A value is kept even if no input has its name, and returns with the input.
    """

    by_name: JsonObject = field(default_factory=dict)
    """Values by input name; null is a value."""

    def __getitem__(self, name: str) -> Json:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def with_values(self, values: JsonObject) -> GivenInputs:
        """Return a copy with these values added."""
        return GivenInputs({**self.by_name, **values})

    def without(self, name: str) -> GivenInputs:
        """Return a copy without the value of one input."""
        return GivenInputs({key: each for key, each in self.by_name.items() if key != name})

    def renamed(self, pairs: Iterable[tuple[str, str]], names: Collection[str]) -> GivenInputs:
        """Return a copy with values moved to the new names of their inputs.

        Args:
            pairs: pairs of names of one input, in either order, so that undoing a rename moves the
                value back.
            names: the current inputs of the prompt.
        """
        return GivenInputs(renamed_keys(self.by_name, pairs, names))


_Value = TypeVar("_Value")


def renamed_keys(
    values: Mapping[str, _Value], pairs: Iterable[tuple[str, str]], names: Collection[str]
) -> dict[str, _Value]:
    """Return values under the current names of their inputs (`GivenInputs.renamed`)."""
    for pair in pairs:
        for old, new in (pair, pair[::-1]):
            if old in values and old not in names and new in names:
                moved = {
                    new if key == old else key: each for key, each in values.items() if key != new
                }
                values = moved
    return dict(values)


@dataclass(frozen=True, slots=True)
class InputResolution:
    """The value of each input with its origin, for runs and for display."""

    shown: ResolvedInputs
    """All values by name: given, else default, else sample, else reserved sample."""

    origins: Mapping[str, InputOrigin]
    """Origin of each value in `shown`; `missing` for a declared input without one."""

    missing: tuple[InputDeclaration, ...] = ()
    """Required inputs without a given value or a default, in order."""

    problems: tuple[Problem, ...] = ()
    """A `missing-input` problem for each of them."""

    @property
    def sent(self) -> JsonDict:
        """The values for a run (Prompty 2 §2.9, §12.2): given ones and defaults."""
        return {
            name: value
            for name, value in self.shown.items()
            if self.origins[name] in ("given", "default")
        }

    @property
    def samples(self) -> frozenset[str]:
        """Names whose value is only for display: a run has another one, or none."""
        return frozenset(
            name
            for name, value in self.shown.items()
            if self.origins[name] == "sample"
            or (self.origins[name] == "reserved" and value != "")  # a run has nothing there either
        )


def resolve_inputs(document: PromptDocument, given: JsonObject) -> InputResolution:
    """Return the value of every input; this is the only rule, for display and runs.

    A given value comes first, even null or for an unknown name; then the default, unless it is
    null; then, only for previews, the sample or the reserved sample.

    Args:
        document: the prompt, with the references resolved whose values are needed.
        given: the user's values by name, as a `GivenInputs` or any mapping.
    """
    shown: JsonDict = {}
    origins: dict[str, InputOrigin] = {}
    for item in document.inputs:
        if not item.name or item.name in given:
            continue
        if item.has_default and item.default is not None:
            shown[item.name], origins[item.name] = item.default, "default"
        elif item.has_sample:
            shown[item.name], origins[item.name] = item.sample, "sample"
        else:
            origins[item.name] = "missing"
    for name in _wanted(document):
        if name not in given and name not in shown:
            shown[name] = _reserved_sample(document, name)
            origins[name] = "sample" if name in PERSONAL else "reserved"
    shown.update(given)
    origins.update(dict.fromkeys(given, "given"))
    missing = tuple(
        item
        for item in document.inputs
        if item.name and item.required and origins[item.name] not in ("given", "default")
    )
    return InputResolution(
        shown, origins, missing, tuple(_missing(document, item) for item in missing)
    )


def _missing(document: PromptDocument, item: InputDeclaration) -> Problem:
    start = document.body.start
    return Problem(
        "missing-input",
        Severity.ERROR,
        f"Missing required input {item.name!r}; give it a value, or a default in the front matter.",
        item.name_span or item.span or Span(start, start),
    )


def stands_for_thread(document: PromptDocument) -> bool:
    """Return whether `![thread]` or `thread:` is the undeclared input `thread`."""
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
    """Return reserved names that the template uses or an input declares without a value."""
    used = {variable.name for variable in document.variables}
    used |= {item.name for item in document.inputs} | {undeclared_question(document)}
    used -= {item.name for item in document.inputs if item.kind == "thread"}  # the run sets it
    return [name for name in RESERVED_SAMPLES if name in used]


def value_kind(document: PromptDocument, name: str) -> str:
    """Return the kind of a value: the declared one, or that of its use in the template.

    Reserved lists (`thread`, `history`) are lists, but in a format string, which has no lists, only
    the conversation is.
    """
    if declared := document.input(name) or document.parameter(name):
        return declared.kind
    is_list = isinstance(RESERVED_SAMPLES.get(name), list)
    is_list = is_list and (name == "thread" or document.template.format != "fstring")
    return "a list" if is_list else "string"


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
    """Return the file's tools as a run would show them."""
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
