"""From a model request to the body that goes over the wire, within what the model can take."""

from __future__ import annotations

from studio.core.models.base import Capabilities, ModelRequest
from studio.core.text.values import Json, JsonObject


def request_body(request: ModelRequest, *, model_id: str, capabilities: Capabilities) -> JsonObject:
    """The chat-completions body of a request."""
    body: dict[str, Json] = {
        "model": model_id,
        "messages": [{"role": m.role, "content": m.text} for m in request.messages],
    }
    if request.stop and capabilities.stop:
        body["stop"] = list(request.stop)
    return body
