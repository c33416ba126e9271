"""What a provider says about its models, and what is known of them besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from studio.core.text.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model of a provider's list (Prompty spec, discovery vectors)."""

    id: str
    """What a request names."""

    display_name: str | None = None
    """Name for people."""

    owned_by: str | None = None
    """Who made it."""

    context_window: int | None = None
    """Tokens; None where nobody says."""

    input_modalities: tuple[str, ...] | None = None
    """`text`, `image`, …; None where nobody says, empty where there are none."""

    output_modalities: tuple[str, ...] | None = None
    """The same for what it makes."""

    additional: JsonObject = field(default_factory=dict)
    """The provider's own object, whole."""


@dataclass(frozen=True, slots=True)
class Capability:
    """What is known of all models whose ids begin with a prefix."""

    prefix: str
    context_window: int | None
    input_modalities: tuple[str, ...]
    output_modalities: tuple[str, ...]


_TEXT = ("text",)
_SEEING = ("text", "image")

# Sources: the providers' public model pages; only what they themselves do not return in a list.
KNOWN: Mapping[str, tuple[Capability, ...]] = {
    "openai": (
        Capability("gpt-4o-mini", 128_000, _SEEING, _TEXT),
        Capability("gpt-4o", 128_000, _SEEING, _TEXT),
        Capability("gpt-4-turbo", 128_000, _SEEING, _TEXT),
        Capability("gpt-4", 8_192, _TEXT, _TEXT),
        Capability("gpt-3.5-turbo", 16_385, _TEXT, _TEXT),
        Capability("text-embedding-3-small", 8_191, _TEXT, ()),
        Capability("text-embedding-3-large", 8_191, _TEXT, ()),
        Capability("gpt-image-1", None, _SEEING, ("image",)),
        Capability("dall-e-3", None, _TEXT, ("image",)),
    ),
}


def map_model(raw: JsonObject, provider: str) -> ModelInfo:
    """A provider's own description of a model; nothing of it is lost.

    Args:
        raw: One item of the provider's list.
        provider: `openai`, `anthropic` or `foundry`; any other is read like OpenAI's.
    """
    match provider:
        case "anthropic":
            return ModelInfo(
                _text(raw.get("id")) or "",
                _text(raw.get("display_name")),
                "anthropic",
                _number(raw.get("context_length")),
                _words(raw.get("input_modalities")),
                _words(raw.get("output_modalities")),
                raw,
            )
        case "foundry":
            return _map_foundry(raw)
        case _:
            return ModelInfo(
                _text(raw.get("id")) or "", owned_by=_text(raw.get("owned_by")), additional=raw
            )


def enrich(
    model: ModelInfo,
    provider: str,
    known: Mapping[str, Iterable[Capability]] = KNOWN,
) -> ModelInfo:
    """Fill in what the provider did not say; what it said stays, an empty list too."""
    found = match_capability(model.id, known.get(provider, ()))
    if found is None:
        return model
    made = model
    if model.context_window is None:
        made = replace(made, context_window=found.context_window)
    if model.input_modalities is None:
        made = replace(made, input_modalities=found.input_modalities)
    if model.output_modalities is None:
        made = replace(made, output_modalities=found.output_modalities)
    return made


def match_capability(model_id: str, known: Iterable[Capability]) -> Capability | None:
    """The entry with the longest prefix that ends where a word of the id ends."""
    fitting = [entry for entry in known if _begins(model_id, entry.prefix)]
    return max(fitting, key=lambda entry: len(entry.prefix), default=None)


def _begins(model_id: str, prefix: str) -> bool:
    behind = model_id[len(prefix) : len(prefix) + 1]
    return model_id.startswith(prefix) and not behind.isalnum()


def _map_foundry(raw: JsonObject) -> ModelInfo:
    if "properties" in raw:  # a deployment as Azure's resource manager describes it
        properties = _mapping(raw["properties"])
        model, able = _mapping(properties.get("model")), _mapping(properties.get("capabilities"))
        return ModelInfo(
            _text(raw.get("name")) or "",
            _text(model.get("name")),
            _text(model.get("publisher")),
            _number(model.get("maxContextLength")),
            _words(able.get("supportedInputModalities")),
            _words(able.get("supportedOutputModalities")),
            raw,
        )
    window = _number(raw.get("maxContextLength"))
    if "modelName" in raw or raw.get("type") == "ModelDeployment":
        return ModelInfo(
            _text(raw.get("name")) or "",
            _text(raw.get("modelName")),
            _text(raw.get("modelPublisher")),
            window,
            additional=raw,
        )
    owner = _text(raw.get("owned_by"))
    return ModelInfo(_text(raw.get("id")) or "", None, owner, window, additional=raw)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Json) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _words(value: Json) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    return tuple(str(item) for item in value)
