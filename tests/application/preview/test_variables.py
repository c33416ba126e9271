from __future__ import annotations

from studio.application.preview.variables import MASK, mask_secrets
from studio.core.masking.redact import without_keys


def test_whole_keys_are_hidden_and_words_that_only_contain_them_are_not() -> None:
    body = {
        "apiKey": "abc",
        "api_key": "",
        "maxOutputTokens": 5,
        "authors": ["Ann"],
        "nested": [{"Authorization": "Bearer x"}],
    }
    assert mask_secrets(body) == {
        "apiKey": MASK,
        "api_key": "",
        "maxOutputTokens": 5,
        "authors": ["Ann"],
        "nested": [{"Authorization": MASK}],
    }


def test_well_known_forms_are_hidden_wherever_they_stand() -> None:
    key = "sk-ant-" + "x" * 20
    assert without_keys(f"use {key} now") == f"use {MASK} now"
    assert without_keys("sk-short and risk-aware") == "sk-short and risk-aware"
