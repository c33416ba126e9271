"""Assertions on the words that an answer shares with a reference: BLEU, GLEU and ROUGE-1.

The formulas, tokens and thresholds are promptfoo's, so that scores are the same to the last digit.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import regex

from studio.core.experiments.assertions.result import CellAnswer, UndecidedError, Verdict
from studio.core.experiments.assertions.text import TextDecision, javascript_words
from studio.core.experiments.values import AssertionSpec
from studio.core.text.values import Json

_LONGEST = 4
"""Words of the longest sequences that are compared."""

_NO_PRECISION = 1e-7

Words = Sequence[str]


def decide_bleu(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Decide by the words and sequences of the answer that no reference contains."""
    return _scored(spec, "BLEU", bleu(answer.text, _references(spec, value)), 0.5)


def decide_gleu(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer and a reference share most of their words and sequences."""
    return _scored(spec, "GLEU", gleu(answer.text, _references(spec, value)), 0.5)


def decide_rouge(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer and the reference share most of their words."""
    if not isinstance(value, str):
        raise UndecidedError("The value is the text that the answer is compared with.")
    return _scored(spec, "ROUGE", rouge(answer.text, value), 0.75)


def _scored(spec: AssertionSpec, name: str, score: float, usual: float) -> Verdict:
    least = usual if spec.threshold is None else spec.threshold
    reason = f"The {name} score is {score:.4f}; it passes from {least:g}."
    return Verdict(score >= least, reason, score)


def _references(spec: AssertionSpec, value: Json) -> list[str]:
    found = value if isinstance(value, list | tuple) else [value]
    texts = [each for each in found if isinstance(each, str)]
    if not texts or len(texts) != len(found):
        raise UndecidedError(f"The value of {spec.type} is a text or a list of texts.")
    return texts


def bleu(candidate: str, references: Sequence[str]) -> float:
    """Return the BLEU of sequences of 1 to 4 words (Papineni et al., 2002); 0 for an empty text."""
    words = _lowered(candidate)
    if words == [""]:
        return 0.0
    others = [_lowered(each) for each in references]
    precisions: list[float] = []
    for size in range(1, min(_LONGEST, len(words)) + 1):
        counts = _sequences(words, size)
        shared = max((counts & _sequences(each, size)).total() for each in others)
        precisions.append(shared / counts.total())
    nearest = min((len(each) for each in others), key=lambda size: (abs(size - len(words)), size))
    penalty = 1.0 if len(words) > nearest else math.exp(1 - nearest / len(words))
    logs = sum(math.log(each or _NO_PRECISION) for each in precisions)
    return penalty * math.exp(logs / len(precisions))


def gleu(candidate: str, references: Sequence[str]) -> float:
    """Return Google's BLEU: the smaller of precision and recall, of the best reference."""
    words = _without_dots(candidate)
    return max(_gleu(words, _without_dots(each)) for each in references) if words else 0.0


def _gleu(words: Words, reference: Words) -> float:
    if words == reference:
        return 1.0
    shared = own = its = 0
    for size in range(1, _LONGEST + 1):
        mine, other = _sequences(words, size), _sequences(reference, size)
        shared += (mine & other).total()
        own += mine.total()
        its += other.total()
    return min(shared / own, shared / its) if own and its else 0.0


def rouge(candidate: str, reference: str) -> float:
    """Return ROUGE-1: the F-measure of common tokens, each counted as often as both have it."""
    mine, other = (Counter(treebank_tokens(each.lower())) for each in (candidate, reference))
    shared = (mine & other).total()
    if not shared:
        return 0.0
    precision, recall = shared / mine.total(), shared / other.total()
    return 2 * precision * recall / (precision + recall)


def _lowered(text: str) -> list[str]:
    return javascript_words(text.lower()) or [""]


def _without_dots(text: str) -> list[str]:
    words = [each.rstrip(".") for each in javascript_words(text.lower())]
    return words if any(words) else []


def _sequences(words: Words, size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1))


# Penn Treebank ------------------------------------------------------------------------------------

_QUOTE = regex.compile(r"``|''|\"")
_BEFORE_QUOTE = regex.compile(r"[\s\p{Ps}<]")
_BEFORE_OPENING = regex.compile(r"[\s\p{P}<]")
_QUOTED = regex.compile(r"[\p{L}\p{N}\p{Sc}\p{Ps}]")

_SPLITS: tuple[tuple[regex.Pattern[str], str], ...] = (
    (regex.compile(r"\.{3}"), r" ... "),
    (regex.compile(r"([:,])(?!\p{Nd})"), r" \1 "),
    (regex.compile(r"([;@#$%&])"), r" \1 "),
    (
        regex.compile(r"([^.])(?<!\b[A-Za-z]\.[A-Za-z])(\.)([\])}>'\s]*+)\Z", regex.ASCII),
        r"\1 \2\3 ",
    ),
    (regex.compile(r"([?!])"), r" \1 "),
    (regex.compile(r"([\]\[(){}<>])"), r" \1 "),
    (regex.compile(r"--"), r" -- "),
)
_ENDINGS: tuple[tuple[regex.Pattern[str], str], ...] = (
    (regex.compile(r"([^'])' "), r"\1 ' "),
    (regex.compile(r"'([sSmMdD]) "), r" '\1 "),
    (regex.compile(r"('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), r" \1 "),
    *(
        (
            regex.compile(
                rf"(?i)(?<![\p{{ID_Continue}}\u200c\u200d]){pair}"
                r"(?![\p{ID_Continue}\u200c\u200d])"
            ),
            r" \1 \2 ",
        )
        for pair in (
            "(can)(not)",
            "(d)('ye)",
            "(gim)(me)",
            "(gon)(na)",
            "(got)(ta)",
            "(lem)(me)",
            "(more)('n)",
            "(wan)(na)(?= )",
            "('t)(is)",
            "('t)(was)",
        )
    ),
)
"""Patterns that split a text padded with spaces."""


def treebank_tokens(text: str) -> list[str]:
    """Return the words and signs of a sentence as the Penn Treebank splits them."""
    text = " ".join(text.replace("\x85", " ").split())
    if not text:
        return []
    made = _quotes_marked(text)
    for pattern, by in _SPLITS:
        made = pattern.sub(by, made)
    made = f" {made} "
    for pattern, by in _ENDINGS:
        made = pattern.sub(by, made)
    return [each for each in made.split(" ") if each]


def _quotes_marked(text: str) -> str:
    """Return the text with double quotes as two signs: opening ones and closing ones."""
    is_inside = False

    def mark(found: regex.Match[str]) -> str:
        nonlocal is_inside
        is_inside = found[0] == "``" or (not is_inside and _opens(text, found))
        return " `` " if is_inside else " '' "

    return str(_QUOTE.sub(mark, text))


def _opens(text: str, found: regex.Match[str]) -> bool:
    """Return whether a quote outside of quotes opens some."""
    at, before = found.start(), text[found.start() - 1 : found.start()]
    if at and (before in ".!?" or not _BEFORE_OPENING.match(before)):
        return False
    if found.end() == len(text) and at and not _BEFORE_QUOTE.match(before):
        return False
    if found[0] == '"':
        return True
    closing = _QUOTE.search(text, at + 2)
    quotes_something = _QUOTED.match(text, at + 2) is not None
    return bool(at) and quotes_something and closing is not None and closing[0] == "''"


OVERLAP: Mapping[str, TextDecision] = {
    "bleu": decide_bleu,
    "gleu": decide_gleu,
    "rouge-n": decide_rouge,
}
"""Function that decides each type."""
