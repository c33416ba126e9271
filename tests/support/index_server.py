"""A package index on loopback: real HTTP, with the files that a test puts there."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class PackageIndex:
    """What it holds, and what it was asked."""

    address: str = ""
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """File by name, by project."""

    as_html: bool = False
    """Whether lists are pages of HTML (PEP 503), and not JSON (PEP 691)."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    """Path and authorization of each request."""

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """The status, type and body of a path."""
        _, kind, project, *rest = path.split("/")
        if project not in self.files:
            return 404, "text/plain", b""
        if kind == "files":
            body = self.files[project].get(rest[0])
            return (200, "application/zip", body) if body is not None else (404, "text/plain", b"")
        names = self.files[project]
        if self.as_html:
            anchors = "".join(
                f'<a href="/files/{project}/{name}#sha256=0">{name}</a>' for name in names
            )
            return 200, "text/html", f"<html><body>{anchors}</body></html>".encode()
        listed = [{"filename": name, "url": f"../../files/{project}/{name}"} for name in names]
        return 200, "application/vnd.pypi.simple.v1+json", json.dumps({"files": listed}).encode()


@contextmanager
def package_index() -> Iterator[PackageIndex]:
    """Serve one."""
    index = PackageIndex()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append((self.path, self.headers.get("Authorization", "")))
            status, kind, body = index.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        index.address = f"http://127.0.0.1:{server.server_port}/simple"
        try:
            yield index
        finally:
            server.shutdown()
            thread.join()
