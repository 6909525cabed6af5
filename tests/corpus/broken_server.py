"""A web server on the loopback that fails as servers do.

/loop leads to itself, /moved to /data.bin, with a body; /head has a long head.
"""

import contextlib
import http.server
import threading
from collections.abc import Iterator


class Site:
    """What the server has, how it fails, and what it was asked.

    Attributes:
        files: the bytes at each path.
        etag: the file's tag; None: the server sends none.
        modified: the time of its last change; None: the server sends none.
        ranges: whether it can send the rest of a file.
        heeds_if_range: whether it looks if the rest is of the same file.
        cuts: after how many bytes the next answers break; None: not at all.
        statuses: the statuses of the next answers.
        headers: more headers, or others.
        gate: an answer's body waits for it.
        asked: each request's path and Range header.
        conditions: the If-Range headers of those that had a Range header.
        came: set when a request came.
        sent: bytes of all bodies.
        drip: seconds before each byte of a body; 0: it is sent at once.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.etag: str | None = '"first"'
        self.modified: str | None = None
        self.ranges = self.heeds_if_range = True
        self.cuts: list[int | None] = []
        self.statuses: list[int] = []
        self.headers: dict[str, str | None] = {}
        self.gate = threading.Event()
        self.gate.set()
        self.came = threading.Event()
        self.asked: list[tuple[str, str | None]] = []
        self.conditions: list[str | None] = []
        self.sent, self.drip = 0, 0.0
        self.url = ""


class _Handler(http.server.BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site, wanted = self.site, self.headers.get("Range")
        site.asked.append((self.path, wanted))
        if wanted:
            site.conditions.append(self.headers.get("If-Range"))
        site.came.set()
        site.gate.wait(20)
        if site.statuses and (status := site.statuses.pop(0)) != 200:
            self.send_error(status)
            return
        if self.path == "/head":
            self._send(b"HTTP/1.0 200 OK\r\nFiller: " + b"x" * 1000)
            return
        if self.path in ("/loop", "/moved"):
            body = b"It is elsewhere." * 20 if self.path == "/moved" else b""
            self.send_response(302)
            self.send_header("Location", "/data.bin" if body else "/loop")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self._send(body)
            return
        if self.path not in site.files:
            self.send_error(404)
            return
        data, start = site.files[self.path], 0
        same = self.headers.get("If-Range") in (None, site.etag, site.modified)
        if wanted and site.ranges and (same or not site.heeds_if_range):
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                self.send_error(416)
                return
        self._head(data, start)
        body = data[start:]
        cut = site.cuts.pop(0) if site.cuts else None
        body = body if cut is None else body[:cut]
        site.sent += len(body)
        self._send(body)
        self.close_connection = True

    def _send(self, body: bytes) -> None:
        size = 1 if self.site.drip else len(body)
        with contextlib.suppress(OSError):
            for at in range(0, len(body), size or 1):
                self.wfile.write(body[at : at + size])
                if self.site.drip:
                    threading.Event().wait(self.site.drip)

    def _head(self, data: bytes, start: int) -> None:
        headers: dict[str, str | None] = {
            "Content-Length": str(len(data) - start),
            "ETag": self.site.etag,
            "Last-Modified": self.site.modified,
        }
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self.send_response(206 if start else 200)
        for name, value in (headers | self.site.headers).items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextlib.contextmanager
def serving() -> Iterator[Site]:
    """A server on a free port of the loopback, until the block ends."""
    site = Site()
    handler = type("Handler", (_Handler,), {"site": site})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.gate.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
