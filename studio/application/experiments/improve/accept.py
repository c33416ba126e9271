"""Turn a proposed text into a variant of the experiment or into an edit of the prompt."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from studio.application.experiments.charts import ChartFigure, ChartPoint
from studio.application.experiments.improve.candidates import section_text
from studio.application.experiments.improve.values import (
    Candidate,
    ImproveError,
    Improvement,
    ImproveProgress,
)
from studio.application.experiments.make import with_item
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.prompts import ExperimentError, section_edit
from studio.application.experiments.report import percent
from studio.application.words import tr
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.results.comparison import shown_p, wilson
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.amounts import money
from studio.core.text.diff import unified_diff
from studio.core.text.naming import free_name
from studio.core.text.source import TextEdit
from studio.core.text.values import Json


def with_variants(text: str, variant: PlannedVariant, title: str, texts: Sequence[str]) -> str:
    """Return an experiment's text with one more variant for each text of a section.

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
    """Return the text with one more entry under `variants`, at the end of them."""
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
    """Return the edit that puts the better text into a prompt.

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


# What a search found, in words, as a diff, and as a chart of where its texts come from.

_CONTEXT = 2


def improvement_diff(found: Improvement) -> list[str]:
    """Return the lines of a unified diff of the section, without file names."""
    return section_diff(found.before, found.after)


def section_diff(before: str, after: str) -> list[str]:
    """Return the lines of a unified diff of any two texts of a section."""
    return unified_diff(f"{before}\n", f"{after}\n", context=_CONTEXT).splitlines()


def improvement_sentences(found: Improvement) -> Iterator[str]:
    """Describe the outcome of a search, the unseen rows first."""
    learn, choose, decide = found.rows
    if not found.found:
        yield tr("No text was better than the section as it is.")
    elif found.report is None or not found.report.is_whole:
        yield tr(
            "A text was better on the rows that choose, but the unseen rows were not all "
            "asked: nothing is proven."
        )
    else:
        yield _unseen(found)
        yield from (each for each in found.report.sentences if each != found.report.headline)
    words = tr("{learn} rows to learn from, {choose} to choose by, {decide} unseen until the end.")
    if learn == 1:
        words = tr("1 row to learn from, {choose} to choose by, {decide} unseen until the end.")
    yield words.format(learn=learn, choose=choose, decide=decide)
    proposed = len(found.candidates) - 1
    kept = sum(each.state == "kept" for each in found.candidates)
    refused = sum(each.state == "refused" for each in found.candidates)
    words = tr(
        "{proposed} texts were proposed: {kept} scored, {refused} refused before they were sent."
    )
    if proposed == 1:
        words = tr("1 text was proposed: {kept} scored, {refused} refused before it was sent.")
    yield words.format(proposed=proposed, kept=kept, refused=refused)
    cost = tr("cost not known") if found.spent.cost is None else money(found.spent.cost)
    words = tr("{calls} cells asked, {tokens:,} tokens, {cost}.")
    if found.spent.calls == 1:
        words = tr("1 cell asked, {tokens:,} tokens, {cost}.")
    yield words.format(calls=found.spent.calls, tokens=found.spent.tokens, cost=cost)
    if found.ended:
        yield found.ended


def _unseen(found: Improvement) -> str:
    """Return a sentence on the unseen rows won and lost, with the exact p-value."""
    report = found.report
    assert report is not None
    compared = next(each for each in report.variants if each.comparison is not None)
    comparison = compared.comparison
    assert comparison is not None
    low, high = wilson(comparison.passed, comparison.rows)
    words = tr(
        "On {rows} unseen rows: {after} pass ({low} to {high}), {before} before; {won} won, "
        "{lost} lost, {p}: {verdict}"
    )
    if comparison.rows == 1:
        words = tr(
            "On 1 unseen row: {after} pass ({low} to {high}), {before} before; {won} won, "
            "{lost} lost, {p}: {verdict}"
        )
    clear, unclear = tr("unlikely to be chance."), tr("this cannot be distinguished from chance.")
    return words.format(
        rows=comparison.rows,
        after=comparison.passed,
        before=comparison.baseline_passed,
        low=percent(low),
        high=percent(high),
        won=len(comparison.won),
        lost=len(comparison.lost),
        p=shown_p(comparison.p_value),
        verdict=clear if comparison.is_clear else unclear,
    )


def candidate_words(each: Candidate) -> str:
    """Return a text of the search in one line."""
    match each.state:
        case "start":
            words = tr("as it is")
        case "kept":
            words = tr("scored")
        case "dropped":
            words = tr("dropped")
        case "refused":
            words = tr("refused")
    parent = "" if each.parent is None else tr(" from #{parent}").format(parent=each.parent)
    score = "" if each.score is None else f", {percent(each.score)}"
    reason = f" ({each.reason})" if each.reason else ""
    return f"#{each.number}{parent}: {words}{score}{reason}"


def lineage_figure(found: Improvement) -> ChartFigure:
    """Return the texts in the order of their making, each joined with the one that it was made of.

    A text that was never scored has no height of its own: it is not among them.
    """
    by_number = {each.number: each for each in found.candidates}
    points: list[ChartPoint] = []
    for each in found.candidates:
        if each.score is None:
            continue
        parent = by_number.get(each.parent) if each.parent is not None else None
        name = f"#{each.number}"
        words = candidate_words(each)
        is_muted = each.text != found.after
        if parent is not None and parent.score is not None:
            points.append(ChartPoint(name, float(parent.number), parent.score, "", is_muted))
        points.append(ChartPoint(name, float(each.number), each.score, words, is_muted))
    most = max(1.0, float(len(found.candidates) - 1))
    title = tr("Mean score on the selection rows, by text")
    return ChartFigure(title, points=tuple(points), most=most, unit="#")


def progress_words(found: ImproveProgress) -> str:
    """Return the progress of a search in one line."""
    words = tr("texts {proposals} of {most} · cells {calls} · tokens {tokens:,}").format(
        proposals=found.proposals,
        most=found.most,
        calls=found.spent.calls,
        tokens=found.spent.tokens,
    )
    if found.spent.cost:
        words += f" · {money(found.spent.cost)}"
    if found.best is not None:
        words += tr(" · best {score}").format(score=percent(found.best))
    return words + (tr(" · asking the unseen rows") if found.is_deciding else "")
