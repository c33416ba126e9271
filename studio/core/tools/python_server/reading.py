"""Who reads arguments: pydantic, where the environment has it, or the standard library."""

from __future__ import annotations

from collections.abc import Sequence

from .arguments import ArgumentReader, TakenArgument


def make_reader(name: str, parameters: Sequence[TakenArgument]) -> ArgumentReader:
    """The reader of this environment: pydantic's where it has it, otherwise our own."""
    if has_pydantic():
        from .with_pydantic import PydanticReader

        return PydanticReader(name, parameters)
    from .by_hand import PlainReader

    return PlainReader(parameters)


def has_pydantic() -> bool:
    """Whether this environment has pydantic 2, at or above 2.5."""
    try:
        from pydantic import VERSION
    except Exception:  # noqa: BLE001 - a broken one is none
        return False
    major, minor = VERSION.split(".")[:2]
    return (int(major), int(minor)) >= (2, 5)
