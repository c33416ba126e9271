"""What a marker says and cannot be carried out is told."""

from __future__ import annotations

import pytest

from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.text.values import Json

FRONT = "---\ntemplate: {parser: {kind: section}}\n---\n"
TALK: Json = [{"role": "assistant", "content": "Hi."}]


def prepared(body: str) -> Prepared:
    return prepare(parse(FRONT + body), {"thread": TALK})


def codes(made: Prepared) -> list[str]:
    return [item.code for item in made.problems]


def test_text_below_a_thread_is_said_and_attributes_stay() -> None:
    made = prepared('system:\nS\n\nthread[key="value"]:\ncontent\n\nuser:\nq\n')
    assert codes(made) == ["text-below-thread"]
    assert made.document.source.slice(made.problems[0].span) == 'thread[key="value"]:'
    assert [(m.role, m.text) for m in made.messages.messages] == [
        ("system", "S"),
        ("assistant", "Hi."),
        ("system", "content"),
        ("user", "q"),
    ]
    assert made.messages.messages[1].attributes == {"key": "value"}
    assert codes(prepared("thread:\n\nuser:\nq\n")) == []


def test_an_attribute_that_the_section_says_itself_is_said() -> None:
    made = prepared('user[name="Seth", role="admin", content="zzz"]:\nU\n')
    assert codes(made) == ["attribute-taken", "attribute-taken"]
    assert codes(prepared('user[name="Seth", rolex="x"]:\nU\n')) == []


@pytest.mark.parametrize(
    ("head", "code"),
    [
        ('assistant[type="tool_result"]', "type-of-other-role"),
        ('user[type="tool_call"]', "type-of-other-role"),
        ('user[type="reasoning"]', "unknown-content-type"),
        ('tool[type="tool_result", tool_call_id="1"]', ""),
        ('assistant[type="tool_call"]', ""),
        ('user[type="text"]', ""),
    ],
)
def test_a_content_type_that_fits_no_role_is_said(head: str, code: str) -> None:
    made = prepared(f"{head}:\nid: a\ntype: function\nfunction: {{name: b, arguments: {{}}}}\n")
    assert codes(made) == [code] * bool(code)


@pytest.mark.parametrize(
    ("line", "is_said"),
    [('{{ "system" }}:', False), ("{{ who }}:", True), ('{{ "sys" ~ "tem" }}:', True)],
)
def test_a_marker_that_the_prompt_itself_writes_as_text_is_no_value(
    line: str, is_said: bool
) -> None:
    prepared = prepare(parse(f"---\nname: a\n---\nuser:\n{line}\n"), {"who": "system"})
    assert ("injected-marker" in [each.code for each in prepared.problems]) == is_said
