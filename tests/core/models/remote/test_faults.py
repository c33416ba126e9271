"""The table of sentences: each row can be said, and says what to do."""

from __future__ import annotations

import pytest

from studio.core.models.remote.faults import _SENTENCES, Endpoint, fault_of


@pytest.mark.parametrize("proxy", ["", "http://proxy.test:3128"])
@pytest.mark.parametrize("key", _SENTENCES)
def test_each_row_is_an_error_with_a_hint(key: str, proxy: str) -> None:
    target = Endpoint("Server", "http://server.test/v1", "m-{1}", proxy)
    fault = fault_of(key, target, " It says: {no}.", status=500, place="there", text=": {why}")
    assert fault.kind == key.partition("/")[0]
    assert fault.message.endswith((".", "}"))
    assert fault.hint.endswith(".")


def test_a_fault_that_passes_may_be_tried_again() -> None:
    target = Endpoint("Server", "http://server.test/v1", "m-1")
    assert fault_of("timeout/connect", target).retryable
    assert fault_of("proxy/down", target).retryable
    assert not fault_of("proxy/name", target).retryable
