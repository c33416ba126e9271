"""An own, small reader of GBNF for tests: what a grammar can make, and whether it makes a text.

It translates an expression to a Python regular expression, which is enough because the studio's
grammars have one rule and no recursion. llama.cpp itself reads the same grammars in the tests
marked `embedded`.
"""

from __future__ import annotations

import random
import re

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>"(?:\\.|[^"\\])*")
      | (?P<class>\[(?:\\.|[^\]\\])*\])
      | (?P<repeat>[?*+]|\{\d+(?:,\d*)?\})
      | (?P<sign>[()|])
    )""",
    re.VERBOSE,
)


def to_regex(expression: str) -> re.Pattern[str]:
    """The regular expression of a GBNF expression (what stands right of `root ::=`)."""
    made: list[str] = []
    at = 0
    end = len(expression.rstrip())
    while at < end:
        match = _TOKEN.match(expression, at)
        assert match, f"no GBNF at {expression[at : at + 40]!r}"
        at = match.end()
        if match["text"]:
            made.append(f"(?:{re.escape(_unescaped(match['text'][1:-1]))})")
        elif match["class"]:
            made.append(match["class"])
        elif match["repeat"]:
            made.append(match["repeat"])
        else:
            made.append({"(": "(?:", ")": ")", "|": "|"}[match["sign"]])
    return re.compile("".join(made))


def rule(grammar: str) -> str:
    """The expression of the only rule."""
    assert grammar.startswith("root ::= ")
    assert "\n" not in grammar, "a rule ends at the line's end"
    return grammar.removeprefix("root ::= ")


def generates(expression: str, text: str) -> bool:
    """Whether the expression makes exactly this text."""
    return to_regex(expression).fullmatch(text) is not None


def sample(expression: str, seed: int) -> str:
    """One of the texts that the expression makes, short repetitions preferred."""
    return _Sampler(expression, random.Random(seed)).alternatives()


class _Sampler:
    def __init__(self, expression: str, chance: random.Random) -> None:
        self._tokens = list(_TOKEN.finditer(expression))
        self._at = 0
        self._chance = chance

    def alternatives(self) -> str:
        ways = [self._sequence()]
        while self._at < len(self._tokens) and self._tokens[self._at]["sign"] == "|":
            self._at += 1
            ways.append(self._sequence())
        return self._chance.choice(ways)

    def _sequence(self) -> str:
        made = ""
        while self._at < len(self._tokens) and self._tokens[self._at]["sign"] not in ("|", ")"):
            start = self._at
            piece = self._item()
            least, most = self._repeats()
            after = self._at
            count = self._chance.randint(least, min(most, least + 4))
            for number in range(count):
                if number:
                    self._at = start
                    piece = self._item()
                made += piece
            self._at = after
        return made

    def _item(self) -> str:
        token = self._tokens[self._at]
        self._at += 1
        if token["text"]:
            return _unescaped(token["text"][1:-1])
        if token["class"]:
            allowed = re.compile(token["class"])
            return self._chance.choice(
                [char for char in map(chr, [*range(1, 127), 0xE9, 0x4E2D]) if allowed.match(char)]
            )
        inside = self.alternatives()
        self._at += 1
        return inside

    def _repeats(self) -> tuple[int, int]:
        if self._at >= len(self._tokens) or not self._tokens[self._at]["repeat"]:
            return 1, 1
        written = self._tokens[self._at]["repeat"]
        self._at += 1
        if written in "?*+":
            return {"?": (0, 1), "*": (0, 4), "+": (1, 4)}[written]
        least, _, most = written[1:-1].partition(",")
        return int(least), int(most or least)


def _unescaped(written: str) -> str:
    return re.sub(
        r"\\(x([0-9a-f]{2})|.)",
        lambda match: (
            chr(int(match[2], 16))
            if match[2]
            else {"n": "\n", "r": "\r", "t": "\t"}.get(match[1], match[1])
        ),
        written,
    )
