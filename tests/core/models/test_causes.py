"""Each cause of a refusal has its own name and sentence, whoever words it."""

from __future__ import annotations

import pytest

from studio.application.run.offers.offer import offers_at_problem
from studio.core.agent.loop.steps import new_state
from studio.core.agent.values.step import PausePoint, RunSetup, StepError, replace
from studio.core.models.remote.faults import Endpoint, status_fault

TARGET = Endpoint("Server", "http://server.test/v1", "m-1")
OPENAI_MODEL = "The model `m-1` does not exist or you do not have access to it."


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (401, {"message": "Incorrect API key provided"}, "unauthorised", "not accept the key"),
        (
            400,
            [{"error": {"code": 400, "message": "API key not valid. Pass a valid API key."}}],
            "unauthorised",
            "not accept the key",
        ),
        (404, {"message": OPENAI_MODEL, "code": "model_not_found"}, "unknown-model", "'m-1'"),
        (404, {"error": 'model "m-1" not found, try pulling it first'}, "unknown-model", "'m-1'"),
        (404, {"type": "not_found_error", "message": "model: m-1"}, "unknown-model", "'m-1'"),
        (400, {"message": "m-1 is not a valid model ID"}, "unknown-model", "'m-1'"),
        (400, {"message": "The model `m-1` has been retired."}, "unknown-model", "'m-1'"),
        (404, {"detail": "Not Found"}, "not-found", "no API at http://server.test/v1"),
        (404, "<html><title>404 Not Found</title></html>", "not-found", "no API at"),
        (404, {"message": "Invalid URL (POST /v1/chat)"}, "not-found", "no API at"),
        (404, "", "not-found", "no API at"),
        (405, {"detail": "Method Not Allowed"}, "not-found", "no API at"),
        (404, {"message": "gone fishing"}, "not-found", "or no API at"),
        (402, {"message": "Insufficient credits"}, "no-quota", "no credit left"),
        (
            429,
            {"message": "You exceeded your quota", "code": "insufficient_quota"},
            "no-quota",
            "no credit left",
        ),
        (400, {"message": "maximum context length is 4096 tokens"}, "too-long", "too long"),
        (400, {"message": "temperature must be at most 1"}, "bad-request", "not accept the req"),
    ],
)
def test_causes(status: int, body: object, kind: str, said: str) -> None:
    fault = status_fault(status, {}, body, TARGET, lambda text: text)
    assert fault.kind == kind
    assert said in fault.message


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("unauthorised", "Open the connection…"),
        ("not-found", "Open the connection…"),
        ("no-quota", "Open the connection…"),
        ("unknown-model", "Choose a model…"),
        ("too-long", "Choose a model…"),
        ("server-error", "Try again"),
    ],
)
def test_the_first_button_mends_the_cause(code: str, first: str) -> None:
    error = StepError("model", code, "It failed.")
    state = replace(new_state(RunSetup("r")), place=PausePoint.ERROR, error=error)
    offers = offers_at_problem(state).offers
    assert (offers[0].label, [each.is_primary for each in offers].count(True)) == (first, 1)
