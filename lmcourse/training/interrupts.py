"""Ctrl-C, or the interrupt button of a notebook, ends a training after the current step.

Python raises `KeyboardInterrupt` wherever it happens to be: between the loss of a step and its
gradient, or while an optimizer has updated half of its parameters. Here it is raised once the step
is complete and saved. A second Ctrl-C interrupts at once.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Whether Ctrl-C was pressed, so that a training is to end after this step."""

    pressed = False


@contextmanager
def interruptible(single_process: bool = True) -> Iterator[Interrupt]:
    """Defer the first Ctrl-C to the end of the block; let the second one through.

    Only Python's default handler is replaced, and it is restored at the end: other threads than
    the main one have none, and a program with its own handler keeps it. Several processes would
    each end after another step, and wait for each other: they are interrupted at once.

    Raises:
        KeyboardInterrupt: at the end of the block, if Ctrl-C was pressed in it.
    """
    interrupt = Interrupt()
    main = threading.current_thread() is threading.main_thread()
    default = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not (single_process and default):
        yield interrupt
        return

    def defer(number: int, frame: FrameType | None) -> None:
        interrupt.pressed = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, defer)
    try:
        yield interrupt
    except Exception as error:
        if interrupt.pressed:  # whoever handles the error must not swallow the interrupt
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupt.pressed:
        raise KeyboardInterrupt
