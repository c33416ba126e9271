"""The rules of Prompty's own runtime for Python (`prompty` 2.1), reimplemented.

Conversions and exports are verified with these rules. They are fast and need no package; the tests
compare each of them with the package (`tests/core/prompty/runtimes`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from studio.core.prompty.document import MediaPart, Message, Part, PromptDocument, TextPart
from studio.core.prompty.foreign import split_front_matter
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.templates import render_template
from studio.core.prompty.templates.writer import LIMIT
from studio.core.prompty.threads import read_thread
from studio.core.text.values import Json, JsonDict, JsonObject

# Rendering as other programs do it: with Jinja2 itself, and like chevron.


class CannotRender(Exception):  # noqa: N818 - it is a finding, no failure of the program
    """Raised when the program cannot render the text with these values."""


def render_jinja(template: str, values: JsonObject, *, forgiving: bool = False) -> str:
    """Render as `prompty` does: with Jinja2's sandbox, keeping the last line break.

    Args:
        template: The template.
        values: Values by name.
        forgiving: Whether missing values are empty, at any depth.

    Raises:
        CannotRender: Jinja2 cannot render it.
    """
    # Importing Jinja takes about 60 ms: not before the window is painted.
    from studio.core.prompty.templates.jinja.stock import StockRenderError, render_stock

    try:
        return render_stock(template, values, as_="prompty-forgiving" if forgiving else "prompty")
    except StockRenderError as error:
        raise CannotRender(str(error)) from error


def render_chevron(template: str, values: JsonObject) -> str:
    """Render mustache with values formatted like Python's, as chevron does."""
    words = {name: _as_python(value) for name, value in values.items()}
    rendering = render_template(template, words, format="mustache")
    return "".join(segment.text for segment in rendering.segments)


class _Word(str):
    """A value's text in Python, with the truth of the value."""

    holds: bool
    __slots__ = ("holds",)

    def __bool__(self) -> bool:
        return self.holds


def _as_python(value: Json) -> Json:
    if isinstance(value, bool | float):
        word = _Word(value)
        word.holds = bool(value)
        return word
    if isinstance(value, Mapping):
        return {key: _as_python(item) for key, item in value.items()}
    return [_as_python(item) for item in value] if isinstance(value, list) else value


# Requirements of `prompty` 2.1 for Python on the front matter.

_FORMATS = ("jinja2", "mustache")
_PARSERS = ("prompty",)


def load_faults(data: JsonObject) -> Iterator[str]:
    """Yield the errors of the front matter that the runtime rejects, one sentence each.

    Args:
        data: The front matter with file references resolved if possible; other references are
            assumed to be valid.
    """
    yield from _empty(data, ("template", "model", "inputs", "outputs", "tools"), "")
    yield from _template(data.get("template"))
    yield from _model(data.get("model"))
    for block in ("inputs", "outputs"):
        yield from _properties(data.get(block), block)
    yield from _tools(data.get("tools"))


def _empty(data: JsonObject, keys: Collection[str], path: str) -> Iterator[str]:
    """Yield the keys without a value, where the runtime needs a block."""
    for key in keys:
        if key in data and data[key] is None:
            yield f"{path}{key} has no value"


def _is_open(value: Json) -> bool:
    """Return whether only the runtime can resolve the value."""
    return value is None or (isinstance(value, str) and whole_reference(value) is not None)


def _template(value: Json) -> Iterator[str]:
    if _is_open(value):
        return
    if not isinstance(value, Mapping):
        yield f"template: {value!r} is not a block with format and parser"
        return
    for key in ("format", "parser"):
        inner = value.get(key)
        if inner is None:
            yield f"template.{key} is missing"
            continue
        kind = inner.get("kind") if isinstance(inner, Mapping) else inner
        known = _FORMATS if key == "format" else _PARSERS
        if isinstance(kind, str) and kind not in known and kind not in ("", "*"):
            yield f"template.{key}: it has no {kind!r}"


def _model(value: Json) -> Iterator[str]:
    if _is_open(value) or isinstance(value, str):
        return
    if not isinstance(value, Mapping):
        yield "model is neither an id nor a block"
        return
    yield from _empty(value, ("connection", "options"), "model.")
    if value.get("connection") is not None:
        yield from _connection(value["connection"], "model.connection")
        yield from trust_faults(value["connection"])
    if value.get("options") is not None and not _is_block(value["options"]):
        yield "model.options is not a block"


def _is_block(value: Json) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, str) and whole_reference(value) is not None
    )


def _connection(value: Json, path: str) -> Iterator[str]:
    if isinstance(value, str) and whole_reference(value) is not None:
        return
    if not isinstance(value, Mapping):
        yield f"{path} is not a block"
        return
    kind = value.get("kind")
    if not isinstance(kind, str) or not kind:
        yield f"{path}.kind is missing"


_TRUSTED = re.compile(
    r"https://(?:api\.openai\.com|api\.anthropic\.com|login\.microsoftonline\.com"
    r"|[^/:@\\]+\.(?:openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.com)(?::443)?"
    r"(?:[/?#].*)?"
)


def trust_faults(value: Json) -> Iterator[str]:
    """Yield why keys of the environment do not reach the endpoint, one sentence each."""
    if not isinstance(value, Mapping) or value.get("kind") == "reference":
        return
    key = value.get("apiKey") if value.get("kind") == "key" else None
    if isinstance(key, str) and key.strip() and not (key.startswith("${") and key.endswith("}")):
        return
    for name in ("endpoint", "tokenUrl"):
        place = value.get(name)
        reference = whole_reference(place) if isinstance(place, str) else None
        if reference is not None:
            place = reference.default if reference.protocol == "env" else None
        if isinstance(place, str) and place and _TRUSTED.fullmatch(place.strip()) is None:
            way = (
                f"set {reference.argument}" if reference is not None else "write ${env:NAME} there"
            )
            yield (
                f"model.connection.{name} {place!r} is not among the addresses that it trusts with "
                f"a key of the environment ({way}, or say trusted_endpoints)"
            )


def _properties(value: Json, path: str) -> Iterator[str]:
    if _is_open(value):
        return
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, list):
                yield f"{path}.{name} is a list"
            elif isinstance(item, Mapping):
                yield from _property(item, f"{path}.{name}")
            else:  # the short form `name: value` has no kind
                yield f"{path}.{name}.kind is missing"
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _property(item, f"{path}.{index}")
    else:
        yield f"{path} is neither a list nor a block"


def _property(value: Json, path: str) -> Iterator[str]:
    match value:
        case bool() | int() | float() | str():
            return
        case Mapping():
            kind = value.get("kind")
            if not isinstance(kind, str) or not kind:
                yield f"{path}.kind is missing"
                return
            if kind == "array" and value.get("items") is None:
                yield f"{path}.items is missing"
            elif kind == "array":
                yield from _property(value["items"], f"{path}.items")
            if kind == "object":
                yield from _empty(value, ("properties",), f"{path}.")
                yield from _properties(value.get("properties"), f"{path}.properties")
        case _:
            yield f"{path} declares nothing"


def _tools(value: Json) -> Iterator[str]:
    if _is_open(value):
        return
    pairs: list[tuple[str, Json]]
    if isinstance(value, Mapping):
        pairs = [(str(name), item) for name, item in value.items()]
    elif isinstance(value, list):
        pairs = [(str(index), item) for index, item in enumerate(value)]
    else:
        yield "tools is neither a list nor a block"
        return
    for name, item in pairs:
        path = f"tools.{name}"
        if not isinstance(item, Mapping):
            yield f"{path} is not a block"
        elif item.get("kind") == "function":
            yield from _empty(item, ("parameters",), f"{path}.")
            yield from _properties(item.get("parameters"), f"{path}.parameters")
        elif item.get("connection") is None:
            yield f"{path}.connection is missing, which a tool of kind {item.get('kind')!r} needs"
        else:
            yield from _connection(item["connection"], f"{path}.connection")


RUNTIME = "prompty 2.1 for Python"
"""Name of the program in a sentence."""

_OPENING = re.compile(r"\s*---")
_FRONT_END = re.compile(r"---|\+\+\+")
_MARKER = re.compile(r"(?i)#?\s*(system|user|assistant|developer)(\[.*\])?\s*:")
_ATTRIBUTE = re.compile(r"\w+\s*=\s*(?:\"[^\"]*\"|[^\",\]]*),?\s*")
_RICH = ("thread", "image", "file", "audio")


class RuntimeRefusal(Exception):  # noqa: N818 - it is a finding, no failure of the program
    """Raised when the runtime cannot load or prepare the file; the text says why."""


def check_file(document: PromptDocument) -> Iterator[str]:
    """Yield the reasons why the runtime does not load the file, one sentence each.

    Args:
        document: The parsed document, with file references resolved if possible.
    """
    text = document.source.text
    if text.startswith("\ufeff"):
        yield "it starts with a byte order mark, and the runtime finds no front matter after it"
        return
    if _OPENING.match(text) is None:
        yield "it has no front matter, so the runtime reads the whole file as YAML"
        return
    front, body = _split(text)
    if front is None or not body:
        yield "the body is empty, but the runtime needs one"
        return
    own = split_front_matter(text)
    if own.front is None or text[own.front.start : own.front.end].strip() != front.strip():
        yield "the front matter contains --- or +++, where the runtime ends it"
        return
    yield from load_faults(document.data)


def prepare_as_runtime(prepared: Prepared, *, forgiving: bool = False) -> tuple[Message, ...]:
    """Return the messages that the runtime makes of a prepared prompt.

    Args:
        prepared: The prepared prompt.
        forgiving: Whether missing values are empty, at any depth.

    Raises:
        RuntimeRefusal: it cannot load or prepare the prompt.
    """
    document = prepared.document
    for fault in check_file(document):
        raise RuntimeRefusal(fault)
    body = _split(document.source.text)[1]
    for problem in prepared.problems:
        if problem.code == LIMIT:  # the runtime has no limits: a stopped template is not tried
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
    """Split front matter and body as the runtime does: at the first `---` or `+++`.

    If nothing follows, its pattern continues to search, which only affects odd files.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None, text
    end = _FRONT_END.search(text, opening.end())
    if end is None:
        return None, ""
    return text[opening.end() : end.start()], text[end.end() :].lstrip()


def _marker(line: str) -> re.Match[str] | None:
    """Return the match of a role marker, with role and attributes as groups; else None."""
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
    """Return markers as before rendering in strict mode, which removes their attributes."""
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


def _attributes(written: str) -> JsonDict:
    found: JsonDict = {}
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
    values: JsonObject,
) -> list[Message]:
    """Return messages with threads and media inserted, one per message, and trimmed text."""
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
