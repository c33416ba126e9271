"""Token figures and reasons to stop, from every provider's words into one vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TypeGuard

from studio.core.text.values import Json
from studio.core.wire.reply import FinishReason, Usage

_MOST = 10**12
"""The largest figure of tokens or money that is believed."""

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_of_turn": "stop",
    "stop_word": "stop",
    "completed": "stop",
    "pause_turn": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "incomplete": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "refusal": "refusal",
    "cancelled": "cancelled",
    "error": "error",
    "failed": "error",
    "abort": "cancelled",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "max_length": "length",
    "limit": "length",
    "language": "content_filter",
    "image_safety": "content_filter",
    "malformed_function_call": "error",
}


def finish_reason(word: Json) -> FinishReason:
    """One of our words for a provider's."""
    return _REASONS.get(word.lower(), "unknown") if isinstance(word, str) else "unknown"


def read_usage(value: Json) -> Usage | None:
    """The figures of a `usage` object of any provider; None where there are none."""
    if not isinstance(value, Mapping):
        return None
    into = _number(value, "prompt_tokens", "input_tokens")
    out = _number(value, "completion_tokens", "output_tokens")
    if into is None and out is None:
        return None
    asked = _details(value, "prompt_tokens_details", "input_tokens_details")
    details = _details(value, "completion_tokens_details", "output_tokens_details")
    # Anthropic counts what it read from or wrote to its cache apart from `input_tokens`.
    read = _number(value, "cache_read_input_tokens") or 0
    written = _number(value, "cache_creation_input_tokens") or 0
    kept = _details(value, "cache_creation")
    cost = value.get("cost")
    return Usage(
        (into or 0) + read + written,
        out or 0,
        _number(asked, "cached_tokens") or _number(value, "prompt_cache_hit_tokens") or read,
        float(cost) if _is_figure(cost) else None,
        cache_write_tokens=_number(asked, "cache_write_tokens") or written,
        cache_write_1h_tokens=_number(kept, "ephemeral_1h_input_tokens") or 0,
        reasoning_tokens=_number(details, "reasoning_tokens", "thinking_tokens") or 0,
        input_audio_tokens=_number(asked, "audio_tokens") or 0,
        output_audio_tokens=_number(details, "audio_tokens") or 0,
        input_image_tokens=_number(asked, "image_tokens") or 0,
    )


def largest(one: Usage, other: Usage) -> Usage:
    """Figures that come twice in a stream, each as far as it was counted."""
    counted = {
        each.name: max(getattr(one, each.name), getattr(other, each.name))
        for each in fields(Usage)
        if each.name != "cost"
    }
    return Usage(**counted, cost=one.cost if one.cost is not None else other.cost)


def _details(value: Mapping[str, Json], *keys: str) -> Mapping[str, Json]:
    for key in keys:
        found = value.get(key)
        if isinstance(found, Mapping):
            return found
    return {}


def _number(value: Mapping[str, Json], *keys: str) -> int | None:
    for key in keys:
        found = value.get(key)
        if _is_figure(found):
            return int(found)
    return None


def _is_figure(value: Json) -> TypeGuard[int | float]:
    """Return whether a server's figure can be true: no NaN, no 1e308."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value <= _MOST
