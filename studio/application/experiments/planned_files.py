"""Read an experiment's parts from files of their own: `defaultTest`, and values of its tests.

Source: promptfoo's `defaultTest: file://…` (one test as YAML or JSON), `vars: file://…` (a file,
several, or a pattern; of two files that give one name the later counts), and of promptfoo 0.123
`generateVarCombinations` (a pattern is a list of values) and `renderPrompt` (what the file of one
value, `vars: {letter: file://letter.txt}`, becomes, by its ending).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import TypeGuard

from studio.application.experiments.planned_variants import at_place, files_at, message_at
from studio.application.experiments.prompts import ExperimentError, Folder
from studio.application.words import tr
from studio.core.experiments.file.cases import read_case
from studio.core.experiments.file.nodes import ExperimentFindings, YamlNode, read_nodes
from studio.core.experiments.values import ExperimentCase, ExperimentFile, FileReference
from studio.core.imports.imported import ImportFailure
from studio.core.imports.promptfoo import value_of_file
from studio.core.text.source import Severity, SourceText, Span
from studio.core.text.values import Json, JsonObject, reason_of
from studio.core.wire.media import media_type_of

_MARK = "file://"
_PATTERN = frozenset("*?[{")
_IMAGES = frozenset(
    ("jpg", "jpeg", "png", "gif", "bmp", "webp", "svg", "heic", "heif", "avif", "tif", "tiff")
)
_SOUNDS = frozenset(
    """
    mp4 mpeg mpg webm ogg mov avi flv wmv mkv m4v 3gp 3gpp wav mp3 aac m4a flac wma aif aiff aifc
    opus
""".split()
)
"""Videos too: both become base64."""

_MOST_FILES = 10_000


def with_files(file: ExperimentFile, folder: Folder, warnings: list[str]) -> ExperimentFile:
    """Replace the file references of an experiment by the contents of those files.

    Args:
        file: as it was read.
        folder: where its files are.
        warnings: what is odd in one of them is added.

    Raises:
        ExperimentError: one cannot be read, or holds something else.
    """
    default = file.default
    if file.default_file is not None:
        default = _default(file, file.default_file, folder, warnings)
    cases = tuple(
        with_values(each, file, folder) if isinstance(each, ExperimentCase) else each
        for each in file.cases
    )
    return replace(file, default=with_values(default, file, folder), default_file=None, cases=cases)


def _default(
    file: ExperimentFile, reference: FileReference, folder: Folder, warnings: list[str]
) -> ExperimentCase:
    whole = read_nodes(file.source.text, ExperimentFindings())
    templates = dict(whole.get("assertionTemplates").fields())
    root, findings, source = _read(file, reference, reference.path, folder)
    case = read_case(root, templates, source)
    place = reference.span
    for each in findings.problems:
        line = source.position(each.span.start).line
        problem = message_at(file, place.start, f"{reference.path}:{line}: {each.message}")
        if each.severity is Severity.ERROR:
            raise ExperimentError(problem)
        warnings.append(problem)
    return named_at(case, place)


def named_at(case: ExperimentCase, place: Span) -> ExperimentCase:
    """Return a case of another file with the place at which the experiment names that file.

    Args:
        case: as it was read.
        place: where the experiment names its file.
    """
    return replace(case, files=tuple(replace(each, span=place) for each in case.files))


def with_values(case: ExperimentCase, file: ExperimentFile, folder: Folder) -> ExperimentCase:
    """A case with the values of the files that it names; its own count.

    Args:
        case: as it was read.
        file: the experiment, in which the places of the names are.
        folder: where the files are.

    Raises:
        ExperimentError: one cannot be read, or holds something else.
    """
    if not case.files:
        return case
    values: JsonObject = {}
    for reference in case.files:
        for name in _names(file, reference, folder):
            root, findings, _ = _read(file, reference, name, folder)
            if findings.problems:
                message = f"{name}: {findings.problems[0].message}"
                raise ExperimentError(message_at(file, reference.span.start, message))
            assert isinstance(root.value, Mapping)
            values = {**values, **{str(key): value for key, value in root.value.items()}}
    return replace(case, variables={**values, **case.variables}, files=())


def _names(file: ExperimentFile, reference: FileReference, folder: Folder) -> Iterator[str]:
    if "*" not in reference.path:
        yield reference.path
        return
    found = files_at(reference, file, folder)
    yield from (str(each.relative_to(folder.path)) for each in found)


def _read(
    file: ExperimentFile, reference: FileReference, name: str, folder: Folder
) -> tuple[YamlNode, ExperimentFindings, SourceText]:
    """A mapping of YAML or JSON, with what is wrong in its text."""
    findings = ExperimentFindings()
    with at_place(file, reference.span.start):
        source = SourceText(folder.read(name))
        root = read_nodes(source.text, findings)
        if not isinstance(root.value, Mapping) and not findings.problems:
            raise ExperimentError(
                tr("{name}: it holds no names with values (YAML or JSON).").format(name=name)
            )
        wrong = next((each for each in findings.problems if each.severity is Severity.ERROR), None)
        if wrong is not None:
            line = source.position(wrong.span.start).line
            raise ExperimentError(f"{name}:{line}: {wrong.message}")
    return root, findings, source


class ValueFiles:
    """Reads the files that values name, each once."""

    def __init__(self, file: ExperimentFile, folder: Folder) -> None:
        """Take an experiment.

        Args:
            file: as it was read.
            folder: where its files are.
        """
        self._file, self._folder = file, folder
        self._known: dict[str, str] = {}

    def of(self, case: ExperimentCase) -> ExperimentCase:
        """Return a case with the contents of the files that its values name.

        Raises:
            ExperimentError: one cannot be read.
        """
        options = {**self._file.default.options, **case.options}
        spreads = options.get("disableVarExpansion") is not True
        try:
            changed = {
                name: made
                for name, value in case.variables.items()
                if (made := self._value(value, spreads=spreads)) is not value
            }
        except ExperimentError as error:
            name = case.file or (self._file.path.name if self._file.path else "experiment")
            raise ExperimentError(f"{name}:{max(1, case.line)}: {error}") from None
        return replace(case, variables={**case.variables, **changed}) if changed else case

    def _value(self, value: Json, *, spreads: bool) -> Json:
        if _names_file(value):
            names = self._names(value) if spreads else [value]
            values: list[Json] = [self._read(each.removeprefix(_MARK)) for each in names]
            return values if len(values) > 1 else values[0]
        if not spreads or not isinstance(value, list) or not value:
            return value
        if not isinstance(value[0], str) or not any(map(_names_file, value)):
            return value
        return [
            self._read(each.removeprefix(_MARK)) if _names_file(each) else each for each in value
        ]

    def _names(self, value: str) -> list[str]:
        pattern = value.removeprefix(_MARK)
        self._check_trust(pattern)
        if not _PATTERN & set(pattern) or (self._folder.path / pattern).is_file():
            return [pattern]
        found = self._folder.matching(pattern)
        if not found:
            raise ExperimentError(tr("{name}: no file has such a name.").format(name=pattern))
        return [str(each.relative_to(self._folder.path)) for each in found[:_MOST_FILES]]

    def _check_trust(self, name: str) -> None:
        if not self._folder.trusted:
            raise ExperimentError(
                tr(
                    "{name}: a file as a value is sent to the model, so it is read in trusted "
                    "folders only; trust the experiment's folder to use it."
                ).format(name=name)
            )

    def _read(self, name: str) -> str:
        if name not in self._known:
            self._check_trust(name)
            content = self._folder.content(name)
            try:
                self._known[name] = _value_of(name, content)
            except (ValueError, ImportFailure) as error:
                raise ExperimentError(f"{name}: {reason_of(error)}") from None
        return self._known[name]


def _names_file(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and value.startswith(_MARK)


def _value_of(name: str, content: bytes) -> str:
    ending = PurePath(name).suffix[1:].lower()
    if ending in _IMAGES | _SOUNDS:
        text = base64.b64encode(content).decode("ascii")
        return f"data:{media_type_of(name, content)};base64,{text}" if ending in _IMAGES else text
    return value_of_file(name, "" if ending == "pdf" else content.decode("utf-8-sig"))
