"""How the servers of embedded models share a machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.application.experiments.embedded_servers import EmbeddedServers
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connection
from studio.core.prompty.document import ModelDeclaration


@pytest.mark.parametrize(("cores", "sharers", "threads"), [(9, 1, 8), (9, 4, 2), (2, 2, 1)])
def test_workers_of_one_machine_share_its_threads(
    cores: int, sharers: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    connection = Connection("small", "embedded")
    choice = ModelChoice(connection, ModelDeclaration(), "")
    servers = EmbeddedServers(None, sharers)
    assert servers.settings(choice).threads == threads
    named = replace(choice, connection=replace(connection, settings={"threads": 5}))
    assert servers.settings(named).threads == 5
