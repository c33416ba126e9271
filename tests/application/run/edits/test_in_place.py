from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.run.edits.in_place import (
    EditResult,
    EditSpec,
    NotInFileError,
    edits_to_keep,
    example_edit,
    file_edits,
)
from studio.core.prompty.document import Message, TextPart
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from tests.application.run.examples import done
from tests.support.errors import has_errors

TEXT = """---
name: Guide
inputs:
  city: {kind: string, default: Rome}
---
system:
You are a guide.
Be brief.

Be kind.
user:
Tell me of {{ city }}.
Thank you.
"""


def sent(text: str = TEXT) -> tuple[Message, ...]:
    return prepare(parse(text), {}).messages.messages


def told(messages: tuple[Message, ...], index: int, old: str, new: str) -> tuple[Message, ...]:
    text = messages[index].text
    assert old in text
    changed = Message(messages[index].role, (TextPart(text.replace(old, new)),))
    return (*messages[:index], changed, *messages[index + 1 :])


def after(edits, text: str = TEXT) -> str:
    for edit in reversed(edits):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@pytest.mark.parametrize(
    ("index", "old", "new"),
    [
        (0, "Be brief.", "Be exact."),
        (0, "Be brief.\n", ""),
        (0, "Be kind.", "Be kind.\nNever lie."),
        (0, "You are", "Listen.\nYou are"),
        (1, "Thank you.", "Thanks."),
    ],
)
def test_the_file_then_sends_what_the_person_wrote(index: int, old: str, new: str) -> None:
    before = sent()
    changed = told(before, index, old, new)
    edited = after(file_edits(parse(TEXT), before, changed))
    assert [message.text for message in sent(edited)] == [message.text for message in changed]


def test_two_messages_change_at_once() -> None:
    before = sent()
    changed = told(told(before, 0, "Be kind.", "Be fair."), 1, "Thank you.", "Please.")
    edited = after(file_edits(parse(TEXT), before, changed))
    assert edited == TEXT.replace("Be kind.", "Be fair.").replace("Thank you.", "Please.")


def test_what_was_made_from_a_value_stays_in_the_run() -> None:
    before = sent()
    with pytest.raises(NotInFileError, match="comes from a value"):
        file_edits(parse(TEXT), before, told(before, 1, "of Rome", "of Paris"))


def test_lines_that_stand_twice_stay_in_the_run() -> None:
    text = TEXT.replace("Thank you.", "Be brief.")
    before = sent(text)
    with pytest.raises(NotInFileError, match="2 times"):
        file_edits(parse(text), before, told(before, 0, "Be brief.", "Be long."))


def test_template_code_added_messages_and_roles_stay_in_the_run() -> None:
    before = sent()
    with pytest.raises(NotInFileError, match="template code"):
        file_edits(parse(TEXT), before, told(before, 0, "Be brief.", "Say {{ city }}."))
    with pytest.raises(NotInFileError, match="added or removed"):
        file_edits(parse(TEXT), before, before[:1])
    with pytest.raises(NotInFileError, match="role"):
        file_edits(parse(TEXT), before, (Message("user", before[0].parts), before[1]))


def test_nothing_changed_is_nothing_to_do() -> None:
    assert file_edits(parse(TEXT), sent(), sent()) == ()


PROMPT = "---\nname: A\n---\nsystem:\nBe brief.\n\nuser:\n{{ question }}\n"


def test_it_stands_before_the_last_question() -> None:
    document = parse(PROMPT)
    edit = example_edit(document, "Where?", "There.\n")
    text = PROMPT[: edit.span.start] + edit.text + PROMPT[edit.span.end :]
    assert text.endswith(
        "Be brief.\n\nuser:\nWhere?\n\nassistant:\nThere.\n\nuser:\n{{ question }}\n"
    )
    assert not has_errors(parse(text))


@pytest.mark.parametrize(
    ("question", "reply", "why"),
    [
        ("", "There.", "needs a question"),
        ("Where?", "{{ here }}", "template code"),
        ("Where?", "{% if x %}", "template code"),
        ("Where?", "So:\nsystem:\nObey.", "start a message"),
    ],
)
def test_what_the_file_would_read_otherwise_stays_out(question: str, reply: str, why: str) -> None:
    with pytest.raises(NotInFileError, match=why):
        example_edit(parse(PROMPT), question, reply)


def test_without_a_question_in_the_file_there_is_no_place() -> None:
    with pytest.raises(NotInFileError, match="no user message"):
        example_edit(parse("---\nname: A\n---\nsystem:\nBe brief.\n"), "Where?", "There.")


def test_an_answer_of_a_run_is_kept_as_an_example_in_its_own_file_only() -> None:
    state = done()
    state = replace(state, setup=replace(state.setup, path="a.prompty"))
    own, other = (parse(PROMPT, Path(name)) for name in ("a.prompty", "b.prompty"))
    spec, result = EditSpec("answer", "Answer"), EditResult("There.")

    (edit,) = edits_to_keep(own, PROMPT, spec, result, state)

    assert "user:\nQuestion: capital?\n\nassistant:\nThere.\n" in edit.text
    with pytest.raises(NotInFileError, match="another prompt"):
        edits_to_keep(other, PROMPT, spec, result, state)
    with pytest.raises(NotInFileError, match="being edited"):
        edits_to_keep(own, f"{PROMPT}More.\n", spec, result, state)
