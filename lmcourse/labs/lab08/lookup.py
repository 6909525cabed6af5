"""08.1 A dictionary that always answers: a mean of values, weighted by similarity."""

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong

_SHAPES = ((4, 4), (6, 3), (1, 5))  # key, width; equal first, so that a wrong axis runs


def judge(answer: Answer) -> str:
    for seed, (keys, width) in enumerate(_SHAPES):
        probe = _probe(seed, keys, width)
        value = tensor(answer(*probe), (width,))
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            if multiple(value, _right(*probe)) is not None:
                raise Wrong(
                    "The answer points the right way and has the wrong size: do the weights sum "
                    "to 1?"
                )
            raise Wrong(
                "Not the weighted mean. In two steps: make weights of the similarities, which sum "
                "to 1; then add up the rows of `values`, each times its weight."
            )
    return "With one entry the answer is its value, however little the query is like its key."


def _probe(seed: int, keys: int, width: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    similarities = 0.1 + 3 * torch.rand(keys, generator=generator)
    return similarities, torch.randn(keys, width, generator=generator)


def _right(phi: Tensor, v: Tensor) -> Tensor:
    return phi @ v / phi.sum()


# Each takes (similarities, values).
MISTAKES = (
    Mistake(
        "The weights do not sum to 1: the similarities are used as they are. Divide by their sum.",
        lambda phi, v: phi @ v,
    ),
    Mistake(
        "The sum is divided by the number of keys: divide by the sum of the similarities.",
        lambda phi, v: phi @ v / len(phi),
    ),
    Mistake(
        "This is a softmax of the similarities. They are φ itself, and positive already: no "
        "exponential is needed.",
        lambda phi, v: phi.softmax(0) @ v,
    ),
    Mistake(
        "All values count alike: this is their plain mean, whatever was asked.",
        lambda phi, v: v.mean(0),
    ),
    Mistake(
        "This is the value of the most similar key alone, as of a dictionary that picks one: mix "
        "all values.",
        lambda phi, v: v[phi.argmax()],
    ),
    Mistake(
        "The similarities are divided by the largest of them, not by their sum.",
        lambda phi, v: phi @ v / phi.max(),
    ),
    Mistake(
        "The similarities are divided by their norm √Σφ²: a mean needs weights that sum to 1.",
        lambda phi, v: phi @ v / phi.norm(),
    ),
    Mistake(
        "The weights are spread over the columns of `values`; each belongs to a row, a key: "
        "`values` has the axes [key, width].",
        lambda phi, v: v @ phi / phi.sum(),
    ),
)
