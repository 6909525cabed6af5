"""Calling a function that may never return, without losing the kernel to it.

In the main thread of Unix the limit is an interval timer: its signal interrupts Python code and
waiting system calls (``time.sleep``, ``input``). Elsewhere (Windows, other threads) a watcher
raises an exception in the calling thread: that stops Python code, and a wait only once it is over.
Neither can stop one long call into compiled code before it comes back.
"""

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType, FrameType
from typing import Any

_REPEAT = 0.2  # seconds between two attempts, for a function that swallows the first


class TimeUp(BaseException):
    """The time is over. No Exception: a function's own ``except Exception`` must not swallow it."""


def call_within(seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(*arguments)``; raise TimeUp when it takes longer than ``seconds``.

    The caller's signal handlers and timer are put back afterwards.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    by_signal = in_main_thread and hasattr(signal, "setitimer")
    with _alarm(seconds) if by_signal else _watcher(seconds):
        return _limited(function, arguments)


def _limited(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The one frame under which the time limit may strike: never in our own cleaning up."""
    return function(*arguments)


def _is_limited(frame: FrameType | None) -> bool:
    """Whether ``frame`` runs inside a limited call."""
    code: CodeType = _limited.__code__
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    strikes = 0

    def strike(_signal: int, frame: FrameType | None) -> None:
        nonlocal strikes
        if not _is_limited(frame):
            return
        strikes += 1
        if strikes > 2:  # a bare `except:` swallowed it: from now on, every line raises it
            _raise_on_every_line(frame)
        raise TimeUp

    tracer = sys.gettrace()
    started = time.monotonic()
    handler = signal.signal(signal.SIGALRM, strike)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        # A handler that was not set from Python reads as None, and cannot be put back.
        signal.signal(signal.SIGALRM, handler if handler is not None else signal.SIG_DFL)
        if strikes > 2:
            sys.settrace(tracer)
        if remaining:
            rest = remaining - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(rest, 0.001), interval)


def _raise_on_every_line(frame: FrameType | None) -> None:
    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            raise TimeUp
        return trace

    sys.settrace(trace)
    while frame is not None and frame.f_code is not _limited.__code__:
        frame.f_trace = trace
        frame = frame.f_back


@contextmanager
def _watcher(seconds: float) -> Iterator[None]:
    thread = threading.get_ident()
    over = threading.Event()
    lock = threading.Lock()

    def watch() -> None:
        wait = seconds
        while not over.wait(wait):
            with lock:
                if not over.is_set() and _is_limited(sys._current_frames().get(thread)):
                    _raise_in(thread, TimeUp)
            wait = _REPEAT

    def stop() -> None:
        over.set()
        with lock:
            _raise_in(thread, None)  # one that is still on its way is called back

    watching = threading.Thread(target=watch, name="time limit of a check", daemon=True)
    watching.start()
    try:
        yield
    finally:
        # One that strikes here came too late to be called back: the function has returned.
        with suppress(TimeUp):
            stop()
        stop()
        watching.join()


def _raise_in(thread: int, exception: type[BaseException] | None) -> None:
    raised = ctypes.py_object(exception) if exception is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Give a function that says whether the *reader* interrupted (Ctrl-C, the stop button).

    A KeyboardInterrupt that the called function raises by itself looks the same otherwise.
    """
    seen = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # Python delivers Ctrl-C to the main thread only
        return
    handler = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        seen = True
        if callable(handler):
            handler(number, frame)

    if not callable(handler):  # ignored, or not Python's: leave it alone
        yield lambda: False
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: seen
    finally:
        signal.signal(signal.SIGINT, handler)
