"""The public vectors of requests, responses, streams and model lists hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from studio.core.wire.request import provider_of, to_request
from studio.core.wire.whole import BadReplyError
from tests.core.wire import vectors
from tests.support.model_discovery import ModelInfo, enrich, map_model
from tests.support.prompty_results import result_of, result_of_stream
from tests.support.vectors import all_read

PROVIDERS = ("openai", "anthropic")


@pytest.mark.parametrize("case", vectors.load_vectors("wire"))
def test_request_body_is_exactly_the_vectors(case: Mapping[str, Any]) -> None:
    with all_read(case) as vector:
        given = vector["input"]
        document = vectors.document_of(given)
        request = to_request(
            vectors.messages_of(given),
            document.tools,
            document.model,
            provider=provider_of(document.model),
            outputs=document.outputs,
        )
        assert request.body == vector["expected"]["request_body"]
        assert (given["provider"], given["apiType"]) == (vector["provider"], vector["targetApi"])


@pytest.mark.parametrize("case", vectors.load_vectors("process"))
def test_response_is_read_as_the_vector_says(case: Mapping[str, Any]) -> None:
    with all_read(case) as vector:
        given, expected = vector["input"], vector["expected"]
        assert given["provider"] in PROVIDERS
        has_outputs = given.get("has_outputs", False)
        if "error" in expected:
            with pytest.raises(BadReplyError, match=expected["error"]):
                result_of(given["response"], api_type=given["apiType"])
            return
        result = result_of(given["response"], api_type=given["apiType"], has_outputs=has_outputs)
        assert result == expected["result"]


@pytest.mark.parametrize("case", vectors.load_vectors("stream"))
def test_stream_ends_as_the_vector_says(case: Mapping[str, Any]) -> None:
    with all_read(case) as vector:
        assert vector["input"]["provider"] in PROVIDERS
        result = result_of_stream(vector["input"]["events"])
        assert {
            "chunks": list(result.chunks),
            "partialText": result.partial_text,
            "requiresReconciliation": result.requires_reconciliation,
            "completionCommitted": result.committed,
        } == vector["expected"].whole


def _saved(model: ModelInfo) -> dict[str, Any]:
    named = {
        "id": model.id,
        "displayName": model.display_name,
        "ownedBy": model.owned_by,
        "contextWindow": model.context_window,
        "inputModalities": model.input_modalities and list(model.input_modalities),
        "outputModalities": model.output_modalities and list(model.output_modalities),
        "additionalProperties": dict(model.additional) or None,
    }
    if model.input_modalities == ():
        named["inputModalities"] = []
    if model.output_modalities == ():
        named["outputModalities"] = []
    return {name: value for name, value in named.items() if value is not None}


@pytest.mark.parametrize("case", vectors.load_vectors("discovery"))
def test_model_is_mapped_as_the_vector_says(case: Mapping[str, Any]) -> None:
    with all_read(case) as vector:
        assert vector["shape"]
        model = map_model(vector["input"].whole, vector["provider"])
        assert _saved(model) == vector["expected"].whole


@pytest.mark.parametrize("case", vectors.load_vectors("enrichment"))
def test_model_is_enriched_as_the_vector_says(case: Mapping[str, Any]) -> None:
    with all_read(case) as vector:
        given = vector["input"]
        modalities = {
            key: tuple(given[name]) if name in given else None
            for key, name in (
                ("input_modalities", "inputModalities"),
                ("output_modalities", "outputModalities"),
            )
        }
        model = ModelInfo(given["id"], context_window=given.get("contextWindow"), **modalities)
        assert _saved(enrich(model, vector["provider"])) == vector["expected"].whole
