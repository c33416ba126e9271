"""The sample package of `docs/extending.md`, built and installed, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.core.paths import resource
from tests.support.patience import SECONDS

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "---\nname: a\n---\nsystem:\nBe brief.\n\nuser:\nHELLO there\n"
DICE = (
    "---\nname: a\ntools:\n- name: roll\n  kind: dice\n  sides: 20\n  connection: {kind: dice}\n"
    "---\nuser:\nRoll.\n"
)
ASK_DICE = """
import asyncio, sys
from pathlib import Path
from studio.core.prompty.parse import parse
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.trust.store import TrustStore

async def main() -> None:
    path = Path(sys.argv[1])
    trust = TrustStore()
    if sys.argv[2] == "trusted":
        trust.trust(path.parent)
    session = ToolSession(trust)
    try:
        document = parse(path.read_text(encoding="utf-8"), path)
        registry = await session.load(document, ())
        print([(each.name, each.problem) for each in registry.entries])
        if registry.specs and not registry.entries[0].problem:
            print((await session.current.try_tool(registry.entries[0].id, {})).text)
    finally:
        await session.close()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample package installed into it."""
    target = tmp_path_factory.mktemp("sample")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--target",
            str(target),
            str(Path(__file__).with_name("sample")),
        ],
        check=True,
        capture_output=True,
    )
    return target


class Program:
    """The studio's command line with the sample package on its path."""

    def __init__(self, path: Path) -> None:
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(path), str(ROOT)))}

    def __call__(self, *arguments: str | Path, code: int = 0) -> tuple[str, str]:
        """Run it; gives standard output and standard error."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=ROOT,
            env=self.environment,
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
        )
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr


@pytest.fixture
def program(sample: Path) -> Program:
    """The command line."""
    return Program(sample)


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    """A prompt file."""
    path = tmp_path / "a.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    return path


def test_plugins_are_listed_with_their_package_and_what_is_wrong(program: Program) -> None:
    out, errors = program("-m", "studio", "plugins", code=1)
    assert "exporters     outline" in out
    assert out.count("studio-sample 1.2") == 7
    assert "'gone' of studio-sample 1.2 failed: AttributeError" in errors


def test_a_check_finds_and_its_failure_is_named(program: Program, prompt: Path) -> None:
    out, errors = program("-m", "studio", "check", "--json", prompt)
    (found,) = [each for each in json.loads(out or errors) if each["code"] == "shouting"]
    assert (found["line"], found["message"]) == (8, "'HELLO' shouts.")
    prompt.write_text(PROMPT + "CRASH\n", encoding="utf-8")
    out, errors = program("-m", "studio", "check", prompt, code=1)
    assert "'shouting' of studio-sample 1.2 failed: RuntimeError: it crashed" in out + errors
    assert "'HELLO' shouts." in out + errors


def test_a_prompt_is_exported_to_its_form(program: Program, prompt: Path) -> None:
    out, _ = program("-m", "studio", "export", "--target", "outline", prompt)
    assert out == "system\nuser\n"


def test_a_form_that_fails_writes_nothing(program: Program, prompt: Path, tmp_path: Path) -> None:
    made = tmp_path / "out.txt"
    _, errors = program("-m", "studio", "export", "--target", "broken", "-o", made, prompt, code=1)
    assert "'broken' of studio-sample 1.2 failed: ZeroDivisionError: the oven is cold" in errors
    assert not made.exists()


def test_a_file_of_its_format_is_imported(program: Program, tmp_path: Path) -> None:
    recipe = tmp_path / "soup.recipe"
    recipe.write_text("Recipe: You cook.\nA soup, please.\n", encoding="utf-8")
    made = tmp_path / "soup.prompty"
    program("-m", "studio", "import", recipe, "-o", made)
    assert made.read_text(encoding="utf-8").endswith(
        "system:\nYou cook.\n\nuser:\nA soup, please.\n"
    )
    recipe.write_text("Recipe: You cook.\n", encoding="utf-8")
    _, errors = program("-m", "studio", "import", recipe, "-o", tmp_path / "b.prompty", code=2)
    assert "has no second line" in errors


def test_the_formats_of_the_studio_stay_its_own(program: Program, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(
        '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}', encoding="utf-8"
    )
    program("-m", "studio", "import", request, "-o", tmp_path / "r.prompty")
    assert "Hi" in (tmp_path / "r.prompty").read_text(encoding="utf-8")


def test_its_tools_are_called_in_trusted_folders_only(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "dice.prompty"
    path.write_text(DICE, encoding="utf-8")
    out, _ = program("-c", ASK_DICE, path, "untrusted")
    assert "not trusted" in out
    assert "sides" not in out
    out, _ = program("-c", ASK_DICE, path, "trusted")
    assert out.splitlines()[-1] == "20 sides"


def test_its_provider_is_a_start_for_a_connection(program: Program) -> None:
    code = (
        "from studio.core.models.connections import all_presets\n"
        "print([each.title for each in all_presets()][-1])"
    )
    assert program("-c", code)[0] == "Example host\n"


def test_safe_leaves_them_out(program: Program, prompt: Path) -> None:
    program.environment["PROMPT_STUDIO_PLUGINS"] = "off"
    assert "shouts" not in "".join(program("-m", "studio", "check", prompt))
    _, errors = program("-m", "studio", "export", "--target", "outline", prompt, code=2)
    assert "invalid choice: 'outline'" in errors


def test_the_examples_are_what_they_were(program: Program) -> None:
    for name in ("react-agent.prompty", "tool-calling-agent.prompty"):
        program("-m", "studio", "check", resource("examples", name))
