"""The examples of the published prompt section, each with the JSON that the page gives for it."""

from __future__ import annotations

import hashlib

import pytest

from studio.core.paths import resource
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.shapes import messages_to_json, tools_to_json
from studio.core.text.values import Json

EXAMPLES: dict[str, tuple[str, Json]] = {
    "text prompt": (
        "system:\nYou are a helpful assistant\n\n"
        'user[name="Seth"]:\nWhat is the meaning of life?\n',
        [
            {"role": "system", "content": "You are a helpful assistant"},
            {"role": "user", "name": "Seth", "content": "What is the meaning of life?"},
        ],
    ),
    "assistant": (
        "assistant:\nThe weather in Seattle is 72 degrees and sunny.\n",
        [{"role": "assistant", "content": "The weather in Seattle is 72 degrees and sunny."}],
    ),
    "tool call": (
        'assistant[type="tool_call"]:\nid: tool_call_123\ntype: function\nfunction:\n'
        "  name: get_account_info\n  arguments:\n    account_number: 123456\n",
        [
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_call",
                        "tool_call": {
                            "id": "tool_call_123",
                            "type": "function",
                            "function": {
                                "name": "get_account_info",
                                "arguments": {"account_number": 123456},
                            },
                        },
                    }
                ],
            }
        ],
    ),
    # The page leaves the name out; its own rule is that any key is included in the output.
    "tool": (
        'tool[name="ask_database", tool_call_id="12323"]:\n'
        'The album with the most tracks is titled "Greatest Hits," which contains 57 tracks.\n',
        [
            {
                "role": "tool",
                "name": "ask_database",
                "tool_call_id": "12323",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_result": 'The album with the most tracks is titled "Greatest Hits," '
                        "which contains 57 tracks.",
                    }
                ],
            }
        ],
    ),
    "thread": ("![thread]\n", [{"role": "thread"}]),
    "image": (
        "user:\nThis is an image:\n![image](https://example.com/image.png)\n"
        "you should consider it in your response.\n",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "This is an image:"},
                    {"type": "image_url", "image_url": {"url": "https://example.com/image.png"}},
                    {"type": "text", "text": "you should consider it in your response."},
                ],
            }
        ],
    ),
    "file": (
        "user:\nThis is a file:\n![file](https://example.com/file.pdf)\n"
        "you should consider it in your response.\n",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "This is a file:"},
                    {"type": "file", "file": {"url": "https://example.com/file.pdf"}},
                    {"type": "text", "text": "you should consider it in your response."},
                ],
            }
        ],
    ),
    "image with attributes": (
        '![type="image", quality="high"](https://example.com/file.jpg)\n',
        [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image_url",
                        "image_url": {"url": "https://example.com/file.jpg", "quality": "high"},
                    }
                ],
            }
        ],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_gives_the_json_of_the_page(name: str) -> None:
    text, expected = EXAMPLES[name]
    document = parse(text)
    assert document.dialect == "section"
    assert messages_to_json(prepare(document, {}).messages, "section") == expected
    assert not [item for item in document.problems if item.severity == "error"]


def test_the_whole_example_gives_its_tools_and_messages() -> None:
    text = resource("examples", "prompt-section.prompty").read_text(encoding="utf-8")
    messages = prepare(parse(text), {}).messages
    query = "SELECT * FROM customers WHERE firstName = 'Ann' AND lastName = 'Lee'"
    question = "Where can I borrow a bicycle?"
    assert tools_to_json(messages.tools) == [
        {
            "id": "query",
            "type": "dataverse",
            "options": {"connection": "https://contoso.crm.dynamics.com", "query": query},
        },
        {
            "id": "search",
            "type": "bing",
            "options": {"parameters": [question], "location": "Oslo"},
        },
    ]
    system, thread, below, user = messages_to_json(messages, "section")
    assert isinstance(system, dict)
    assert (system["role"], thread) == ("system", {"role": "thread", "key": "value"})
    assert str(system["content"]).endswith("address them in your responses.")
    assert below == {"role": "system", "content": "content"}
    assert user == {"role": "user", "name": "Ann Lee", "content": question}


PUBLISHED = {
    "prompt-section": "5a819690f960de30aa47d4d4ac6d7cb791477dc483e9904aab53948dc16bd96d",
    "react-agent-trustgraph": "8f89f30685bab158ebca4df8e561073360163f5a206bd2a36811f890597804ac",
    "instructions-prompt-cheshire-cat": (
        "18c15d5809669dc5575e588a650aae9850757897a3beca2b2bc0b7dbb99307f8"
    ),
}
"""SHA-256 of the published texts; of the last one as Python reads the page's string."""


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("folder", ["examples", "templates"])
def test_the_published_prompts_stand_word_for_word(folder: str, name: str) -> None:
    text = resource(folder, f"{name}.prompty").read_text(encoding="utf-8")
    body = text.partition("\n---\n")[2]
    assert hashlib.sha256(body.encode()).hexdigest() == PUBLISHED[name]
