"""The model that a preview is meant for, taken from the connection that a run would use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from studio.application.connections.model import choice_words
from studio.application.preview.value import PreviewTarget
from studio.core.models.base import ModelError
from studio.core.models.capabilities import facts_of
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import address_of, provider_at
from studio.core.models.embedded.server import EmbeddedSettings
from studio.core.models.embedded.weights import bundled_weights
from studio.core.models.factory import embedded_settings
from studio.core.prompty.document import ModelDeclaration, PromptDocument


def preview_target(choice: ModelChoice) -> PreviewTarget:
    """What is known of the model that would answer."""
    words, is_refused = choice_words(choice), bool(choice.refusal)
    return replace(
        _target(choice),
        chosen=words,
        is_described=choice.is_described or is_refused,
        is_refused=is_refused,
    )


def _target(choice: ModelChoice) -> PreviewTarget:
    connection, model_id = choice.connection, choice.declaration.id
    if connection.kind == "embedded":
        settings = embedded_settings(connection)
        return PreviewTarget(
            "", connection.name, settings.context, is_embedded=True, weights=_weights(settings)
        )
    if not connection.is_remote:
        return PreviewTarget(model_id, connection.name)
    # Its window may stand in the table of prices, which is not loaded here: the count looks.
    capabilities = facts_of(
        model_id, corrections=connection.capabilities, connection=connection, priced=False
    ).capabilities
    address = address_of(connection) if connection.kind != "azure" else ""
    return PreviewTarget(
        model_id,
        connection.name,
        capabilities.context_window,
        base_url=address,
        provider=provider_at(connection),
        capabilities=capabilities,
        connection=connection,
    )


def asked_model(document: PromptDocument, target: PreviewTarget) -> ModelDeclaration:
    """The model of a document, by the id under which a target knows it."""
    model = document.model
    return replace(model, id=target.model_id) if target.model_id else model


def _weights(settings: EmbeddedSettings) -> Path | None:
    try:
        return settings.weights or bundled_weights().path
    except ModelError:  # not installed: a run says so, and the count stays an estimate
        return None
