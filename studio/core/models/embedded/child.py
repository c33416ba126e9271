"""The process of the embedded model: llama.cpp's server, on this machine only.

It is run as a script (`python -P child.py`), so it imports nothing from the studio. It reads one
JSON line of settings from stdin and writes one JSON line to stdout when it serves (`{"port": …}`)
or fails (`{"error": …}`). Then it waits for the end of stdin, which comes when the studio closes
the pipe or is killed, and exits at once: llama.cpp's own shutdown would wait for a running request,
up to 45 s (docs/design/embedded-model.md).

The key also comes through the pipe, since every user of the machine can see arguments.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any, TextIO


def main() -> None:
    """Serve until stdin ends."""
    # Ctrl+C in a terminal signals the whole group; the studio decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # llama.cpp writes to stdout too: keep the parent's pipe separate, and redirect it to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.readline() or "null")
    if settings is None:
        os._exit(0)
    try:
        server = _serve(settings)
    except Exception as error:  # noqa: BLE001 - edge of the process: reported to the parent
        _tell(answers, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    _tell(answers, {"port": int(server.listening_address.rsplit(":", 1)[1])})
    while sys.stdin.read(4096):
        pass
    # Not `del server`: it would wait for a running request.
    os._exit(0)


def _serve(settings: dict[str, Any]) -> Any:  # noqa: ANN401 - a type of xllamacpp's
    """Start llama.cpp's server as the settings of `EmbeddedServer` say."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.n_ctx = settings["context"]
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["key"]]
    params.ui = False
    params.cache_prompt = False  # a second run would differ from the first
    params.cache_ram_mib = 0
    params.sse_ping_interval = 1  # seconds until a request notices that its client has left
    params.fit_params = False
    params.endpoint_slots = False
    params.verbosity = 1
    return xllamacpp.Server(params)


def _tell(answers: TextIO, value: dict[str, object]) -> None:
    answers.write(json.dumps(value) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
