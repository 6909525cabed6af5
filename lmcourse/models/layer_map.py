"""The map from a student's layers to a teacher's (Jiao et al. 2020, section 3.1).

The map g takes 0, 1 … M, M + 1 to 0, g(1) … g(M), N + 1: embeddings to embeddings, the student's M
layers to some of the teacher's N, predictions to predictions. For N = 12 and M = 4:

    uniform    g(m) = m N / M        3, 6, 9, 12
    top        g(m) = m + N - M      9, 10, 11, 12
    bottom     g(m) = m              1, 2, 3, 4

In the paper (section 4.5) the uniform map is the best on average.
"""

from collections.abc import Sequence
from typing import Literal

from lmcourse.errors import CourseError

Strategy = Literal["uniform", "top", "bottom"]


def layer_map(
    student_layers: int, teacher_layers: int, strategy: Strategy = "uniform"
) -> tuple[int, ...]:
    """Return g(0), g(1) … g(M), g(M + 1)."""
    M, N = student_layers, teacher_layers
    if not 1 <= M <= N:
        raise CourseError(
            f"A student of {M} layers cannot copy a teacher of {N}.",
            "Give the student at least one layer, and no more than the teacher has.",
        )
    if strategy == "uniform" and N % M:
        raise CourseError(
            f"The uniform map takes every (N / M)-th layer; {N} is no multiple of {M}.",
            "Choose the strategy 'top' or 'bottom', or give your own map.",
        )
    if strategy == "uniform":
        chosen = [m * (N // M) for m in range(1, M + 1)]
    elif strategy == "top":
        chosen = [m + N - M for m in range(1, M + 1)]
    elif strategy == "bottom":
        chosen = list(range(1, M + 1))
    else:
        raise CourseError(f"There is no strategy {strategy!r}.", "Choose uniform, top or bottom.")
    return (0, *chosen, N + 1)


def checked_map(layers: Sequence[int], student_layers: int, teacher_layers: int) -> tuple[int, ...]:
    """Check a map, and return it as a tuple."""
    M, N = student_layers, teacher_layers
    g = tuple(layers)
    ends = len(g) == M + 2 and (g[0], g[-1]) == (0, N + 1)
    if not ends or any(layer not in range(1, N + 1) for layer in g[1:-1]):
        raise CourseError(
            f"The map {g} does not take a student of {M} layers to a teacher of {N}.",
            f"Give {M + 2} numbers: 0, a layer from 1 to {N} for each of the student's, {N + 1}.",
        )
    return g
