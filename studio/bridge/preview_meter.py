"""How the token count is said: figure, detail, and how full the model's context window is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.bridge.preview_value import Preview

Fullness: TypeAlias = Literal["free", "close", "over"]

_CLOSE = 0.8


@dataclass(frozen=True, slots=True)
class Meter:
    """The token count of a preview, ready to be shown."""

    text: str
    """The figure with its unit; `≈` before it where it is not the model's own."""

    detail: str
    """What it is made of and who counted, a few lines."""

    share: float | None = None
    """Part of the context window that is taken, 1 being all; `None` while that is unknown."""

    fullness: Fullness = "free"
    """Whether there is room for a reply."""


def meter(preview: Preview) -> Meter:
    """The meter of a preview."""
    tokens, target = preview.tokens, preview.target
    about = "" if tokens.total_is_exact else "≈"
    text = f"{about}{tokens.total:,} token{'' if tokens.total == 1 else 's'}"
    window = target.context_window
    share = tokens.total / window if window else None
    if share is None:
        fullness: Fullness = "free"
    else:
        fullness = "over" if share > 1 else "close" if share > _CLOSE else "free"
    return Meter(text, "\n".join(_detail(preview, share)), share, fullness)


def _detail(preview: Preview, share: float | None) -> list[str]:
    tokens, target = preview.tokens, preview.target
    name = target.model_id or target.name or "the model"
    if tokens.is_exact:
        lines = [f"Counted with {tokens.tokenizer} for {name}."]
    elif target.is_embedded:
        lines = ["Estimated from the length: exact once the embedded model runs."]
    else:
        why = tokens.why_estimated or f"there is no tokenizer for {name} here."
        lines = [f"Estimated from the length: {why}"]
    lines.append(f"Messages: {sum(tokens.messages):,}")
    if tokens.frame:
        lines.append(f"Around them: {tokens.frame:,}")
    if tokens.tools:
        lines.append(f"Tools: ≈{tokens.tools:,}")
    if tokens.is_exact and tokens.doubts:
        lines.append(f"Only estimated: {'; '.join(tokens.doubts)}.")
    if share is not None and target.context_window:
        lines.append(f"{share:.1%} of the context window of {target.context_window:,} tokens.")
    else:
        lines.append("The size of the model's context window is not known.")
    return lines
