"""`make interop`: prompts of other people, exported, in the program that each export is for.

`corpus.tsv` names the files: repository, commit, path. They are no part of this repository; the
folder that CORPUS names holds a Git directory `OWNER+NAME/repo` of each repository. What is not
there is skipped and counted. A Dotprompt file is imported first. The measure is the whole request:
`equal`, `named` (different, and the export says so before it writes), `refused` (nothing is
written), `silent`. Ends with 1 where one is silent.

    CORPUS=FOLDER [EVERY=N] python -m tests.interop.corpus [EXPORT…]
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from studio.core.imports.recognize import ImportFailure, import_file
from tests.interop.environments import build
from tests.interop.interop import read_one
from tests.interop.readers import REQUESTS, NoJudgeError, Reader

LIST = Path(__file__).with_name("corpus.tsv")
MOST_BYTES = 500_000
"""Size of a file beside a prompt that is not taken along any more."""


def corpus(place: Path) -> Iterator[Path]:
    """Yield each listed prompt whose repository is there, with the files beside it."""
    found = defaultdict(list)
    for line in LIST.read_text(encoding="utf-8").splitlines():
        repository, commit, path = line.split("\t")
        found[repository, commit].append(path)
    for (repository, commit), paths in found.items():
        git = Path(os.environ.get("CORPUS", "")) / repository.replace("/", "+") / "repo"
        folders = {str(PurePosixPath(path).parent) for path in paths}
        root = place / repository.replace("/", "+")
        if git.is_dir() and _unpacked(git, commit, sorted(folders), root):
            yield from (_as_prompt(root / path) for path in paths)


def _unpacked(git: Path, commit: str, folders: list[str], root: Path) -> bool:
    """Write the small files of some folders of a commit; False where Git does not have them."""
    command = ["git", f"--git-dir={git}"]
    listed = subprocess.run(
        [*command, "ls-tree", "-r", "-l", "-z", commit, "--", *(f"{each}/" for each in folders)],
        capture_output=True,
        text=True,
        check=False,
    )
    entries = [line.split("\t", 1) for line in filter(None, listed.stdout.split("\0"))]
    small = [path for head, path in entries if _size(head) <= MOST_BYTES]
    if not small:
        return False
    done = subprocess.run([*command, "archive", commit, *small], capture_output=True, check=False)
    if done.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(root, filter="data")
    return True


def _size(head: str) -> int:
    size = head.rsplit(maxsplit=1)[-1]
    return int(size) if size.isdecimal() else MOST_BYTES + 1


def _as_prompt(path: Path) -> Path:
    """Return a prompt file, imported where it is of another format; the file itself if refused."""
    if path.suffix == ".prompty":
        return path
    try:
        text = import_file(path).text
    except ImportFailure:
        return path
    made = path.with_name(f"{path.name}.prompty")
    made.write_text(text, encoding="utf-8")
    return made


def judged(path: Path, target: str, python: Path, reader: Reader) -> tuple[str, str]:
    """Return what became of one prompt, and the difference."""
    if path.suffix != ".prompty":
        return "refused", "the importer refuses it"
    try:
        return read_one(path, target, python, reader)
    except NoJudgeError as error:
        return "silent", str(error)


def main(targets: list[str]) -> int:
    """Ask each program about each file; return 1 where an export says nothing of a difference."""
    silent = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = [*corpus(Path(folder))][:: int(os.environ.get("EVERY", "1"))]
        listed = len(LIST.read_text(encoding="utf-8").splitlines())
        print(f"corpus: {len(paths)} of {listed} files are here (CORPUS names their folder)")
        for target in (targets or REQUESTS) if paths else ():
            environment, reader = REQUESTS[target]
            python = build(environment)
            if python is None:
                print(f"{target:22} {environment} is not installed here")
                continue

            def ask(path: Path, of: tuple[str, Path, Reader] = (target, python, reader)):
                return judged(path, *of)

            found = [*zip(paths, pool.map(ask, paths), strict=True)]
            counts = Counter(state for _, (state, _) in found)
            silent += counts["silent"]
            print(f"{target:22} {dict(sorted(counts.items()))}", flush=True)
            for path, (state, words) in found:
                if state == "silent" or "VERBOSE" in os.environ:
                    print(f"  {state} {path.relative_to(folder)}: {words}", flush=True)
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
