"""The error for problems that a reader can solve: its cause, and a remedy; a check of sizes."""


class CourseError(Exception):
    """A problem that the reader can solve.

    A command prints it and exits with status 1. A notebook displays it without a traceback through
    our code (IPython calls ``_render_traceback_``).
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(f"{cause} {remedy}")
        self.cause = cause
        self.remedy = remedy

    def __reduce__(self) -> tuple[type["CourseError"], tuple[str, str]]:
        """Support pickling, for worker processes."""
        return type(self), (self.cause, self.remedy)

    def _render_traceback_(self) -> list[str]:
        return [self.cause, self.remedy]


def check_sizes(at_least: int = 1, **sizes: int | None) -> None:
    """Check sizes where a reader gives them, by the names of the arguments; None stands for none.

    Raises:
        CourseError: one is below the least that makes sense.
    """
    for name, size in sizes.items():
        if size is not None and size < at_least:
            raise CourseError(f"{name} is {size}.", f"Give {name}={at_least} or more.")
