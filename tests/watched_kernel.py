"""A kernel whose death is noticed and whose outputs are not lost; nbval 0.11 sees to neither."""

import signal
import tempfile
import time
from pathlib import Path
from queue import Empty
from typing import Any

import zmq
from jupyter_client.manager import KernelManager
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager, RunningKernel

from coursekit.book import kernel

DEATH_POLL = 0.5  # seconds between two looks at whether the kernel lives
END_WAIT = 60.0  # seconds; after jupyter_client's own 5, a busy machine's kernel would be killed
_LIVE = ("clear_output", "update_display_data")  # nbval prints a line for each, and no more
NAME = "display_id"  # in an output's metadata, until `update`


class DeadKernel(RuntimeError):
    """The kernel's process has ended in the middle of a cell."""


class WatchedKernel(RunningKernel):
    """A kernel of this very environment.

    Raises:
        RuntimeError: it did not start.
    """

    cleared = False  # whether a cell has taken back what it had shown

    def __init__(self, folder: Path, environment: dict[str, str], startup_timeout: float) -> None:
        self.shown: dict[str, dict[str, Any]] = {}  # what stands under a name, at last
        self.stderr = tempfile.TemporaryFile()  # noqa: SIM115 - `stop` closes it
        self.km = KernelManager(
            kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager()
        )
        self.km.start_kernel(
            stderr=self.stderr, cwd=str(folder), env=environment, extra_arguments=kernel.ARGUMENTS
        )
        self.kc = self.km.client()
        # nbval reads a cell's outputs when the cell has ended. By default zmq keeps a thousand
        # until then and drops the rest, the word that the cell has ended included: keep them all.
        self.kc.context.setsockopt(zmq.RCVHWM, 0)
        self.kc.start_channels()
        try:
            self.kc.wait_for_ready(timeout=startup_timeout)
            self._ensure_iopub_up()
        except RuntimeError:
            self.stop()
            raise

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Ask for a cell, as a front end does: nbval keeps no history, and then no `;` is heeded.

        Returns:
            The id of the request.
        """
        return str(self.kc.execute(cell_input, allow_stdin=allow_stdin, stop_on_error=False))

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Wait for the next message on ``"shell"`` or ``"iopub"``.

        Raises:
            queue.Empty: none came within ``timeout`` seconds.
            DeadKernel: none will come any more.
        """
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while True:
            try:
                wait = min(DEATH_POLL, max(0.0, end - time.monotonic()))
                message = super().get_message(stream, timeout=wait)
            except Empty:
                if not self.is_alive():
                    raise DeadKernel(self.last_words()) from None
                if time.monotonic() >= end:
                    raise
            else:
                self._note(message["msg_type"], message["content"])
                if message["msg_type"] not in _LIVE:
                    return message

    def _note(self, kind: str, content: dict[str, Any]) -> None:
        """Remember what stands under a name (`display(…, display_id=True)`): cells update it."""
        self.cleared |= kind == "clear_output"
        name = (content.get("transient") or {}).get("display_id")
        if name and "data" in content:
            self.shown[name] = {part: content[part] for part in ("data", "metadata")}
            content["metadata"] = content["metadata"] | {NAME: name}

    def update(self, outputs: list[Any]) -> None:
        """Give outputs with a name what stood there at last."""
        for output in outputs:
            if name := output.get("metadata", {}).pop(NAME, None):
                output.update(self.shown[name])

    def finish(self) -> None:
        """Let the process end of itself, which tells what it has read; then `stop`."""
        self.km.shutdown_wait_time = END_WAIT
        self.km.shutdown_kernel(now=False)
        self.stop()

    def stop(self) -> None:
        """End the process, and close what it was spoken to through."""
        super().stop()
        self.stderr.close()

    def last_words(self) -> str:
        """Say how the process ended, with the end of what it wrote to stderr."""
        code = getattr(getattr(self.km.provisioner, "process", None), "returncode", None)
        cause = f"its process ended with status {code}"
        if code is not None and code < 0:
            cause = f"its process was ended by {signal.Signals(-code).name}"
            cause += " (the system does this when memory runs out)" if code == -9 else ""
        self.stderr.seek(0)
        lines = self.stderr.read().decode("utf-8", "replace").strip().splitlines()
        # ipykernel's remarks on its own sockets say nothing about the cell.
        tail = [line for line in lines if not line.startswith("[IPKernelApp] WARNING")][-15:]
        return "\n".join([f"The kernel died in this cell: {cause}.", *tail])
