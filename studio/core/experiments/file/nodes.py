"""YAML values with their places, read key by key; problems are collected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.core.paths import resource_table
from studio.core.prompty.document import FrontMatterEntry
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.amounts import LARGEST
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import Json, JsonObject, KeyPath

# Features of promptfoo that are not supported here: reported at their place, so that no request is
# sent without them.

ForeignPlace: TypeAlias = Literal[
    "experiment", "test", "options", "running", "prompt", "provider", "config"
]
"""Kind of mapping that contains a key."""

FOREIGN_KEYS = resource_table("words", "promptfoo.txt")
"""Unsupported keys by kind of mapping, each with advice."""

FOREIGN_TYPES = tuple(
    """
    agent-rubric answer-relevance classifier contains-sql context-faithfulness context-recall
    context-relevance conversation-relevance guardrails human is-html is-sql
    is-valid-function-call is-valid-video max-score meteor moderation perplexity perplexity-score
    pi ruby search-rubric select-best skill-used trace-span-duration trajectory:goal-success
    video-rubric webhook
""".split()
)
"""Unsupported types of assertions."""

FOREIGN_PROVIDERS = tuple(
    """
    file:// python: http: https: exec: webhook: ws: wss: package: promptfoo: browser golang: ruby:
    mcp: sequence
""".split()
)
"""Prefixes of providers that run their own code."""

_REDTEAM = "promptfoo:redteam:"
_FOREIGN_PROMPT = re.compile(
    r"(?:langfuse|portkey|helicone)://\S+|(?:exec|python|package):\S+"
    r"|(?:file://)?[\w./-]+\.(?:py|js|mjs|cjs|ts|mts|cts|sh|rb|go|exe|bat|csv|jsonl)(?::\w+)?"
)
_FOREIGN_CODE = re.compile(r"file://.+\.(?:ts|mts|cts|rb|go)(?::\w+)?\s*")


def foreign_words(place: ForeignPlace, name: str) -> str:
    """Return the message that refuses a key, with what to do."""
    where = f"{place}.{name}" if place in ("options", "config") else name
    return f"`{where}` is not followed here: {FOREIGN_KEYS[place][name]}."


def foreign_type(name: str) -> str:
    """Return the message that refuses a type known only to promptfoo; empty for other types."""
    if name not in FOREIGN_TYPES and not name.startswith(_REDTEAM):
        return ""
    return (
        f"Assertions of type {name!r} are not supported here: remove it, or use `javascript`, "
        "`python` or `llm-rubric`."
    )


def foreign_prompt(written: str) -> str:
    """Return the message that refuses a prompt made by a program or service; empty for others."""
    if _FOREIGN_PROMPT.fullmatch(written.strip()) is None:
        return ""
    return (
        f"The prompt {written!r} is created by a program or a service, or is a list of prompts, "
        "which is not supported here: write it as a text or a text file."
    )


def foreign_code(value: object) -> str:
    """Return the message that refuses code in an unsupported language; empty for other code."""
    if not isinstance(value, str) or _FOREIGN_CODE.fullmatch(value) is None:
        return ""
    return f"{value!r} is not run here: write it as JavaScript or Python."


KeyNames = Sequence[str]


@dataclass
class ExperimentFindings:
    """The problems of one file."""

    problems: list[Problem] = field(default_factory=list)
    """Problems in the order found."""

    def error(self, code: str, message: str, span: Span, *fixes: Fix) -> None:
        """Add a problem that keeps the experiment from running."""
        self.problems.append(Problem(code, Severity.ERROR, message, span, fixes))

    def warning(self, code: str, message: str, span: Span, *fixes: Fix) -> None:
        """Add a problem that does not, but is probably not intended."""
        self.problems.append(Problem(code, Severity.WARNING, message, span, fixes))


@dataclass(frozen=True)
class YamlNode:
    """A value of the file, with its place and the places inside it."""

    value: Json
    """The plain value; None if the key is missing."""

    path: KeyPath
    """Keys from the root to the value."""

    places: Mapping[KeyPath, FrontMatterEntry]
    """All places in the file."""

    findings: ExperimentFindings
    """Collects the problems."""

    @property
    def span(self) -> Span:
        """Span of the value; for an empty one, of its key."""
        entry = self.places.get(self.path)
        if entry is None:
            return self.parent_span
        return entry.value if len(entry.value) else entry.key

    @property
    def key_span(self) -> Span:
        """Span of the key."""
        entry = self.places.get(self.path)
        return entry.key if entry is not None else self.parent_span

    @property
    def parent_span(self) -> Span:
        """Span of the nearest enclosing value."""
        path = self.path
        while path:
            path = path[:-1]
            if path in self.places:
                return self.places[path].key
        return Span(0, 0)

    def __contains__(self, key: object) -> bool:
        return isinstance(self.value, Mapping) and key in self.value

    def get(self, key: str | int) -> YamlNode:
        """Return the node under a key or an index; a node without a value if it is missing."""
        value: Json = None
        if isinstance(self.value, Mapping) and isinstance(key, str):
            value = self.value.get(key)
        elif isinstance(self.value, list) and isinstance(key, int) and key < len(self.value):
            value = self.value[key]
        return YamlNode(value, (*self.path, key), self.places, self.findings)

    def items(self) -> Iterator[YamlNode]:
        """Yield the items of a list; a single value counts as a list of one."""
        if isinstance(self.value, list):
            yield from (self.get(index) for index in range(len(self.value)))
        elif self.value is not None:
            yield self

    def fields(self) -> Iterator[tuple[str, YamlNode]]:
        """Yield the entries of a mapping."""
        if isinstance(self.value, Mapping):
            yield from ((str(key), self.get(str(key))) for key in self.value)

    def wrong(self, message: str, code: str = "experiment-value") -> None:
        """Add a problem with the value."""
        self.findings.error(code, message, self.span)

    def text(self, what: str) -> str:
        """Return a text; empty if it is missing. Numbers are returned as written."""
        if self.value is None:
            return ""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return str(self.value)
        self.wrong(f"{what} must be a text.")
        return ""

    def number(self, what: str, least: float = -LARGEST, most: float = LARGEST) -> float | None:
        """Return a number within bounds; None if it is missing."""
        if self.value is None:
            return None
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            if least <= self.value <= most:
                return float(self.value)
            is_small = most == LARGEST and self.value < least
            bounds = f"at least {least:g}" if is_small else f"from {least:,.16g} to {most:,.16g}"
            self.wrong(f"{what} must be {bounds}; {_it_is(self.value)}.")
            return None
        self.wrong(f"{what} must be a number; it is {self.value!r}.")
        return None

    def whole(self, what: str, least: int = 0, most: int = LARGEST) -> int | None:
        """Return a whole number within bounds; None if it is missing."""
        found = self.number(what, least, most)
        if found is None:
            return None
        if found != int(found):
            self.wrong(f"{what} must be a whole number; it is {found:g}.")
            return None
        return int(found)

    def object(self, what: str) -> JsonObject:
        """Return a mapping; empty if it is missing."""
        if self.value is None:
            return {}
        if isinstance(self.value, Mapping):
            return self.value
        self.wrong(f"{what} must be a mapping of names and values.")
        return {}

    def texts(self, what: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is split at commas."""
        if isinstance(self.value, str):
            return tuple(each.strip() for each in self.value.split(",") if each.strip())
        return tuple(filter(None, (item.text(what) for item in self.items())))

    def check_foreign(self, place: ForeignPlace) -> None:
        """Refuse promptfoo's keys that are not supported here."""
        for name in FOREIGN_KEYS[place]:
            if name in self and self.get(name).value not in (None, [], {}):
                message, span = foreign_words(place, name), self.get(name).key_span
                self.findings.error("experiment-unsupported", message, span)

    def check_keys(self, known: KeyNames, what: str) -> None:
        """Report unknown keys, with the nearest known one."""
        for key, child in self.fields():
            if key in known or key.startswith(("$", "x-")):
                continue
            near = nearest(key, known)
            meant = f" Did you mean {near!r}?" if near else ""
            message = f"{what} has no key {key!r}; it is ignored.{meant}"
            fixes = (Fix(f"Write {near!r}", (TextEdit(child.key_span, near),)),) if near else ()
            self.findings.warning("experiment-key", message, child.key_span, *fixes)


def _it_is(number: float) -> str:
    return f"it is {number:,.16g}" if abs(number) <= LARGEST else "it is far out of range"


def read_nodes(text: str, findings: ExperimentFindings) -> YamlNode:
    """Read the root of a YAML text; add syntax errors to `findings`."""
    reading = read_yaml(text)
    findings.problems += reading.problems
    places = {entry.path: entry for entry in reading.entries}
    return YamlNode(reading.value, (), places, findings)
