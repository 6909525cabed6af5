"""What is wrongly done in SiFT."""

from typing import Any

from torch import Tensor

from lmcourse.models import sift as sift_module
from tests.models.broken import Broken
from tests.models.subject import Subject
from tests.models.subjects.transformer import replaced
from tests.parity import deberta as parity

SUBJECTS: tuple[Subject, ...] = ()


def both_moved(sift: Any) -> Any:
    """The perturbed prediction held against itself."""

    def wrong(predict: Any, words: Tensor, *, start: Tensor, step: float, distance: Any) -> Any:
        x = sift_module.normalized(words)
        logits = predict(x)
        delta = sift_module.perturbation(predict, x, logits, start, step, distance)
        moved = predict(x + delta)
        return sift_module.SiftOutput(distance(moved, moved).mean(), logits)

    return wrong


def one_sided(sift: Any) -> Any:
    """Twice KL(p ‖ q), without KL(q ‖ p)."""

    def divergence(one: Tensor, other: Tensor) -> Tensor:
        p, q = one.log_softmax(-1), other.log_softmax(-1)
        return 2 * (q.exp() * (q - p)).sum(-1)

    return lambda *given, **more: sift(*given, **(more | {"distance": divergence}))


def stepped(how: Any) -> Any:
    """Another step from the start: ``how(start, delta)``."""

    def make(perturbation: Any) -> Any:
        def wrong(predict: Any, x: Tensor, target: Tensor, start: Tensor, *more: Any) -> Tensor:
            return how(start, perturbation(predict, x, target, start, *more))

        return wrong

    return make


def unlimited(perturbation: Any) -> Any:
    """A step as long as the steepest token allows, for all tokens together."""

    def wrong(predict: Any, x: Tensor, target: Tensor, start: Tensor, *more: Any) -> Tensor:
        delta = perturbation(predict, x, target, start, *more)
        return start + (delta - start).mean(1, keepdim=True)

    return wrong


SIFT = ("SiFT",)


BROKEN = (
    Broken("SiFT: the perturbation in the target", replaced(parity, "sift", both_moved), SIFT),
    Broken("SiFT: unnormalized", replaced(sift_module, "normalized", lambda _: lambda x: x), SIFT),
    Broken("SiFT: KL one way only", replaced(parity, "sift", one_sided), SIFT),
    Broken("SiFT: no step", replaced(sift_module, "perturbation",
           stepped(lambda start, delta: start)), SIFT),
    Broken("SiFT: a step down", replaced(sift_module, "perturbation",
           stepped(lambda start, delta: 2 * start - delta)), SIFT),
    Broken("SiFT: one step for all tokens", replaced(sift_module, "perturbation", unlimited), SIFT),
)  # fmt: skip
