"""Convert a prompt from one protocol to another, as a fix whose whole difference is shown.

The parts of the body that explain the old format, list the tools or show the history are replaced
by those of the new protocol. Everything else, above all the question, stays.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from studio.core.agent.protocols.loops import choose_protocol
from studio.core.models.base import PROTOCOLS, ProtocolName
from studio.core.prompty.document import PromptDocument, TemplateFormat
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.text.source import Fix, TextEdit

_HEADING = re.compile(r"(?m)^(?=#{1,6}[ \t])")
_TEACHES = (
    re.compile(r"(?m)^\W*(?:Thought|Action|Args|Action Input|Observation|Final Answer)\b.{0,3}:"),
    re.compile(r"action_input|action_output|\bArgs:|\bAction:"),
    re.compile(r"\b(?:tool_names|agent_scratchpad|examples|chat_history)\s*\}"),
    re.compile(r"\{%[-+]?\s*for\s+\w+\s+in\s+(?:tools|history)\b|\{\{#\s*(?:tools|history)\s*\}\}"),
    re.compile(r"\{{1,3}\s*(?:tools|history)\s*\}{1,3}"),
)
"""Matches a part of the body that explains the format."""

_MENTIONS = re.compile(r"Final Answer|\bObservations?\b|\bThought\b|final_answer|\bJSON action\b")
"""Matches a line that mentions the format."""

_QUESTION = re.compile(r"\{{1,3}\s*(?:question|input|query)\b[^}]*\}{1,3}")
_CHAT = re.compile(r"(?P<open>\{{1,3}\s*)chat_history(?P<close>\s*\}{1,3})")
_HISTORY_LOOP = re.compile(
    r"\{%[-+]?\s*for\s+\w+\s+in\s+(?:history|tools)\b[^%]*%\}.*?\{%[-+]?\s*endfor\s*[-+]?%\}"
    r"(?!.*\{%[-+]?\s*endfor)",
    re.DOTALL,
)
_OURS = frozenset(
    {
        "Work step by step. Write one step, then stop; the system adds the Observation.",
        "When you know the answer:",
        "These are the tools:",
        "Actions so far:",
        "Answer with one JSON object at a time, and nothing else:",
        "After each action you get its output:",
    }
)
"""Lines of the texts below that do not mention a format themselves."""

_FENCED_LAST = re.compile(r"(?:\n#+[^\n]*)?\n```json\s*\Z")


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The parts of a body that a protocol needs."""

    teach: str
    """Instructions and tools, for the system message."""

    tail: str
    """The steps so far, after the question."""


def convert_fix(document: PromptDocument, to: ProtocolName) -> Fix | None:
    """Return the edit that converts a prompt to another protocol; None if it uses it already."""
    if choose_protocol(document).protocol == to:
        return None
    edits = [TextEdit(document.body, _new_body(document, to))]
    explicit = document.entry("metadata", "agent", "protocol")
    if explicit is not None:
        edits.append(TextEdit(explicit.value, to))
    return Fix(f"Rewrite for {PROTOCOLS[to].phrase}", keeping_dialect(document, tuple(edits)))


def _new_body(document: PromptDocument, to: ProtocolName) -> str:
    format_ = document.template.format
    pieces = _pieces(to, format_)
    parts = [(marker, _FENCED_LAST.sub("\n", text)) for marker, text in _sections(document)]
    if not any(_QUESTION.search(text) for _, text in parts):
        parts = [(marker, _CHAT.sub(r"\g<open>question\g<close>", text)) for marker, text in parts]
    parts = [(marker, _without_ours(text, format_)) for marker, text in parts]
    kept = [(marker, _strip(text)) for marker, text in parts]
    if not any(_QUESTION.search(text) for _, text in kept):
        question = _variable("question", format_)
        last = next((at for at in range(len(kept) - 1, -1, -1) if kept[at][0] == "user"), None)
        if last is None:
            kept.append(("user", question))
        else:
            kept[last] = ("user", f"{kept[last][1]}\n{question}".strip())
    if pieces.teach:
        kept = _with_teaching(kept, pieces.teach)
    if pieces.tail:
        marker, text = kept[-1]
        kept[-1] = (marker, f"{text.rstrip()}\n\n{pieces.tail}")
    shown = [(marker, text.strip("\n")) for marker, text in kept if text.strip()]
    return "\n\n".join(f"{marker}:\n{text}" if marker else text for marker, text in shown) + "\n"


def _sections(document: PromptDocument) -> Iterator[tuple[str, str]]:
    """Yield each part of the body as (role, text); a body without markers is one part."""
    body = document.source
    if not document.sections:
        yield "", body.slice(document.body)
        return
    for section in document.sections:
        text = body.slice(section.content)
        if text.strip() or section.role:
            yield section.role, text


def _without_ours(text: str, format_: TemplateFormat) -> str:
    """Return a section without the text that an earlier conversion added, whole or line by line."""
    for protocol in get_args(ProtocolName):
        pieces = _pieces(protocol, format_)
        for piece in (pieces.teach, pieces.tail):
            if piece and piece in text:
                text = text.replace(piece, "")
    return "\n".join(line for line in text.split("\n") if line.strip() not in _OURS)


def _strip(text: str) -> str:
    """Return a section without its explanation of a format; the lines about the question stay."""
    made: list[str] = []
    for part in _HEADING.split(text):
        if not any(pattern.search(part) for pattern in _TEACHES):
            made.append(_without_mentions(part))
        elif _QUESTION.search(part):
            made.append(_without_lessons(part))
        else:
            made.append(_opening(part))
    return re.sub(r"\n{3,}", "\n\n", "".join(made)).strip("\n")


def _without_mentions(part: str) -> str:
    """Return a part without lines about the format; empty if most of its lines are about it."""
    lines = part.split("\n")
    kept = [line for line in lines if not _MENTIONS.search(line)]
    texts = [line for line in lines if line.strip() and not line.startswith("#")]
    is_about_it = len(lines) - len(kept) > len(texts) / 2
    return "" if is_about_it and not _QUESTION.search(part) else "\n".join(kept)


def _without_lessons(part: str) -> str:
    """Return the part with the question, without the loops and lines of the old format."""
    lines = _HISTORY_LOOP.sub("", part).split("\n")
    kept = [line for line in lines if not any(item.search(line) for item in _TEACHES)]
    return _without_mentions("\n".join(kept)) + "\n"


def _opening(part: str) -> str:
    """Return the first line of an explanation, if it is ordinary text about something else."""
    first = part.split("\n", 1)[0]
    is_about_it = _MENTIONS.search(first) or any(item.search(first) for item in _TEACHES)
    return "" if part.startswith("#") or is_about_it else f"{first}\n"


def _with_teaching(kept: list[tuple[str, str]], teach: str) -> list[tuple[str, str]]:
    for at, (marker, text) in enumerate(kept):
        if marker in ("system", "developer"):
            return [*kept[:at], (marker, f"{text}\n\n{teach}".strip()), *kept[at + 1 :]]
    if kept and kept[0][0] == "":
        return [("", f"{kept[0][1]}\n\n{teach}".strip()), *kept[1:]]
    return [("system", teach), *kept]


def _variable(name: str, format_: TemplateFormat) -> str:
    return f"{{{name}}}" if format_ == "fstring" else f"{{{{{name}}}}}"


def _braces(text: str, format_: TemplateFormat) -> str:
    """Return the text with literal braces escaped for the template language."""
    return text.replace("{", "{{").replace("}", "}}") if format_ == "fstring" else text


def _pieces(to: ProtocolName, format_: TemplateFormat) -> _Pieces:
    facts = PROTOCOLS[to]
    if not facts.rules:
        return _Pieces("", "")
    teach = f"{_braces(facts.rules, format_)}\n\n{facts.tools[format_]}"
    return _Pieces(teach, facts.steps[format_])
