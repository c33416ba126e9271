"""Convert recorded model calls to one prompt file, and verify that it sends the same bodies.

Equal parts of the calls become text; a part that differs becomes an input with its value in each
call. The file is read and its request built again for each call, and differences from the recorded
body are reported.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from studio.core.agent.loop.setup import stop_sequences
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.imports.body_differences import BodyDifference, body_differences
from studio.core.imports.compose import (
    Composition,
    compose,
    fits_section,
    literal,
    placeholder,
    thread_item,
)
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.request_json import compose_body, messages_of, tools_of
from studio.core.models.base import Capabilities
from studio.core.models.bodies import fitting
from studio.core.prompty.document import MediaPart, Message, Part, TextPart
from studio.core.prompty.front.declarations import kind_of_value
from studio.core.prompty.loop_format import sent_options
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.text.amounts import counted
from studio.core.text.diff import changes
from studio.core.text.naming import free_name
from studio.core.text.values import Json, JsonDict, JsonObject, list_of, object_of, parse_json
from studio.core.tools.document import declared_tools
from studio.core.wire.request import Provider, asked_at, to_request

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_LABEL = re.compile(r"(\w+)[^\w\n]*$")
_MOST_SHOWN = 12
_MOST_IN_LINE = 3

_HOW_IT_COMES = ("stream", "stream_options")
_OF_THE_PROMPT = frozenset(
    ("model", "messages", "input", "contents", "system", "instructions", "systemInstruction")
) | {"tools", "output_config", *_HOW_IT_COMES}
"""Keys of a body that no option sets."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A recorded request to a model."""

    name: str
    """Name of the call, for the user and its test case."""

    path: str
    """Path of the request."""

    body: str
    """Body as sent, with marks in place of secrets."""


@dataclass(frozen=True, slots=True)
class OpenedCalls:
    """A prompt file converted from recorded calls."""

    made: Imported
    """The file; the values of several calls are its input sets."""

    differences: Mapping[str, tuple[str, ...]]
    """Differences between the file's requests and the recorded ones, by call; empty if equal."""

    left_out: tuple[str, ...] = ()
    """Names of calls whose messages have another form than the first call's."""


@dataclass(slots=True)
class _Call:
    name: str
    api: Provider
    data: JsonDict
    messages: tuple[Message, ...]
    values: JsonDict = field(default_factory=dict)


def prompt_of_calls(calls: Sequence[RecordedCall]) -> OpenedCalls:
    """Convert calls to one prompt file; calls of another form than the first are left out.

    Raises:
        ImportFailure: the first call is no readable request.
    """
    read = [_read(call) for call in calls]
    same = [call for call in read if _is_alike(call, read[0])]
    verbatim: frozenset[str] = frozenset()
    is_native = False
    while True:
        work = _composition(same, verbatim)
        if is_native:
            work.front["metadata"] = {"agent": {"protocol": "native"}}
        text = compose(work)
        found = [tuple(_differences(call, text)) for call in same]
        again = {_option_of(path) for path, _ in found[0]} - _OF_THE_PROMPT
        if choose_protocol(parse(text)).protocol != "native":
            is_native = True  # the program itself parses the format that its prompt asks for
        elif again <= verbatim:
            break
        verbatim |= again
    if any(path[0] in _HOW_IT_COMES for path, _ in found[0]):
        work.notes.append(
            "stream: a run asks for the reply in pieces, with its usage; the program did not."
        )
    sets = {call.name: call.values for call in same if call.values}
    label = counted(len(same), "recorded call")
    made = Imported(text, label, tuple(dict.fromkeys(work.notes)), sets)
    told = {call.name: tuple(_told(each)) for call, each in zip(same, found, strict=True)}
    return OpenedCalls(made, told, tuple(call.name for call in read if call not in same))


def _read(call: RecordedCall) -> _Call:
    asked = asked_at(call.path)
    try:
        data = parse_json(call.body)
    except ValueError:
        data = None
    if asked is None or not isinstance(data, dict):
        raise ImportFailure(f"{call.name}: it is not a readable request to a model.")
    api = asked[0]
    if api == "gemini":
        model = call.path.partition("?")[0].rpartition("/")[2].partition(":")[0]
        data = {"model": model, **data}
    messages = tuple(messages_of(data, api))
    if not messages:
        raise ImportFailure(f"{call.name}: there are no messages in it.")
    return _Call(call.name, api, data, messages)


def _is_alike(call: _Call, first: _Call) -> bool:
    """Return whether two calls come from one prompt: same API, tools, form, similar system text."""
    if call.api != first.api or _tool_names(call.data) != _tool_names(first.data):
        return False
    if _skeleton(call.messages) != _skeleton(first.messages):
        return False
    one, other = (_TOKENS.findall(_system(each)) for each in (call, first))
    equal = sum(end - start for tag, start, end, _, _ in changes(one, other) if tag == "equal")
    return equal * 2 >= max(len(one), len(other))


def _tool_names(data: JsonObject) -> set[Json]:
    return {str(tool.get("name", tool.get("type"))) for tool in tools_of(data)}


def _system(call: _Call) -> str:
    return "\n".join(each.text for each in call.messages if each.role in ("system", "developer"))


def _skeleton(messages: Sequence[Message]) -> list[object]:
    """Return the roles and parts of the messages; adjacent calls and results count as one."""
    made: list[object] = []
    for message, is_section in zip(messages, _sections(messages), strict=True):
        kinds = tuple(type(part).__name__ for part in message.parts)
        attributes = sorted(message.attributes.items(), key=str)
        if is_section or made[-1:] != ["thread"]:
            made.append((message.role, kinds, attributes) if is_section else "thread")
    return made


def _sections(messages: Sequence[Message]) -> list[bool]:
    """Return for each message whether a section of the body can hold it; others go to threads."""
    made: list[bool] = []
    for message in reversed(messages):
        texts = [part.text for part in message.parts if isinstance(part, TextPart)]
        edges = (texts[0][:1], texts[-1][-1:]) if texts else ()
        is_exact = "\n" not in edges and "\r" not in "".join(texts)
        # A thread after a section removes the blanks at its end.
        is_before = all(made[-1:]) or edges[-1:] not in ((" ",), ("\t",))
        made.append(fits_section(message) and is_exact and is_before)
    return made[::-1]


def _composition(calls: Sequence[_Call], verbatim: Collection[str]) -> Composition:
    work = Composition()
    compose_body(calls[0].data, calls[0].api, work, verbatim)
    work.is_template, work.messages = True, []
    names: dict[str, str] = {}
    for call in calls:
        call.values = {}
    pending = [list(call.messages) for call in calls]
    while pending[0]:
        runs = [_first_run(messages) for messages in pending]
        if runs[0]:
            for messages, run in zip(pending, runs, strict=True):
                del messages[: len(run)]
            items: list[Json] = [[thread_item(each) for each in run] for run in runs]
            is_talk = all("tool_calls" not in object_of(each) for each in list_of(items[0]))
            name = _free(work, "messages" if is_talk else "tool_messages")
            if all(each == items[0] for each in items):
                work.add_thread(name, default=items[0])
            else:
                work.add_thread(name)
                for call, item in zip(calls, items, strict=True):
                    call.values[name] = item
        else:
            heads = [messages.pop(0) for messages in pending]
            work.messages.append(_laid_over(heads, calls, work, names))
    return work


def _first_run(messages: Sequence[Message]) -> list[Message]:
    found = _sections(messages)
    return list(messages[: found.index(True) if True in found else len(messages)])


def _laid_over(
    heads: Sequence[Message], calls: Sequence[_Call], work: Composition, names: dict[str, str]
) -> Message:
    """Return a message with inputs in the places where the calls differ."""
    parts: list[Part] = []
    for column in zip(*(head.parts for head in heads), strict=True):
        first = column[0]
        if isinstance(first, TextPart):
            pieces = _aligned([part.text for part in column if isinstance(part, TextPart)])
            made = "".join(
                literal(piece, "jinja2")
                if isinstance(piece, str)
                else placeholder(_input(piece, before, heads[0].role, calls, work, names), "jinja2")
                for before, piece in zip(["", *pieces], pieces, strict=False)
            )
            # Blanks at the end of a line of the file are removed, those of an expression are kept.
            ends = made[len(made.rstrip(" \t")) :]
            parts.append(TextPart(made.rstrip(" \t") + (f'{{{{ "{ends}" }}}}' if ends else "")))
        elif isinstance(first, MediaPart) and any(part != first for part in column):
            name = _free(work, first.kind)
            work.inputs[name] = {}
            for call, part in zip(calls, column, strict=True):
                call.values[name] = part.source if isinstance(part, MediaPart) else ""
            parts.append(replace(first, source=placeholder(name, "jinja2")))
        else:
            parts.append(first)
    return replace(heads[0], parts=tuple(parts))


def _input(
    values: tuple[str, ...],
    before: str | tuple[str, ...],
    role: str,
    calls: Sequence[_Call],
    work: Composition,
    names: dict[str, str],
) -> str:
    """Return the input for a place; places with the same values share one."""
    key = "\0".join(values)
    if key not in names:
        label = (
            _LABEL.search(before) if isinstance(before, str) and "\n" not in before[-1:] else None
        )
        word = label[1].lower() if label is not None else role
        is_name = word.isascii() and word.isidentifier() and word not in _TAKEN
        name = _free(work, word if is_name else role)
        typed = _typed(values)
        work.inputs[name] = {"kind": kind_of_value(typed[0])}
        for call, value in zip(calls, typed, strict=True):
            call.values[name] = value
        names[key] = name
    return names[key]


def _free(work: Composition, stem: str) -> str:
    return free_name(stem, lambda name: name in work.inputs or name in _TAKEN, "_{}")


_TAKEN = frozenset(
    """
    history question tools tool_names thread loop true false none and or not in is if else elif
    for recursive set block macro call filter with import from include extends
""".split()
)
"""Names with a meaning for a run or the template language."""


def _typed(values: Sequence[str]) -> Sequence[Json]:
    """Return the values as numbers if all of them are written as numbers."""
    for kind in (int, float):
        try:
            numbers: list[Json] = [kind(value) for value in values]
        except (ValueError, OverflowError):
            continue
        if all(str(number) == value for number, value in zip(numbers, values, strict=True)):
            return numbers
    return values


_Piece: TypeAlias = str | tuple[str, ...]
"""Text that all calls share, or the different text of each."""


def _aligned(texts: Sequence[str]) -> list[_Piece]:
    """Align texts: return equal text as strings, and tuples of the texts that differ."""
    if all(text == texts[0] for text in texts):
        return [texts[0]]
    lines = [text.splitlines(keepends=True) for text in texts]
    made: list[_Piece] = []
    for piece in _columns(lines):
        if isinstance(piece, str):
            made.append(piece)
            continue
        rows = [part.splitlines(keepends=True) for part in piece]
        is_even = all(len(row) == len(rows[0]) for row in rows)
        for column in zip(*rows, strict=False):
            ends = "\n" if all(part.endswith("\n") for part in column) else ""
            inner = tuple(part.removesuffix(ends) for part in column)
            within = _within_line(inner)
            if within is None and not is_even:
                break
            made += [*(within or [inner]), *([ends] if ends else [])]
            rows = [row[1:] for row in rows]
        if any(rows):
            rest = tuple("".join(row) for row in rows)
            ends = "\n" if all(part.endswith("\n") for part in rest) else ""
            made += [tuple(part.removesuffix(ends) for part in rest), *([ends] if ends else [])]
    return _joined(made)


def _within_line(values: tuple[str, ...]) -> list[_Piece] | None:
    """Align one line of each call by words; None if too few are equal."""
    made: list[_Piece] = []
    for piece in _columns([_TOKENS.findall(value) for value in values]):
        is_held = isinstance(piece, str) and not re.search(r"\w", piece)
        if made and isinstance(made[-1], str) and isinstance(piece, str):
            made[-1] += piece
        elif is_held and made and isinstance(made[-1], tuple):
            made.append(piece)
        elif (
            isinstance(piece, tuple)
            and len(made) > 1
            and isinstance(glue := made[-1], str)
            and not re.search(r"\w", glue)
            and isinstance(last := made[-2], tuple)
        ):
            made[-2:] = [tuple(a + glue + b for a, b in zip(last, piece, strict=True))]
        else:
            made.append(piece)
    inputs = sum(isinstance(piece, tuple) for piece in made)
    has_words = any(isinstance(piece, str) and re.search(r"\w", piece) for piece in made)
    return made if has_words and inputs <= _MOST_IN_LINE else None


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[_Piece]:
    """Yield the pieces that all rows share, in order, and the tuples between them."""
    shared = list(rows[0])
    for row in rows[1:]:
        kept: list[str] = []
        for tag, start, end, _, _ in changes(shared, row):
            kept += shared[start:end] if tag == "equal" else []
        shared = kept
    places = [0] * len(rows)
    for item in [*shared, None]:
        ends = [
            row.index(item, place) if item is not None else len(row)
            for row, place in zip(rows, places, strict=True)
        ]
        gaps = tuple(
            "".join(row[place:end]) for row, place, end in zip(rows, places, ends, strict=True)
        )
        if any(gaps):
            yield gaps if any(gap != gaps[0] for gap in gaps) else gaps[0]
        if item is not None:
            yield item
        places = [end + 1 for end in ends]


def _joined(pieces: Sequence[_Piece]) -> list[_Piece]:
    made: list[_Piece] = []
    for piece in pieces:
        if made and isinstance(piece, str) and isinstance(last := made[-1], str):
            made[-1] = last + piece
        elif made and isinstance(piece, tuple) and isinstance(before := made[-1], tuple):
            made[-1] = tuple(a + b for a, b in zip(before, piece, strict=True))
        else:
            made.append(piece)
    return made


# Verification -------------------------------------------------------------------------------------


def _differences(call: _Call, text: str) -> Iterator[BodyDifference]:
    document = parse(text)
    prepared = prepare(document, call.values, samples=False)
    tools = declared_tools(document, prepared.messages.tools)
    options = fitting(sent_options(document, document.model.options), tools, Capabilities())
    request = to_request(
        prepared.messages.messages,
        tools,
        replace(document.model, options=options),
        provider=call.api,
        outputs=document.outputs,
        stop=stop_sequences(document, choose_protocol(document).protocol),
        stream=True,
        keeps_nothing=True,
    )
    kept = {key: each for key, each in call.data.items() if call.api != "gemini" or key != "model"}
    yield from body_differences(kept, request.body, call.api)


def _told(differences: Sequence[BodyDifference]) -> Iterator[str]:
    found = [each for each in differences if each[0][0] not in _HOW_IT_COMES]
    for path, words in found[:_MOST_SHOWN]:
        place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
        yield f"{place.removeprefix('.')} {words}"
    if len(found) > _MOST_SHOWN:
        yield f"and {len(found) - _MOST_SHOWN} further places"


def _option_of(path: Sequence[str | int]) -> str:
    is_nested = path[0] in ("generationConfig", "options") and len(path) > 1
    return str(path[1] if is_nested else path[0])
