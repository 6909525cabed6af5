"""Ctrl-C, or a notebook's button to interrupt: it waits until a step is finished.

Python raises `KeyboardInterrupt` wherever it happens to be: between the loss of a step and its
gradient, or while an optimizer has moved half of its parameters. Here it is raised a little later,
when the run is whole and kept. Who cannot wait for that presses the keys a second time.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Whether a training is to end after this step.

    Attributes:
        came: it is, since someone pressed Ctrl-C.
    """

    came = False

    def pass_on(self) -> None:
        """Interrupt all else, too.

        Raises:
            KeyboardInterrupt: it came.
        """
        if self.came:
            raise KeyboardInterrupt


@contextmanager
def interruptible(alone: bool) -> Iterator[Interrupt]:
    """Wait for the end of a step with the first Ctrl-C; let the second one through.

    Only Python's own handling of Ctrl-C is put off, and put back in the end: in another thread than
    the main one there is none, and a program that does something else with it knows why. Several
    processes would each end after another step, and wait for each other: they end at once.
    """
    interrupt = Interrupt()
    here = threading.current_thread() is threading.main_thread()
    if not (alone and here and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
        yield interrupt
        return

    def wait(number: int, frame: FrameType | None) -> None:
        interrupt.came = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, wait)
    try:
        yield interrupt
    except Exception:
        interrupt.pass_on()  # an error that is caught must not swallow it
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
