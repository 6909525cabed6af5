"""Execute the sources, several at once, and keep what came out for as long as nothing changed.

An executed notebook stays valid while its source, the lock, every file of the checkout that its
kernel read (modules, styles, data), Python and the device are what they were. A cache keyed on the
code alone hides what a new version of a dependency broke.
"""

import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit import course
from coursekit.book import cache, kernel
from coursekit.book.cache import Executed
from coursekit.notebooks.sources import read_notebook
from coursekit.notebooks.workbook import product_name
from coursekit.testing import worker_count
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from nbclient import NotebookClient
    from nbformat import NotebookNode

CELL_TIMEOUT = 600  # seconds
_EVERY, _LONG = 5, 5.0  # cells, and seconds, between two lines of progress
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
Report = Callable[[str], None]  # is called with each line of progress


def execute(sources: Sequence[course.Source], folder: Path, report: Report) -> list[Executed]:
    """Execute the sources whose result ``folder`` does not hold, several at once, and keep them.

    What went well is kept at once: an interrupted or failed build goes on where it stopped.

    Raises:
        CourseError: one or more sources fail; each is named, with its cell and its error.
    """
    done = {product_name(source): cache.load(source, folder) for source in sources}
    wanted = [source for source in sources if done[product_name(source)] is None]
    if len(sources) > len(wanted):
        report(f"{len(sources) - len(wanted)} of {len(sources)} notebooks are as they were.")
    failures = []
    kernels = _Kernels()

    def one(source: course.Source) -> None:
        try:
            result = run(source, report, kernels)
        except CourseError as error:
            report(error.cause)
            failures.append(error)
            return
        cache.save(result, folder)
        done[product_name(source)] = result
        report(f"{source.label}: {result.seconds:.0f} s, {result.megabytes:.0f} MB.")

    with ThreadPoolExecutor(worker_count()) as pool:
        try:
            list(pool.map(one, wanted))
        except BaseException:  # Ctrl-C: the kernels must not outlive us
            pool.shutdown(wait=False, cancel_futures=True)
            kernels.end()
            raise
    if failures:
        raise CourseError(
            "\n".join(sorted(failure.cause for failure in failures)),
            "Fix it and build again: finished notebooks are kept, the previous book is unchanged. "
            "`lmcourse test --only NN` shows the whole error.",
        )
    return [result for source in sources if (result := done[product_name(source)]) is not None]


class _Kernels:
    """The kernels that run, so that they can be ended."""

    def __init__(self) -> None:
        self._clients: list[NotebookClient] = []
        self._ended = False
        self._lock = threading.Lock()

    def add(self, client: "NotebookClient") -> None:
        """Remember a client whose kernel has been started.

        Raises:
            CourseError: all were ended.
        """
        with self._lock:
            self._clients.append(client)
        if self._ended:
            self.end()
            raise CourseError("The build was interrupted.", "Start it again.")

    def end(self) -> None:
        """Kill every kernel."""
        import psutil  # type: ignore[import-untyped]

        with self._lock:
            self._ended = True
            for client in self._clients:
                process = getattr(getattr(client.km, "provisioner", None), "pid", None)
                if process and psutil.pid_exists(process):
                    psutil.Process(process).kill()


def run(
    source: course.Source, report: Report = lambda line: None, kernels: "_Kernels | None" = None
) -> Executed:
    """Execute one source in a kernel of its own, and measure it.

    Raises:
        CourseError: a cell fails, takes too long, or ends the kernel.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = read_notebook(source.path)
    codes = [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    at, said = 0, time.perf_counter()  # the index of the cell that runs; when progress was shown

    def on_start(cell: "NotebookNode", cell_index: int) -> None:
        nonlocal at, said
        at = cell_index
        number = codes.index(cell_index) if cell_index in codes else 1
        if number % _EVERY == 0 or time.perf_counter() - said > _LONG:
            said = time.perf_counter()
            report(f"{source.label}: cell {number + 1} of {len(codes)} ...")

    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(source.path.parent)}},
        record_timing=False,  # the same run gives the same bytes
        coalesce_streams=True,  # as nbval does, and for the same reason
        on_cell_start=on_start,
        extra_arguments=kernel.ARGUMENTS,
    )
    with tempfile.TemporaryDirectory() as folder:
        variables = kernel.variables(Path(folder))
        try:
            with client.setup_kernel(env=variables, stderr=subprocess.DEVNULL):
                if kernels is not None:
                    kernels.add(client)
                _keep_every_output(client)
                begin = time.perf_counter()
                for index, cell in enumerate(notebook.cells):
                    client.execute_cell(cell, index, client.code_cells_executed + 1)
                seconds = time.perf_counter() - begin
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise _failure(error, source, notebook, codes, at) from error
        return kernel.result(source, notebook, seconds, Path(folder))


def _keep_every_output(client: "NotebookClient") -> None:
    """Let zmq queue as many outputs as come: by default it drops what exceeds a thousand."""
    import zmq

    assert client.kc is not None
    client.kc.iopub_channel.socket.setsockopt(zmq.RCVHWM, 0)


def _failure(
    error: Exception,
    source: course.Source,
    notebook: "NotebookNode",
    codes: list[int],
    at: int,
) -> CourseError:
    """Describe which cell of which source failed, and how."""
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    what = "its kernel died (systems do this when memory runs out)"
    if isinstance(error, CellExecutionError):
        what = _ANSI.sub("", f"{error.ename}: {error.evalue}".strip().split("\n")[0])
    elif isinstance(error, CellTimeoutError):
        what = f"it takes more than {CELL_TIMEOUT} s"
    lines = [line for line in notebook.cells[at].source.splitlines() if line.strip()]
    number = codes.index(at) + 1 if at in codes else 0
    location = f"{source.path.parent.name}/{source.path.name}, code cell {number} of {len(codes)}"
    return CourseError(
        f"{source.label} fails in {location} (`{lines[0] if lines else ''}`): {what}",
        "Fix the cell and build again.",
    )
