"""The built wheel carries everything, and works away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of this checkout installed into it, packages beside it not."""
    root = Path(__file__).resolve().parent.parent.parent
    made = tmp_path_factory.mktemp("wheel")
    target = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(made)]
    subprocess.run([*build, str(root)], check=True, capture_output=True)
    (wheel,) = made.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(target)]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    return target


def run_python(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the installed copy first on its path, away from the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=installed.parent,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_resources_come_from_the_wheel(installed: Path) -> None:
    code = "from studio.core.paths import resource; print(resource('examples'))"
    ended = run_python(installed, "-c", code)
    examples = Path(ended.stdout.strip())
    assert examples.is_relative_to(installed)
    assert (examples / "react-agent.prompty").is_file()
    assert (examples.parent / "icons").is_dir()
    assert (examples.parent / "docs" / "format.md").is_file()
    assert (examples.parent / "i18n" / "prompt_studio_de.qm").is_file()


def test_installed_command_checks_a_bundled_example(installed: Path) -> None:
    example = installed / "studio" / "_resources" / "examples" / "react-agent.prompty"
    ended = run_python(installed, "-m", "studio", "check", str(example))
    assert (ended.returncode, ended.stdout + ended.stderr) == (0, "")
