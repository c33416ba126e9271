"""Names of the GenAI semantic conventions: those of 1.41, and those since they have their own book.

Source: "Generative AI semantic conventions migration guide" of the repository
`open-telemetry/semantic-conventions-genai`, whose first release is 0.1.0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.core.text.values import Json

_OPERATION = "gen_ai.operation.name"
_OUTPUT = "gen_ai.output.messages"


@dataclass(frozen=True, slots=True)
class GenAINames:
    """One version of the conventions, as what it changes in the attributes of 1.41."""

    schema_url: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Old name to new name."""

    gone: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Attribute to the operations of which it no longer is; none stands for all."""

    tells_finish_in_messages: bool = True
    """Whether a message of the output says why it ended; else only the reply's attribute does."""

    def named(self, attributes: Mapping[str, Json]) -> dict[str, Json]:
        """The attributes of a span, in the names of this version."""
        operation = attributes.get(_OPERATION)
        kept = {
            self.renamed.get(name, name): value
            for name, value in attributes.items()
            if name not in self.gone or (self.gone[name] and operation not in self.gone[name])
        }
        output = kept.get(_OUTPUT)
        if not self.tells_finish_in_messages and isinstance(output, str):
            kept[_OUTPUT] = _without_finish(output)
        return kept


def _without_finish(output: str) -> str:
    messages = [
        {name: value for name, value in message.items() if name != "finish_reason"}
        for message in json.loads(output)
    ]
    return json.dumps(messages, ensure_ascii=False)


GENAI_1_41 = GenAINames("https://opentelemetry.io/schemas/1.41.0")
"""The last version in OpenTelemetry's common book, with the provider's older name beside."""

GENAI_0_1 = GenAINames(
    "https://opentelemetry.io/schemas/gen-ai/0.1.0",
    renamed={"gen_ai.usage.cache_creation.input_tokens": "gen_ai.usage.cache_write.input_tokens"},
    gone={
        "gen_ai.system": frozenset(),
        "gen_ai.provider.name": frozenset({"invoke_agent"}),
    },
    tells_finish_in_messages=False,
)
"""The first version in the book of its own."""
