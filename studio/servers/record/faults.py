"""Faults on purpose: what a program gets in the place of an answer, once each."""

import re
from dataclasses import dataclass

_ITEM = re.compile(r"(?P<status>[45]\d\d)|(?P<cut>cut)|delay=(?P<delay>\d+(?:\.\d+)?)|(?P<none>ok)")


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault of one request; as it is, nothing is changed."""

    status: int = 0
    """Status of the error that is answered, without asking the server; 0 for none."""

    is_cut: bool = False
    """Whether the server's answer breaks off in the middle of its first piece."""

    delay: float = 0.0
    """Seconds to wait before the server is asked."""


NO_FAULT = Fault()
"""A request as it is."""


def faults_of(text: str) -> tuple[Fault, ...]:
    """Return the faults of a list such as `429, ok, cut, delay=2`, one for each request.

    Raises:
        ValueError: one of them is none; the text names it.
    """
    made: list[Fault] = []
    for word in filter(None, re.split(r"[\s,]+", text)):
        found = _ITEM.fullmatch(word)
        if found is None:
            raise ValueError(
                f"{word!r} is no fault: 429, 500 or another error status, cut, delay=SECONDS, "
                "or ok for a request without one"
            )
        status, delay = int(found["status"] or 0), float(found["delay"] or 0)
        made.append(Fault(status, found["cut"] is not None, delay))
    return tuple(made)
