"""The prompts of an experiment as documents: files, texts, git revisions, edited sections."""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from studio.application.trust import is_trusted
from studio.application.words import tr
from studio.core.experiments.assertions.marking import rendered_value
from studio.core.experiments.assertions.result import AssertionContext, UndecidedError
from studio.core.experiments.values import ExperimentCase, PromptEntry
from studio.core.imports.compose import Composition, declare_variables, placeholder, write_document
from studio.core.imports.imported import ImportFailure
from studio.core.imports.promptfoo_parts import (
    CHAT_ITEM,
    ReadFile,
    as_nunjucks,
    is_chat,
    messages_of,
    prompts_of,
    unread_part,
)
from studio.core.prompty.document import Message, PromptDocument, Segment, TextPart
from studio.core.prompty.foreign import foreign_problem
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parse import parse
from studio.core.prompty.templates import find_variables, render_template
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.files import OutsidePatternError, files_matching, read_bounded
from studio.core.text.source import Severity, SourceText, Span, TextEdit, apply_edits
from studio.core.text.values import Json, JsonObject, parse_json, reason_of
from studio.core.tools.trust.store import TrustStore

# Converts promptfoo's prompts, which are texts or chats, to documents.

CONVERSATION = "_conversation"
"""Value with the previous turns: `prompt`, `input` and `output` of each."""

_CHAT_START = re.compile(rf"\s*(?:\[|\{{(?![{{%#])|{CHAT_ITEM.pattern})")
_CHAT = parse("---\ninputs:\n  chat: {kind: thread}\n---\n{{ chat }}\n")
"""Prompt that sends a rendered chat."""


def text_documents(
    content: str, label: str, read: ReadFile, path: Path
) -> Iterator[PromptDocument]:
    """Yield the prompts in a text, or in the file of `file://…`.

    Args:
        content: the text.
        label: name of the prompt for messages.
        read: reads a file; raises `ImportFailure` if it cannot.
        path: path of the documents.

    Raises:
        ImportFailure: the file or a template in it cannot be read.
    """
    whole = ""

    def noted(name: str) -> str:
        nonlocal whole
        whole = read(name)
        return whole

    for _, found in prompts_of([{"id": label, "raw": content}], noted, lambda _: ()):
        if isinstance(found, ImportFailure):
            raise found
        if isinstance(found, str):
            before = whole[: max(0, whole.find(found))]
            _check_template(as_nunjucks(found), label if whole else "", before.count("\n"))
        if kind := unread_part(found):
            raise ImportFailure(_unread(kind))
        work = _composed(messages_of(found, as_nunjucks))
        text = write_document(work)
        if work.notes:  # content that sections do not support, such as audio from variables
            chat = as_nunjucks(found) if isinstance(found, str) else json.dumps(found)
            text = write_document(_composed([Message("user", (TextPart(chat),))]))
        yield parse(text, path)


def _unread(kind: str) -> str:
    return tr(
        "A message has a part of the kind {kind!r}, which is not read here; write it as text, "
        "image_url, input_audio or file."
    ).format(kind=kind)


def _composed(messages: Iterable[Message]) -> Composition:
    work = Composition(is_template=True)
    work.messages += messages
    declare_variables(work, {}, "sample")
    work.inputs.pop(CONVERSATION, None)
    return work


def _check_template(text: str, name: str, lines: int) -> None:
    """Refuse a template whose braces would be sent to the model."""
    variables, problems = find_variables(text, "jinja2")
    faults = [(each.span, each.message) for each in problems if each.severity is Severity.ERROR]
    unread = tr("Environment variables are not read in a text: use `vars`.")
    faults += [(each.span, unread) for each in variables if each.name == "env"]
    if not faults:
        return
    span, fault = faults[0]
    place = lines + SourceText(text).position(span.start).line
    where = f"{name}:{place}" if name else tr("line {number}").format(number=place)
    raise ImportFailure(
        tr("{where}: {fault} Change the template; nothing was sent.").format(
            where=where, fault=fault
        )
    )


def rendered_chat(
    document: PromptDocument, values: JsonObject
) -> tuple[PromptDocument, JsonObject] | None:
    """Return the prompt and values of a chat rendered from a row; None if it is a text.

    Values inside JSON texts are escaped, so that no row can add messages.

    Args:
        document: a prompt from `text_documents`.
        values: values of the row.

    Raises:
        UndecidedError: the rendered text is no chat.
    """
    template = _only_text(document)
    is_chat_text = starts_as_chat(document)
    if not is_chat_text and not template.startswith("{"):
        return None
    given = resolve_inputs(document, values).sent
    rendering = render_template(template, given, format="jinja2")
    if any(each.severity is Severity.ERROR for each in rendering.problems):
        return None  # the run reports it with its span
    if not is_chat_text:
        _refuse_chat_of_values(rendering.text)
        return None
    is_yaml = template.startswith("-")
    try:
        chat = (
            _yaml_value(rendering.text) if is_yaml else parse_json(_json_text(rendering.segments))
        )
    except ValueError as error:
        raise UndecidedError(
            tr("The prompt produces invalid JSON or YAML: {why}.").format(why=reason_of(error))
        ) from None
    if kind := unread_part(chat):
        raise UndecidedError(_unread(kind))
    if not is_chat(chat):
        raise UndecidedError(
            tr("The prompt produces JSON that is not a list of messages with `role` and `content`.")
        )
    made = replace(_CHAT, model=document.model, tools=document.tools)
    return replace(made, source=replace(_CHAT.source, path=document.source.path)), {
        **values,
        "chat": chat,
    }


def starts_as_chat(document: PromptDocument) -> bool:
    """Return whether a prompt is one text whose template starts like a JSON or YAML chat."""
    return _CHAT_START.match(_only_text(document)) is not None


def _only_text(document: PromptDocument) -> str:
    """Return the template of the only section; empty if there are several."""
    if len(document.sections) != 1:
        return ""
    return document.source.slice(document.sections[0].content).strip()


def _refuse_chat_of_values(text: str) -> None:
    """Refuse a text that promptfoo would send as messages: a value must not begin a role."""
    try:
        chat = parse_json(text) if text.lstrip().startswith("[") else None
    except ValueError:
        return
    if is_chat(chat):
        raise UndecidedError(
            tr(
                "The value is a conversation in JSON, but a value cannot set roles: declare a "
                "`thread` input in a .prompty file."
            )
        )


def _yaml_value(text: str) -> Json:
    reading = read_yaml(text)
    if reading.broken:
        raise ValueError(reading.problems[0].message)
    return reading.value


def _json_text(segments: tuple[Segment, ...]) -> str:
    """Return JSON with the values inside its texts escaped.

    Raises:
        ValueError: a value outside texts is not valid JSON.
    """
    made, in_text = [], False
    for segment in segments:
        text = segment.text
        if segment.kind == "literal":
            in_text = _ends_in_text(text, in_text=in_text)
        elif in_text:
            text = json.dumps(text, ensure_ascii=False)[1:-1]
        else:
            parse_json(text)
        made.append(text)
    return "".join(made)


def _ends_in_text(json_part: str, *, in_text: bool) -> bool:
    quotes = re.findall(r'(?<!\\)(?:\\\\)*"', json_part)
    return in_text ^ (len(quotes) % 2 == 1)


_GIT_SECONDS = 20
_MOST_FILES = 200
_SECTION = re.compile(r"^(?P<role>\w+)(?:#(?P<number>\d+))?$")
_HEADING = re.compile(r"^(?P<level>#{1,6})[ \t]+(?P<title>[^\n]+?)[ \t]*#*[ \t]*$", re.MULTILINE)


class ExperimentError(Exception):
    """Raised when an experiment cannot run; each line of the text is one reason with its line."""

    def __init__(self, text: str, unconnected: Path | None = None) -> None:
        super().__init__(text)
        self.unconnected = unconnected
        """Prompt with a connection that is not set up; None if there is none."""


@contextmanager
def as_undecided() -> Iterator[None]:
    """Convert errors in the block to an undecided check."""
    try:
        yield
    except ExperimentError as error:
        raise UndecidedError(str(error)) from None


class Folder:
    """The folder of an experiment, in which its files are found and read."""

    def __init__(
        self, path: Path | None, trust: TrustStore, drafts: Mapping[Path, str] | None = None
    ) -> None:
        self.path = (path.parent if path is not None else Path.cwd()).resolve()
        """Folder from which file names are resolved."""
        self.trusted = path is None or is_trusted(path.resolve(), trust)
        """Whether Python may run and variables may be read."""
        self._trust = trust
        self._drafts = drafts or {}

    def find(self, name: str) -> Path:
        """Return the path of a named file; outside the folder it must be trusted too.

        Raises:
            ExperimentError: there is no such file, or it may not be read.
        """
        try:
            path = (self.path / name).resolve()
            is_there = path.is_file()
        except (ValueError, OSError, RuntimeError) as error:  # an invalid name; a loop of links
            raise ExperimentError(f"{name}: {reason_of(error)}") from None
        if not self._allows(path.parent):
            raise _outside(name)
        if not is_there:
            raise ExperimentError(tr("{name}: there is no such file.").format(name=name))
        return path

    def _allows(self, folder: Path) -> bool:
        """Return whether files of a folder may be listed and read."""
        place = folder.resolve()
        return place.is_relative_to(self._root) or self._trust.is_trusted(place)

    @cached_property
    def _root(self) -> Path:
        """The folder whose files may be named: the repository, if it is trusted."""
        if not self.trusted:
            return self.path
        places = (self.path, *self.path.parents)
        return next((each for each in places if (each / ".git").exists()), self.path)

    def matching(self, pattern: str) -> list[Path]:
        """Return the files that match a pattern with `*`, in order.

        Raises:
            ExperimentError: the pattern is invalid, or leads to folders that may not be read.
        """
        try:
            return files_matching(self.path, pattern, self._allows)
        except OutsidePatternError:
            raise _outside(pattern) from None
        except (ValueError, OSError) as error:
            raise ExperimentError(f"{pattern}: {reason_of(error)}") from None

    def read(self, name: str) -> str:
        """Return the text of a file with LF line breaks.

        Raises:
            ExperimentError: the file cannot be read, or is too large.
        """
        content = self.content(name.removeprefix("file://"))
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ExperimentError(f"{name}: {reason_of(error)}") from None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def content(self, name: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            ExperimentError: the file cannot be read, or is too large.
        """
        try:
            path = self.find(name)
            draft = self._drafts.get(path)
            return read_bounded(path) if draft is None else draft.encode()
        except OSError as error:
            raise ExperimentError(f"{name}: {reason_of(error)}") from None


def _outside(name: str) -> ExperimentError:
    return ExperimentError(
        tr(
            "{name}: the file is outside of the experiment's folder; trust its folder to use it."
        ).format(name=name)
    )


def documents_of(entry: PromptEntry, folder: Folder) -> Iterator[tuple[str, PromptDocument]]:
    """Yield the prompts of an entry with labels: one, or those of a text file or a pattern.

    Raises:
        ExperimentError: the prompt cannot be read.
    """
    if entry.text is not None:
        for number, document in enumerate(_imported(entry.text, entry, folder)):
            yield (entry.label if not number else f"{entry.label} ({number + 1})"), document
        return
    if "*" in entry.id:
        paths = folder.matching(entry.id)[:_MOST_FILES]
        if not paths:
            raise ExperimentError(
                tr("{name}: this is not a valid file name.").format(name=entry.id)
            )
        for path in paths:
            name = path.relative_to(folder.path).as_posix()
            yield from documents_of(replace(entry, id=name, label=path.name), folder)
        return
    if entry.is_prompty:
        yield entry.label, _edited(_prompt_file(entry, folder), entry, folder)
        return
    foreign = foreign_problem(folder.read(entry.id), Path(entry.id))
    if foreign is not None:
        raise ExperimentError(f"{entry.id}: {foreign.message}")
    found = list(_imported(f"file://{entry.id}", entry, folder))
    for number, document in enumerate(found, 1):
        yield (entry.label if len(found) == 1 else f"{entry.label} ({number})"), document


def _prompt_file(entry: PromptEntry, folder: Folder) -> PromptDocument:
    path = folder.path / entry.id
    if not entry.revision:
        path = folder.find(entry.id)
        return parse(folder.read(entry.id), path)
    if not folder.trusted:
        raise ExperimentError(
            tr("{name}@{revision}: Git is only run in folders that you trust.").format(
                name=entry.id, revision=entry.revision
            )
        )
    return parse(_at_revision(entry, folder), path.resolve())


def _at_revision(entry: PromptEntry, folder: Folder) -> str:
    command = ["git", "-C", str(folder.path), "show", f"{entry.revision}:./{entry.id}"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise ExperimentError(
            tr("Git is not installed; it is needed for earlier revisions.")
        ) from None
    except subprocess.TimeoutExpired:
        raise ExperimentError(tr("Git does not respond.")) from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise ExperimentError(f"{entry.id}@{entry.revision}: {' '.join(lines)}")
    return done.stdout.decode("utf-8-sig", errors="replace")


def _imported(content: str, entry: PromptEntry, folder: Folder) -> Iterator[PromptDocument]:
    """Yield the prompts of a text or a chat."""

    def read(name: str) -> str:
        try:
            return folder.read(name)
        except ExperimentError as error:
            raise ImportFailure(str(error)) from error

    path = folder.path / f"{_file_name(entry.label)}.prompty"
    name = entry.label if entry.text is not None else entry.id
    try:
        yield from text_documents(content, name, read, path)
    except ImportFailure as error:
        raise ExperimentError(str(error)) from None


def _file_name(label: str) -> str:
    return re.sub(r"[^\w.-]+", "-", label).strip("-")[:40] or "prompt"


# Edited sections ----------------------------------------------------------------------------------


def _edited(document: PromptDocument, entry: PromptEntry, folder: Folder) -> PromptDocument:
    """Return the document with sections replaced; the rest stays unchanged."""
    for title, given in entry.edit.items():
        text = folder.read(given) if given.startswith("file://") else given
        edit = section_edit(document, title, text, entry.label)
        document = parse(apply_edits(document.source.text, [edit]), document.source.path)
    return document


def section_edit(document: PromptDocument, title: str, text: str, name: str) -> TextEdit:
    """Return the edit that replaces a section; surrounding blank lines stay.

    Args:
        document: the prompt.
        title: title of the section, as for `edit`.
        text: the section's new text.
        name: name of the prompt, for messages.

    Raises:
        ExperimentError: there is no such section.
    """
    place = section_span(document, title)
    if place is None:
        known = ", ".join(section_titles(document)) or tr("none")
        raise ExperimentError(
            tr("{name}: there is no section {title!r}; there are: {known}.").format(
                name=name, title=title, known=known
            )
        )
    old = document.source.slice(place)
    end = "\r\n" if "\r\n" in document.source.text else "\n"
    head = old[: len(old) - len(old.lstrip("\r\n"))]
    tail = old[len(old.rstrip("\r\n")) :] or end
    new = text.strip("\r\n").replace("\r\n", "\n").replace("\n", end)
    return TextEdit(place, f"{head}{new}{tail}")


def section_span(document: PromptDocument, title: str) -> Span | None:
    """Return the span of a section's content: `role`, `role#2`, or a heading of the body."""
    found = _SECTION.match(title)
    if found is not None:
        role = found["role"].lower()
        sections = [each for each in document.sections if each.role == role]
        number = int(found["number"] or 1)
        if 0 < number <= len(sections):
            return sections[number - 1].content
    headings = list(_headings(document))
    for at, (name, level, span) in enumerate(headings):
        if name.casefold() == title.casefold():
            ends = [other.start for _, depth, other in headings[at + 1 :] if depth <= level]
            ends += [each.span.start for each in document.sections if each.span.start > span.end]
            return Span(span.end, min([*ends, document.body.end]))
    return None


def _headings(document: PromptDocument) -> Iterator[tuple[str, int, Span]]:
    body = document.source.slice(document.body)
    for found in _HEADING.finditer(body):
        span = Span(found.start(), found.end()).shift(document.body.start)
        yield found["title"], len(found["level"]), span


def section_titles(document: PromptDocument) -> list[str]:
    """Return the titles for `edit`: roles with numbers, and headings of the body."""
    counts: dict[str, int] = {}
    made = []
    for each in document.sections:
        counts[each.role] = counts.get(each.role, 0) + 1
        if each.role:
            made.append(each.role if counts[each.role] == 1 else f"{each.role}#{counts[each.role]}")
    return [*made, *(name for name, _, _ in _headings(document))]


# Rows ---------------------------------------------------------------------------------------------


def for_row(
    document: PromptDocument, entry: PromptEntry, case: ExperimentCase, values: JsonObject
) -> tuple[PromptDocument, JsonObject]:
    """Return the prompt and values of a row, from a prompt file or from a text read as a chat.

    `prefix` and `suffix` enclose the text of the last user section. They are values, since a text
    of a dataset must never become a role or a template of the prompt.

    Raises:
        UndecidedError: a template cannot be rendered, or the result is no chat.
    """
    if not entry.is_prompty:
        # promptfoo removes the last line break of a value, which would break chats as JSON.
        values = {
            name: value.removesuffix("\n") if isinstance(value, str) else value
            for name, value in values.items()
        }
        chat = rendered_chat(document, values)
        if chat is not None:
            return chat
    given = {
        f"row_{name}": case.options[name]
        for name in ("prefix", "suffix")
        if isinstance(case.options.get(name), str) and case.options[name]
    }
    form = document.template.format
    sections = [each for each in document.sections if each.role == "user"]
    sections = sections or list(document.sections)
    if not given or not sections:
        return document, values
    place = sections[-1].content
    text = document.source.slice(place)
    body = text.strip()
    start = place.start + text.find(body)
    edits = []
    if "row_prefix" in given:
        edits.append(TextEdit(Span(start, start), placeholder("row_prefix", form)))
    if "row_suffix" in given:
        end = start + len(body)
        edits.append(TextEdit(Span(end, end), placeholder("row_suffix", form)))
    changed = parse(apply_edits(document.source.text, edits), document.source.path)
    context = AssertionContext(case.variables)
    filled = {name: rendered_value(value, context) for name, value in given.items()}
    return replace(changed, model=document.model), {**values, **filled}


def inputs_read(document: PromptDocument) -> frozenset[str]:
    """Return the names that a prompt uses or declares."""
    declared: Mapping[str, object] = {item.name: item for item in document.inputs}
    used = {variable.name for variable in document.variables}
    return frozenset({*declared, *used, *(item.name for item in document.parameters)})
