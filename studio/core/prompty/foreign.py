"""Split a file into front matter and body, and recognize unsupported prompt formats.

Sources: learn.microsoft.com (Semantic Kernel, YAML schema of prompts), docs.boundaryml.com (BAML),
microsoft.github.io/poml.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from studio.core.prompty.body.sections import plain_newlines
from studio.core.text.source import Problem, Severity, Span

# Splits a prompt file into front matter and body.

_OPENING = re.compile(r"\ufeff?[ \t\r\n\f\v]*(---|\+\+\+)[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING = {
    "---": re.compile(r"^---[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE),
}
_OTHER = {"---": "+++", "+++": "---"}
_FIRST_ROLE = re.compile(
    r"(?im)^#?[ ]?(?:system|user|assistant|developer)(?:\[.*\])?[ \t]*:[ \t]*\r?$"
)


@dataclass(frozen=True, slots=True)
class Split:
    """The two parts of a file."""

    front: Span | None
    """Span of the YAML between the delimiters; None without front matter."""

    body: Span
    """Span after the closing delimiter's line."""

    opening: Span | None = None
    """Span of the opening delimiter."""

    unclosed: bool = False
    """Whether the closing delimiter is missing; the front matter is then a guess."""


def split_front_matter(text: str) -> Split:
    """Split at delimiter lines (Prompty spec §2.2, but whole lines: docs/design/file-format.md).

    The closing delimiter is the first line equal to the opening one; without it, the first line
    equal to the other delimiter (the specification allows them to differ).
    """
    text = plain_newlines(text)
    opening = _OPENING.match(text)
    if opening is None:
        return Split(None, Span(int(text.startswith("\ufeff")), len(text)))
    mark = opening[1]
    delimiter = Span(*opening.span(1))
    start = opening.end()
    closing = _CLOSING[mark].search(text, start) or _CLOSING[_OTHER[mark]].search(text, start)
    if closing is not None:
        return Split(Span(start, closing.start()), Span(closing.end(), len(text)), delimiter)
    role = _FIRST_ROLE.search(text, start)
    end = role.start() if role else len(text)
    return Split(Span(start, end), Span(end, len(text)), delimiter, unclosed=True)


def in_front_matter(text: str, caret: int) -> bool:
    """Return whether the caret is between the delimiters of the front matter."""
    split = split_front_matter(text)
    front = split.front  # at its end one is still typing in it
    return front is not None and front.start <= caret < front.end + split.unclosed


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """A prompt format that is recognized and refused, and never sent as text."""

    name: str
    """The format, for people: "BAML file"."""

    endings: tuple[str, ...]
    """Suffixes of file names that only this format has."""

    mark: re.Pattern[str]
    """Matches the key or word that only this format has."""

    beside: re.Pattern[str]
    """Matches text that is required too; an empty pattern if the mark is enough."""

    advice: str
    """Advice to the user."""

    in_markdown: bool = False
    """Whether a Markdown file can have this format too; then only the start of the text counts."""


FOREIGN_FORMATS = (
    ForeignFormat(
        "Semantic Kernel prompt",
        (),
        re.compile(
            r"(?m)^template_format[ \t]*:[ \t]*[\"']?(?:semantic-kernel|handlebars|liquid)\b"
            r"|^execution_settings(?=[ \t]*:)|^input_variables[ \t]*:[ \t]*\r?\n[ \t]*-[ \t]+name:"
        ),
        re.compile(r"(?m)^template[ \t]*:"),
        "copy its template into a .prompty file: each message below a line with its role, "
        "its input_variables as inputs",
    ),
    ForeignFormat(
        "BAML file",
        (".baml",),
        re.compile(
            r"(?m)^(?:function[ \t]+\w+[ \t]*\([^)\n]*\)[ \t]*->|client[ \t]*<llm>[ \t]+\w+)"
        ),
        re.compile(
            r"\A\ufeff?(?:\s|//[^\n]*(?:\n|\Z))*(?:(?:class|enum|function|test|type|generator|retry_policy"
            r"|template_string)[ \t]+\w+|client[ \t]*<llm>)"
        ),
        "copy the text of its prompt into a .prompty file, and the result type as outputs",
        in_markdown=True,
    ),
    ForeignFormat(
        "POML document",
        (".poml",),
        re.compile(r"(?m)\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)?<poml\b"),
        re.compile(""),
        "render it with POML, and import the resulting messages",
        in_markdown=True,
    ),
)
"""All formats; a row is all that the studio knows of one."""


def foreign_problem(text: str, path: Path | None) -> Problem | None:
    """Return the problem of a file that is another program's prompt; None for other files.

    Args:
        text: the file's text.
        path: path of the file; None for a pasted text.
    """
    name = path.name.lower() if path is not None else ""
    split = split_front_matter(text)
    if name.endswith(".prompty") or (split.front is not None and not split.unclosed):
        return None
    for each in FOREIGN_FORMATS:
        mark = each.mark.search(text) if each.in_markdown or not name.endswith(".md") else None
        if not name.endswith(each.endings or ("\0",)) and not (mark and each.beside.search(text)):
            continue
        place = Span(*mark.span()) if mark is not None else Span(0, 0)
        key = f" ({mark[0].split()[0].strip(':<')})" if mark is not None else ""
        return Problem(
            "foreign-format",
            Severity.ERROR,
            f"This is a {each.name}{key}, which Prompt Studio does not read; {each.advice}.",
            place,
        )
    return None
