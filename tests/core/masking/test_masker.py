from __future__ import annotations

import random
import threading

import pytest

from studio.core.masking.masker import Masker, MissingValueError, key_reference
from studio.core.masking.redact import DOTS

KEY = "sk-planted-0123456789"


def known(**values: str) -> Masker:
    masker = Masker()
    for name, value in values.items():
        masker.note(f"${{env:{name}}}", value)
    return masker


def test_the_reference_stands_for_the_value() -> None:
    masker = known(NOTE="NOTEPLANTED-5150")
    found: set[str] = set()
    assert masker.mask("D=NOTEPLANTED-5150!", found) == "D=${env:NOTE}!"
    assert found == {"${env:NOTE}"}
    assert masker.mask("nothing here", found) == "nothing here"


@pytest.mark.parametrize(
    ("name", "value", "is_masked"),
    [
        ("NOTE", "1234567", False),
        ("NOTE", "12345678", True),
        ("API_KEY", "hunter2", True),
        ("API_KEY", "hunt", False),
        ("API_KEY", "ollama", False),
        ("API_KEY", "not-needed", False),
        ("HOME", "/home/somebody", False),
        ("XDG_DATA_HOME", "/home/somebody/.local", False),
        ("LC_ALL", "en_US.UTF-8", False),
        ("PROJECT_ROOT", "/srv/project", True),
    ],
)
def test_which_values_are_masked(name: str, value: str, is_masked: bool) -> None:
    masker = known(**{name: value})
    assert (value not in masker.mask(f"<{value}>")) is is_masked


def test_what_the_environment_names_as_secret_is_known_at_once() -> None:
    variables = {"MY_TOKEN": "tok-12345678", "REGION": "eu-central-1", "ODD": KEY + "xyz"}
    masker = Masker({**variables, "HTTP_PROXY": "http://ann:pass-of-ann@proxy:8080"})
    assert masker.mask(f"tok-12345678 eu-central-1 {KEY}xyz") == (
        "${env:MY_TOKEN} eu-central-1 ${env:ODD}"
    )
    assert masker.mask("said pass-of-ann") == "said ${env:HTTP_PROXY|part}"


def test_a_variable_is_noted_when_it_is_looked_up_and_not_before() -> None:
    masker, seen = Masker(), []
    watched = masker.watch({"A": "aaaabbbb", "B": "ccccdddd"}, seen.append)
    assert "A" in watched
    assert sorted(watched) == ["A", "B"]
    assert masker.mask("aaaabbbb ccccdddd") == "aaaabbbb ccccdddd"
    assert watched.get("A") == "aaaabbbb"
    assert watched.get("C") is None
    assert masker.mask("aaaabbbb ccccdddd") == "${env:A} ccccdddd"
    assert seen == ["${env:A}"]


def test_a_document_may_say_that_a_variable_is_no_secret() -> None:
    masker = known(REGION="eu-central-1", NOTE="NOTEPLANTED")
    other = masker.without(["REGION"])
    assert other.mask("eu-central-1 NOTEPLANTED") == "eu-central-1 ${env:NOTE}"
    assert masker.mask("eu-central-1") == "${env:REGION}"
    masker.note("${env:LATER}", "later-value")
    assert other.mask("later-value eu-central-1") == "${env:LATER} eu-central-1"
    other.note("${key:Office}", "eu-central-1")
    assert other.mask("eu-central-1") == "${key:Office}"
    assert masker.without([]) is masker


def test_of_two_names_the_variable_stands_for_a_value() -> None:
    masker = Masker()
    masker.note("${key:OpenAI}", KEY)
    masker.note("${env:OPENAI_API_KEY}", KEY)
    assert masker.mask(KEY) == "${env:OPENAI_API_KEY}"


def test_a_reference_to_a_key_fits_into_any_text() -> None:
    assert key_reference("My OpenAI-2") == "${key:My OpenAI-2}"
    assert key_reference('a"b}\n<c>') == "${key:a_b___c_}"


def test_the_longer_of_two_secrets_is_masked_whole() -> None:
    masker = known(SHORT="abcdefgh", LONG="abcdefghijkl")
    assert masker.mask("abcdefghijkl abcdefgh") == "${env:LONG} ${env:SHORT}"


def test_an_earlier_value_stays_masked() -> None:
    masker = known(A_KEY="first-value-1")
    masker.note("${env:A_KEY}", "second-value")
    assert masker.mask("first-value-1 second-value") == "${env:A_KEY} ${env:A_KEY}"
    assert masker.value("${env:A_KEY}") == "second-value"


def test_plain_words_may_be_names_and_keys_never_are() -> None:
    masker = known(MODE="standard", NOTE="NOTE-5150-X", A_KEY="hunter-two")
    assert masker.mask_name("standard") == "standard"
    assert masker.mask_name("NOTE-5150-X") == "${env:NOTE}"
    assert (
        masker.mask_keys("standard NOTE-5150-X hunter-two") == "standard NOTE-5150-X ${env:A_KEY}"
    )


def test_only_what_is_released_is_revealed() -> None:
    masker = known(A="aaaa-1111", B="bbbb-2222")
    text = "${env:A} ${env:B} ${env:A|url} ${env:A|part} ${file:A}"
    assert (
        masker.reveal(text, {"${env:A}"}) == "aaaa-1111 ${env:B} aaaa-1111 ${env:A|part} ${file:A}"
    )
    assert masker.reveal(text, frozenset()) == text
    assert masker.reveal("${env:A}", {"${env:A}"}, lambda value: f"<{value}>") == "<aaaa-1111>"
    with pytest.raises(MissingValueError) as missing:
        masker.reveal("${env:C}", {"${env:C}"})
    assert missing.value.reference == "${env:C}"


def test_a_value_that_became_short_is_revealed_all_the_same() -> None:
    masker = known(A="aaaa-1111")
    text = masker.mask("aaaa-1111")
    masker.note("${env:A}", "b")
    assert masker.reveal(text, {"${env:A}"}) == "b"


def test_a_secret_that_was_cut_off_is_not_shown() -> None:
    masker = known(A_KEY=KEY)
    assert masker.mask_cut(f"… {KEY[:12]}") == f"… {DOTS}"
    assert masker.mask_cut("a risk") == "a risk"


def test_a_stream_in_any_pieces_gives_the_same_as_the_whole() -> None:
    dice = random.Random(7)
    masker = known(A_KEY="ababac-abab", B_KEY="ab-abcdef", C_KEY="babab-ab-ab")
    words = ["ababac-abab", "ab-abcdef", "babab-ab-ab", "a", "b", "ab", "-", " ", "abab", "c-ab"]
    for _ in range(400):
        text = "".join(dice.choices(words, k=dice.randrange(1, 14)))
        stream, shown, at = masker.stream(), "", 0
        while at < len(text):
            size = dice.randrange(1, 9)
            shown += stream.feed(text[at : at + size])
            at += size
            for secret in ("ababac-abab", "ab-abcdef", "babab-ab-ab"):
                assert secret not in shown, (text, shown)
        shown += stream.close()
        whole = masker.mask_cut(masker.mask(text))
        assert shown == whole, text


def test_a_stream_holds_nothing_that_is_no_beginning() -> None:
    stream = known(A_KEY=KEY).stream()
    assert stream.feed("Hello ") == "Hello "
    assert stream.feed("sk-pl") == ""
    assert stream.feed("an") == ""
    assert stream.feed("et") == "sk-planet"
    assert stream.close() == ""
    assert Masker().stream().feed("sk-") == "sk-"


def test_threads_may_note_while_others_mask() -> None:
    masker = Masker()
    faults: list[str] = []

    def note(first: str) -> None:
        for number in range(40):
            value = f"{first}-secret-{number:03}"
            masker.note(f"${{env:{first}_{number}}}", value)
            if value in masker.mask(f"<{value}>"):
                faults.append(value)

    threads = [threading.Thread(target=note, args=(name,)) for name in ("ONE", "TWO", "SIX")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
