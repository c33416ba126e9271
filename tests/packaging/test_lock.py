"""The lock files: complete, of one opinion, and in step with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "packaging" / "lock"
INTEROP = ROOT / "tests" / "interop"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TABLE = tomllib.loads((INTEROP / "packages.toml").read_text(encoding="utf-8"))
ALL_LOCKS = [*LOCKS.glob("*.txt"), *(INTEROP / "lock").glob("*.txt")]
BUILD = PROJECT["dependency-groups"]["build"]
RUN = PROJECT["project"]["dependencies"]
ASKED = {
    LOCKS / "requirements-run.txt": RUN,
    LOCKS / "requirements-dev.txt": (
        *(*RUN, *BUILD),
        *PROJECT["dependency-groups"]["dev"],
        *(each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra),
    ),
    LOCKS / "requirements-dist.txt": (*RUN, *BUILD, *PROJECT["dependency-groups"]["dist"]),
    **{
        LOCKS / f"requirements-{group}.txt": PROJECT["dependency-groups"][group]
        for group in ("build", "bench", "fuzz", "tour", "weights")
    },
    **{INTEROP / "lock" / f"{name}.txt": asked for name, asked in TABLE["python"].items()},
}


def entries(path: Path) -> list[tuple[Requirement, list[str]]]:
    """Return each requirement of a lock with its hashes."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    found = []
    for line in text.splitlines():
        asked, *hashes = re.split(r"\s+--hash=", line.strip())
        found.append((Requirement(asked), hashes))
    return found


def versions(path: Path, python: str, system: str) -> dict[str, str]:
    """Return the versions that a Python on a system gets from a lock."""
    where = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": system,
        "os_name": "nt" if system == "win32" else "posix",
    }
    return {
        canonicalize_name(requirement.name): next(iter(requirement.specifier)).version
        for requirement, _ in entries(path)
        if requirement.marker is None or requirement.marker.evaluate(where)
    }


@pytest.mark.parametrize("path", ALL_LOCKS, ids=lambda path: path.stem)
def test_each_package_has_one_version_and_hashes_and_no_address(path: Path) -> None:
    for requirement, hashes in entries(path):
        assert requirement.url is None
        assert [each.operator for each in requirement.specifier] == ["=="], requirement
        assert hashes, requirement
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", each) for each in hashes)
    assert "://" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_locks_of_one_environment_agree(python: str, system: str) -> None:
    everything = versions(LOCKS / "requirements-all.txt", python, system)
    for path in LOCKS.glob("*.txt"):
        if path.stem != "requirements-weights":
            part = versions(path, python, system)
            assert part.items() <= everything.items(), path.name


@pytest.mark.parametrize("path", ASKED, ids=lambda path: path.stem)
def test_a_lock_has_what_the_project_asks_for(path: Path) -> None:
    for python, system in (("3.11", "linux"), ("3.14", "win32")):
        locked = versions(path, python, system)
        where = {"python_version": python, "sys_platform": system}
        for asked in map(Requirement, ASKED[path]):
            if asked.marker is None or asked.marker.evaluate({**default_environment(), **where}):
                name = canonicalize_name(asked.name)
                assert name in locked, f"{asked}: run `make lock`"
                assert locked[name] in asked.specifier, f"{asked}: run `make lock`"


def test_every_lock_is_made_of_something() -> None:
    assert {*ALL_LOCKS} == {*ASKED, LOCKS / "requirements-all.txt"}


def test_packages_of_npm_have_exact_versions() -> None:
    for name, version in TABLE["npm"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+(-alpha\.\d+)?", version), name


def test_extras_that_a_package_asks_for_are_named() -> None:
    """Hold the lock against releases to come: pip 23 looks for `a[b]` apart from a locked `a`."""
    lock = LOCKS / "requirements-dev.txt"
    pinned = {
        canonicalize_name(requirement.name): requirement
        for requirement, _ in entries(lock)
        if requirement.marker is None or requirement.marker.evaluate()
    }
    looked_at = 0
    for name, requirement in pinned.items():
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue
        if installed.version not in requirement.specifier:
            continue  # `make test NEWEST=1`
        for asked in map(Requirement, installed.requires or ()):
            where = [{"extra": extra} for extra in requirement.extras] or [{"extra": ""}]
            if asked.extras and (not asked.marker or any(map(asked.marker.evaluate, where))):
                looked_at += 1
                assert asked.extras <= pinned[canonicalize_name(asked.name)].extras, (
                    f"{name} asks for {asked}: run `python packaging/lock.py --keep`"
                )
    assert looked_at or distribution("coverage").version not in pinned["coverage"].specifier
