"""One studio for each data folder: a second start passes its files to the first.

The first (`PrimaryInstance`) listens on a local socket and leaves a marker file in the data folder.
A start that finds no marker asks nothing and loses no time. If the process of the marker was
killed, nothing answers, and the start becomes the first, since a dead process holds no lock. If the
first is too busy to answer, the start withdraws its request and opens a separate window, as with
`--new-window`. So each file is opened once, and each run is started once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.core.text.files import write_private

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

MARK = "instance"
_CONNECT_MS = 500
_ANSWER_MS = 10_000
_MOST_BYTES = 1_000_000
_MOST_PATH = 90
"""Maximum bytes of a socket's path, below the 104 of macOS; Qt adds some when it creates it."""

_DONE = b"ok\n"
_WITHDRAWN = b"withdrawn\n"


def socket_name(data: Path) -> str:
    """Return the name of the socket of the studio for a data folder.

    The socket is in that folder, so that a killed studio leaves nothing elsewhere. It is in the
    temporary folder of the system if the path would be too long or names are not paths (Windows).
    """
    place = str(data.resolve() / "socket")
    if os.name != "nt" and len(os.fsencode(place)) <= _MOST_PATH:
        return place
    return "prompt-studio-" + hashlib.sha256(place.encode()).hexdigest()[:20]


def hand_over(
    data: Path, files: Sequence[Path], begin: str = "", *, answer_ms: int = _ANSWER_MS
) -> bool:
    """Ask the running studio to show files and come to the front.

    Args:
        data: the user's data folder.
        files: files to show; without any, the window only comes to the front.
        begin: `run` or `step`, to be done with the last file; empty for nothing.
        answer_ms: milliseconds to wait for the running studio to read the request.

    Returns:
        Whether the request was accepted. If it is False, no studio runs, or it did not respond in
        time and will ignore the request later.
    """
    if not (data / MARK).exists():
        return False
    from PySide6.QtNetwork import QLocalSocket

    message = {"open": [str(path.resolve()) for path in files], "begin": begin}
    socket = QLocalSocket()
    socket.connectToServer(socket_name(data))
    if not socket.waitForConnected(_CONNECT_MS):
        return False
    socket.write(json.dumps(message).encode() + b"\n")
    answered = socket.waitForReadyRead(answer_ms) and bytes(socket.readAll().data()) == _DONE
    if not answered:
        socket.write(_WITHDRAWN)  # read together with the request
        socket.waitForBytesWritten(_CONNECT_MS)
    socket.disconnectFromServer()
    return answered


class InstanceServer(QObject):
    """Listens for later starts in the primary instance."""

    # Paths to show (none: only come to the front); then `run`, `step` or nothing.
    request_open = Signal(tuple, str)

    def __init__(self, data: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._data = data
        self._server: QLocalServer | None = None

    def listen(self) -> bool:
        """Start listening, also on the socket of a dead instance; return False if that fails."""
        from PySide6.QtNetwork import QLocalServer

        name = socket_name(self._data)
        QLocalServer.removeServer(name)
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        if not server.listen(name):
            return False
        server.newConnection.connect(self._on_connection)
        self._server = server
        try:
            write_private(self._data / MARK, name.encode())
        except OSError:
            self.close()
            return False
        return True

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            self._server = None
            with contextlib.suppress(OSError):
                (self._data / MARK).unlink(missing_ok=True)

    def _on_connection(self) -> None:
        if self._server is None:
            return
        socket = self._server.nextPendingConnection()
        socket.readyRead.connect(self._on_readable)  # a closure would keep the socket alive
        socket.disconnected.connect(socket.deleteLater)
        self._read(socket)

    def _on_readable(self) -> None:
        from PySide6.QtNetwork import QLocalSocket

        socket = self.sender()
        if isinstance(socket, QLocalSocket):
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        """Handle the request of a start when it is complete, unless it was withdrawn."""
        if socket.bytesAvailable() > _MOST_BYTES:
            socket.abort()
        elif socket.canReadLine():
            asked = bytes(socket.readAll().data())
            if not asked.endswith(_WITHDRAWN):
                # Before the files are opened: that may take longer than the start waits.
                socket.write(_DONE)
                socket.flush()
                self._take(asked)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            paths = tuple(Path(str(name)) for name in message["open"])
            begin = str(message.get("begin", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # not a request of a studio
        self.request_open.emit(paths, begin)
