"""JupyterLab on the first free port, which it holds from the moment it has found it.

Jupyter's own server looks for a free port, releases it, and binds it again later: of several that
start at once, all but one then end.
"""

import socket

from jupyter_server.serverapp import ServerApp
from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]
from tornado.netutil import bind_sockets

from coursekit.notebooks.lab_settings import LISTENING


class Server(ServerApp):
    """A server that listens on its port before anything else can."""

    _listening: list[socket.socket]

    def _find_http_port(self) -> None:
        for port in (*range(self.port, self.port + self.port_retries + 1), 0):
            if port == 0 and not self.port_retries:
                super()._find_http_port()  # says that the port is taken, and ends
            try:
                self._listening = bind_sockets(port, self.ip)
            except OSError:
                continue
            self.port = self._listening[0].getsockname()[1]
            print(LISTENING.format(self.port), flush=True)
            return

    def _bind_http_server_tcp(self) -> bool:
        self.http_server.add_sockets(self._listening)
        return True


if __name__ == "__main__":
    LabApp.serverapp_class = Server
    LabApp.launch_instance()
