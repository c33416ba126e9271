"""The columns of an experiment: each with the prompt and the model that answer for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from studio.application.experiments.prompts import ExperimentError, Folder, documents_of
from studio.application.experiments.providers import choice_for, with_options
from studio.application.experiments.report import GIT
from studio.application.words import tr
from studio.core.experiments.datasets import DatasetError
from studio.core.experiments.file.nodes import ExperimentFindings, read_nodes
from studio.core.experiments.file.read import is_provider_file, read_providers
from studio.core.experiments.values import (
    DatasetReference,
    ExperimentCase,
    ExperimentFile,
    FileReference,
    VariantEntry,
)
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connections
from studio.core.prompty.document import PromptDocument
from studio.core.text.source import Severity
from studio.core.text.values import JsonObject


@dataclass(frozen=True)
class PlannedVariant:
    """One column, with the prompt and the model that answer for it."""

    name: str
    """Unique in the experiment."""

    entry: VariantEntry
    """As the file has it."""

    document: PromptDocument
    """The prompt, with the options of its provider."""

    choice: ModelChoice | None
    """The connection and model; None for `echo`."""

    base: str = ""
    """The column that it is compared with, where not all are compared with one."""

    def takes(self, case: ExperimentCase) -> bool:
        """Whether a case is for it: `prompts` and `providers` of a test name some only."""
        if case.prompts is None and case.providers is None:
            return True
        prompt, provider = self.entry.prompt, self.entry.provider
        prompts, providers = (prompt.label, prompt.id, self.name), (provider.label, provider.id)
        return _is_named(prompts, case.prompts) and _is_named(providers, case.providers)


def config_of(entry: VariantEntry) -> JsonObject:
    """The options of a column: its provider's, and its prompt's over them."""
    return {**entry.provider.config, **entry.prompt.config}


def message_at(file: ExperimentFile, offset: int, message: str) -> str:
    """A message with its place in the experiment file."""
    place = file.source.position(offset)
    name = file.path.name if file.path is not None else "experiment"
    return f"{name}:{place.line}:{place.column}: {message}"


@contextmanager
def at_place(file: ExperimentFile, offset: int) -> Iterator[None]:
    """Name a place of the experiment file in what goes wrong there."""
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
    """The files that a pattern means, at least one.

    Args:
        reference: the pattern.
        file: the experiment, in which its place is.
        folder: where the files are.
        endings: of the names of those that are meant; none means all.

    Raises:
        ExperimentError: there is none, or they may not be read.
    """
    with at_place(file, reference.span.start):
        found = [
            path
            for path in folder.matching(reference.path)
            if not endings or path.suffix.lower() in endings
        ]
        if not found:
            raise ExperimentError(
                tr("{name}: no file has such a name.").format(name=reference.path)
            )
    return found


def _is_named(names: Sequence[str], references: Sequence[str] | None) -> bool:
    """Return whether one of the references matches one of the names.

    Source: promptfoo 0.123, `doesPromptRefMatch` and `doesProviderRefMatch`: a name, the beginning
    of one before `*`, or what stands before a colon.
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
    """The columns of a file.

    Args:
        file: the experiment.
        folder: where its files are.
        connections: what the user has set up.
        wanted: names of those that are kept; none keeps all.

    Raises:
        ExperimentError: a prompt or a provider cannot be used, or a name is not there.
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
    """Add the providers that are defined in files of their own to the columns."""
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
            why = wrong.message if wrong is not None else tr("it holds no provider")
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
    """The columns, and those of the same prompts as they are at a revision of git: their bases.

    Prompts that differ by their edits only have one column in common.
    """
    pairs: dict[tuple[str, str], PlannedVariant] = {}
    for each in variants:
        prompt = each.entry.prompt
        if prompt.is_prompty and not prompt.revision:
            pairs.setdefault((prompt.id, each.entry.provider.id), each)
    place = file.source.text.find(baseline)
    if not pairs:
        message = tr("{name} needs a prompt that is a file.").format(name=baseline)
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
