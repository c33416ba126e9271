"""Assertions on the text of an answer, and on the words that it shares with a reference.

Rules, formulas, tokens and thresholds are promptfoo's: scores are equal to the last digit.
"""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from io import StringIO

import regex

from studio.core.experiments.assertions.result import CellAnswer, UndecidedError, Verdict
from studio.core.experiments.values import AssertionSpec
from studio.core.patterns import PatternError, schema_pattern
from studio.core.text.amounts import counted, one_line
from studio.core.text.source import Span
from studio.core.text.values import Json, parse_json

_PATTERN_SECONDS = 1.0
_USUAL_DISTANCE = 5
_LONGEST_DISTANCE = 4_000_000
_REFUSAL = re.compile(
    r"(?i)\b(?:i (?:can(?:no|['’]?)t|am (?:unable|not able)|won['’]t)\b[^.!?]{0,60}"
    r"\b(?:help|assist|comply|provide|do|fulfill|answer|share|discuss|support)"
    r"|i['’]m (?:sorry|unable|not able|afraid)\b|as an ai\b|sorry, but i\b)"
)

_WORD = re.compile(
    "[^\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]+"
)

TextDecision = Callable[[AssertionSpec, Json, CellAnswer], Verdict]


def decide_equals(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the whole answer equals the text, or is the same JSON."""
    if isinstance(value, Mapping | list):
        try:
            found = parse_json(answer.text)
        except ValueError:
            return Verdict(False, "The answer is not JSON.")
        return Verdict(
            found == value,
            "The JSON is equal." if found == value else "The JSON is different.",
        )
    wanted = as_text(value)
    if answer.text == wanted:
        return Verdict(True, "The answer is the expected text.")
    at = next(
        (i for i, pair in enumerate(zip(answer.text, wanted, strict=False)) if pair[0] != pair[1]),
        min(len(answer.text), len(wanted)),
    )
    reason = f"Expected {_quoted(wanted)}; the answer differs from character {at + 1} on."
    return Verdict(False, reason, span=Span(at, len(answer.text)))


def decide_contains(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer contains the text."""
    wanted = as_text(value)
    found = _find(answer.text, wanted, ignores_case=spec.type == "icontains")
    if found is None:
        return Verdict(False, f"The answer does not contain {_quoted(wanted)}.")
    return Verdict(True, f"Found at character {found.start + 1}.", span=found)


def decide_contains_any(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer contains one of the texts."""
    wanted = as_texts(value)
    for text in wanted:
        found = _find(answer.text, text, ignores_case=spec.type.startswith("i"))
        if found is not None:
            return Verdict(True, f"It contains {_quoted(text)}.", span=found)
    return Verdict(False, f"The answer contains none of {', '.join(map(_quoted, wanted))}.")


def decide_contains_all(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer contains all of the texts."""
    wanted = as_texts(value)
    ignores = spec.type.startswith("i")
    missing = [each for each in wanted if _find(answer.text, each, ignores_case=ignores) is None]
    if missing:
        return Verdict(False, f"The answer does not contain {', '.join(map(_quoted, missing))}.")
    return Verdict(True, f"It contains all of {counted(len(wanted), 'text')}.")


def decide_starts_with(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer begins or ends with the text."""
    wanted = as_text(value)
    if spec.type == "ends-with":
        size = len(answer.text)
        return Verdict(
            answer.text.endswith(wanted),
            f"The answer ends with {_tail(answer.text)}.",
            span=Span(max(0, size - len(wanted)), size),
        )
    return Verdict(
        answer.text.startswith(wanted),
        f"The answer begins with {_quoted(answer.text[: max(20, len(wanted))])}.",
        span=Span(0, min(len(wanted), len(answer.text))),
    )


def decide_regex(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer matches the pattern, which has JavaScript's syntax."""
    written = as_text(value)
    try:
        pattern = schema_pattern(_as_javascript(written))
        found = pattern.search(answer.text, timeout=_PATTERN_SECONDS)
    except PatternError as error:
        raise UndecidedError(f"The pattern {written!r} cannot be read: {error}.") from error
    except TimeoutError as error:
        raise UndecidedError(
            f"The pattern {written!r} takes longer than {_PATTERN_SECONDS:g} s in this answer."
        ) from error
    if found is None:
        return Verdict(False, f"The answer does not match {written}.")
    return Verdict(
        True, f"It matches at character {found.start() + 1}.", span=Span(found.start(), found.end())
    )


_ASCII = {"w": "A-Za-z0-9_", "d": "0-9"}


def _as_javascript(pattern: str) -> str:
    """Return a pattern with the meaning that it has in JavaScript without flags.

    There `$` matches only at the end, and the classes of letters and digits only ASCII.
    """
    made: list[str] = []
    in_class = escaped = False
    for letter in pattern:
        if escaped:
            escaped = False
            plain = _ASCII.get(letter)
            if plain is not None:
                made[-1] = plain if in_class else f"[{plain}]"
                continue
            if letter in "WD" and not in_class:
                made[-1] = f"[^{_ASCII[letter.lower()]}]"
                continue
        elif letter == "\\":
            escaped = True
        elif letter == "[":
            in_class = True
        elif letter == "]":
            in_class = False
        elif letter == "$" and not in_class:
            made.append(r"\Z")
            continue
        made.append(letter)
    return "".join(made)


def decide_levenshtein(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that few edits turn the answer into the text."""
    wanted = as_text(value)
    most = _USUAL_DISTANCE if spec.threshold is None else spec.threshold
    if len(wanted) * len(answer.text) > _LONGEST_DISTANCE:
        raise UndecidedError("The texts are too long to count the edits between them.")
    distance = levenshtein(answer.text, wanted)
    return Verdict(
        distance <= most,
        f"{counted(distance, 'edit leads', 'edits lead')} to the "
        f"expected text; at most {most:g} is allowed.",
    )


def levenshtein(one: str, other: str) -> int:
    """Return the number of characters to insert, delete or replace."""
    before = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, its in enumerate(other, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (letter != its)))
        before = now
    return before[-1]


def decide_refusal(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the model declined: by its refusal, by the wording, or by an empty answer."""
    if answer.is_refusal or not answer.text.strip():
        return Verdict(True, "The model declined to answer.")
    found = _REFUSAL.search(answer.text[:2000])
    if found is None:
        return Verdict(False, "The answer is not a refusal.")
    return Verdict(True, "The answer is a refusal.", span=Span(found.start(), found.end()))


def decide_word_count(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check the number of words in the answer: exact, or between `min` and `max`."""
    count = len(javascript_words(answer.text))
    low, high = 0.0, math.inf
    if isinstance(value, Mapping):
        low, high = as_number(value.get("min", 0)), as_number(value.get("max", math.inf))
    elif value is not None:
        low = high = as_number(value)
    return Verdict(low <= count <= high, f"The answer has {counted(count, 'word')}.")


TEXT_DECISIONS: Mapping[str, TextDecision] = {
    "equals": decide_equals,
    "contains": decide_contains,
    "icontains": decide_contains,
    "contains-any": decide_contains_any,
    "icontains-any": decide_contains_any,
    "contains-all": decide_contains_all,
    "icontains-all": decide_contains_all,
    "starts-with": decide_starts_with,
    "ends-with": decide_starts_with,
    "regex": decide_regex,
    "levenshtein": decide_levenshtein,
    "is-refusal": decide_refusal,
    "word-count": decide_word_count,
}
"""Function for each type of assertion."""


def as_text(value: Json) -> str:
    """Return a value as the text that promptfoo compares."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def as_texts(value: Json) -> list[str]:
    """Return a list of texts; a single text is split at commas outside quotes."""
    if isinstance(value, list | tuple):
        return [as_text(each) for each in value]
    row = next(csv.reader(StringIO(as_text(value)), skipinitialspace=True), [])
    return [each.strip() for each in row]


def javascript_words(text: str) -> list[str]:
    """Return the words of a text, split at JavaScript's whitespace."""
    return _WORD.findall(text)


def as_number(value: Json) -> float:
    """Return a value as a number.

    Raises:
        UndecidedError: the value is no number.
    """
    try:
        return float(str(value))
    except ValueError:
        raise UndecidedError(f"{value!r} is not a number.") from None


def _find(text: str, wanted: str, *, ignores_case: bool) -> Span | None:
    if not ignores_case:
        at = text.find(wanted)
        return Span(at, at + len(wanted)) if at >= 0 else None
    at = text.lower().find(wanted.lower())
    # Lowercase changes the length of a few letters; the span is exact for all others.
    return Span(at, min(at + len(wanted), len(text))) if at >= 0 else None


def _quoted(text: str) -> str:
    return f'"{one_line(text, 60)}"'


def _tail(text: str) -> str:
    return _quoted(text[-20:])


_LONGEST = 4
"""Maximum number of words in a compared sequence."""

_NO_PRECISION = 1e-7

Words = Sequence[str]


def decide_bleu(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check by BLEU: which words and sequences of the answer the references contain."""
    return _scored(spec, "BLEU", bleu(answer.text, _references(spec, value)), 0.5)


def decide_gleu(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer and a reference share most words and sequences."""
    return _scored(spec, "GLEU", gleu(answer.text, _references(spec, value)), 0.5)


def decide_rouge(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer and the reference share most words."""
    if not isinstance(value, str):
        raise UndecidedError("The value must be the text to compare with.")
    return _scored(spec, "ROUGE", rouge(answer.text, value), 0.75)


def _scored(spec: AssertionSpec, name: str, score: float, usual: float) -> Verdict:
    least = usual if spec.threshold is None else spec.threshold
    reason = f"The {name} score is {score:.4f}; the threshold is {least:g}."
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
    """Return Google's BLEU: the smaller of precision and recall, for the best reference."""
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
    """Return ROUGE-1: the F-measure of common tokens, counted as often as both have them."""
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
    """Split a sentence into words and punctuation as the Penn Treebank does."""
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
    """Return the text with opening and closing double quotes replaced by different marks."""
    is_inside = False

    def mark(found: regex.Match[str]) -> str:
        nonlocal is_inside
        is_inside = found[0] == "``" or (not is_inside and _opens(text, found))
        return " `` " if is_inside else " '' "

    return str(_QUOTE.sub(mark, text))


def _opens(text: str, found: regex.Match[str]) -> bool:
    """Return whether a quotation mark outside quotes opens a quotation."""
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
"""Function for each type of assertion."""
