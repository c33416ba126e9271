"""Injected faults: a program gets each one once in place of an answer."""

import re
from dataclasses import dataclass

_ITEM = re.compile(r"(?P<status>[45]\d\d)|(?P<cut>cut)|delay=(?P<delay>\d+(?:\.\d+)?)|(?P<none>ok)")


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault of one request; with its defaults, nothing is changed."""

    status: int = 0
    """HTTP status that is answered without sending the request; 0 for none."""

    is_cut: bool = False
    """Whether the server's answer breaks off within its first piece."""

    delay: float = 0.0
    """Seconds to wait before the request is sent."""


NO_FAULT = Fault()
"""No fault: the request is unchanged."""


def faults_of(text: str) -> tuple[Fault, ...]:
    """Parse a list of faults such as `429, ok, cut, delay=2`, one for each request.

    Raises:
        ValueError: an item is not a fault; the text names it.
    """
    made: list[Fault] = []
    for word in filter(None, re.split(r"[\s,]+", text)):
        found = _ITEM.fullmatch(word)
        if found is None:
            raise ValueError(
                f"{word!r} is not a fault: 429, 500 or another error status, cut, delay=SECONDS, "
                "or ok for a request without one"
            )
        status, delay = int(found["status"] or 0), float(found["delay"] or 0)
        made.append(Fault(status, found["cut"] is not None, delay))
    return tuple(made)
