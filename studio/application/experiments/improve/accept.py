"""What a proposed text becomes: variants of the experiment, or the prompt's own section."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from studio.application.experiments.improve.candidates import section_text
from studio.application.experiments.improve.values import ImproveError, Improvement
from studio.application.experiments.make import with_item
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.prompts import ExperimentError, section_edit
from studio.application.words import tr
from studio.core.experiments.file.read import read_experiment
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.naming import free_name
from studio.core.text.problem import TextEdit
from studio.core.text.values import Json


def with_variants(text: str, variant: PlannedVariant, title: str, texts: Sequence[str]) -> str:
    """An experiment's text with one more variant for each text of a section.

    Raises:
        ExperimentError: they cannot be added; write them by hand.
    """
    file = read_experiment(text)
    names = [each.name for each in file.variants]

    def is_taken(label: str) -> bool:
        return any(each == label or each.startswith(f"{label} · ") for each in names)

    reading = read_yaml(text).value
    is_named = isinstance(reading, dict) and isinstance(reading.get("variants"), dict)
    added = text
    for number, new in enumerate(texts, 1):
        label = free_name(f"{variant.entry.prompt.label} · {title} {number}", is_taken, " ({})")
        names.append(label)
        if is_named:
            added = _with_named(added, variant, label, title, new)
            continue
        entry: dict[str, Json] = {"id": variant.entry.prompt.id, "label": label}
        if variant.entry.prompt.protocol:
            entry["protocol"] = variant.entry.prompt.protocol
        added = with_item(added, "prompts", {**entry, "edit": {title: new}})
    after = {each.name for each in read_experiment(added).variants}
    baseline = file.baseline
    if baseline in {each.name for each in file.variants} and baseline not in after:
        raise ExperimentError(
            tr(
                "With more prompts the variant {name!r}, the baseline, has another name; give the "
                "prompts labels first."
            ).format(name=baseline)
        )
    return added


def _with_named(text: str, variant: PlannedVariant, name: str, title: str, new: str) -> str:
    """The text with one more entry under `variants`, at the end of them."""
    reading = read_yaml(text)
    data = reading.value
    assert isinstance(data, dict)
    variants = data["variants"]
    assert isinstance(variants, dict)
    entry: dict[str, Json] = {**variants[variant.name], "edit": {title: new}}
    places = [each for each in reading.entries if each.path[:1] == ("variants",)]
    first = next(each for each in places if len(each.path) == 2)
    if text[places[0].value.start] == "{":
        end = text.rindex("}", places[0].value.start, places[0].value.end + 1)
        added = (
            f"{text[:end]}, {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}{text[end:]}"
        )
    else:
        indent = first.key.start - (text.rfind("\n", 0, first.key.start) + 1)
        end = max(max(each.value.end, each.key.end) for each in places[1:])
        until = end if text[end - 1 : end] == "\n" else text.find("\n", end) + 1
        before = text[:until] if until else f"{text}\n"
        lines = write_yaml({name: entry})
        block = "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in lines)
        added = before + block + text[len(before) :]
    again = read_yaml(added).value
    if again != {**data, "variants": {**variants, name: entry}}:
        raise ExperimentError(tr("It cannot be added to the file; write it by hand."))
    return added


def acceptance(document: PromptDocument, found: Improvement) -> TextEdit:
    """What puts the better text into a prompt, one edit.

    Raises:
        ImproveError: the section is not what the search began with.
    """
    try:
        current = section_text(document, found.section)
        edit = section_edit(document, found.section, found.after, Path(found.prompt).name)
    except ExperimentError as error:
        raise ImproveError(str(error)) from None
    if current != found.before:
        raise ImproveError(
            tr(
                "The section {title!r} of {name} was changed since the search began; put the text "
                "in by hand."
            ).format(title=found.section, name=Path(found.prompt).name)
        )
    return edit
