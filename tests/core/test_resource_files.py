from __future__ import annotations

from pathlib import Path

from studio.core.resource_files import resource, resource_root


def test_checkout_has_its_resources_beside_the_package(checkout: Path) -> None:
    assert resource_root() == checkout / "resources"
    assert resource("examples", "chat.prompty").is_file()
