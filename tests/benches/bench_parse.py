"""How long a text takes to become messages, beside the public prompty package on the same file.

Ours does more in that time: spans, provenance, and every check with its problems. Each round gets
a text it has not seen, as after a keystroke, so that no cache answers.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_SIZES = (50, 600, 6_000)
_ROUNDS = {50: 21, 600: 9, 6_000: 9}
_TARGET = 0.5
_GROWTH = 12.0
_INPUTS = {"name": "Ada", "city": "Paris", "premium": True, "items": ["tea", "bread", "salt"]}
_FRONT = """---
name: bench
description: A prompt for measuring
model:
  id: gpt-4o
  provider: openai
  connection:
    kind: key
    endpoint: https://api.openai.com/v1
    apiKey: not-a-key
  options:
    temperature: 0.2
inputs:
  - name: name
    kind: string
    required: true
  - name: city
    kind: string
    default: Paris
  - name: premium
    kind: boolean
    default: true
  - name: items
    kind: array
    items:
      kind: string
template:
  format:
    kind: jinja2
  parser:
    kind: prompty
---
"""


def text_of(lines: int, mark: int) -> str:
    """A prompt of about that many lines; `mark` makes it different from every other."""
    return _FRONT + "\n".join(_body(lines - _FRONT.count("\n"), mark)) + "\n"


def _body(lines: int, mark: int) -> Iterator[str]:
    yield "system:"
    yield f"You are the assistant number {mark}, and you help people with their shopping."
    for number in range(max(0, lines - 2)):
        if number % 40 == 8:
            yield "user:" if number // 40 % 2 else "assistant:"
        elif number % 40 == 5:
            yield "{% if premium %}This customer pays extra.{% else %}This one does not.{% endif %}"
        elif number % 40 == 30:
            yield "{% for item in items %}- {{ loop.index }}: {{ item | upper }}{% endfor %}"
        elif number % 7 == 3:
            yield "A line about {{ name }}, who lives in {{ city }} and asks for something."
        else:
            yield f"An ordinary line of a prompt with several words in it, the {number}th of them."


def main() -> int:
    """Print the ratios; 1 where a target is missed."""
    ours: dict[int, float] = {}
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.prompty"
        for lines in _SIZES:
            ours[lines], theirs, ratio = _measure(lines, path)
            missed |= ratio > _TARGET
            print(
                f"text to messages, {lines:>5} lines: {ours[lines]:8.2f} ms, prompty"
                f" {theirs:8.2f} ms, ratio {ratio:.2f} (target at most {_TARGET})"
            )
    growth = ours[6_000] / ours[600]
    missed |= growth > _GROWTH
    print(f"growth from 600 to 6,000 lines: {growth:.1f} (target at most {_GROWTH:g})")
    return int(missed)


def _measure(lines: int, path: Path) -> tuple[float, float, float]:
    """Median milliseconds of the processor for both, and the median of the rounds' ratios."""
    import prompty

    from studio.core.prompty.parse import parse
    from studio.core.prompty.prepare import prepare

    def run_ours(text: str) -> Any:
        return prepare(parse(text, path), _INPUTS)

    def run_theirs(_: str) -> Any:
        return prompty.prepare(prompty.load(str(path)), _INPUTS)

    both: tuple[Callable[[str], Any], ...] = (run_ours, run_theirs)
    times: tuple[list[float], list[float]] = ([], [])
    for round_ in range(_ROUNDS[lines] + 1):
        text = text_of(lines, lines * 1_000 + round_)
        path.write_text(text, encoding="utf-8")
        for run, taken in zip(both, times, strict=True):
            start = time.process_time()
            result = run(text)
            taken.append((time.process_time() - start) * 1_000)
            _must_have_messages(result)
    # The first round loads modules. What counts is time of the processor, so the ratio stands
    # even while the machine is busy.
    ours, theirs = times[0][1:], times[1][1:]
    ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
    return statistics.median(ours), statistics.median(theirs), ratio


def _must_have_messages(result: Any) -> None:
    messages = result if isinstance(result, list) else result.messages.messages
    if len(messages) < 2:
        raise SystemExit("there are no messages: this measures nothing")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.exit(main())
