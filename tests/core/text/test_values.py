from __future__ import annotations

from studio.core.text.values import list_of, object_of, text_of, texts_in


def test_another_type_is_an_empty_value() -> None:
    assert (object_of({"a": 1}), object_of([1])) == ({"a": 1}, {})
    assert (list_of([1]), list_of("a")) == ([1], [])
    assert (text_of("a"), text_of(1)) == ("a", "")


def test_every_text_of_a_value() -> None:
    assert list(texts_in({"a": ["b", {"c": ("d", 1, None)}]})) == ["b", "d"]
