"""Finds the values of `${…}` references for a preview or a run, and says why there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from studio.core.prompty.reference_values import (
    NOT_TRUSTED,
    Reference,
    ReferenceContext,
    UnresolvedReference,
    resolve_reference,
    whole_reference,
)
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.text.values import Json

MOST_INCLUDES = 8
"""Files that may refer to one another before the next one stays a reference."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """Finds the values of references, for a preview or for a run."""

    context: ReferenceContext
    """Where values come from."""

    preview: bool = False
    """Leave `env` as written, and wait for parameters that are not given yet."""

    def find(
        self, reference: Reference, span: Span, problems: list[Problem], user: str = "The text"
    ) -> tuple[Json, bool]:
        """Return the value, and whether there is one; why not is added to the problems.

        Args:
            reference: what is looked up.
            span: place of the problem.
            problems: gets the problem.
            user: what needs the value, as the subject of a sentence.
        """
        context, preview = self.context, self.preview
        if preview and reference.protocol == "env" and reference.argument:
            known = not context.trusted or context.variable(reference.argument) is not None
            if reference.default is None and not known:
                message = f"Environment variable {reference.argument!r} not set. {user} needs it."
                problems.append(Problem("env-not-set", Severity.WARNING, message, span))
            return None, False
        try:
            value = resolve_reference(reference, context)
            if reference.protocol == "file" and not context.trusted:
                message = f"File {reference.argument!r} is only shown; trust the folder to send it."
                problems.append(Problem(NOT_TRUSTED, Severity.HINT, message, span))
            return value, True
        except UnresolvedReference as error:
            is_hint = error.code == NOT_TRUSTED and (preview or context.shown)
            # A parameter comes with a run; until then it is no fault that there is none.
            is_awaited = preview and reference.protocol == "params" and reference.argument != ""
            severity = Severity.HINT if is_hint or is_awaited else Severity.ERROR
            needs = "" if reference.protocol == "params" else f" {user} needs it."
            problems.append(Problem(error.code, severity, f"{error}{needs}", span))
            return None, False

    def find_all(self, value: Json, span: Span, problems: list[Problem], includes: int = 0) -> Json:
        """A value from a file, with the references in its own texts resolved as well."""
        if includes >= MOST_INCLUDES:
            return value
        if isinstance(value, Mapping):
            return {
                key: self.find_all(item, span, problems, includes) for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.find_all(item, span, problems, includes) for item in value]
        whole = whole_reference(value) if isinstance(value, str) else None
        if whole is None:
            return value
        found, has_value = self.find(whole, span, problems)
        return self.find_all(found, span, problems, includes + 1) if has_value else value


def source_name(reference: Reference) -> str:
    """What a value is said to come from; a parameter is an input by another way in."""
    if reference.protocol == "params":
        return reference.argument
    return f"{reference.protocol}:{reference.argument}"


def is_input(source: str) -> bool:
    """Whether a segment's source is an input, and not a file or a variable."""
    return not source.startswith(("env:", "file:"))


def as_text(value: Json) -> str:
    """A value as it stands in a text: JSON for anything but a string; nothing for null."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
