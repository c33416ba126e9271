from __future__ import annotations

import base64
import html
import json
import random
import string
from urllib.parse import quote, quote_plus

import pytest

from studio.core.masking.masker import Masker, encoded, forms_of

AWKWARD = 'p@ss w/or"d\\+é<&>='


def test_a_key_of_letters_and_digits_has_few_spellings() -> None:
    texts = [form.text for form in forms_of("abcDEF0123456789")]
    assert texts[0] == "abcDEF0123456789"
    assert len(texts) == len(set(texts))
    assert len(texts) <= 7


@pytest.mark.parametrize(
    "text",
    [
        AWKWARD,
        json.dumps(AWKWARD),
        json.dumps(AWKWARD, ensure_ascii=False),
        repr(json.dumps(AWKWARD)[1:-1])[1:-1].replace("\\\\", "\\"),
        quote(AWKWARD),
        quote(AWKWARD, safe=""),
        quote_plus(AWKWARD),
        quote(AWKWARD, safe="").replace("%C3%A9", "%c3%a9").lower(),
        html.escape(AWKWARD),
        html.escape(AWKWARD, quote=False),
        html.escape(AWKWARD).replace("&quot;", "&#34;"),
        json.dumps(AWKWARD).translate({38: "\\u0026", 60: "\\u003c", 62: "\\u003e"}),  # as Go does
        AWKWARD.encode().hex(),
        AWKWARD.encode().hex().upper(),
        base64.b64encode(AWKWARD.encode()).decode(),
        base64.urlsafe_b64encode(AWKWARD.encode()).decode(),
    ],
)
def test_usual_spellings_are_found(text: str) -> None:
    masker = Masker()
    masker.note("${env:PASS_PHRASE}", AWKWARD, is_key=True)
    shown = masker.mask(f"before {text} after")
    assert text not in shown
    assert "${env:PASS_PHRASE" in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


def test_base64_of_more_than_the_key_does_not_give_it_away() -> None:
    dice = random.Random(5)
    masker = Masker()
    key = "".join(dice.choices(string.ascii_letters + string.digits + "+/?~\xff", k=40))
    masker.note("${env:A_KEY}", key)
    for before in range(7):
        for after in range(4):
            text = f"{'u' * before}:{key}{'v' * after}"
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                shown = encode(text.encode()).decode()
                hidden = masker.mask(shown)
                left = hidden.replace("${env:A_KEY|part}", "")
                left = left.replace("${env:A_KEY|base64}", "")
                # What is left are the neighbors and the characters that they share with the key.
                assert len(left) <= len(shown) - len(key) * 4 // 3 + 4, (before, after)


def test_what_is_secret_by_itself_in_a_longer_value() -> None:
    masker = Masker()
    masker.note("${env:A_TOKEN}", "Bearer abcdefgh12345678")
    masker.note("${env:DB}", "postgres://ann:hunter2hunter2@db.example/x")
    lines = [f"{number}" * 32 for number in "123"]
    masker.note("${env:PEM}", "\n".join(["-----BEGIN X-----", *lines, "-----END X-----"]))
    assert "abcdefgh" not in masker.mask("got abcdefgh12345678")
    assert "hunter2" not in masker.mask("password=hunter2hunter2")
    assert masker.mask("-----BEGIN X-----") == "-----BEGIN X-----"
    for text in (lines[1], "\r\n".join(lines), json.dumps("\n".join(lines))):
        assert lines[1] not in masker.mask(text)


@pytest.mark.parametrize("encoding", ["", "url", "html", "base64"])
def test_a_form_can_be_made_again(encoding: str) -> None:
    masker = Masker()
    masker.note("${env:A_KEY}", AWKWARD)
    text = f"[{encoded(AWKWARD, encoding)}]"
    assert masker.reveal(masker.mask(text), {"${env:A_KEY}"}) == text


def test_half_characters_are_no_obstacle() -> None:
    assert forms_of("key-\udcff-12345678")
