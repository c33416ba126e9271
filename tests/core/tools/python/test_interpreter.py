"""Tool files run in the Python of their own project, which has nothing of ours."""

from __future__ import annotations

import ast
import sys
import venv
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.core.tools import python_server
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.python.interpreter import find_interpreter, missing_package_hint
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import UnusableToolFileError
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt, WriteTools

SOURCE = '''
import sys
import only_here


def where(point: dict[str, int], *names: str) -> dict:
    """Where it runs.

    Args:
        point: A point.
    """
    return {"prefix": sys.prefix, "point": point, "names": names, "told": only_here.TOLD,
            "ours": [name for name in sys.modules if name.startswith(("studio", "pydantic"))]}
'''


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real virtual environment with a module that only it has."""
    folder = tmp_path_factory.mktemp("project") / ".venv"
    venv.create(folder, symlinks=sys.platform != "win32")
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "only_here.py").write_text("TOLD = 'by the package'\n", encoding="utf-8")
    return folder


@pytest.fixture
async def project(environment: Path) -> AsyncIterator[PythonFileSource]:
    path = environment.parent / "my_tools.py"
    path.write_text(SOURCE, encoding="utf-8")
    source = PythonFileSource(path)
    yield source
    await source.close()


async def test_the_environment_beside_the_file_runs_it(
    project: PythonFileSource, environment: Path
) -> None:
    (spec,) = await project.list_tools()
    assert spec.description == "Where it runs."
    point = spec.parameters["properties"]["point"]
    assert point["additionalProperties"] == {"type": "integer"}
    assert point["description"] == "A point."
    outcome = await project.call("where", {"point": {"x": 3}, "names": ["a"]})
    assert outcome.value == {
        "prefix": str(environment),
        "point": {"x": 3},
        "names": ["a"],
        "told": "by the package",
        "ours": [],
    }
    refused = await project.call("where", {"point": {"x": "many"}})
    assert (refused.status, refused.text) == (
        "bad-arguments",
        "point.x: Input should be a valid integer",
    )
    assert str(environment) in project.python


async def test_a_prompt_names_its_environment_and_the_question_of_trust_lists_it(
    environment: Path, prompt: WritePrompt, tool_file: WriteTools, tmp_path: Path
) -> None:
    tool_file(SOURCE)
    (tmp_path / "env").symlink_to(environment)
    document = prompt("metadata: {agent: {tools: [my_tools.py], python: env}}\n")
    session = ToolSession(TrustStore())
    wants = (await session.load(document)).wants
    python = str(tmp_path / "env" / "bin" / "python")
    assert ("command", python) in [(want.kind, want.text) for want in wants]
    TrustStore().trust(tmp_path)
    registry = await session.load(document)
    assert registry.sources[0].state == "ready"
    assert python in registry.sources[0].facts["python"]
    await session.close()


async def test_a_package_that_is_missing_is_told_with_what_to_do(tool_file: WriteTools) -> None:
    source = PythonFileSource(tool_file("import no_such_package_here\n"))
    with pytest.raises(UnusableToolFileError, match=r"No module named.*metadata\.agent\.python"):
        await source.list_tools()
    await source.close()


async def test_a_named_interpreter_that_is_none_is_told(tool_file: WriteTools) -> None:
    source = PythonFileSource(tool_file("def f(): ..."), python="/no/such/python")
    with pytest.raises(UnusableToolFileError, match="there is no program /no/such/python"):
        await source.list_tools()
    await source.close()


def made(folder: Path) -> Path:
    """What looks like an environment; nothing of it is run."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    (folder / "bin" / "python").symlink_to(sys.executable)
    return folder / "bin" / "python"


def test_an_environment_is_looked_for_up_to_the_top_of_the_project(tmp_path: Path) -> None:
    above = made(tmp_path / ".venv")
    file = tmp_path / "app" / "prompts" / "tools.py"
    file.parent.mkdir(parents=True)
    file.touch()
    assert find_interpreter(file).path is None  # in no project: only beside the file
    (tmp_path / "pyproject.toml").touch()
    assert find_interpreter(file).path == above
    (tmp_path / "app" / "pyproject.toml").touch()
    assert find_interpreter(file).path is None
    near = made(tmp_path / "app" / "venv")
    assert find_interpreter(file).path == near


def test_a_folder_that_is_no_environment_is_none(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    assert find_interpreter(tmp_path / "tools.py").path is None
    assert "not a virtual environment" in find_interpreter(tmp_path / "t.py", str(tmp_path)).problem


def test_a_file_with_packages_of_its_own_is_for_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tools.py"
    file.write_text("# /// script\n# dependencies = ['rich']\n# ///\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    interpreter = find_interpreter(file)
    assert interpreter.path is None
    assert "install uv" in missing_package_hint(file, interpreter)
    uv = tmp_path / "uv"
    uv.touch(mode=0o755)
    assert find_interpreter(file).is_script


def test_the_server_is_of_the_oldest_python_that_it_runs_in() -> None:
    folder = Path(python_server.__file__).parent
    names = set()
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(str(node.module).partition(".")[0])
    assert names - {"pydantic"} <= sys.stdlib_module_names
