"""The loops of an exported script, as source: how it asks until there is an answer."""

from __future__ import annotations

from studio.core.export.python.code import script_part
from studio.core.models.base import ProtocolName

PLAIN_RUN = script_part("plain_run")

NATIVE_RUN = script_part("native_run")

READ_OBJECT = script_part("read_object")

SUPPLY = script_part("supply")

REACT_RUN = script_part("react_run")

JSON_RUN = script_part("json_run")

RUNS: dict[ProtocolName, tuple[str, ...]] = {
    "native": (NATIVE_RUN,),
    "react": (SUPPLY, REACT_RUN, READ_OBJECT),
    "json_action": (SUPPLY, JSON_RUN, READ_OBJECT),
}
"""What each protocol's loop is made of."""
