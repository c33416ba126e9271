"""The final answer against the declared outputs."""

from __future__ import annotations

from studio.core.agent.values.json_text import Decoded, decode_at
from studio.core.text.values import Json, JsonObject
from studio.core.tools.arguments import check_arguments
from studio.core.wire.schema import answer_schema


def check_answer(schema: JsonObject | None, answer: str) -> tuple[Json, tuple[str, ...]]:
    """The answer as a value, and where it does not fit; (None, ()) where no outputs are declared.

    The answer may stand in a code fence. An answer that is no JSON stays the text that it is.
    """
    if schema is None:
        return None, ()
    brace = answer.find("{")
    before = answer[: max(brace, 0)].strip()
    if brace < 0 or before not in ("", "```", "```json"):
        return None, ("The answer is not a JSON object, as the declared outputs ask.",)
    decoded = decode_at(answer, brace)
    if not isinstance(decoded, Decoded):
        return None, (f"The answer is no valid JSON: {decoded.message}.",)
    if answer[decoded.end :].strip("` \t\r\n"):
        return None, ("Other text follows the JSON of the answer.",)
    if not isinstance(decoded.value, dict):
        return None, ("The answer is not a JSON object, as the declared outputs ask.",)
    return decoded.value, check_arguments(answer_schema(schema), decoded.value)
