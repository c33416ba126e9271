"""Recognize the format of a file by its content, and import it.

A plain text is a conversation: ChatML, headings, or lines that begin with the speaker.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import cast

from studio.core.imports import commands
from studio.core.imports.agent_prompts import import_agent_file, is_github_models
from studio.core.imports.agentschema import import_agent_schema, is_agent_schema
from studio.core.imports.compose import Composition, compose
from studio.core.imports.dotprompt import import_dotprompt
from studio.core.imports.hosted import (
    import_chatgpt,
    import_langfuse,
    import_stored,
    is_chatgpt,
    is_langfuse,
    is_stored,
)
from studio.core.imports.imported import (
    Imported,
    Importer,
    ImportFailure,
    ImportSource,
    failure_at,
    read_markdown,
    with_unread_keys,
)
from studio.core.imports.langchain import import_langchain, is_langchain
from studio.core.imports.promptfoo import import_promptfoo, is_promptfoo
from studio.core.imports.request_json import import_request, is_request
from studio.core.paths import resource_table
from studio.core.plugins import Plugin, fault, installed
from studio.core.prompty.agent_files.read import agent_file_kind
from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import Message, Role, TextPart, first_unreadable
from studio.core.prompty.foreign import foreign_problem, split_front_matter
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import (
    ReferenceContext,
    UnresolvedReference,
    confined_path,
)
from studio.core.prompty.templates.writer import VALUE
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.amounts import counted
from studio.core.text.files import files_matching, read_bounded, read_text
from studio.core.text.source import Severity, SourceText, apply_edits
from studio.core.text.values import Json, is_json, parse_json, reason_of

# All formats that are recognized by their JSON or YAML, from the studio and from plug-ins.

_MOST_FILES = 1000
_DATA = (".json", ".jsonl", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class DataFormat:
    """A format that is recognized by its data."""

    name: str
    """Name for the user."""

    is_one: Callable[[Json], bool]
    """Function that returns whether data has this format."""

    make: Callable[[ImportSource, int], Imported]
    """Function that converts the data to a prompt file."""

    suffixes: tuple[str, ...] = _DATA
    """Suffixes of its files."""

    reads_text: bool = False
    """Whether `make` reads the text instead of the data, and reports unread keys itself."""

    def accepts(self, source: ImportSource) -> bool:
        """Return whether the file has this format."""
        return self.is_one(source.data)

    def read(self, source: ImportSource, choose: int) -> Imported:
        """Convert the file to a prompt file."""
        if self.reads_text:
            return self.make(source, choose)
        return with_unread_keys(
            source.data, lambda data: self.make(replace(source, data=data), choose)
        )


IMPORTERS: tuple[Importer, ...] = (
    DataFormat("Langfuse prompt", is_langfuse, lambda source, _: import_langfuse(source.data)),
    DataFormat("OpenAI stored prompt", is_stored, lambda source, _: import_stored(source.data)),
    DataFormat(
        "ChatGPT conversations", is_chatgpt, lambda source, n: import_chatgpt(source.data, n)
    ),
    DataFormat(
        "promptfoo configuration",
        is_promptfoo,
        lambda source, choose: import_promptfoo(
            source.text, source.read_beside, choose, partial(_beside, source)
        ),
        reads_text=True,
    ),
    DataFormat(
        "LangChain prompt",
        is_langchain,
        lambda source, _: import_langchain(source.data, source.read_beside),
    ),
    DataFormat(
        "GitHub Models prompt",
        is_github_models,
        lambda source, _: _github_models(source),
        reads_text=True,
    ),
    DataFormat("request body", is_request, lambda source, _: import_request(source.data)),
    DataFormat(
        "AgentSchema agent",
        is_agent_schema,
        lambda source, _: _agent_schema(source),
        reads_text=True,  # edits the text, so that every key is kept
    ),
)
"""The studio's own formats; no two accept the same data."""


def _beside(source: ImportSource, pattern: str) -> tuple[str, ...]:
    """Return the files in the folder of a source, or below it, that match a pattern."""
    if source.path is None or ".." in PurePath(pattern).parts or PurePath(pattern).is_absolute():
        return ()
    folder = source.path.parent.resolve()
    try:
        paths = files_matching(folder, pattern, lambda each: each.resolve().is_relative_to(folder))
    except (ValueError, OSError):  # a text with stars that is no pattern
        return ()
    return tuple(path.relative_to(folder).as_posix() for path in paths[:_MOST_FILES])


def _github_models(source: ImportSource) -> Imported:
    path = source.path or Path("prompt.yml")
    return import_agent_file(source.text, path, "github-models", source.read_beside)


def _agent_schema(source: ImportSource) -> Imported:
    # JSON is also YAML except for tabs: it is formatted in lines that edits can change.
    is_json = source.text.lstrip().startswith("{")
    text = "\n".join(write_yaml(source.data)) + "\n" if is_json else source.text
    return import_agent_schema(text)


def find_importer(source: ImportSource) -> Importer | None:
    """Return the importer for a file, plug-ins first; None if there is none."""
    for plugin in installed("importers"):
        door = PluginImporter(plugin)
        if door.accepts(source):
            return door
    return next((each for each in IMPORTERS if each.accepts(source)), None)


def importer_suffixes() -> tuple[str, ...]:
    """Return the suffixes of all importers, including plug-ins, each once."""
    added = (PluginImporter(plugin) for plugin in installed("importers"))
    return tuple(dict.fromkeys(ending for each in (*IMPORTERS, *added) for ending in each.suffixes))


@dataclass(frozen=True, slots=True)
class PluginImporter:
    """The format of a plug-in; an exception ends that import and is reported."""

    plugin: Plugin
    """The plug-in, which contains an `Importer`."""

    @property
    def inner(self) -> Importer:
        """The plug-in's object."""
        return cast("Importer", self.plugin.value)

    @property
    def name(self) -> str:
        """Name of the format."""
        return str(self.inner.name)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Suffixes of its files."""
        return tuple(str(each).lower() for each in self.inner.suffixes)

    def accepts(self, source: ImportSource) -> bool:
        """Return whether the file has this format; only files with its suffixes are passed on."""
        suffix = source.path.suffix.lower() if source.path is not None else ""
        if suffix and suffix not in self.suffixes:
            return False
        try:
            return bool(self.inner.accepts(source))
        except Exception as error:
            raise ImportFailure(fault(self.plugin, error)) from error

    def read(self, source: ImportSource, choose: int) -> Imported:
        """Convert the file to a prompt file."""
        try:
            made = self.inner.read(source, choose)
            if not isinstance(made, Imported):
                raise TypeError(f"read() gave {type(made).__name__}, no Imported")
        except ImportFailure:
            raise
        except Exception as error:
            raise ImportFailure(fault(self.plugin, error)) from error
        return made


SUFFIXES = tuple(
    """
    .prompty .yaml .yml .json .jsonl .prompt .txt .md .sh .py .zip
""".split()
)
"""Suffixes of files that may contain a prompt, in the order of a file dialog."""

_WORDS = cast("Mapping[str, Role]", resource_table("words", "terms.txt")["speakers"])
"""Roles by the words that begin the lines of a chat."""

_CHATML = re.compile(r"<\|im_start\|>[ \t]*(\w+)[^\n]*\n(.*?)(?:<\|im_end\|>|\Z)", re.DOTALL)

_LLAMA = re.compile(
    r"<\|start_header_id\|>[ \t]*(\w+)[ \t]*<\|end_header_id\|>\s*(.*?)"
    r"(?:<\|eot_id\|>|(?=<\|start_header_id\|>)|\Z)",
    re.DOTALL,
)

_ALL = "|".join(_WORDS)

_CODE_BLOCK = re.compile(r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)")

_HEADING = re.compile(rf"(?im)^#{{1,6}}[ \t]+(?P<word>{_ALL})(?:[ \t]+said)?[ \t]*:?[ \t]*$")

_LINE = re.compile(
    rf"(?im)^[ \t>]*(?:\*\*|__)?(?P<word>{_ALL})(?:[ \t]+said)?(?:\*\*|__)?[ \t]*:(?:\*\*|__)?"
    r"(?:[ \t]+|$)"
)


def all_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the studio and its importers, including plug-ins."""
    return tuple(dict.fromkeys((*SUFFIXES, *importer_suffixes())))


def import_file(path: Path, choose: int = 0) -> Imported:
    """Import a file of any known format.

    Args:
        path: The file.
        choose: Index of the prompt, if it contains several.

    Raises:
        ImportFailure: it cannot be read, or its format is unknown; the text says what to do.
    """
    try:
        content = read_bounded(path)
        if content.startswith(b"PK\x03\x04"):
            return checked(commands.import_bundle(content))
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportFailure(f"It is not UTF-8 text (byte {error.start}).") from error
    except OSError as error:
        raise ImportFailure(f"It cannot be read: {error.strerror or error}.") from error
    return import_text(text, path, choose)


def is_importable(path: Path) -> bool:
    """Return whether a file contains a prompt of another format, not settings or data."""
    try:
        import_file(path)
    except ImportFailure:
        return False
    return True


def import_text(text: str, path: Path | None = None, choose: int = 0) -> Imported:
    """Import a text; the path's suffix helps if the text is ambiguous.

    Raises:
        ImportFailure: it cannot be imported.
    """
    foreign = foreign_problem(text, path) if agent_file_kind(path) is None else None
    if foreign is not None:
        raise failure_at(SourceText(text, path), foreign)
    made = _import_text(text, path, choose)
    return made if made.text == text else checked(made)


def checked(made: Imported) -> Imported:
    """Return an import without errors in file and preview; safe fixes are applied.

    Raises:
        ImportFailure: an error remains; the text says where.
    """
    document = parse(made.text)
    if not document.source.slice(document.body).strip():
        raise ImportFailure(
            f"No message was found in it ({made.form}), and a prompt needs one; copy its text into "
            "a .prompty file below a line with its role (user:)."
        )
    fixes = [
        item.fixes[0] for item in document.problems if item.code == "other-word" and item.fixes
    ]
    if fixes:
        text = apply_edits(made.text, [edit for fix in fixes for edit in fix.edits])
        made, document = replace(made, text=text), parse(text)
    lacks = any(not (each.has_sample or each.has_default) for each in document.inputs)
    shown = prepare(document, {}, preview=True).problems
    # Errors about missing values do not concern the template.
    problems = (each for each in shown if not (lacks and each.code == VALUE))
    found = (*document.problems, *problems)
    error = next((item for item in found if item.severity is Severity.ERROR), None)
    if error is not None:
        line = document.source.position(error.span.start).line
        raise ImportFailure(
            f"The prompt file made of it would have an error in line {line}: {error.message}"
        )
    return made


def _import_text(text: str, path: Path | None, choose: int) -> Imported:
    kind = agent_file_kind(path)
    if path is not None and kind is not None and kind != "dotprompt":
        return import_agent_file(text, path, kind, _reader(path))
    suffix = path.suffix.lower() if path is not None else ""
    if suffix == ".prompty" or (not suffix and text.startswith(("---", "+++"))):
        return _prompt_file(text, path)
    made = _import_source(text, suffix, path)
    if made is not None:
        return made
    if suffix and suffix not in SUFFIXES:
        made = _import_data(text, None, path, choose)
        if made is not None:
            return made
    if text.lstrip()[:1] in ("{", "[") and suffix not in (".yaml", ".yml"):
        return _json(text, path, choose)
    if suffix == ".json":
        raise ImportFailure("This is not JSON: it begins with neither { nor [.")
    if suffix in (".yaml", ".yml"):
        return _yaml(text, path, choose)
    if suffix == "":
        data = read_yaml(text[:100_000]).value
        if isinstance(data, dict) and find_importer(ImportSource(text, data, path, _reader(path))):
            return _yaml(text, path, choose)
    return import_chat_text(text)


def _import_source(text: str, suffix: str, path: Path | None) -> Imported | None:
    """Import a file with a recognizable text: dotprompt, a script, a command, front matter."""
    if suffix == ".prompt":
        return import_dotprompt(text, _reader(path))
    if suffix in (".md", ".txt", "") and _has_front_matter(text):
        return _prompt_file(text, path)
    if suffix == ".py" or (not suffix and commands.is_script(text)):
        return commands.import_script(text)
    if suffix == ".sh" or (suffix in ("", ".txt") and commands.is_curl(text)):
        return commands.import_curl(text)
    return None


def _has_front_matter(text: str) -> bool:
    """Return whether a text begins with keys between two lines of dashes, unlike a chat."""
    front = split_front_matter(text).front
    return front is not None and isinstance(read_yaml(text[front.start : front.end]).value, Mapping)


def _prompt_file(text: str, path: Path | None) -> Imported:
    """Import a prompt file: Prompty 2 and sections unchanged, Prompty 1 converted."""
    document = parse(text, path)
    broken = first_unreadable(document)
    if broken is not None:
        raise failure_at(document.source, broken)
    if document.dialect != "legacy":
        form = "Prompty 2 file" if document.dialect == "prompty" else "section dialect file"
        unread = ("unknown-key", "tool-without-dash")
        notes = (each.message for each in document.problems if each.code in unread)
        return Imported(text, form, tuple(dict.fromkeys(notes)), title=document.name)
    context = ReferenceContext(path.parent, environment={}) if path is not None else None
    made = convert(document, "prompty", context)
    return Imported(made.text, "Prompty 1 file", (*made.notes, *made.losses), title=document.name)


def _json(text: str, path: Path | None, choose: int) -> Imported:
    suffix = path.suffix.lower() if path is not None else ""
    # Not `splitlines`: JSON texts may contain other line separators.
    lines = [line for line in text.split("\n") if line.strip()]
    if suffix == ".jsonl" or (len(lines) > 1 and is_json(lines[0]) and not is_json(text)):
        return _json_lines(lines, path, choose)
    try:
        data = parse_json(text)
    except ValueError as error:
        raise ImportFailure(f"The JSON cannot be read: {reason_of(error)}.") from error
    return _known(text, data, path, choose)


def _known(text: str, data: Json, path: Path | None, choose: int) -> Imported:
    made = _import_data(text, data, path, choose)
    if made is not None:
        return made
    raise ImportFailure(
        "This is not a known prompt: a request body with messages, a list of messages, a prompt "
        "of LangChain, an agent of AgentSchema (kind: prompt), a promptfoo configuration (prompts)."
    )


def _json_lines(lines: list[str], path: Path | None, choose: int) -> Imported:
    if not 0 <= choose < len(lines):
        raise ImportFailure(f"{counted(len(lines), 'line')}; there is no number {choose + 1}.")
    try:
        line = lines[choose]
        made = _known(line, parse_json(line), path, 0)
    except ValueError as error:
        raise ImportFailure(f"Line {choose + 1} is not JSON: {reason_of(error)}.") from error
    if len(lines) == 1:
        return made
    names = tuple(f"line {number}" for number in range(1, len(lines) + 1))
    note = f"This is line {choose + 1} of {len(lines)}; each line is a prompt of its own."
    return Imported(made.text, f"{made.form}, JSON lines", (*made.notes, note), others=names)


def _yaml(text: str, path: Path | None, choose: int) -> Imported:
    reading = read_yaml(text)
    if reading.broken:
        raise ImportFailure(f"The YAML cannot be read: {reading.problems[0].message}")
    return _known(text, reading.value, path, choose)


def _import_data(text: str, data: Json, path: Path | None, choose: int) -> Imported | None:
    """Import data with its importer; None if there is none."""
    source = ImportSource(text, data, path, _reader(path))
    importer = find_importer(source)
    return importer.read(source, choose) if importer is not None else None


def _reader(path: Path | None) -> Callable[[str], str]:
    """Return a function that reads files beside a configuration, limited to its folder."""
    context = ReferenceContext(folder=path.parent if path is not None else None, trusted=False)

    def read(name: str) -> str:
        try:
            return read_text(confined_path(name, context), encoding="utf-8-sig")
        except UnresolvedReference as error:
            raise ImportFailure(str(error)) from error
        except (OSError, UnicodeDecodeError) as error:
            raise ImportFailure(f"The prompt file {name!r} cannot be read.") from error

    return read


def import_chat_text(text: str) -> Imported:
    """Import a conversation; a text without speakers becomes one user message.

    Raises:
        ImportFailure: the text is empty.
    """
    if not text.strip():
        raise ImportFailure("The text is empty.")
    if "\x00" in text:
        raise ImportFailure("This is not a text file.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    work = Composition()
    messages = list(read_markdown(text))
    form = "Markdown document of the studio" if messages else "chat text"
    if messages:
        work.notes.append("Inputs, tools and the model of the document are not read.")
    else:
        messages = list(_tagged(text)) or list(_marked(text, work.notes))
    if not messages:
        form = "plain text"
        work.notes.append("The text has no role lines, so all of it is one user message.")
        messages = [Message("user", (TextPart(text.strip("\n")),))]
    work.messages += messages
    return Imported(compose(work), form, tuple(work.notes))


def _tagged(text: str) -> Iterator[Message]:
    for pattern in (_CHATML, _LLAMA):
        found = list(pattern.finditer(text))
        if found:
            for item in found:
                content = item[2].strip("\n")
                role = _WORDS.get(item[1].lower(), "user")
                if content:
                    yield Message(role, (TextPart(content),))
            return


def _marked(text: str, notes: list[str]) -> Iterator[Message]:
    """Yield turns by headings, else by lines; the first line or two later ones must have a marker.

    Args:
        text: the whole text; code blocks in it begin no turns.
        notes: gets a note on where the first turn begins, if other text precedes it.
    """
    outside = _CODE_BLOCK.sub(lambda block: "\0" * len(block[0]), text)
    for pattern in (_HEADING, _LINE):
        found = list(pattern.finditer(outside))
        first = text[: found[0].start()].strip() if found else ""
        if not found or (first and len(found) < 2):
            continue
        if first:
            line = text.count("\n", 0, found[0].start("word")) + 1
            notes.append(
                f"{counted(len(found), 'line')} with role names split the text into messages, "
                f"from line {line} on; the text above is the system message."
            )
            yield Message("system", (TextPart(first),))
        for index, item in enumerate(found):
            end = found[index + 1].start() if index + 1 < len(found) else len(text)
            content = text[item.end() : end].strip()
            yield Message(
                _WORDS[item["word"].lower()], (TextPart(_unfenced(content)),) if content else ()
            )
        return


def _unfenced(text: str) -> str:
    """Return the text inside a surrounding fence, as in the Markdown export."""
    fence = re.fullmatch(r"(`{3,}|~{3,})(?:text)?\n(.*)\n\1", text, re.DOTALL)
    return fence[2] if fence is not None and f"\n{fence[1]}\n" not in fence[2] else text
