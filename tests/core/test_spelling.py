from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.prompty.parse import parse
from studio.core.spelling import (
    BUNDLED,
    dictionary,
    languages,
    misspelled,
    prose_words,
    suggestions,
)
from tests.support.soon import soon

PROMPT = """---
name: mispelt
inputs:
  frobnicator:
    kind: string
template:
  parser:
    kind: section
---
tools:
  - id: serch
    type: functon

system[name="helpr"]:
You are a helpfull assistant. Don't gues; use frobnicator, gpt4 or OpenAI, as HTTP does.
`serch` in {{ usr_name }} and {% if cond %}mor{% endif %} at https://exampel.org/pathh or a/fil.
```python
pritn("x")
```
See ![imaeg](pictur.png), notes.mdx, fooBar and snake_caes, и слово.

assistant[type="tool_call"]:
id: callx
"""


def words(text: str, own: frozenset[str] = frozenset()) -> list[str]:
    return [each.word for each in misspelled(parse(text), dictionary(BUNDLED), own)]


def test_only_prose_is_checked() -> None:
    assert words(PROMPT) == ["helpfull", "gues", "mor"]


def test_a_place_is_where_the_word_stands() -> None:
    document = parse("user:\n😀 A helo to you\n")
    (found,) = misspelled(document, dictionary(BUNDLED))
    assert document.source.slice(found.span) == "helo"


def test_own_words_and_curly_apostrophes() -> None:
    assert words("user:\nI don’t frobnicate\n") == ["frobnicate"]
    assert words("user:\nFrobnicate\n", frozenset({"frobnicate"})) == []


def test_words_of_another_script_are_left_alone() -> None:
    assert [word for _, word in prose_words(parse("user:\nслово\n"))] == ["слово"]
    assert words("user:\nслово\n") == []
    assert suggestions("слово", dictionary(BUNDLED)) == ()


def test_suggestions_begin_with_the_likeliest() -> None:
    found = suggestions("quesiton", dictionary(BUNDLED))
    assert found[0] == "question"
    assert len(found) <= 5


def test_dictionaries_of_the_system_are_found(tmp_path: Path) -> None:
    for name in ("nl_NL.dic", "nl_NL.aff", "broken.dic"):
        (tmp_path / name).touch()
    assert languages((tmp_path,)) == (BUNDLED, "nl_NL")


def test_a_language_without_a_dictionary_is_named() -> None:
    with pytest.raises(ValueError, match="xx_XX"):
        dictionary("xx_XX")


def test_an_open_fence_hides_the_rest_and_nothing_hangs() -> None:
    assert words("user:\n```\n" + "wrogn " * 20_000) == []
    assert len(misspelled(parse("user:\n" + "wrogn " * 20_000), dictionary(BUNDLED))) == 500
    assert words("user:\n" + "{{ `" * 5_000) == []


@pytest.mark.parametrize("piece", ["a", "a@", "{{ ", "{% ", "{# ", "<a ", "${a ", "![a ", "![a]("])
def test_a_long_text_without_an_end_is_read_in_linear_time(piece: str) -> None:
    with soon():
        assert len(words("user:\n" + piece * 50_000)) < 2
