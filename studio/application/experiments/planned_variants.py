"""The variants of an experiment, each with its prompt and its model."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TypeGuard

from studio.application.experiments.prompts import ExperimentError, Folder, documents_of
from studio.application.experiments.providers import choice_for, with_options
from studio.application.experiments.report import GIT
from studio.application.words import tr
from studio.core.experiments.datasets import DatasetError
from studio.core.experiments.file.cases import read_case
from studio.core.experiments.file.nodes import ExperimentFindings, YamlNode, read_nodes
from studio.core.experiments.file.read import is_provider_file, read_providers
from studio.core.experiments.values import (
    DatasetReference,
    ExperimentCase,
    ExperimentFile,
    FileReference,
    VariantEntry,
)
from studio.core.imports.imported import ImportFailure
from studio.core.imports.promptfoo import value_of_file
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connections
from studio.core.prompty.document import PromptDocument
from studio.core.text.source import Severity, SourceText, Span
from studio.core.text.values import Json, JsonObject, reason_of
from studio.core.wire.media import media_type_of

# Reads parts of an experiment from their own files: `defaultTest`, and values of tests.

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
"""Suffixes of sounds and videos, which become base64."""

_MOST_FILES = 10_000


def with_files(file: ExperimentFile, folder: Folder, warnings: list[str]) -> ExperimentFile:
    """Return an experiment with its file references replaced by the files' contents.

    Args:
        file: the experiment as read.
        folder: folder of its files.
        warnings: receives warnings about the files.

    Raises:
        ExperimentError: a file cannot be read, or has other content.
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
    """Return a case from another file, with the span of that file's name in the experiment.

    Args:
        case: the case as read.
        place: span of the file's name in the experiment.
    """
    return replace(case, files=tuple(replace(each, span=place) for each in case.files))


def with_values(case: ExperimentCase, file: ExperimentFile, folder: Folder) -> ExperimentCase:
    """Return a case with the values of its files; its own values take precedence.

    Args:
        case: the case as read.
        file: the experiment, which contains the names.
        folder: folder of the files.

    Raises:
        ExperimentError: a file cannot be read, or has other content.
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
    """Read a mapping of YAML or JSON, with its problems."""
    findings = ExperimentFindings()
    with at_place(file, reference.span.start):
        source = SourceText(folder.read(name))
        root = read_nodes(source.text, findings)
        if not isinstance(root.value, Mapping) and not findings.problems:
            raise ExperimentError(
                tr("{name}: it contains no names with values (YAML or JSON).").format(name=name)
            )
        wrong = next((each for each in findings.problems if each.severity is Severity.ERROR), None)
        if wrong is not None:
            line = source.position(wrong.span.start).line
            raise ExperimentError(f"{name}:{line}: {wrong.message}")
    return root, findings, source


class ValueFiles:
    """A reader of the files that values name, each read once."""

    def __init__(self, file: ExperimentFile, folder: Folder) -> None:
        """Store the experiment.

        Args:
            file: the experiment as read.
            folder: folder of its files.
        """
        self._file, self._folder = file, folder
        self._known: dict[str, str] = {}

    def of(self, case: ExperimentCase) -> ExperimentCase:
        """Return a case with the contents of the files in its values.

        Raises:
            ExperimentError: a file cannot be read.
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
            raise ExperimentError(tr("{name}: this is not a valid file name.").format(name=pattern))
        return [str(each.relative_to(self._folder.path)) for each in found[:_MOST_FILES]]

    def _check_trust(self, name: str) -> None:
        if not self._folder.trusted:
            raise ExperimentError(
                tr(
                    "{name}: a file as a value is sent to the model, so it is only read in "
                    "trusted folders; trust the experiment's folder to use it."
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


@dataclass(frozen=True)
class PlannedVariant:
    """A variant with its prompt and its model."""

    name: str
    """Name, unique in the experiment."""

    entry: VariantEntry
    """Entry in the file."""

    document: PromptDocument
    """The prompt, including the options of its provider."""

    choice: ModelChoice | None
    """The connection and model; None for `echo`."""

    base: str = ""
    """Name of the variant that it is compared with, if it has its own; else empty."""

    def takes(self, case: ExperimentCase) -> bool:
        """Return whether a case is for the variant, by `prompts` and `providers` of its test."""
        if case.prompts is None and case.providers is None:
            return True
        prompt, provider = self.entry.prompt, self.entry.provider
        prompts, providers = (prompt.label, prompt.id, self.name), (provider.label, provider.id)
        return _is_named(prompts, case.prompts) and _is_named(providers, case.providers)


def config_of(entry: VariantEntry) -> JsonObject:
    """Return the options of a variant: its provider's, overridden by its prompt's."""
    return {**entry.provider.config, **entry.prompt.config}


def message_at(file: ExperimentFile, offset: int, message: str) -> str:
    """Return a message with its line in the experiment file."""
    place = file.source.position(offset)
    name = file.path.name if file.path is not None else "experiment"
    return f"{name}:{place.line}:{place.column}: {message}"


@contextmanager
def at_place(file: ExperimentFile, offset: int) -> Iterator[None]:
    """Add a line of the experiment file to errors in the block."""
    try:
        yield
    except (DatasetError, ExperimentError) as error:
        raise ExperimentError(message_at(file, offset, str(error))) from None


def files_at(
    reference: FileReference | DatasetReference,
    file: ExperimentFile,
    folder: Folder,
    endings: Sequence[str] = (),
) -> list[Path]:
    """Return the files that match a pattern, at least one.

    Args:
        reference: the pattern.
        file: the experiment, which contains the pattern.
        folder: folder of the files.
        endings: suffixes of the files; empty for all.

    Raises:
        ExperimentError: there are no files, or they may not be read.
    """
    with at_place(file, reference.span.start):
        found = [
            path
            for path in folder.matching(reference.path)
            if not endings or path.suffix.lower() in endings
        ]
        if not found:
            raise ExperimentError(
                tr("{name}: this is not a valid file name.").format(name=reference.path)
            )
    return found


def _is_named(names: Sequence[str], references: Sequence[str] | None) -> bool:
    """Return whether one of the references matches one of the names.

    Source: promptfoo 0.123, `doesPromptRefMatch` and `doesProviderRefMatch`: a name, a prefix
    followed by `*`, or the part before a colon.
    """
    if references is None:
        return True
    return any(
        name == each
        or name.startswith(f"{each}:")
        or (each.endswith("*") and name.startswith(each[:-1]))
        for each in (reference.removeprefix("file://") for reference in references)
        for name in names
        if name
    )


def planned_variants(
    file: ExperimentFile, folder: Folder, connections: Connections, wanted: Sequence[str]
) -> list[PlannedVariant]:
    """Return the variants of a file.

    Args:
        file: the experiment.
        folder: folder of its files.
        connections: the user's connections.
        wanted: names of the variants to return; empty for all.

    Raises:
        ExperimentError: a prompt or a provider cannot be used, or a name is unknown.
    """
    made: list[PlannedVariant] = []
    reasons: list[str] = []
    unconnected: Path | None = None
    for entry in _with_provider_files(file, folder, reasons):
        place = entry.prompt.span
        try:
            for label, found in documents_of(entry.prompt, folder):
                name = entry.name.replace(entry.prompt.label, label, 1)
                place = entry.provider.span if entry.provider.id else place
                choice = choice_for(entry.provider, found, connections, trusted=folder.trusted)
                document = with_options(found, config_of(entry), folder, choice)
                if choice is not None:
                    options = document.model.options
                    choice = replace(
                        choice, declaration=replace(choice.declaration, options=options)
                    )
                made.append(PlannedVariant(name, entry, document, choice))
        except ExperimentError as error:
            reasons.append(message_at(file, place.start, str(error)))
            unconnected = unconnected or error.unconnected
    if reasons:
        raise ExperimentError("\n".join(dict.fromkeys(reasons)), unconnected)
    if wanted:
        known = [each.name for each in made]
        for name in wanted:
            if name not in known:
                raise ExperimentError(
                    tr("There is no variant {name!r}; there are: {known}.").format(
                        name=name, known=", ".join(known)
                    )
                )
        made = [each for each in made if each.name in wanted]
    if not made:
        raise ExperimentError(tr("The experiment has no variant to run."))
    return made


def _with_provider_files(
    file: ExperimentFile, folder: Folder, reasons: list[str]
) -> Iterator[VariantEntry]:
    """Yield the variants, including those of providers in their own files."""
    for entry in file.variants:
        given = entry.provider
        if not is_provider_file(given.id):
            yield entry
            continue
        findings = ExperimentFindings()
        try:
            found = read_providers(read_nodes(folder.read(given.id), findings))
        except ExperimentError as error:
            reasons.append(message_at(file, given.span.start, str(error)))
            continue
        wrong = next((each for each in findings.problems if each.severity is Severity.ERROR), None)
        if wrong is not None or not found:
            why = wrong.message if wrong is not None else tr("it contains no provider")
            reasons.append(message_at(file, given.span.start, f"{given.id}: {why}"))
            continue
        for each in found:
            label = given.label or each.label or each.id
            name = entry.name.replace(given.id, label)
            if len(found) > 1 and label not in name:
                name = f"{name} · {label}"
            config = {**each.config, **given.config}
            yield replace(entry, name=name, provider=replace(each, config=config, span=given.span))


def with_revision(
    baseline: str, variants: Sequence[PlannedVariant], file: ExperimentFile, folder: Folder
) -> list[PlannedVariant]:
    """Return the variants and their bases: the same prompts at a git revision.

    Prompts that differ only in their edits share a base.
    """
    pairs: dict[tuple[str, str], PlannedVariant] = {}
    for each in variants:
        prompt = each.entry.prompt
        if prompt.is_prompty and not prompt.revision:
            pairs.setdefault((prompt.id, each.entry.provider.id), each)
    place = file.source.text.find(baseline)
    if not pairs:
        message = tr("{name} needs a saved prompt file.").format(name=baseline)
        raise ExperimentError(message_at(file, max(0, place), message))
    bases: dict[tuple[str, str], PlannedVariant] = {}
    for pair, each in pairs.items():
        entry = replace(each.entry.prompt, revision=baseline.removeprefix(GIT), edit={})
        with at_place(file, max(0, place)):
            ((_, document),) = documents_of(entry, folder)
        name = baseline if len(pairs) == 1 else f"{each.name} @ {baseline}"
        bases[pair] = replace(
            each,
            name=name,
            entry=replace(each.entry, name=name, prompt=entry),
            document=with_options(document, config_of(each.entry), folder, each.choice),
        )
    compared = []
    for each in variants:
        base = bases.get((each.entry.prompt.id, each.entry.provider.id))
        compared.append(replace(each, base=base.name if base is not None else ""))
    return [*compared, *bases.values()]
