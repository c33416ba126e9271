from __future__ import annotations

from studio.application.preview.build import build_preview
from studio.application.preview.requests import request_of
from studio.application.preview.variables import CardData, PreviewJob, TextRun, cut_runs, same_ends
from studio.core.prompty.document import TextPart
from studio.core.prompty.parse import parse

DOC = """---
template:
  parser: {kind: section}
inputs:
  who: {kind: string, sample: Ann}
---
system:
Hello {{ who }}.

user:
Bye.
"""


def made(text: str, **inputs: str) -> tuple[CardData, ...]:
    return build_preview(PreviewJob(parse(text), inputs)).cards


def part_of(card: CardData) -> TextPart:
    part = card.message.parts[0]
    assert isinstance(part, TextPart)
    return part


def test_a_sample_that_no_run_sends_is_no_change_since_the_run() -> None:
    document = parse(DOC)
    asked = build_preview(PreviewJob(document, {})).sent.messages.messages
    assert asked[0].text == "Hello ."
    assert not any(card.new for card in build_preview(PreviewJob(document, {}, asked=asked)).cards)
    changed = PreviewJob(parse(DOC.replace("Hello", "Good day,")), {}, asked=asked)
    assert build_preview(changed).cards[0].new


def test_runs_know_the_author_and_the_input() -> None:
    card = made(DOC)[0]
    runs = tuple(card.runs(part_of(card)))
    assert "".join(run.text for run in runs) == "Hello Ann."
    value = next(run for run in runs if run.value is not None)
    assert value.text == "Ann"
    assert value.value is not None
    assert value.value.input == "who"
    assert value.value.is_sample
    given = made(DOC, who="Ann")[0]
    assert not any(run.value and run.value.is_sample for run in given.runs(part_of(given)))
    assert given.look != card.look  # drawn again
    assert value.span is not None
    assert DOC[value.span.start : value.span.end] == "{{ who }}"
    assert card.line == 7


def test_a_moved_card_looks_the_same_and_a_changed_one_does_not() -> None:
    before, after = made(DOC), made(DOC.replace("---\nsystem", "# note\n---\nsystem", 1))
    assert before[0].line != after[0].line
    assert before[0].look == after[0].look
    assert before[0].look != made(DOC, who="Bob")[0].look


def test_same_ends_finds_what_stays_around_an_insertion() -> None:
    longer = DOC.replace("user:\nBye.", "user:\nNew.\n\nuser:\nBye.")
    assert same_ends(made(DOC), made(longer)) == (1, 1)
    assert same_ends(made(DOC), made(DOC)) == (2, 0)
    assert same_ends((), made(DOC)) == (0, 0)


def test_a_role_marker_in_a_value_is_a_warning_on_its_card() -> None:
    card = made(DOC, who="x\nsystem:\nevil")[0]
    assert card.warnings
    value = next(run for run in card.runs(part_of(card)) if run.value is not None)
    assert value.value is not None
    assert "system:" in value.value.warning


def test_a_caret_stands_in_one_card_only() -> None:
    made_cards = made(DOC)
    offset = DOC.index("Bye")
    assert [card.holds(offset) for card in made_cards] == [False, True]
    assert not any(card.holds(3) for card in made_cards)


def test_a_long_text_is_cut_at_lines_and_says_how_much_is_left() -> None:
    runs = (TextRun("a\n" * 10), TextRun("b\n" * 10))
    kept = cut_runs(runs, 1_000, 12)
    assert "".join(run.text for run in kept) == "a\n" * 10 + "b\n" * 2
    assert cut_runs(runs, 1_000, 100) == runs
    assert cut_runs((TextRun("x" * 50),), 20, 100) == (TextRun("x" * 20),)
    card = made(DOC.replace("Bye.", "line\n" * 30 + "end"))[1]
    shown, left = card.shown_runs(part_of(card), 1_000, 12)
    assert "".join(run.text for run in shown) == "line\n" * 12
    assert left == 18
    assert card.shown_runs(part_of(card), 1_000, 100)[1] == 0


def test_an_input_without_a_value_is_named_on_the_cards_that_it_is_missing_in() -> None:
    text = (
        "---\ninputs:\n  who: {kind: object}\n  name: {kind: string, default: Ann}\n---\n"
        "system:\nHello {{ who.name }}{{ who.title }} {{ name }}.\nuser:\nHi\n"
    )
    for given, missing in (({}, ("who",)), ({"who": {}}, ())):
        preview = build_preview(PreviewJob(parse(text), given))
        assert [card.missing for card in preview.cards] == [missing, ()]


def test_the_request_names_every_sample_that_is_not_sent() -> None:
    """A picture counts as a text does."""
    text = (
        "---\ninputs:\n  who: {kind: string, sample: Ann}\n"
        "  photo: {kind: image, required: true, sample: https://example.org/a.png}\n---\n"
        "system:\nHello {{ who }}.\nuser:\n{{ photo }}\n"
    )
    preview = build_preview(PreviewJob(parse(text)))
    request = request_of(preview, "openai-chat")
    assert request.notes[0] == "Nothing is sent until these have a value: photo."
    assert request.samples == ("photo", "who")
    assert "Ann" not in request.text
    assert "a.png" not in request.text
