"""Checks for secrets written in the file."""

import re
from collections.abc import Iterator

from studio.core.masking.redact import keys_in, names_secret_field
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.yaml.tree import value_at
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit

_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def check_secrets(document: PromptDocument) -> Iterator[Problem]:
    """Report literal keys: by their name, or by their form anywhere in the file."""
    for place, key, _ in _found(document):
        yield _problem(document, place, key)


def written_secrets(document: PromptDocument) -> Iterator[tuple[Span, str]]:
    """Yield the span and value of each secret in the front matter."""
    front = document.front_matter
    for place, _, value in _found(document):
        if front is not None and front.start <= place.start < front.end:
            yield place, value


def _found(document: PromptDocument) -> Iterator[tuple[Span, str, str]]:
    """Yield span, key (empty if only its form is known) and value of each literal secret."""
    reported: list[Span] = []
    for entry in document.entries:
        name = entry.path[-1]
        if not isinstance(name, str) or not names_secret_field(name):
            continue
        value = value_at(document.data, entry.path)
        if isinstance(value, str) and value and "${" not in value and "{{" not in value:
            reported.append(entry.value)
            yield entry.value, name, value
    text = document.source.text
    for start, end in keys_in(text):
        if not any(span.start <= start < span.end for span in reported):
            yield Span(start, end), "", text[start:end]


def source_without_secrets(document: PromptDocument) -> str:
    """Return the text with the front matter's keys replaced by dots, all offsets unchanged.

    The body is part of the messages and is left unchanged.
    """
    text = document.source.text
    for place, _ in written_secrets(document):
        hidden = re.sub(r"\w", "•", text[place.start : place.end])
        text = text[: place.start] + hidden + text[place.end :]
    return text


def _problem(document: PromptDocument, place: Span, key: str) -> Problem:
    variable = _VARIABLES.get(document.model.provider, "API_KEY")
    if key and "key" not in key.lower():
        variable = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).replace("-", "_").upper()
    front = document.front_matter
    in_front = front is not None and front.start <= place.start < front.end
    edits = (TextEdit(place, f"${{env:{variable}}}"),)
    fixes = (Fix(f"Read it from the environment variable {variable}", edits),) if in_front else ()
    message = "The file contains a secret; move it to the environment: ${env:NAME}."
    return Problem("literal-secret", Severity.WARNING, message, place, fixes)
