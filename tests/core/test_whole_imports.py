"""Packages are imported whole, whoever asks for them at the same moment."""

from __future__ import annotations

import subprocess
import sys

import pytest

from studio.core.whole_imports import are_whole, import_whole

TOGETHER = """
import threading
from studio.core.whole_imports import import_whole
start, faults = threading.Barrier(3), []
def load(name):
    start.wait()
    try:
        import_whole(name)
    except ImportError as error:
        faults.append(error)
names = ("openai", "mcp", "genai_prices")
threads = [threading.Thread(target=load, args=(name,)) for name in names]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(faults)
"""


def test_packages_that_share_a_third_are_imported_by_three_threads() -> None:
    command = [sys.executable, "-c", TOGETHER]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_a_package_that_is_not_there_is_named_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="no_such_package"):
            import_whole("json", "no_such_package")
    assert not are_whole("no_such_package")
