"""The table of well-known models: facts by the prefix of their id."""

import json
from functools import cache

from studio.core.paths import resource_text
from studio.core.text.values import JsonObject


@cache
def model_table() -> tuple[JsonObject, ...]:
    """Return the entries of the table, each with its `prefix`."""
    data = json.loads(resource_text("models", "models.json"))
    return tuple(data["models"])


def known_models() -> tuple[tuple[str, int], ...]:
    """Return known prefixes of model ids with their context window; 0 if it is not known."""
    found = []
    for entry in model_table():
        window = entry.get("context_window")
        found.append((str(entry["prefix"]), window if isinstance(window, int) else 0))
    return tuple(found)
