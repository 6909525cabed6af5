"""A model's answers at hidden positions, beside BookWorld's exact ones (chapter 10).

What a masked model can know of a token is its distribution given what is seen. BookWorld computes
that exactly, so a model's loss splits in two:

    E[−log model(token)] = H(exact) + KL(exact ‖ model)

The first is the floor, which no model gets below; the second is what it could still learn.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.errors import CourseError
from lmcourse.models.ngram import NGramModel
from lmcourse.widgets import distributions
from lmcourse.widgets.tokens import SPECIAL

Predict = Callable[[list[str], list[int]], Any]
"""Probabilities of the vocabulary's words at some hidden positions, (position, word).

It is called with the tokens of a review and the positions that are hidden, all at once; what the
tokens hold there must not be looked at.
"""


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
                model[e, places] = _checked(predict(review, hidden), len(hidden), len(vocabulary))
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


def of_ngram(model: NGramModel, world: BookWorld) -> Predict:
    """An n-gram model as a masked one: it looks to the left alone, and past other holes not at all.

    Args:
        model: counted on ids of the world's vocabulary.
        world: whose vocabulary it is.
    """

    def predict(tokens: list[str], hidden: list[int]) -> NDArray[np.float64]:
        ids, holes = world.encode(tokens), set(hidden)
        rows = []
        for place in hidden:
            start = place
            while start > 0 and start - 1 not in holes and place - start < model.context:
                start -= 1
            before = ids[start:place]
            rows.append([model.probability(w, before) for w in range(model.vocabulary_size)])
        return np.array(rows)

    return predict


def of_masked_lm(model: nn.Module, world: BookWorld, mask_id: int | None = None) -> Predict:
    """A masked language model of ours, over the world's own words.

    Args:
        model: called with ``input_ids``, (batch, time), it returns something with ``logits``. Its
            first ids are those of the world's vocabulary; scores of others are left out, and the
            rest renormalized.
        world: whose vocabulary it is.
        mask_id: the id of [MASK]; None: the first behind the world's words.
    """
    width = len(world.vocabulary)
    mask = width if mask_id is None else mask_id

    def predict(tokens: list[str], hidden: list[int]) -> Tensor:
        ids = torch.tensor([world.encode(tokens)], device=next(model.parameters()).device)
        ids[0, hidden] = mask
        training = model.training
        model.eval()
        try:
            with torch.no_grad():
                logits = model(input_ids=ids).logits[0, hidden, :width]
        finally:
            model.train(training)
        return logits.double().softmax(-1).cpu()

    return predict


def divergence(predictions: Predictions) -> NDArray[np.float64]:
    """KL(exact ‖ model) in nats at each position; NaN where there is no prediction."""
    exact = predictions["exact"]
    gap = distributions.divergence(exact, predictions["model"])
    return np.where(exact.sum(-1) > 0, gap, np.nan)


def _checked(rows: Any, count: int, width: int) -> NDArray[np.float64]:
    found = np.asarray(rows.detach().cpu() if isinstance(rows, Tensor) else rows, np.float64)
    if found.shape != (count, width):
        raise CourseError(
            f"The model returned the shape {found.shape}, where {(count, width)} is needed.",
            "Return one row for each hidden position, with a probability for each word of "
            "world.vocabulary.",
        )
    return found
