"""Calling a function that may never return, or ask for all memory, without losing the kernel.

A thread watches how long the call computes, and interrupts the main thread as Ctrl-C does: that
stops Python code and, on Unix, waiting system calls (``time.sleep``, ``input``). It cannot stop one
long call into compiled code before that returns. Python delivers signals to the main thread alone,
where kernels run cells; elsewhere there is no limit.
"""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeVar

_REPEAT = 0.2  # seconds between two attempts, for a function that swallows the first
_WALL = 10  # times the limit: what passes at most, if the function waits or the machine is busy
_MARGIN = 2 * 2**30  # bytes that a call may allocate
T = TypeVar("T")


class TimeUp(BaseException):
    """The time is over. No Exception: a function's own ``except Exception`` must not swallow it.

    Its text says how long the function ran: "20 seconds of computing".
    """


class Interrupted(BaseException):
    """The reader interrupted (Ctrl-C, the stop button), even if the function swallowed that."""


def call_within(seconds: float, function: Callable[[], T]) -> T:
    """Return ``function()``; the state of signals and tracing is restored afterwards.

    Args:
        seconds: that the function may compute. What else a busy machine does does not count, up to
            `_WALL` times as long.
        function: takes no arguments.

    Raises:
        TimeUp: it takes longer.
        Interrupted: the reader ended it.
    """
    if threading.current_thread() is not threading.main_thread():
        return _limited(function)
    computed, begin, longest = _stopwatch(), time.monotonic(), _WALL * seconds
    over, striking, lock = threading.Event(), False, threading.Lock()
    strikes, interrupted = 0, False

    def left() -> float:
        return min(seconds - computed(), begin + longest - time.monotonic())

    def strike(_number: int, frame: FrameType | None) -> None:
        nonlocal strikes, interrupted
        if not striking:
            interrupted = True
            raise KeyboardInterrupt
        if _is_limited(frame):  # never in our own cleaning up
            strikes += 1
            up = TimeUp(
                f"{seconds:g} seconds of computing"
                if computed() >= seconds
                else f"{longest:g} seconds, most of which it waited"
            )
            if strikes > 2:  # a bare `except:` swallowed it: from now on, every line raises it
                _raise_on_every_line(frame, up)
            raise up

    def watch() -> None:
        nonlocal striking
        while not over.wait(max(left(), _REPEAT)):
            with lock:
                if not over.is_set() and left() <= 0:
                    striking = True
                    _interrupt()

    tracer, handler = sys.gettrace(), signal.signal(signal.SIGINT, strike)
    try:
        # Without the handshakes of `threading.Thread`, which cost more than many a function.
        _thread.start_new_thread(watch, ())
        return _limited(function)
    finally:
        with lock:  # after this, nobody interrupts
            over.set()
        # A handler that was not set from Python reads as None, and cannot be restored.
        signal.signal(signal.SIGINT, handler if handler is not None else signal.SIG_DFL)
        if strikes > 2:
            sys.settrace(tracer)
        if interrupted:
            raise Interrupted


def _stopwatch() -> Callable[[], float]:
    """Measure the seconds that the main thread computes from now on.

    Where no other thread can read that (macOS, Windows): those of the process, or those that pass
    if these are fewer, since several threads may compute at once.
    """
    if hasattr(time, "pthread_getcpuclockid"):
        clock = time.pthread_getcpuclockid(threading.main_thread().ident or 0)
        start = time.clock_gettime(clock)
        return lambda: time.clock_gettime(clock) - start
    cpu, wall = time.process_time(), time.monotonic()
    return lambda: min(time.process_time() - cpu, time.monotonic() - wall)


def _interrupt() -> None:
    """Interrupt the main thread; a signal to that thread also ends a system call that waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _limited(function: Callable[[], T]) -> T:
    """The one frame under which the time limit may strike."""
    return function()


def _is_limited(frame: FrameType | None) -> bool:
    code: CodeType = _limited.__code__
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _raise_on_every_line(frame: FrameType | None, up: TimeUp) -> None:
    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            raise up
        return trace

    sys.settrace(trace)
    while frame is not None and frame.f_code is not _limited.__code__:
        frame.f_trace = trace
        frame = frame.f_back


@contextmanager
def memory() -> Iterator[None]:
    """Let the process allocate 2 GiB more than it has, where the system can limit that (Linux).

    An allocation beyond it raises an error. Not beside a GPU: its driver reserves far more
    addresses than memory.
    """
    import torch

    used = Path("/proc/self/statm")
    if not used.exists() or torch.cuda.is_available():
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(used.read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + _MARGIN
    if all(other < 0 or limit < other for other in (soft, hard)):  # RLIM_INFINITY is negative
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
