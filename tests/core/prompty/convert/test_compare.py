"""What a conversion is said to change where the runtimes make other messages of it."""

from __future__ import annotations

import pytest

from studio.core.prompty.convert.compare import Compared, runtime_difference
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.runtimes import prompty1

OLD = "---\nmodel:\n  api: chat\n  configuration: {type: azure_openai}\n---\nsystem:\nBe kind.\n"
NEW = "---\nmodel: {id: m}\ntemplate: {format: {kind: jinja2}, parser: {kind: prompty}}\n---\n"


def prepared(text: str) -> Prepared:
    return prepare(parse(text), {})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("system:\nBe kind.\n", ""),
        ("system:\nBe kind.\n\nuser:\n{{ no }}\n", "omits an empty last message (user)"),
        ("system:\nBe kind.\n\nuser:\nWhy?\n", "creates other messages than"),
        ("system:\nBe quick.\n\nuser:\n{{ no }}\n", "creates other messages than"),
        (
            "system:\nBe kind.\n\nuser:\n{{ no }}\n\nuser:\n{{ no }}\n",
            "creates other messages than",
        ),
    ],
)
def test_only_one_empty_message_at_the_end_is_what_prompty_1_leaves_out(
    body: str, said: str
) -> None:
    pair = Compared(prepared(OLD), prepared(NEW + body), loose=True)
    told = runtime_difference(pair, "prompty")
    assert said in told
    assert bool(said) == bool(told)
    assert ("leaves" in told) == ("leaves" in said)
    assert not told or prompty1.RUNTIME in told
