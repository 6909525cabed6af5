"""One error for everything that a reader can mend: what is wrong, and what to do about it."""


class CourseError(Exception):
    """Something is wrong that the reader can put right.

    A command prints it and exits with status 1; a notebook shows it without a traceback
    (IPython asks an exception for ``_render_traceback_``), because the lines of our code
    would tell the reader nothing.
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(f"{cause} {remedy}")
        self.cause = cause
        self.remedy = remedy

    def __reduce__(self) -> tuple[type["CourseError"], tuple[str, str]]:
        """An error comes back whole from another process, as a data loader's worker."""
        return type(self), (self.cause, self.remedy)

    def _render_traceback_(self) -> list[str]:
        return [self.cause, self.remedy]
