"""Temperature: the soft targets of a teacher, and their gradient for a student."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import index_below, one_of, shown, within
from lmcourse.widgets.packing import Array, as_array, divergence, single
from lmcourse.widgets.tokens import as_tokens, visible

TEMPERATURES = (0.1, 1000.0)
LEARNING_RATES = (0.01, 20.0)
MOVES = "a list of [example, class, amount]"
STEPS = 50  # of gradient descent
MOST_MOVED = 20.0  # the largest manual change of a logit
MOST_CLASSES = 5_000  # for an interactive figure


class Temperature(Widget):
    """The soft targets of a teacher and a student, softmax(z / T), and the gradient between them.

    The loss is L = α L_d + (1 − α) L_s with L_d = T² KL(t ‖ s), or without T², and
    L_s = −log softmax(z_student)[label] (`lmcourse.models.distillation`; Hinton, Vinyals and Dean
    2015, section 2.1). The browser computes everything in float64, and takes steps of gradient
    descent on the student's logits. Settings are traits that a kernel can read and set.

    Args:
        teacher: logits, (classes) of one example or (examples, classes) of several.
        student: logits of the same shape.
        classes: the classes' names.
        labels: the index of the right class of each example; None: the teacher's most probable.
        examples: a name or text for each example; None or an empty list: numbers.
        example: the shown example, from 0.
        temperature: T, from 0.1 to 1000.
        show: ``"targets"``, the soft targets alone, or ``"all"``: the gradient and training, too.
        alpha: α, the weight of L_d, from 0 to 1.
        learning_rate: of the gradient steps, from 0.01 to 20.
        scaled: whether L_d is multiplied by T².
        pinned: the class whose logit the reader changes; None: the teacher's most probable.
        moves: the reader's changes, as [example, class, amount], each amount from −20 to 20.
        step: the number of gradient steps, from 0 to 50.
        exact: whether the teacher is the exact posterior, with its color and name.
    """

    _esm = module("temperature")
    title: ClassVar[str] = "Temperature"
    lighter: ClassVar[str] = "Pass fewer examples, or only the classes that matter."

    classes = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    examples = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    example = traitlets.Int(0).tag(sync=True)
    temperature = traitlets.Float(2.0).tag(sync=True)
    show = traitlets.Unicode("targets").tag(sync=True)
    alpha = traitlets.Float(1.0).tag(sync=True)
    learning_rate = traitlets.Float(1.0).tag(sync=True)
    scaled = traitlets.Bool(True).tag(sync=True)
    pinned = traitlets.Int(None, allow_none=True).tag(sync=True)
    moves = traitlets.List(traitlets.List(), help=MOVES).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    exact = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        teacher: Any,
        student: Any,
        classes: Sequence[str],
        *,
        labels: Sequence[int] | None = None,
        examples: Sequence[str] | None = None,
        example: int = 0,
        temperature: float = 2.0,
        show: str = "targets",
        alpha: float = 1.0,
        learning_rate: float = 1.0,
        scaled: bool = True,
        pinned: int | None = None,
        moves: Sequence[Sequence[float]] = (),
        step: int = 0,
        exact: bool = False,
    ) -> None:
        self._teacher = _logits("teacher", teacher, None)
        self._student = _logits("student", student, self._teacher.shape)
        unnamed = examples is None or (isinstance(examples, Sequence) and not examples)
        self._names = [] if unnamed else _named("examples", examples, self._teacher, 0)
        best = self._teacher.argmax(1).tolist()
        super().__init__(
            **self.hold({"teacher": self._teacher, "student": self._student}),
            classes=_named("classes", classes, self._teacher, 1),
            examples=self._names,
            labels=best if labels is None else labels,
            example=example,
            temperature=temperature,
            show=show,
            alpha=alpha,
            learning_rate=learning_rate,
            scaled=scaled,
            pinned=pinned,
            moves=moves,
            step=step,
            exact=exact,
        )

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        t = _softmax(self._teacher[self.example], self.temperature)
        s = _softmax(self._moved(), self.temperature)
        each = [
            f"“{visible(self.classes[i])}” {t[i]:.3g} and {s[i]:.3g}" for i in np.argsort(-t)[:4]
        ]
        text = visible(self._names[self.example]).replace("␣", " ") if self._names else ""
        of = f" of “{text}”" if text else ""
        picked = "" if self.pinned is None else f", “{visible(self.classes[self.pinned])}” picked"
        teacher = "an exact teacher" if self.exact else "a teacher"
        far = "its limit for T → ∞" if self.scaled else "its approximation for high T, ∝ 1/T²"
        targets = (
            f"Soft targets of {teacher} and a student at T = {self.temperature:g}{of}: "
            f"{', '.join(each)}, of {len(t)} classes in all; KL {divergence(t, s):.3g} nats."
        )
        if self.show == "targets":
            return targets
        return (
            f"{targets} Next to them the gradient of the loss by the student's logits with {far}; "
            "below, the norm of the gradient at each temperature, with and without the factor T², "
            f"and KL over {STEPS} steps of gradient descent. Settings: step {self.step}, "
            f"{'with' if self.scaled else 'without'} T², α = {self.alpha:g}, learning rate "
            f"{self.learning_rate:g}, label “{visible(self.classes[self._label])}”{picked}."
        )

    @property
    def _label(self) -> int:
        return int(self.labels[self.example])

    def _moved(self) -> Array:
        """Return the student's logits after the reader's changes and the gradient steps."""
        z = self._student[self.example].copy()
        for example, index, amount in self.moves:
            if example == self.example:
                z[index] += amount
        t, factor = _softmax(self._teacher[self.example], self.temperature), self.alpha
        factor *= self.temperature if self.scaled else 1 / self.temperature
        for _ in range(self.step):
            hard = _softmax(z, 1)
            hard[self._label] -= 1
            soft = _softmax(z, self.temperature) - t
            z = z - self.learning_rate * (factor * soft + (1 - self.alpha) * hard)
        return z

    @traitlets.validate("temperature", "alpha", "learning_rate")
    def _setting_is_in_range(self, proposal: Any) -> float:
        ends = {"temperature": TEMPERATURES, "alpha": (0, 1), "learning_rate": LEARNING_RATES}
        name = proposal["trait"].name
        return within(name, proposal["value"], *ends[name])

    @traitlets.validate("show")
    def _show_is_known(self, proposal: Any) -> str:
        return one_of("show", proposal["value"], ("targets", "all"))

    @traitlets.validate("example", "pinned", "step")
    def _number_exists(self, proposal: Any) -> int | None:
        name, (examples, classes) = proposal["trait"].name, self._teacher.shape
        counts = {"example": examples, "pinned": classes, "step": STEPS + 1}
        return index_below(name, proposal["value"], counts[name])

    @traitlets.validate("labels")
    def _labels_exist(self, proposal: Any) -> list[int | None]:
        examples, classes = self._teacher.shape
        if len(proposal["value"]) != examples:
            raise CourseError(
                f"labels has {len(proposal['value'])} classes, but there are {examples} examples.",
                "Pass the index of the right class of each example.",
            )
        return [index_below("a class in labels", it, classes) for it in proposal["value"]]

    @traitlets.validate("moves")
    def _moves_fit(self, proposal: Any) -> list[list[float]]:
        examples, classes = self._teacher.shape
        for move in proposal["value"]:
            if len(move) != 3 or not all(isinstance(it, int | float) for it in move):
                raise CourseError(
                    f"{shown(move)} in moves is not of the form [example, class, amount].",
                    "Pass three numbers for each changed logit.",
                )
            index_below("example in moves", move[0], examples)
            index_below("class in moves", move[1], classes)
            within("amount in moves", move[2], -MOST_MOVED, MOST_MOVED)
        return [[int(move[0]), int(move[1]), move[2]] for move in proposal["value"]]


def _logits(name: str, value: Any, shape: tuple[int, ...] | None) -> Array:
    """Return logits as (examples, classes), rounded to float32 like the page's, in float64."""
    try:
        rank = value.ndim if hasattr(value, "ndim") else np.ndim(value)
    except ValueError:  # rows of unequal lengths
        rank = 2
    wanted = (None,) if rank < 2 else shape or (None, None)
    if rank < 2 and shape:
        wanted = shape[1:] if shape[0] == 1 else shape
    try:
        array = np.atleast_2d(as_array(name, value, wanted))
    except CourseError as error:
        if "not finite" not in error.cause:
            raise
        raise CourseError(
            error.cause, "Logits are finite. For probabilities with zeros, pass np.log(p + 1e-6)."
        ) from None
    if array.shape[1] > MOST_CLASSES:
        raise CourseError(
            f"{name} has {array.shape[1]:,} classes; at most {MOST_CLASSES:,} can be shown.",
            "Pass the logits of some classes, such as the teacher's 1,000 most probable.",
        )
    return single(name, array).astype(np.float64)


def _named(name: str, value: Any, logits: Array, axis: int) -> list[str]:
    names = as_tokens(name, value)
    if len(names) != logits.shape[axis]:
        raise CourseError(
            f"{name} has {len(names)} names, but teacher has {logits.shape[axis]} {name}.",
            f"Pass one string for each of the {name}, in the order of the logits.",
        )
    return names


def _softmax(z: Array, temperature: float) -> Array:
    odds: Array = np.exp((z - z.max()) / temperature)
    return odds / odds.sum()
