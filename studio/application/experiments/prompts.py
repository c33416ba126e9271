"""The prompts of an experiment as documents: files, texts, git revisions, edited sections."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from studio.application.experiments.text_prompts import rendered_chat, text_documents
from studio.application.trust import is_trusted
from studio.application.words import tr
from studio.core.experiments.assertions.marking import rendered_value
from studio.core.experiments.assertions.result import AssertionContext
from studio.core.experiments.values import ExperimentCase, PromptEntry
from studio.core.imports.compose import placeholder
from studio.core.imports.imported import ImportFailure
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.foreign import foreign_problem
from studio.core.prompty.parse import parse
from studio.core.text.bounded_file import read_bounded
from studio.core.text.files_beside import OutsidePatternError, files_matching
from studio.core.text.problem import TextEdit, apply_edits
from studio.core.text.reason import reason_of
from studio.core.text.span import Span
from studio.core.text.values import Json
from studio.core.tools.trust.store import TrustStore

_GIT_SECONDS = 20
_MOST_FILES = 200
_SECTION = re.compile(r"^(?P<role>\w+)(?:#(?P<number>\d+))?$")
_HEADING = re.compile(r"^(?P<level>#{1,6})[ \t]+(?P<title>[^\n]+?)[ \t]*#*[ \t]*$", re.MULTILINE)


class ExperimentError(Exception):
    """An experiment that cannot be run; each line of the text is one reason with its place."""

    def __init__(self, text: str, unconnected: Path | None = None) -> None:
        super().__init__(text)
        self.unconnected = unconnected
        """A prompt that names a connection that is not set up; None where nothing does."""


class Folder:
    """The folder of an experiment: finds and reads what its file names."""

    def __init__(self, path: Path | None, trust: TrustStore) -> None:
        self.path = (path.parent if path is not None else Path.cwd()).resolve()
        """Where names start from."""
        self.trusted = path is None or is_trusted(path.resolve(), trust)
        """Whether it may run Python and read variables."""
        self._trust = trust

    def find(self, name: str) -> Path:
        """A file by its name; outside of the folder only where that is trusted too.

        Raises:
            ExperimentError: there is none, or it may not be read.
        """
        path = (self.path / name).resolve()
        if not self._allows(path.parent):
            raise _outside(name)
        if not path.is_file():
            raise ExperimentError(tr("{name}: there is no such file.").format(name=name))
        return path

    def _allows(self, folder: Path) -> bool:
        """Whether files of a folder may be looked for and read."""
        place = folder.resolve()
        return place.is_relative_to(self._root) or self._trust.is_trusted(place)

    @cached_property
    def _root(self) -> Path:
        """What its files may name: the repository that it stands in, where it is trusted."""
        if not self.trusted:
            return self.path
        places = (self.path, *self.path.parents)
        return next((each for each in places if (each / ".git").exists()), self.path)

    def matching(self, pattern: str) -> list[Path]:
        """The files that a pattern with `*` means, in order.

        Raises:
            ExperimentError: it is no pattern, or leads where nothing may be read.
        """
        try:
            return files_matching(self.path, pattern, self._allows)
        except OutsidePatternError:
            raise _outside(pattern) from None
        except (ValueError, OSError) as error:
            raise ExperimentError(f"{pattern}: {reason_of(error)}") from None

    def read(self, name: str) -> str:
        """The text of a file, its line ends as in any text that Python reads.

        Raises:
            ExperimentError: it cannot be read, or is too large.
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
            ExperimentError: it cannot be read, or is too large.
        """
        try:
            return read_bounded(self.find(name))
        except OSError as error:
            raise ExperimentError(f"{name}: {reason_of(error)}") from None


def _outside(name: str) -> ExperimentError:
    return ExperimentError(
        tr(
            "{name}: the file lies outside of the experiment's folder; trust its folder to use it."
        ).format(name=name)
    )


def documents_of(entry: PromptEntry, folder: Folder) -> Iterator[tuple[str, PromptDocument]]:
    """The prompts of an entry by their labels: one, or those of a text file or a pattern.

    Raises:
        ExperimentError: it cannot be read.
    """
    if entry.text is not None:
        for number, document in enumerate(_imported(entry.text, entry, folder)):
            yield (entry.label if not number else f"{entry.label} ({number + 1})"), document
        return
    if "*" in entry.id:
        paths = folder.matching(entry.id)[:_MOST_FILES]
        if not paths:
            raise ExperimentError(tr("{name}: no file has such a name.").format(name=entry.id))
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
            tr("{name}@{revision}: git is asked only in folders that you trust.").format(
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
        raise ExperimentError(tr("git is not installed; it finds earlier revisions.")) from None
    except subprocess.TimeoutExpired:
        raise ExperimentError(tr("git does not answer.")) from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise ExperimentError(f"{entry.id}@{entry.revision}: {' '.join(lines)}")
    return done.stdout.decode("utf-8-sig", errors="replace")


def _imported(content: str, entry: PromptEntry, folder: Folder) -> Iterator[PromptDocument]:
    """Prompts of a text or a chat."""

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
    """The document with sections replaced, the rest as it is."""
    for title, given in entry.edit.items():
        text = folder.read(given) if given.startswith("file://") else given
        edit = section_edit(document, title, text, entry.label)
        document = parse(apply_edits(document.source.text, [edit]), document.source.path)
    return document


def section_edit(document: PromptDocument, title: str, text: str, name: str) -> TextEdit:
    """What puts a text in place of a section; the blank lines around the section stay.

    Args:
        document: the prompt.
        title: of the section, as `edit` names it.
        text: the section's new text.
        name: the prompt's, for the message.

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
    """The content of a section: `role`, `role#2`, or a heading of the body."""
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
    """What `edit` can name: roles by number, and headings of the body."""
    counts: dict[str, int] = {}
    made = []
    for each in document.sections:
        counts[each.role] = counts.get(each.role, 0) + 1
        if each.role:
            made.append(each.role if counts[each.role] == 1 else f"{each.role}#{counts[each.role]}")
    return [*made, *(name for name, _, _ in _headings(document))]


# Rows ---------------------------------------------------------------------------------------------


def for_row(
    document: PromptDocument,
    entry: PromptEntry,
    case: ExperimentCase,
    values: Mapping[str, Json],
) -> tuple[PromptDocument, Mapping[str, Json]]:
    """The prompt and values of a row: its `prefix` and `suffix`, or the chat that a text makes.

    They stand around the text of the last user section. They are values of the run: a text of a
    dataset is never a role or a template of the prompt.

    Raises:
        UndecidedError: one of them is a template that cannot be filled in, or no chat comes of it.
    """
    if not entry.is_prompty:
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
    """Names that a prompt reads or declares."""
    declared: Mapping[str, object] = {item.name: item for item in document.inputs}
    used = {variable.name for variable in document.variables}
    return frozenset({*declared, *used, *(item.name for item in document.parameters)})
