"""A studio whose reader is ended by some texts: `python -m tests.support.ending_server lsp`."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys

from studio.__main__ import main
from studio.core.prompty import evaluation
from studio.core.prompty.document import PromptDocument

ENDINGS = {
    "ABORT": "crash",
    "KILL": "too-much-memory",
    "FILL": "too-much-memory",
    "SPIN": "too-long",
}
"""A word of a text, and the finding that it comes to."""


def serve() -> int:
    """Do as the command line does, or as the process that tries the texts of a window."""
    import resource  # not on Windows

    module = importlib.import_module("studio.core.prompty.parse")
    check = module.check_document

    def ended(document: PromptDocument, *others: object) -> object:
        text = document.source.text
        if "ABORT" in text:
            os.abort()
        if "KILL" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "FILL" in text:
            bytearray(3_000_000_000)
        if "WAIT" in text and document.source.path is not None:
            fifo = document.source.path.with_suffix(".fifo")
            if fifo.exists():  # for the first that reads the text
                fifo.read_bytes()
                fifo.unlink()
        if "SPIN" in text:
            re.match("(a*)*b", "a" * 100)
        return check(document, *others)

    module.check_document = ended  # type: ignore[attr-defined]
    evaluation.MOST_SECONDS = 0.5
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return main()


if __name__ == "__main__":
    sys.exit(serve())
