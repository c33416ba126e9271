"""What Prompty's own runtime for Python (`prompty` 2.1) makes of a file: its rules, in our words.

A conversion and an export are proven with these rules. They are fast and need no package; the
tests ask the package itself whether each of them holds (`tests/core/prompty/runtimes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import MediaPart, Message, Part, TextPart
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.runtimes.render import CannotRender, render_chevron, render_jinja
from studio.core.prompty.runtimes.shape import load_faults
from studio.core.prompty.split import split_front_matter
from studio.core.prompty.templates.faults import LIMIT
from studio.core.prompty.threads import read_thread
from studio.core.text.values import Json

RUNTIME = "prompty 2.1 for Python"
"""The program as a sentence names it."""

_OPENING = re.compile(r"\s*---")
_FRONT_END = re.compile(r"---|\+\+\+")
_MARKER = re.compile(r"(?i)#?\s*(system|user|assistant|developer)(\[.*\])?\s*:")
_ATTRIBUTE = re.compile(r"\w+\s*=\s*(?:\"[^\"]*\"|[^\",\]]*),?\s*")
_RICH = ("thread", "image", "file", "audio")


class RuntimeRefusal(Exception):  # noqa: N818 - it is a finding, no failure of the program
    """The runtime cannot load or prepare the file; the text says why."""


def check_file(document: PromptDocument) -> Iterator[str]:
    """What keeps the runtime from loading the file, a sentence each.

    Args:
        document: As parsed, with the references to files resolved where that is possible.
    """
    text = document.source.text
    if text.startswith("\ufeff"):
        yield "it begins with a byte order mark, and the runtime finds no front matter behind one"
        return
    if _OPENING.match(text) is None:
        yield "it has no front matter, and the runtime reads the whole file as YAML then"
        return
    front, body = _split(text)
    if front is None or not body:
        yield "the body is empty, and the runtime wants one"
        return
    own = split_front_matter(text)
    if own.front is None or text[own.front.start : own.front.end].strip() != front.strip():
        yield "the front matter holds --- or +++, and the runtime ends it at the first of them"
        return
    yield from load_faults(document.data)


def prepare_as_runtime(prepared: Prepared, *, forgiving: bool = False) -> tuple[Message, ...]:
    """The messages that the runtime makes of a prepared prompt, with the same values.

    Args:
        prepared: The prompt as it was prepared here.
        forgiving: A value that nobody gave reads as nothing, however deep the template looks.

    Raises:
        RuntimeRefusal: it cannot load or prepare it.
    """
    document = prepared.document
    for fault in check_file(document):
        raise RuntimeRefusal(fault)
    body = _split(document.source.text)[1]
    for problem in prepared.problems:
        if problem.code == LIMIT:  # the runtime has no bounds: what ours has stopped is not tried
            raise RuntimeRefusal(problem.message)
    kinds = {item.name: item.kind for item in document.inputs if item.kind in _RICH}
    marks = {name: f"__PROMPTY_THREAD_{index:08x}_{name}__" for index, name in enumerate(kinds)}
    values = {**prepared.inputs, **marks}
    strict = document.template.strict
    nonce = "f00d" * 4
    try:
        if document.template.format == "mustache":
            rendered = render_chevron(_with_nonce(body, nonce) if strict else body, values)
        else:
            rendered = render_jinja(
                _with_nonce(body, nonce) if strict else body, values, forgiving=forgiving
            )
    except CannotRender as error:
        raise RuntimeRefusal(f"it cannot render the template: {error}") from error
    messages = _messages(rendered, nonce if strict else "")
    if marks:
        messages = _with_rich(messages, marks, kinds, prepared.inputs)
    return tuple(messages)


def _split(text: str) -> tuple[str | None, str]:
    """Front matter and body as the runtime cuts them: at the first `---` or `+++` after the start.

    Where nothing follows that one, its pattern looks further on; nobody means such a file.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None, text
    end = _FRONT_END.search(text, opening.end())
    if end is None:
        return None, ""
    return text[opening.end() : end.start()], text[end.end() :].lstrip()


def _marker(line: str) -> re.Match[str] | None:
    """A line that is a role marker, with the role and its attributes as groups."""
    found = _MARKER.fullmatch(line.strip())
    if found is None or found[2] is None:
        return found
    at, end = found.start(2) + 1, found.end(2) - 1
    while (item := _ATTRIBUTE.match(found.string, at, end)) is not None:
        at = item.end()
        if at == end:
            return found
    return None


def _with_nonce(body: str, nonce: str) -> str:
    """Markers as they are before rendering in strict mode: their attributes are gone."""
    lines = []
    for line in body.splitlines(keepends=True):
        found = _marker(line)
        lines.append(f'{found[1].lower()}[nonce="{nonce}"]:\n' if found else line)
    return "".join(lines)


def _messages(rendered: str, nonce: str) -> list[Message]:
    found: list[Message] = []
    role, attributes, has_marker = "system", "", False
    lines: list[str] = []

    def close() -> None:
        if not lines:
            return
        written = _attributes(attributes)
        if nonce and has_marker and written.pop("nonce", None) != nonce:
            raise RuntimeRefusal(
                "a value writes a role marker, which the runtime takes for an injection"
            )
        text = "\n".join(lines).strip("\n")
        found.append(Message(role, (TextPart(text),), written))  # type: ignore[arg-type]
        lines.clear()

    for line in rendered.splitlines():
        marker = _marker(line)
        if marker is None:
            lines.append(line)
            continue
        close()
        role, attributes, has_marker = marker[1].lower(), marker[2] or "", True
    close()
    return found


def _attributes(written: str) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in re.findall(r'(\w+)\s*=\s*"?([^",]*)"?', written.strip("[]")):
        found[key] = value.strip() if key == "nonce" else _typed(value.strip())
    return found


def _typed(word: str) -> Json:
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    for read in (int, float):
        try:
            return read(word)
        except ValueError:
            continue
    return word


def _with_rich(
    messages: Sequence[Message],
    marks: Mapping[str, str],
    kinds: Mapping[str, str],
    values: Mapping[str, Json],
) -> list[Message]:
    """Threads and media in their places: one of them per message, and text around it trimmed."""
    found: list[Message] = []
    seen = False
    for message in messages:
        text = message.text
        name = next((name for name, mark in marks.items() if mark in text), None)
        if name is None:
            found.append(message)
            continue
        seen = True
        before, _, after = text.partition(marks[name])
        if before.strip():
            found.append(replace(message, parts=(TextPart(before.strip()),)))
        _put_rich(found, kinds[name], values.get(name))
        if after.strip():
            found.append(replace(message, parts=(TextPart(after.strip()),)))
    if not seen:
        for name in kinds:
            if kinds[name] == "thread" and name in values:
                _put_rich(found, "thread", values[name])
    return found


def _put_rich(found: list[Message], kind: str, value: Json) -> None:
    if kind == "thread":
        found += read_thread(value, {}, None) or () if isinstance(value, list) else ()
        return
    part: Part = MediaPart(kind, str(value) if value else "")  # type: ignore[arg-type]
    if found and found[-1].role == "user":
        found[-1] = replace(found[-1], parts=(*found[-1].parts, part))
    else:
        found.append(Message("user", (part,)))
