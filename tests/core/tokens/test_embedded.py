from __future__ import annotations

import struct
from itertools import product
from pathlib import Path

import pytest
import regex

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.embedded.model import template_messages
from studio.core.models.embedded.server import EmbeddedServer, LlamaClient
from studio.core.models.embedded.weights import bundled_weights
from studio.core.prompty.document import Message, TextPart, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.tokens import tokenizers
from studio.core.tokens.tokenizers import (
    BytePairs,
    EmbeddedTokenizer,
    GgufError,
    GgufTokenizer,
    Tokenizers,
    can_count,
    count_embedded,
    read_tokenizer,
)
from tests.support.soon import soon

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
    own_tokenizers = Tokenizers(tmp_path)
    weights = bundled_weights().path
    assert own_tokenizers.wants_embedded(weights)
    assert own_tokenizers.embedded(weights) is None
    assert own_tokenizers.load_embedded(weights)
    assert not own_tokenizers.wants_embedded(weights)
    own = own_tokenizers.embedded(weights)
    assert own is not None
    counted = own.count(REQUEST)
    assert counted is not None
    assert counted.is_exact
    # <|im_start|>system\nYou know Lisbon.<|im_end|>\n…<|im_start|>assistant\n
    assert (counted.messages, counted.frame, counted.by_input) == ((4, 4), 14, {"city": 3})
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF" + bytes(2000))
    assert not own_tokenizers.load_embedded(other)
    assert not own_tokenizers.wants_embedded(other)
    assert own_tokenizers.embedded(other) is None


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


COUNTS = {
    "": 0,
    "Hello world": 2,
    "  two  spaces\n\n\nand\tlines 12345 67.8": 20,
    "na\xefve caf\xe9 \U0001f642\U0001f642 \u65e5\u672c\u8a9e \u30c6\u30b9\u30c8": 20,
    "a" * 300: 75,
    "don't you'll I'M it's": 9,
    "x=1;y==2!=3 // comment\n    indent\n\treturn": 16,
    "<|im_start|>user\nhi<|im_end|>\n": 6,
    "\xa0nbsp\u2003em": 6,
    "\u0663\u0664\u0665 \u216b \xbd\xb2": 13,
    "\r\nCRLF\r\n": 6,
    "   ": 1,
    "end   ": 2,
    "5 5  5   5": 7,
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645": 10,
    "\U0001f1e9\U0001f1ea\U0001f469\u200d\U0001f469\u200d\U0001f467": 19,
    "e\u0301e\u0301": 6,
}


@pytest.fixture(scope="module")
def pairs() -> BytePairs:
    try:
        tokenizer = read_tokenizer(bundled_weights().path)
    except ModelError as error:
        pytest.skip(error.message)
    assert can_count(tokenizer)
    return BytePairs(tokenizer, "own")


@pytest.mark.parametrize("text", COUNTS)
def test_texts_are_counted_as_the_server_counts_them(pairs: BytePairs, text: str) -> None:
    assert pairs.count(text) == COUNTS[text]


@pytest.mark.parametrize("rule", tokenizers._PATTERNS.values())
def test_a_rule_cuts_a_text_at_each_place_where_it_is_counted_in_parts(rule: str) -> None:
    for letters in product("a1. \n\r\x1c\u2028'", repeat=4):
        text = "".join(letters)
        parts = tokenizers._LINE_ENDS.split(text)
        assert [piece for each in parts for piece in regex.findall(rule, each)] == regex.findall(
            rule, text
        )


def test_a_long_word_takes_no_square_of_its_length(pairs: BytePairs) -> None:
    with soon():  # its square is an hour
        assert 0 < pairs.count("ab" * 50_000) <= 100_000


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    for content in (
        b"",
        b"GGUF",
        b"x" * 100,
        b"GGUF" + struct.pack("<IQQ", 3, 0, 5) + b"\xff" * 40,
    ):
        path.write_bytes(content)
        with pytest.raises(GgufError, match=r"model\.gguf|GGUF|head|list"):
            read_tokenizer(path)
    with pytest.raises(GgufError):
        read_tokenizer(tmp_path / "none.gguf")


def test_a_tokenizer_of_another_kind_is_not_guessed_at() -> None:
    assert not can_count(GgufTokenizer("llama", "default", (), (), ""))
    assert not can_count(GgufTokenizer("gpt2", "qwen2", ("a b",), (), ""))
    assert can_count(GgufTokenizer("gpt2", "gpt-2", ("a b",), (), ""))


def test_pairs_are_joined_in_the_order_of_their_ranks() -> None:
    merges = ("b c", "a b", "bc d", "\N{CJK UNIFIED IDEOGRAPH-4E00} b")
    pairs = BytePairs(GgufTokenizer("gpt2", "gpt-2", merges, ("<s>",), ""), "t")
    assert pairs.count("abc") == 2  # a and bc: "bc" comes before "ab"
    assert pairs.count("ab") == 1
    assert pairs.count("abab") == 2
    assert pairs.count("abcd") == 2
    assert pairs.count("<s>abc<s>") == 4
    assert pairs.count("") == 0
