"""What promptfoo's tests assert of answers, as an experiment beside the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from studio.core.text.values import Json, JsonObject

_KEYS = (
    "description", "providers", "targets", "tests", "defaultTest", "scenarios",
    "assertionTemplates", "evaluateOptions",
)  # fmt: skip
"""Keys of a configuration that an experiment file has too."""


def asserted_experiment(data: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """The experiment without its prompts, and what to know of it; empty where nothing is asserted.

    Args:
        data: promptfoo's configuration.
    """
    tests = list(_tests(data))
    files = [item for item in tests if isinstance(item, str)]
    if not files and not any(isinstance(item, Mapping) and item.get("assert") for item in tests):
        return {}, ()
    told = ["tests: what they assert of answers goes into an experiment file beside the prompt."]
    if files:
        told.append(f"tests: {', '.join(files)} must lie beside that file.")
    return {key: data[key] for key in _KEYS if key in data}, tuple(told)


def _tests(data: JsonObject) -> Iterator[Json]:
    """Every test, the default one and those of scenarios; a text names a file with tests."""
    yield data.get("defaultTest")
    yield from _list(data.get("tests"))
    for scene in _list(data.get("scenarios")):
        if isinstance(scene, Mapping):
            yield from _list(scene.get("config"))
            yield from _list(scene.get("tests"))


def _list(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]
