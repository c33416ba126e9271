from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.models.base import ModelRequest
from studio.core.models.embedded.client import LlamaClient
from studio.core.models.embedded.prompt import template_messages
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.embedded.weights import bundled_weights
from studio.core.prompty.messages import Message, TextPart
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.tokens.embedded import EmbeddedTokenizer, count_embedded
from studio.core.tokens.tokenizers import Tokenizers

REQUEST = ModelRequest(
    prepare(
        parse("system:\nYou know {{ city }}.\n\nuser:\nWhat is up?\n"), {"city": "Lisbon"}
    ).messages.messages
)

TOOL = ToolSpec("search", "Looks it up", {"type": "object", "properties": {"q": {}}})
FURTHER = (
    ModelRequest(REQUEST.messages, tools=(TOOL,), protocol="native"),
    ModelRequest(REQUEST.messages[1:]),  # the template puts its own system message first
    ModelRequest((*REQUEST.messages, *REQUEST.messages[1:])),  # neighbours are joined
)


TEXTS = (
    Path(__file__).read_text(encoding="utf-8"),
    "  two\t\tblanks  1 22  333 \n\n 4th\r\n\x0b\x0c  ½  Ⅻ٣ don't YOU'LL  ",
    "naïve 日本語 한국어 🙂🙂 é x=1;y==2!=3 //\xa0\u2003\u3000end   ",
)


def _asking(text: str) -> ModelRequest:
    return ModelRequest((Message("user", (TextPart(text),)),))


def test_the_tokenizer_counts_without_a_server(tmp_path: Path) -> None:
    tokenizers = Tokenizers(tmp_path)
    weights = bundled_weights().path
    assert tokenizers.wants_embedded(weights)
    assert tokenizers.embedded(weights) is None
    assert tokenizers.load_embedded(weights)
    assert not tokenizers.wants_embedded(weights)
    own = tokenizers.embedded(weights)
    assert own is not None
    counted = own.count(REQUEST)
    assert counted is not None
    assert counted.is_exact
    # <|im_start|>system\nYou know Lisbon.<|im_end|>\n…<|im_start|>assistant\n
    assert (counted.messages, counted.frame, counted.by_input) == ((4, 4), 14, {"city": 3})
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF" + bytes(2000))
    assert not tokenizers.load_embedded(other)
    assert not tokenizers.wants_embedded(other)
    assert tokenizers.embedded(other) is None


async def test_a_server_that_does_not_run_is_not_started() -> None:
    server = EmbeddedServer()
    assert await count_embedded(server, REQUEST, {}) is None
    assert server.state == "stopped"


@pytest.mark.embedded
async def test_the_figures_are_the_servers_own() -> None:
    server = EmbeddedServer()
    try:
        address = await server.start()
        counted = await count_embedded(server, REQUEST, {})
        assert counted is not None
        async with LlamaClient(address) as client:
            prompt = await client.template(template_messages(REQUEST))
            assert counted.total == await client.count(prompt)
            assert counted.messages == tuple(
                [await client.count(message.text) for message in REQUEST.messages]
            )
            assert counted.by_input == {"city": await client.count("Lisbon")}
        assert counted.is_exact
        assert counted.frame > 0
        own = EmbeddedTokenizer(bundled_weights().path)
        for request in (REQUEST, *FURTHER, *map(_asking, TEXTS)):
            assert own.count(request) == await count_embedded(server, request, {})
    finally:
        await server.stop()
    assert await count_embedded(server, REQUEST, {}) is None
