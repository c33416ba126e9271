"""Compare a conversion by the studio's rules and by those of the runtimes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from studio.core.prompty.document import Dialect, MediaPart, Message, PromptDocument, TextPart
from studio.core.prompty.front.declarations import output_schema
from studio.core.prompty.meaning import first_difference, tool_difference
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.runtimes import prompty1, prompty2
from studio.core.prompty.runtimes.prompty2 import RuntimeRefusal


@dataclass(frozen=True, slots=True)
class Compared:
    """The prompt before and after a conversion, prepared with the same values."""

    before: Prepared
    """The original prompt."""

    after: Prepared
    """The converted prompt."""

    loose: bool = False
    """Whether to ignore blanks at the ends of messages, which Prompty 1 removed."""


def differences(pair: Compared) -> Iterator[str]:
    """Yield the differences of the converted file, one sentence each."""
    before, after = pair.before.document, pair.after.document
    difference = tool_difference(before.tools, after.tools)
    if difference:
        yield difference
    if output_schema(before.outputs) != output_schema(after.outputs):
        yield "the schema of the outputs is different."
    changed = [
        key
        for key in dict.fromkeys((*before.model.options, *after.model.options))
        if before.model.options.get(key) != after.model.options.get(key)
    ]
    if changed:
        yield f"the model options are different: {', '.join(changed)}."


def runtime_difference(pair: Compared, to: Dialect) -> str:
    """Compare the converted file in Prompty's own runtime; empty if there is no difference.

    If the original is a Prompty 1 file that its own runtime loads, both runtimes are compared with
    the same values.
    """
    name, prepare_as_runtime = RUNTIMES[to]
    loose = pair.loose or to == "legacy"
    try:
        got = comparable(prepare_as_runtime(pair.after, forgiving=True), loose=loose)
    except RuntimeRefusal as error:
        return f"{name} does not take the file: {error}"
    own = comparable(pair.before.messages.messages, loose=loose)
    dialect = pair.before.document.dialect
    old = _as_before(pair) if to == "prompty" and dialect != "prompty" else None
    if old is None or dialect == "section":
        difference = first_difference(own, got)
        if difference and old is not None and _is_undecided(pair.before.document):
            difference = difference if first_difference(old, comparable(got, loose=True)) else ""
        return f"{name} creates other messages: {difference}" if difference else ""
    plain = _without_addresses(got)
    difference = first_difference(_without_addresses(old), plain)
    if difference:
        difference = f"{name} creates other messages than {prompty1.RUNTIME}: {difference}"
        return _left_out(pair, old, got) or difference
    if plain != got:
        return "a value is a method of a text there, and both runtimes write its address"
    return ""


def old_runtime_difference(pair: Compared) -> str:
    """Compare Prompty 1's runtime with the studio, for a file of either version."""
    document = pair.before.document
    front = document.front_matter
    if front is None or document.dialect == "prompty":
        return ""
    if document.dialect == "legacy":
        written = document.source.slice(front)
        words = f"{prompty1.RUNTIME} ended the front matter at the first ---; now all of it is read"
        return words if _DASHES_INSIDE.search(written) else ""
    old = _as_before(pair)
    if old is None or not _is_undecided(document):
        return ""
    return _left_out(pair, old, comparable(pair.after.messages.messages, loose=True))


def _is_undecided(document: PromptDocument) -> bool:
    """Return whether the file may also be a Prompty 1 file."""
    return document.dialect == "section" and "template" not in document.data


def _as_before(pair: Compared) -> tuple[Message, ...] | None:
    """Render the original file with Prompty 1's runtime; None if it rejects the file."""
    try:
        return comparable(prompty1.prepare_as_runtime(pair.before, forgiving=True), loose=True)
    except RuntimeRefusal:
        return None


_DASHES_INSIDE = re.compile(r"---|\+\+\+")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+>")


def _without_addresses(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return messages without memory addresses in the text of Python's methods."""
    return tuple(
        replace(
            message,
            parts=tuple(
                replace(part, text=_ADDRESS.sub(">", part.text))
                if isinstance(part, TextPart)
                else part
                for part in message.parts
            ),
        )
        for message in messages
    )


def _left_out(pair: Compared, old: tuple[Message, ...], got: tuple[Message, ...]) -> str:
    """Return the difference of an empty last section, which only Prompty 1 omits."""
    if len(got) != len(old) + 1 or got[-1].parts or first_difference(old, got[:-1]):
        return ""
    names = ", ".join(repr(each) for each in _names_at_the_end(pair.before))
    return (
        f"{prompty1.RUNTIME} omits an empty last message ({got[-1].role}), but {prompty2.RUNTIME} "
        f"sends it: give {names or 'it'} a value"
    )


def _names_at_the_end(prepared: Prepared) -> tuple[str, ...]:
    """Return the names of the values in the last section."""
    document = prepared.document
    start = document.sections[-1].span.start if document.sections else document.body.start
    found = (item.name for item in document.variables if item.expression.start >= start)
    return tuple(dict.fromkeys(found))


class PrepareAsRuntime(Protocol):
    """A function that prepares a prompt as another program does."""

    def __call__(self, prepared: Prepared, *, forgiving: bool = False) -> tuple[Message, ...]:
        """Return the messages.

        Raises:
            RuntimeRefusal: the program cannot load or prepare the prompt.
        """
        ...


RUNTIMES: Mapping[Dialect, tuple[str, PrepareAsRuntime]] = {
    "prompty": (prompty2.RUNTIME, prompty2.prepare_as_runtime),
    "legacy": (prompty1.RUNTIME, prompty1.prepare_as_runtime),
}
"""The runtime of each dialect: its name in a sentence, and its preparation of a prompt."""


def comparable(messages: tuple[Message, ...], *, loose: bool = False) -> tuple[Message, ...]:
    """Return messages without empty texts, with adjacent texts joined, as programs do."""
    return tuple(replace(message, parts=_parts(message, loose=loose)) for message in messages)


def _parts(message: Message, *, loose: bool) -> tuple[TextPart | MediaPart, ...]:
    found: list[TextPart | MediaPart] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            text = part.text
            if found and isinstance(found[-1], TextPart):
                text = found.pop().text + text  # type: ignore[union-attr]
            found.append(TextPart(text))
        else:
            found.append(part)  # type: ignore[arg-type]
    if loose:
        found = [TextPart(p.text.strip()) if isinstance(p, TextPart) else p for p in found]
    return tuple(p for p in found if not isinstance(p, TextPart) or p.text)
