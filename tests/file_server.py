"""A server of files on this machine, which cuts, changes, refuses and redirects as it is told, and notes requests."""

import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Reply = tuple[int, Mapping[str, str], bytes]


def invented(size: int, seed: str = "") -> bytes:
    count = -(-size // 32)
    return b"".join(sha256(f"{seed}{number}".encode()).digest() for number in range(count))[:size]


@dataclass
class File:
    """What the server does for one path."""

    versions: list[tuple[bytes, str | None]]
    """The bytes and the ETag at the first request, the second, ...; the last one stays."""
    replies: list[Reply] = field(default_factory=list)
    """What comes before any version: status, headers, body."""
    cuts: list[int] = field(default_factory=list)
    """After how many bytes of its body each answer is cut; further ones are whole."""
    cut_always: int | None = None
    has_ranges: bool = True
    has_length: bool = True
    chunked: bool = False
    has_if_range: bool = True
    wrong_range: str | None = None
    """A Content-Range that is sent in the place of the right one."""
    kind: str = "application/octet-stream"
    packed: bool = False
    """Whether the body goes gzipped."""
    encoding: str | None = None
    """A Content-Encoding that is only said."""
    last_modified: str | None = None
    stall: bool = False
    """Whether an answer that is to be cut stays open instead."""
    asked: int = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "FileServer"

    def do_GET(self) -> None:
        """Answer as the file of this path is told to."""
        self.server.requests.append((self.path, dict(self.headers.items())))
        file = self.server.files.get(self.path)
        if file is None:
            self._send(404, {"Content-Type": "text/html"}, b"<html><title>none</title></html>")
        elif file.replies:
            self._send(*(file.replies.pop(0) if len(file.replies) > 1 or file.versions else file.replies[0]))
        else:
            self._file(file)

    def _file(self, file: File) -> None:
        body, etag = file.versions[min(file.asked, len(file.versions) - 1)]
        cut = file.cuts[file.asked] if file.asked < len(file.cuts) else file.cut_always
        file.asked += 1
        headers = {"Content-Type": file.kind}
        named = {"ETag": etag, "Last-Modified": file.last_modified, "Content-Encoding": file.encoding}
        headers |= {name: value for name, value in named.items() if value}
        asked, status = self.headers.get("Range"), 200
        same = self.headers.get("If-Range") in (None, etag, file.last_modified) or not file.has_if_range
        if asked and file.has_ranges and same:
            start, total = int(asked.removeprefix("bytes=").removesuffix("-")), len(body)
            status = 206 if start < total else 416
            rest = f"bytes {start}-{total - 1}/{total}" if status == 206 else f"bytes */{total}"
            headers["Content-Range"] = file.wrong_range or rest
            body = body[start:]
        if file.packed:
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body)
        self._send(status, headers, body, cut, has_length=file.has_length, stall=file.stall, chunked=file.chunked)

    def _send(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        cut: int | None = None,
        *,
        has_length: bool = True,
        stall: bool = False,
        chunked: bool = False,
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        is_cut = cut is not None and cut < len(body)
        sent = body[:cut]
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
            pieces = [sent[start : start + 30_000] for start in range(0, len(sent), 30_000)]
            sent = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
            sent += b"" if is_cut else b"0\r\n\r\n"
        elif has_length:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(sent)
        self.wfile.flush()
        if is_cut and stall:
            self.server.stalled.set()
            self.server.over.wait()
        self.close_connection = is_cut or not (has_length or chunked)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class FileServer(ThreadingHTTPServer):
    """Serves ``files``, each at its path, on a port of its own."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, File] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.over, self.stalled = Event(), Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: Any) -> None:
        """Print nothing: clients leave."""


@contextmanager
def file_server() -> Iterator[FileServer]:
    with FileServer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
