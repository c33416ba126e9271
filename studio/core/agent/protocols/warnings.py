"""The remarks that a reading can carry, each a stable code and one sentence."""

from __future__ import annotations

from studio.core.agent.values.reading import ReadingWarning
from studio.core.text.span import Span

_MESSAGES = {
    "loose_label": "A label is not written as the prompt says ({0!r}).",
    "name_cleaned": "The tool's name was written as {0!r}.",
    "no_args": "No arguments were given; none are sent.",
    "null_args": "The arguments are null; none are sent.",
    "missing_args_label": "The arguments stand without their label.",
    "text_between": "There is other text between the action and its arguments.",
    "raw_breaks": "A string holds a raw line break, which JSON would write as \\n.",
    "text_after_args": "The text after the arguments is not used.",
    "second_action_ignored": "Only the first action counts; the rest is not used.",
    "several_actions": "Only the first action counts; the rest is not used.",
    "invented_observation": "The model went on to invent the observation; that is cut off.",
    "answer_after_action": "The reply acts and answers; the action counts, the answer is not used.",
    "labels_after_final": "There are labels inside the final answer; they are part of it.",
    "plain_answer": "The reply has no label and counts as the answer, as this run allows.",
    "free_text_args": "The arguments are plain text, taken as {0!r}.",
    "bare_value": "The bare value was taken as {0!r}.",
    "half_stop": "The reply ends in the middle of a stop word; that is cut off.",
    "cut_answer": "The answer was cut off by the token limit.",
    "filtered_answer": "The provider's filter cut the answer.",
    "native_call": "The tool was called natively instead of in the prompt's format.",
    "key_variant": "The key {0!r} was taken for {1!r}.",
    "answer_label": "The answer is labelled {0!r} instead of 'Final Answer'.",
    "final_word": "The end is spelled {0!r}.",
    "empty_answer": "The answer is empty.",
    "text_after_action": "The text after the action is not used.",
    "refused_option": "{0}",
    "repaired": "Repaired without asking: {0}.",
}


def remark(code: str, *words: str, span: Span | None = None) -> ReadingWarning:
    """The remark of that code about `words`."""
    return ReadingWarning(code, _MESSAGES[code].format(*words), span)
