"""A model's predictions at masked positions, and BookWorld's exact ones (chapter 10).

    E[−log model(token)] = H(exact) + KL(exact ‖ model)

The first term is the floor; the second is the gap that training can still reduce.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.errors import CourseError
from lmcourse.evaluation.predictors import Predict, checked, of_ngram
from lmcourse.widgets import packing
from lmcourse.widgets.tokens import SPECIAL

__all__ = [
    "Predict",
    "Predictions",
    "answers",
    "divergence",
    "masked_predictions",
    "of_ngram",
]


class Predictions(TypedDict):
    """The arguments of `lmcourse.widgets.Masking`; zeros where there is no prediction."""

    vocabulary: list[str]
    model: NDArray[np.float64]  # (token, word), or (draw, token, word)
    exact: NDArray[np.float64]


def masked_predictions(
    predict: Predict, world: BookWorld, tokens: Sequence[str], selected: Any = None
) -> Predictions:
    """Return a model's predictions and the exact ones, for ``Masking(tokens, **…)``.

    Args:
        predict: the model: the result of `of_masked`, `of_ngram`, or any function of the same kind.
            It is called with the tokens without special ones such as [CLS].
        world: the world of the review.
        tokens: of the review, with or without special tokens such as [CLS] and [PAD].
        selected: True where a token is masked, (draw, token): all tokens of a draw are masked at
            once. None: each token in turn is masked alone.

    Raises:
        CourseError: the review is impossible in BookWorld; ``selected`` or the model's result has
            another shape.
    """
    words = [i for i, token in enumerate(tokens) if token not in SPECIAL]
    review, vocabulary = [tokens[i] for i in words], world.vocabulary
    if selected is None:
        groups = [[[position] for position in range(len(review))]]
    else:
        drawn = np.asarray(selected).astype(bool)
        groups = [[[k for k, i in enumerate(words) if row[i]]] for row in drawn]
    model, exact = np.zeros((2, len(groups), len(tokens), len(vocabulary)))
    for e, group in enumerate(groups):
        for hidden in group:
            if hidden:
                positions = [words[k] for k in hidden]
                model[e, positions] = checked(predict(review, hidden), len(hidden), len(vocabulary))
                exact[e, positions] = world.masked_posterior(review, hidden)
    if selected is None:
        model, exact = model[0], exact[0]
    return {"vocabulary": vocabulary, "model": model, "exact": exact}


def answers(predict: Predict, world: BookWorld) -> Callable[[Sequence[str]], Predictions]:
    """Return a function of any text that a reader types: ``Masking(tokens, answer=answers(…))``.

    Args:
        predict, world: as in `masked_predictions`.

    Returns:
        A function from tokens to predictions, *each token masked alone*. It raises `CourseError`
        for words that are not in the vocabulary, and for a text that is not a prefix of a review.
    """

    def answer(tokens: Sequence[str]) -> Predictions:
        known = {*world.vocabulary, *SPECIAL}
        unknown = [f"“{it}”" for it in dict.fromkeys(tokens) if it not in known]
        if unknown:
            raise CourseError(
                f"BookWorld does not know {', '.join(unknown[:10])}{', …' * (len(unknown) > 10)}.",
                f"It has {len(world.vocabulary):,} words, in lower case: world.vocabulary.",
            )
        return masked_predictions(predict, world, tokens)

    return answer


def divergence(predictions: Predictions) -> NDArray[np.float64]:
    """Return KL(exact ‖ model) in nats at each position; NaN where there is no prediction."""
    exact = predictions["exact"]
    gap = packing.divergence(exact, predictions["model"])
    return np.where(exact.sum(-1) > 0, gap, np.nan)
