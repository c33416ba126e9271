"""What an experiment keeps in files of its own beside it: `defaultTest`, and values of its tests.

Source: promptfoo's `defaultTest: file://…` (one test as YAML or JSON) and `vars: file://…` (a file,
several, or a pattern; of two files that give one name the later counts).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from studio.application.experiments.planned_variants import message_at
from studio.application.experiments.prompts import ExperimentError, Folder
from studio.application.words import translate
from studio.core.experiments.file.cases import read_case
from studio.core.experiments.file.nodes import ExperimentFindings, YamlNode, read_nodes
from studio.core.experiments.values import ExperimentCase, ExperimentFile, FileReference
from studio.core.text.problem import Severity
from studio.core.text.source import SourceText
from studio.core.text.span import Span
from studio.core.text.values import JsonObject

_tr = partial(translate, "ExperimentPlan")


def with_files(file: ExperimentFile, folder: Folder, warnings: list[str]) -> ExperimentFile:
    """The experiment with what stands in those files.

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
        told = message_at(file, place.start, f"{reference.path}:{line}: {each.message}")
        if each.severity is Severity.ERROR:
            raise ExperimentError(told)
        warnings.append(told)
    return named_at(case, place)


def named_at(case: ExperimentCase, place: Span) -> ExperimentCase:
    """A case of another file: what it names stands beside the experiment, which names that file.

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
            wrong = next(iter(findings.problems), None)
            if wrong is not None:
                raise ExperimentError(
                    message_at(file, reference.span.start, f"{name}: {wrong.message}")
                )
            assert isinstance(root.value, Mapping)
            values = {**values, **{str(key): value for key, value in root.value.items()}}
    return replace(case, variables={**values, **case.variables}, files=())


def _names(file: ExperimentFile, reference: FileReference, folder: Folder) -> Iterator[str]:
    if "*" not in reference.path:
        yield reference.path
        return
    try:
        found = folder.matching(reference.path)
    except ExperimentError as error:
        raise ExperimentError(message_at(file, reference.span.start, str(error))) from None
    if not found:
        message = _tr("{name}: no file has such a name.").format(name=reference.path)
        raise ExperimentError(message_at(file, reference.span.start, message))
    yield from (str(each.relative_to(folder.path)) for each in found)


def _read(
    file: ExperimentFile, reference: FileReference, name: str, folder: Folder
) -> tuple[YamlNode, ExperimentFindings, SourceText]:
    """A mapping of YAML or JSON, with what is wrong in its text."""
    findings = ExperimentFindings()
    try:
        text = folder.read(name)
    except ExperimentError as error:
        raise ExperimentError(message_at(file, reference.span.start, str(error))) from None
    root = read_nodes(text, findings)
    if not isinstance(root.value, Mapping) and not findings.problems:
        message = _tr("{name}: it holds no names with values (YAML or JSON).").format(name=name)
        raise ExperimentError(message_at(file, reference.span.start, message))
    wrong = next((each for each in findings.problems if each.severity is Severity.ERROR), None)
    if wrong is not None:
        line = SourceText(text).position(wrong.span.start).line
        message = f"{name}:{line}: {wrong.message}"
        raise ExperimentError(message_at(file, reference.span.start, message))
    return root, findings, SourceText(text)
