"""When to show something again, so that showing does not slow what is shown."""

import time
from collections.abc import Callable

_SHARE = 0.01  # of the time, at most, goes into showing


class Pace:
    """Show at most every so many seconds, and for at most 1 % of the time.

    What takes 0.1 s to draw is not drawn again before 10 s have passed.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = time.monotonic() + seconds

    def run(self, show: Callable[[], object]) -> None:
        """Show, if it is time to."""
        start = time.monotonic()
        if start >= self._next:
            show()
            end = time.monotonic()
            self._next = end + max(self._seconds, (end - start) / _SHARE)
