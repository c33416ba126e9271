"""How the token count is said: figure, detail, and how full the model's context window is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.preview.count import PreviewCount
from studio.application.words import tr
from studio.core.text.amounts import money

Fullness: TypeAlias = Literal["free", "close", "over"]

_CLOSE = 0.8
_MOST_INPUTS = 5
_THOUSANDS = 10_000


@dataclass(frozen=True, slots=True)
class Meter:
    """The token count of a preview, ready to be shown."""

    text: str
    """The figure with its unit; `≈` before it where it is not the model's own."""

    detail: str
    """What it is made of and who counted, a few lines."""

    short: str = ""
    """The figure alone, in thousands from 10,000 on, for a narrow place."""

    share: float | None = None
    """Part of the context window that is taken, 1 being all; `None` while that is unknown."""

    fullness: Fullness = "free"
    """Whether there is room for a reply."""


def meter(count: PreviewCount) -> Meter:
    """The meter of a preview."""
    tokens = count.sent
    about = "" if tokens.total_is_exact else "≈"
    words = tr("1 token") if tokens.total == 1 else tr("{count:,} tokens")
    text = about + words.format(count=tokens.total)
    figure = f"{tokens.total / 1000:,.0f}k" if tokens.total >= _THOUSANDS else f"{tokens.total:,}"
    if count.cost is not None:
        text += f" · {money(count.cost) if count.cost else tr('free')}"
    window = count.context_window
    share = tokens.total / window if window else None
    if share is None:
        fullness: Fullness = "free"
    else:
        fullness = "over" if share > 1 else "close" if share > _CLOSE else "free"
    return Meter(text, "\n".join(_detail(count, share)), about + figure, share, fullness)


def _detail(count: PreviewCount, share: float | None) -> list[str]:
    tokens = count.sent
    name = count.model or tr("the model")
    if tokens.is_exact:
        lines = [
            tr("Counted with {tokenizer} for {name}.").format(tokenizer=tokens.tokenizer, name=name)
        ]
    elif count.preview.job.target.is_embedded:
        lines = [tr("Estimated from the length: exact once the embedded model runs.")]
    else:
        why = tokens.why_estimated or tr("there is no tokenizer for {name} here.").format(name=name)
        lines = [tr("Estimated from the length: {why}").format(why=why)]
    lines.append(tr("Messages: {sum:,}").format(sum=sum(tokens.messages)))
    if tokens.frame:
        lines.append(tr("Message framing: {frame:,}").format(frame=tokens.frame))
    if tokens.tools:
        lines.append(tr("Tools: ≈{tools:,}").format(tools=tokens.tools))
    largest = sorted(tokens.by_input.items(), key=lambda item: -item[1])[:_MOST_INPUTS]
    if named := [f"{name} {figure:,}" for name, figure in largest if figure]:
        lines.append(tr("Of these, inputs: {names}").format(names=", ".join(named)))
    if samples := ", ".join(sorted(count.preview.samples)):
        more = tr("Not counted, as a run does not send samples: {names}")
        lines.append(more.format(names=samples))
    if tokens.is_exact and tokens.doubts:
        lines.append(tr("Only estimated: {names}.").format(names="; ".join(tokens.doubts)))
    if share is not None and count.context_window:
        lines.append(
            tr("{share:.1%} of the context window of {context_window:,} tokens.").format(
                share=share, context_window=count.context_window
            )
        )
    else:
        lines.append(tr("The size of the model's context window is not known."))
    return lines
