"""Serves the book on this machine alone, and lets open pages reload when it changes."""

import http.server
import threading
from pathlib import Path
from typing import Any

from lmcourse.errors import CourseError

_RELOAD = b"""<script>(async () => {
  const version = async () => (await fetch("/.version", { cache: "no-store" })).text();
  const shown = await version();
  const look = async () => (await version().catch(() => shown)) !== shown && location.reload();
  setInterval(look, 400);
})()</script>"""


class Server:
    """A server of one folder; open pages reload when ``version`` changes."""

    def __init__(self, site: Path, port: int) -> None:
        """Take a port for a folder, which may come into being later.

        Raises:
            CourseError: the port is taken.
        """
        self.version = 0
        owner = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments: Any, **named: Any) -> None:
                super().__init__(*arguments, directory=str(site), **named)

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                page = site / (path.strip("/") or "index.html")
                if path == "/.version":
                    self._answer(str(owner.version).encode(), "text/plain")
                elif page.suffix == ".html" and page.parent == site and page.is_file():
                    self._answer(page.read_bytes() + _RELOAD, "text/html; charset=utf-8")
                else:
                    super().do_GET()

            def _answer(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                for name, value in (
                    ("Content-Type", kind),
                    ("Content-Length", str(len(data))),
                    ("Cache-Control", "no-store"),
                ):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Say nothing of each request."""

        try:
            self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except OSError as error:
            raise CourseError(
                f"Port {port} cannot be used: {error.strerror}.",
                "Choose another one with --port, or leave the option out.",
            ) from error

    def serve(self) -> str:
        """Serve the folder from a thread; return the address."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/"
