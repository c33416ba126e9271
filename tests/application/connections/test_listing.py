"""From one list of connections to the next."""

from __future__ import annotations

import pytest

from studio.application.connections.editing import (
    with_added,
    with_changed,
    with_trusted,
    without,
    without_trusted,
)
from studio.core.models.connections import EMBEDDED, Connection, Connections

A = Connection("A", "openai")
REPLAY = Connection("R", "replay", settings={"through": "A", "recording": "x"})
ALL = Connections((EMBEDDED, A, REPLAY), "A")


def names(connections: Connections) -> list[str]:
    return [each.name for each in connections.connections]


def test_names_stay_apart() -> None:
    assert names(with_added(ALL, A)) == ["Embedded model", "A", "R", "A 2"]
    assert names(with_added(ALL, A, after="A")) == ["Embedded model", "A", "A 2", "R"]


def test_a_new_name_is_followed() -> None:
    changed = with_changed(ALL, "A", Connection("B", "openai"))
    assert names(changed) == ["Embedded model", "B", "R"]
    assert changed.default == "B"
    assert changed.connections[2].settings == {"through": "B", "recording": "x"}


def test_the_embedded_model_is_always_there() -> None:
    assert without(ALL, "A").default == EMBEDDED.name
    with pytest.raises(ValueError, match="always there"):
        without(ALL, EMBEDDED.name)
    second = with_added(ALL, EMBEDDED)
    assert names(without(second, EMBEDDED.name)) == ["A", "R", "Embedded model 2"]


def test_trusted_endpoints() -> None:
    trusted = with_trusted(with_trusted(ALL, "https://a"), "https://a")
    assert trusted.trusted == ("https://a",)
    assert without_trusted(trusted, "https://a").trusted == ()
