"""Cases from the outside world that know what was read of them: a key that nobody reads fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

DESCRIPTIVE = {
    # what a case is, and where it comes from
    "id",
    "name",
    "description",
    "source",
    "test",
    "contract",
    "stage",
    "note",
    "notes",
    "advice",
    # which fields the peer's own test looks at; what one other runtime cannot do
    "asserts",
    "rust_expected_error",
    # what the tools of a case do, in words; that its events are listened to
    "tool_functions",
    "on_event",
}
"""Keys that tell a person about a case and have nothing to assert."""


class Watched(Mapping[str, Any]):
    """An object of a case, and which of its keys were read; asking whether one is there is not."""

    def __init__(self, value: Mapping[str, Any], *, deep: tuple[str, ...] = ()) -> None:
        """Watch an object.

        Args:
            value: the object.
            deep: keys whose own keys must be read one by one, where they hold an object.
        """
        self._value = value
        self._read: set[str] = set()
        self._inner = {
            key: Watched(value[key]) for key in deep if isinstance(value.get(key), Mapping)
        }

    def __getitem__(self, key: str) -> Any:
        value = self._value[key]
        self._read.add(key)
        return self._inner.get(key, value)

    def __contains__(self, key: object) -> bool:
        return key in self._value

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)

    @property
    def whole(self) -> Mapping[str, Any]:
        """All of it, to be compared as one."""
        self._read.update(self._value)
        return self._value

    def unread(self) -> list[str]:
        """The keys that nobody read, with the way to each."""
        own = [key for key in self._value if key not in self._read | DESCRIPTIVE]
        return own + [
            f"{key}.{name}" for key, inner in self._inner.items() for name in inner.unread()
        ]


@contextmanager
def all_read(case: Mapping[str, Any]) -> Iterator[Watched]:
    """A case whose keys, and those of its input and of what it expects, are all read inside.

    Where what is done inside fails, that is told instead.
    """
    watched = Watched(case, deep=("input", "expected", "expected_fields"))
    yield watched
    unread = watched.unread()
    assert not unread, f"nobody reads {', '.join(unread)}"


def assert_each_is_run(cases: list[Mapping[str, Any]], *groups: list[Mapping[str, Any]]) -> None:
    """Fail where a case is in none of the groups that tests run."""
    run = {case["id"] for group in groups for case in group}
    missing = [case["id"] for case in cases if case["id"] not in run]
    assert not missing, f"nobody runs {', '.join(missing)}"
