"""The bracket that belongs to one: pure, and known without the rules of typing."""

from __future__ import annotations

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}


def matching_bracket(text: str, position: int) -> tuple[int, int] | None:
    """The bracket touching the caret and its partner, as offsets; None where there is none.

    Looks at most 20,000 characters far, so that a long text costs a key press nothing.
    """
    for at in (position - 1, position):
        if not 0 <= at < len(text):
            continue
        char = text[at]
        if char in "([{":
            step, stop, other = 1, min(len(text), at + 20_000), _CLOSING[char]
        elif char in _OPENING:
            step, stop, other = -1, max(-1, at - 20_000), _OPENING[char]
        else:
            continue
        depth = 0
        for index in range(at, stop, step):
            if text[index] == char:
                depth += 1
            elif text[index] == other:
                depth -= 1
                if not depth:
                    return at, index
    return None
