"""An exported LangChain script comes back with its messages, inputs, model and tools."""

from __future__ import annotations

import pytest

from studio.core.imports.imported import ImportFailure
from studio.core.imports.recognize import import_text
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from tests.core.export.conftest import PROMPTS, Make, make

__all__ = ["make"]


@pytest.mark.parametrize("name", PROMPTS)
def test_export_and_import_give_the_same_messages(name: str, make: Make) -> None:
    script = make(PROMPTS[name], "langchain").text
    again = import_text(script)

    def said(text: str) -> list[tuple[str, str]]:
        made = prepare(parse(text), {}, preview=True).messages.messages
        # The value of a thread is the caller's.
        own = [each for each in made if each.origin and each.origin.source != "thread"]
        return [(each.role, each.text.strip()) for each in own]

    assert said(again.text) == said(PROMPTS[name])
    assert again.form == "exported Python script"


SCRIPT = '''"""A: a prompt for LangChain, made by Prompt Studio."""
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

MESSAGES = [
    ("system", "You help {who}."),
    MessagesPlaceholder("talk", optional=True),
    AIMessage(content="{kept}", tool_calls=[{"id": "1", "name": "f", "args": {"a": 1}}]),
    ToolMessage(content="42", tool_call_id="1"),
]

prompt = ChatPromptTemplate(MESSAGES, template_format="f-string").partial(**{"who": "Ann"})
MODEL = "m"
OPTIONS = {"temperature": 0.2}
'''


def test_message_objects_are_literal_and_placeholders_are_threads() -> None:
    document = parse(import_text(SCRIPT).text)
    made = prepare(document, {"talk": [{"role": "user", "content": "Hi"}]}).messages.messages
    assert [(each.role, each.text) for each in made] == [
        ("system", "You help Ann."),
        ("user", "Hi"),
        ("assistant", "{kept}"),
        ("tool", "42"),
    ]
    assert document.model.id == "m"
    assert document.model.options == {"temperature": 0.2}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("MESSAGES = [RemoveMessage(id='1')]", "RemoveMessage is not a message class"),
        ("MESSAGES = [('system', f'{x}')]", "MESSAGES: a message cannot be read"),
        ("MESSAGES = []", "has no messages in its list MESSAGES"),
        (
            "MESSAGES = [('human', 'a')]\nprompt = ChatPromptTemplate(MESSAGES, "
            "template_format='liquid')",
            "template_format: 'liquid' is not a format of LangChain",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(line: str, words: str) -> None:
    head = '"""Made by Prompt Studio."""\nfrom langchain_core.prompts import ChatPromptTemplate\n'
    with pytest.raises(ImportFailure, match=words):
        import_text(f"{head}{line}\n")
