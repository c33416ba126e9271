"""One studio for each data folder: a second start hands its files to the first.

The first one (`primary_instance.py`) listens on a local socket and leaves a mark beside the
user's data. A start that finds no mark has nothing to ask, and pays nothing. A mark whose owner
is gone (killed, or the machine went down) is answered by nobody: the start goes on, and is the
first, since a dead process holds no lock. One that is only too busy to answer stays the first: the
start withdraws what it asked, and is a window beside it, as with `--new-window`. Each file is then
opened once, and what is begun with it is begun once.
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
"""Bytes of a socket's path, below the 104 that macOS allows; Qt adds some while it makes it."""

_DONE = b"ok\n"
_WITHDRAWN = b"withdrawn\n"


def socket_name(data: Path) -> str:
    """Return the socket of the studio that works with a data folder.

    It lies in that folder, so that a studio that is killed leaves nothing elsewhere; the system's
    temporary folder has it where its path would be too long, or a name is no path (Windows).
    """
    place = str(data.resolve() / "socket")
    if os.name != "nt" and len(os.fsencode(place)) <= _MOST_PATH:
        return place
    return "prompt-studio-" + hashlib.sha256(place.encode()).hexdigest()[:20]


def hand_over(
    data: Path, files: Sequence[Path], begin: str = "", *, answer_ms: int = _ANSWER_MS
) -> bool:
    """Ask the studio that runs already to show files and come to the front.

    Args:
        data: the user's data folder.
        files: what to show; none only brings the window to the front.
        begin: `run` or `step`: what is done with the last of them; nothing otherwise.
        answer_ms: how long one that lives may take until it looks at what it is asked.

    Returns:
        Whether it does. False where none runs, or where it does not answer in that time: it does
        nothing of it later either.
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
        socket.write(_WITHDRAWN)  # it reads this together with what was asked
        socket.waitForBytesWritten(_CONNECT_MS)
    socket.disconnectFromServer()
    return answered


class InstanceServer(QObject):
    """Listens for later starts, on behalf of the studio that is the first."""

    # Paths to show, perhaps none: come to the front; then `run`, `step` or nothing.
    request_open = Signal(tuple, str)

    def __init__(self, data: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._data = data
        self._server: QLocalServer | None = None

    def listen(self) -> bool:
        """Begin; takes over the socket of a first one that died. False where it cannot be."""
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
        """Listen no more."""
        if self._server is not None:
            self._server.close()
            self._server = None
            with contextlib.suppress(OSError):
                (self._data / MARK).unlink(missing_ok=True)

    def _on_connection(self) -> None:
        if self._server is None:
            return
        socket = self._server.nextPendingConnection()
        socket.readyRead.connect(self._on_readable)  # no closure: the socket must not own this
        socket.disconnected.connect(socket.deleteLater)
        self._read(socket)

    def _on_readable(self) -> None:
        from PySide6.QtNetwork import QLocalSocket

        socket = self.sender()
        if isinstance(socket, QLocalSocket):
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        """Take what a start asks, once all of it is there and it has not given up by then."""
        if socket.bytesAvailable() > _MOST_BYTES:
            socket.abort()
        elif socket.canReadLine():
            asked = bytes(socket.readAll().data())
            if not asked.endswith(_WITHDRAWN):
                # Before the files are opened, which may take as long as the start waits.
                socket.write(_DONE)
                socket.flush()
                self._take(asked)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            paths = tuple(Path(str(name)) for name in message["open"])
            begin = str(message.get("begin", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # not one of us
        self.request_open.emit(paths, begin)
