"""`--workers` and `cluster certificates`, as a terminal has them."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from studio.__main__ import main
from tests.support.patience import SECONDS

EXPERIMENT = """\
prompts: [p.prompty]
providers: [echo]
tests: file://rows.csv
defaultTest: {assert: [{type: contains, value: "{{ q }}"}]}
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "p.prompty").write_text("system:\nShort.\n\nuser:\n{{ q }}\n")
    (tmp_path / "rows.csv").write_text("q\n" + "".join(f"word {n}\n" for n in range(50)))
    path = tmp_path / "words.experiment.yaml"
    path.write_text(EXPERIMENT)
    return path


def test_two_worker_processes_answer_and_this_one_keeps(experiment: Path) -> None:
    command = [sys.executable, "-m", "studio", "experiment", "run", str(experiment)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    with socket.socket() as another:
        with suppress(OSError):  # Dask's own port is taken, by this test or by somebody else
            another.bind(("127.0.0.1", 8787))
            another.listen()
        done = subprocess.run(
            [*command, "--workers", "local:2"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "50 of 50 cells" in done.stdout
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr


def test_an_open_scheduler_elsewhere_is_refused(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["experiment", "run", str(experiment), "--workers", "tcp://10.0.0.7:8786"]) == 3
    assert "not encrypted" in capsys.readouterr().err


def test_certificates_that_python_accepts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "tls"
    assert main(["cluster", "certificates", str(folder), "--host", "desk.local"]) == 0
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    if sys.platform != "win32":
        assert (folder / "key.pem").stat().st_mode & 0o777 == 0o600
    key = (folder / "key.pem").read_bytes()
    assert main(["cluster", "certificates", str(folder)]) == 1
    assert (folder / "key.pem").read_bytes() == key
    assert "nothing was overwritten" in capsys.readouterr().err
