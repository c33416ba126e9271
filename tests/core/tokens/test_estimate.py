from __future__ import annotations

import pytest

from studio.core.prompty.document import MediaPart, Message, TextPart
from studio.core.tokens.conversation import count_message
from studio.core.tokens.tokenizers import Estimate, estimate_tokens


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("", 0, 0), ("a", 1, 1), ("word " * 100, 100, 150), ("日本語の文章", 5, 7), ("привет", 2, 4)],
)
def test_an_estimate_lies_near_what_tokenizers_count(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


def test_a_picture_costs_more_than_its_name() -> None:
    plain = Message("user", (TextPart("hello"),))
    picture = Message("user", (TextPart("hello"), MediaPart("image", "a.png")))
    assert count_message(picture, Estimate()) > count_message(plain, Estimate()) + 50
