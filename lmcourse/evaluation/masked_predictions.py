"""A model's answers at hidden positions, beside BookWorld's exact ones (chapter 10).

What a masked model can know of a token is its distribution given what is seen. BookWorld computes
that exactly, so a model's loss splits in two:

    E[−log model(token)] = H(exact) + KL(exact ‖ model)

The first is the floor, which no model gets below; the second is what it could still learn.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.errors import CourseError
from lmcourse.evaluation.predictors import Predict, checked, of_masked_lm, of_ngram
from lmcourse.widgets import distributions
from lmcourse.widgets.tokens import SPECIAL

__all__ = [
    "Predict",
    "Predictions",
    "answers",
    "divergence",
    "masked_predictions",
    "of_masked_lm",
    "of_ngram",
]


class Predictions(TypedDict):
    """What `lmcourse.widgets.Masking` takes; rows of zeros are positions without a prediction."""

    vocabulary: list[str]
    model: NDArray[np.float64]  # (token, word), or (draw, token, word)
    exact: NDArray[np.float64]


def masked_predictions(
    predict: Predict, world: BookWorld, tokens: Sequence[str], selected: Any = None
) -> Predictions:
    """A model's answers and the exact ones, for ``Masking(tokens, **masked_predictions(…))``.

    Args:
        predict: the model: `of_masked_lm`, `of_ngram`, or any function of the same kind. It is
            given the tokens without special ones such as [CLS], and positions among them.
        world: what the review is from.
        tokens: the review's, with special ones such as [CLS] and [PAD] or without.
        selected: True where a token is hidden, (draw, token): answers *given that all of a draw's
            tokens are hidden*, for those. None: for every token, *given that it alone is hidden*.

    Raises:
        CourseError: a token is no word of BookWorld's, or the review no possible one; ``selected``
            or what the model returns has another shape.
    """
    words = [i for i, token in enumerate(tokens) if token not in SPECIAL]
    review, vocabulary = [tokens[i] for i in words], world.vocabulary
    if selected is None:
        groups = [[[place] for place in range(len(review))]]
    else:
        drawn = np.asarray(selected).astype(bool)
        if drawn.ndim != 2 or drawn.shape[1] != len(tokens):
            raise CourseError(
                f"selected has the shape {drawn.shape} for {len(tokens)} tokens.",
                "Give one row a draw, with one truth value a token.",
            )
        groups = [[[k for k, i in enumerate(words) if row[i]]] for row in drawn]
    model, exact = np.zeros((2, len(groups), len(tokens), len(vocabulary)))
    for e, group in enumerate(groups):
        for hidden in group:
            if hidden:
                places = [words[k] for k in hidden]
                model[e, places] = checked(predict(review, hidden), len(hidden), len(vocabulary))
                exact[e, places] = world.masked_posterior(review, hidden)
    if selected is None:
        model, exact = model[0], exact[0]
    return {"vocabulary": vocabulary, "model": model, "exact": exact}


def answers(predict: Predict, world: BookWorld) -> Callable[[Sequence[str]], Predictions]:
    """Both answers to any text that a reader types: ``Masking(tokens, answer=answers(…))``.

    Args:
        predict, world: as in `masked_predictions`.

    Returns:
        What answers a text's tokens, *each alone hidden*. It raises `CourseError` for words that
        the world does not know, naming them, and for a text that is no beginning of a review.
    """

    def answer(tokens: Sequence[str]) -> Predictions:
        known = {*world.vocabulary, *SPECIAL}
        strange = [f"“{it}”" for it in dict.fromkeys(tokens) if it not in known]
        if strange:
            raise CourseError(
                f"BookWorld does not know {', '.join(strange[:10])}{', …' * (len(strange) > 10)}.",
                f"It has {len(world.vocabulary):,} words, in lower case: world.vocabulary.",
            )
        return masked_predictions(predict, world, tokens)

    return answer


def divergence(predictions: Predictions) -> NDArray[np.float64]:
    """KL(exact ‖ model) in nats at each position; NaN where there is no prediction."""
    exact = predictions["exact"]
    gap = distributions.divergence(exact, predictions["model"])
    return np.where(exact.sum(-1) > 0, gap, np.nan)
