"""Parse a prompt file into a document: for any text, and with a span for everything."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from studio.core.prompty.body.sections import find_markers, sections_of
from studio.core.prompty.checks import check_document
from studio.core.prompty.dialect import decide_dialect
from studio.core.prompty.document import BodySection, Dialect, PromptDocument, TemplateFormat
from studio.core.prompty.edit.edits import set_value
from studio.core.prompty.foreign import Split, foreign_problem, split_front_matter
from studio.core.prompty.front.front_matter import read_front_matter
from studio.core.prompty.parameters import find_parameters
from studio.core.prompty.templates import find_fields, find_variables
from studio.core.prompty.yaml.reader import YamlReading, read_yaml
from studio.core.prompty.yaml.tree import Places
from studio.core.text.source import Fix, Problem, Severity, SourceText, Span, TextEdit
from studio.core.text.values import JsonObject

MAX_TEXT = 5_000_000
"""Maximum number of code points; a longer file is shown but not parsed."""

_NEAR_END = re.compile(
    r"^(?P<line>[-–—]{1,2}|-{4,80}|[–—]{3,}|[ \t]{1,20}---)[ \t]*$", re.MULTILINE
)
"""Matches a line that is meant to end the front matter but is not three dashes."""
_MUSTACHE = re.compile(r"\{\{\{?[ ]*[#^/>&][ ]*[\w.]+[ ]*\}\}|\{\{\{[ ]*[\w.]+[ ]*\}\}\}")
_TAG = re.compile(r"\{%-?[ ]*(?:if|for|set|endif|endfor|else|elif|macro)\b")
_NOT_NEWLINE = re.compile(r"[^\r\n]")


def parse(text: str, path: Path | None = None) -> PromptDocument:
    """Parse a prompt file. Never raises; errors are in the document's `problems`.

    Args:
        text: The file's text with its line breaks and byte order mark.
        path: Path of the file, for references and local media beside it.
    """
    source = SourceText(text, path)
    if len(text) > MAX_TEXT:
        return PromptDocument(source, body=Span(0, len(text)), problems=(_too_large(source),))
    if (foreign := foreign_problem(text, path)) is not None:
        return PromptDocument(source, problems=(foreign,))  # without a body, so nothing is sent
    if path is not None and path.suffix == ".py":
        # No prompt: a file of tools, whose functions the tool registry reads.
        return PromptDocument(
            source, dialect_reason="a Python file of tools", body=Span(0, len(text))
        )
    split = split_front_matter(text)
    reading = _read_front(text, split)
    data: JsonObject = reading.value if isinstance(reading.value, Mapping) else {}
    front = text[split.front.start : split.front.end] if split.front else ""
    body = text[split.body.start :]
    dialect, reason = decide_dialect(data, front, body)
    fields = read_front_matter(data, Places.of(reading.entries), dialect)
    form = fields.template.format
    variables, template_problems = find_variables(body, form, split.body.start)
    if form == "jinja2" and template_problems and _reads_as_mustache(body):
        variables, _ = find_variables(body, "mustache", split.body.start)
    document = PromptDocument(
        source,
        dialect,
        reason,
        split.front,
        split.body,
        data,
        reading.entries,
        fields.name,
        fields.description,
        fields.model,
        fields.inputs,
        fields.outputs,
        fields.tools,
        fields.template,
        fields.metadata,
        _sections(body, split.body.start, dialect, form),
        variables,
    )
    document = replace(
        document,
        fields=find_fields(body, form, split.body.start),
        parameters=find_parameters(document),
    )
    template_problems = _as_mustache(document, template_problems)
    found = (*_split_problems(text, split, reading), *reading.problems, *template_problems)
    return check_document(document, found)


def _reads_as_mustache(body: str) -> bool:
    """Return whether a body that is no Jinja2 is valid mustache with sections or triple braces."""
    if _TAG.search(body) is not None:
        return False  # Jinja with a Mustache construct in it
    return _MUSTACHE.search(body) is not None and not any(
        problem.severity is Severity.ERROR for problem in find_variables(body, "mustache")[1]
    )


def _as_mustache(document: PromptDocument, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return the problems of a mustache template read as Jinja2: only one, with the fix."""
    body = document.source.slice(document.body)
    found = _MUSTACHE.search(body)
    if document.template.format != "jinja2" or found is None or not _reads_as_mustache(body):
        return problems
    if not any(problem.code == "template-syntax" for problem in problems):
        return problems
    data = document.data.get("template")
    block = isinstance(data, Mapping) or document.dialect != "legacy"
    path: tuple[str, ...] = ("template", "format", "kind") if block else ("template",)
    if isinstance(data, Mapping) and not isinstance(data.get("format", {}), Mapping):
        path = ("template", "format")
    edits = set_value(document, path, "mustache")
    place = Span(*found.span()).shift(document.body.start)
    message = "This is Mustache, but the file is read as Jinja2: set template.format."
    fix = Fix("Read it as Mustache", edits)
    return (Problem("template-syntax", Severity.ERROR, message, place, (fix,)),)


def _read_front(text: str, split: Split) -> YamlReading:
    if split.front is None:
        return YamlReading(None, (), (), False)
    return read_yaml(text[split.front.start : split.front.end], split.front.start)


def _sections(
    body: str, offset: int, dialect: Dialect, form: TemplateFormat
) -> tuple[BodySection, ...]:
    visible = _blank_comments(body) if form == "jinja2" and "{#" in body else body
    return sections_of(find_markers(visible, dialect), visible, offset)


def _blank_comments(body: str) -> str:
    """Return the body with template comments replaced by blanks, since they contain no markers."""
    pieces: list[str] = []
    done = 0
    while (start := body.find("{#", done)) >= 0:
        end = body.find("#}", start + 2)
        if end < 0:
            break
        pieces += (body[done:start], _NOT_NEWLINE.sub(" ", body[start : end + 2]))
        done = end + 2
    pieces.append(body[done:])
    return "".join(pieces)


def _split_problems(text: str, split: Split, reading: YamlReading) -> list[Problem]:
    found: list[Problem] = []
    nearly = _NEAR_END.search(text, split.front.start, split.front.end) if split.front else None
    if split.unclosed and nearly is not None:
        what = "an indented ---" if nearly["line"].strip() == "---" else nearly["line"]
        message = f"Invalid frontmatter: {what} does not end it; three dashes do, ---."
        place = Span(*nearly.span("line"))
        fix = Fix("Write ---", (TextEdit(place, "---"),))
        found.append(Problem("front-matter-open", Severity.ERROR, message, place, (fix,)))
    elif split.unclosed and split.opening is not None:
        mark = text[split.opening.start : split.opening.end]
        newline = "" if text.endswith("\n") or split.body.start < len(text) else "\n"
        edit = TextEdit(Span(split.body.start, split.body.start), f"{newline}{mark}\n")
        found.append(
            Problem(
                "front-matter-open",
                Severity.ERROR,
                f"Invalid frontmatter: no line {mark} ends it.",
                split.opening,
                (Fix(f"Close it with {mark}", (edit,)),),
            )
        )
    if reading.value is not None and not isinstance(reading.value, Mapping) and split.front:
        found.append(
            Problem(
                "front-matter-not-mapping",
                Severity.ERROR,
                "Invalid frontmatter: it must contain keys and values (`name: …`).",
                split.front,
            )
        )
    return found


def _too_large(source: SourceText) -> Problem:
    message = (
        f"This file has {len(source)} characters; prompts are parsed up to {MAX_TEXT}. It is "
        "shown but not checked."
    )
    return Problem("file-too-large", Severity.ERROR, message, Span(0, 0))
