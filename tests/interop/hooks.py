"""`make interop`, third part: the GitHub Action and the pre-commit hook, run for real.

The steps of `action.yml` are run as GitHub's runner does (bash, its variables and files);
pre-commit itself runs the hook of this repository on another one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from tests.interop.environments import FOLDER, ROOT, build

GOOD = "---\nname: good\n---\nuser:\nHello.\n"
BAD = "---\nnmae: bad\n---\nuser:\nHello.\n"


def ran_action(work: Path, given: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The shell steps of the action in a folder; the Python that is set up is this one."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: each["default"] for name, each in action["inputs"].items()} | dict(given)
    temp = work.parent / "runner"  # of one job, in which the action is used several times
    temp.mkdir(exist_ok=True)
    paths = temp / "path"
    paths.write_text("")
    environment = {
        **os.environ,
        "RUNNER_TEMP": str(temp),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_PATH": str(paths),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.CompletedProcess[str]([], 0, "", "")
    for step in action["runs"]["steps"]:
        if "run" not in step:
            continue
        added = "".join(f"{line}:" for line in paths.read_text().splitlines()[::-1])
        own = {name: _filled(text, inputs) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=work,
            capture_output=True,
            text=True,
            check=False,
            env={**environment, **own, "PATH": added + environment["PATH"]},
        )
        if done.returncode:
            break
    return done


def _filled(text: str, inputs: Mapping[str, str]) -> str:
    for name, value in inputs.items():
        text = text.replace(f"${{{{ inputs.{name} }}}}", value)
    return text


def try_action(work: Path) -> Iterator[tuple[str, bool]]:
    """A repository with a finding, one without, and paths that try to be commands."""
    work.mkdir()
    (work / "good.prompty").write_text(GOOD, encoding="utf-8")
    yield "a good repository passes", ran_action(work, {}).returncode == 0
    (work / "bad.prompty").write_text(BAD, encoding="utf-8")
    found = ran_action(work, {})
    line = "::warning file=bad.prompty,line=2,col=1,"
    yield "a finding fails, beside its line", found.returncode == 1 and line in found.stdout
    passed = ran_action(work, {"arguments": "--severity error"})
    yield "arguments are passed on", passed.returncode == 0
    ran_action(work, {"paths": "good.prompty $(touch planted) ; touch planted"})
    yield "paths are no commands", not (work / "planted").exists()


def try_hook(work: Path) -> Iterator[tuple[str, bool]]:
    """pre-commit itself runs `prompty-check` and `prompty-fmt` of this repository."""
    python = build("pre-commit")
    assert python is not None
    work.mkdir()
    for name in ("commit.gpgsign=false", "user.name=t", "user.email=t@example.org"):
        key, _, value = name.partition("=")
        subprocess.run(["git", "init", "-q"], cwd=work, check=True)
        subprocess.run(["git", "config", key, value], cwd=work, check=True)
    (work / "good.prompty").write_text(GOOD, encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=work, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    (work / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {ROOT.as_uri()}\n  rev: {head}\n"
        "  hooks: [{id: prompty-check}, {id: prompty-fmt}]\n",
        encoding="utf-8",
    )

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(python), "-m", "pre_commit", "run", "--all-files"],
            cwd=work,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PRE_COMMIT_HOME": str(FOLDER / "pre-commit-home")},
        )

    first = run()
    yield (
        f"a good file passes{'' if not first.returncode else first.stdout[-500:]}",
        (first.returncode == 0),
    )
    (work / "bad.prompty").write_text(BAD, encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=work, check=True)
    second = run()
    yield "a finding stops the commit", second.returncode != 0 and "unknown-key" in second.stdout


def main() -> int:
    """Run both, print what came of each."""
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        for part in (try_action, try_hook):
            for name, is_well in part(Path(made) / part.__name__):
                failed += not is_well
                print(f"{'ok    ' if is_well else 'FAILED'} {part.__name__}: {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
