"""Which of a teacher's layers each layer of a student copies (Jiao et al. 2020, section 3.1).

The map g takes 0, 1 … M, M + 1 to 0, g(1) … g(M), N + 1: what is embedded to what is embedded, the
student's M layers to some of the teacher's N, the prediction to the prediction. Of 12 layers, 4 are
chosen as

    uniform    g(m) = m N / M        3, 6, 9, 12
    top        g(m) = m + N - M      9, 10, 11, 12
    bottom     g(m) = m              1, 2, 3, 4

The paper compares them in section 4.5: the uniform one serves best on all its tasks together.
"""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from lmcourse.errors import CourseError
from lmcourse.models.inputs import numbers, whole_number

Strategy = Literal["uniform", "top", "bottom"]


def layer_map(
    student_layers: int, teacher_layers: int, strategy: Strategy = "uniform"
) -> tuple[int, ...]:
    """g(0), g(1) … g(M), g(M + 1).

    Raises:
        CourseError: the student has more layers than the teacher; the uniform map does not come
            out even; there is no such strategy.
    """
    M = whole_number(student_layers, "student_layers", "map of layers", 0)
    N = whole_number(teacher_layers, "teacher_layers", "map of layers", 0)
    if not 1 <= M <= N:
        raise CourseError(
            f"A student of {M} layers cannot copy a teacher of {N}.",
            "Give the student at least one layer, and no more than the teacher has.",
        )
    if strategy == "uniform" and N % M:
        raise CourseError(
            f"The uniform map takes every (N / M)-th layer; {N} is no multiple of {M}.",
            "Choose the strategy 'top' or 'bottom', or write down a map of your own.",
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
    """A map of one's own, if it is one.

    Raises:
        CourseError: it holds other than whole numbers; it has not one layer of the teacher's for
            each of the student's, or does not take what is embedded and the prediction to
            themselves.
    """
    M, N = student_layers, teacher_layers
    found = numbers(layers, "layers", "map of layers", partial(whole_number, least=0))
    ends = len(found) == M + 2 and (found[0], found[-1]) == (0, N + 1)
    if not ends or any(layer not in range(1, N + 1) for layer in found[1:-1]):
        raise CourseError(
            f"The map {found} does not take a student of {M} layers to a teacher of {N}.",
            f"Give {M + 2} numbers: 0, a layer from 1 to {N} for each of the student's, {N + 1}.",
        )
    return found
