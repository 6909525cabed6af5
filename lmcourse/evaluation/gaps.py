"""The gap table: by how much a model's loss exceeds BookWorld's floor, phenomenon by phenomenon.

With p the exact distribution of a token given the model's context, and q the model's,

    E[−log q(token)] = H(p) + KL(p ‖ q)        loss = floor + gap,

at every predicted position. So the mean of loss − floor over tokens *estimates* the gap. The gap
itself is a sum over all possible words at the position, not only the one in the text:

    KL(p ‖ q) = Σ_w p(w) · (log p(w) − log q(w)) ≥ 0,        0 only where q = p.

Tables and figures show the gap. It varies only with the sample of reviews.

Over the tokens of *one phenomenon* the two differ. That a token is a name, and not a verb, is part
of the prediction. A model that expects names too often has a small loss − floor over names alone,
even below zero, and a larger one at other tokens. The gap measures how far the model's distribution
is from the exact one at the positions of names. The rows of agreement are an exception: they are of
the verb's number alone, given an agreeing verb (`lmcourse.evaluation.agreement`), and loss − floor
estimates their gap.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import nn

from lmcourse.corpus.bookworld import END, SPLITS, BookWorld, Review
from lmcourse.errors import CourseError
from lmcourse.evaluation import agreement
from lmcourse.evaluation.agreement import VerbNumber
from lmcourse.evaluation.exact import Exact, Kind, answers_key, exact_answers
from lmcourse.evaluation.gap_tables import GapTable, Sums
from lmcourse.evaluation.phenomena import AGREEMENT, NAMES, Phenomena
from lmcourse.evaluation.predictors import Continue, Predict, checked, of_causal, of_masked
from lmcourse.models.ngram import NGramModel

__all__ = ["GapTable", "Predictor", "divergence", "gap_table"]

Predictor = Continue | Predict | NGramModel | nn.Module

_AGREES = np.isin(NAMES, AGREEMENT)[:, None]

# Reviews by default, the first of the test split: some 12 and 10 seconds the first time.
REVIEWS: dict[str, int] = {"causal": 300, "masked": 600}


def gap_table(
    models: Predictor | Mapping[str, Predictor],
    world: BookWorld,
    *,
    kind: Kind = "causal",
    reviews: int | Sequence[Review] | None = None,
    seed: int = SPLITS["test"][1],
) -> GapTable:
    """Measure by how much models exceed the floor, by phenomenon.

        gap_table({"bigram": NGramModel(ids, 1, len(world.vocabulary)), "LSTM": model}, world)

    The exact answers take 15 to 40 ms per review, once: they are stored in the user's cache.

    Args:
        models: one model, or several by name. Each is an n-gram model, a module, a model that
            `lmcourse.hub.load` returns, or a predictor: the result of `of_causal` or `of_masked`,
            or any function like `world.next_tokens` or `world.masked_posterior`.
        world: the world of the reviews.
        kind: ``"causal"`` or ``"masked"``.
        reviews: how many are sampled, or reviews of this world; None: 300, or 600 for ``"masked"``,
            which predicts one token in seven. Rare phenomena may need more.
        seed: of the sample; by default the reviews are the first of the test split.

    Raises:
        CourseError: there is no review, or one is not from this world; a model is of another kind
            or has another vocabulary, or does not return distributions.
    """
    if kind not in ("causal", "masked"):
        raise CourseError(f"The kind {kind!r} is not known.", 'Choose "causal" or "masked".')
    predictors = {name: _predictor(it, world, kind) for name, it in _named(models).items()}
    chosen = _reviews(world, REVIEWS[kind] if reviews is None else reviews, seed)
    phenomena, number = Phenomena(world), VerbNumber(world)
    shown = [phenomena.of(review) for review in chosen]
    answers = exact_answers(world, chosen, kind)
    rows = [it[:, answer.positions] for it, answer in zip(shown, answers, strict=True)]
    tokens = np.stack([it.sum(1) for it in rows], 1)
    floors, sums = [], {name: Sums(*np.zeros((2, *tokens.shape))) for name in predictors}
    for at, (review, answer, row) in enumerate(zip(chosen, answers, rows, strict=True)):
        targets = np.array(world.encode([*review.tokens, END]))[answer.positions]
        right, plural = number.exact(answer), number.plural(targets)
        floors.append(_over(row, _floor(answer, targets), agreement.surprise(right, plural)))
        for name, predict in predictors.items():
            q = _predicted(predict, review, answer, kind, len(world.vocabulary), name)
            with np.errstate(divide="ignore"):
                loss = -np.log(q[np.arange(len(targets)), targets])
            found = number.model(q)
            sums[name].loss[:, at] = _over(row, loss, agreement.surprise(found, plural))
            gap = divergence(answer, q)
            sums[name].gap[:, at] = _over(row, gap, agreement.divergence(right, found))
    there = tokens.sum(1) > 0
    return GapTable(
        kind,
        answers_key(world, chosen, kind),
        tuple(np.array(NAMES)[there].tolist()),
        tokens[there],
        np.stack(floors, 1)[there],
        {name: Sums(it.loss[there], it.gap[there]) for name, it in sums.items()},
    )


def divergence(
    exact: Exact, q: Float[np.ndarray, "predicted vocab"]
) -> Float[np.ndarray, " predicted"]:
    """Return KL(p ‖ q) at each predicted position, in nats; inf where q of a possible word is 0."""
    p = exact.probability
    with np.errstate(divide="ignore"):
        terms = p * (np.log(p) - np.log(q[exact.row, exact.word]))
    found: np.ndarray = np.bincount(exact.row, terms, len(exact.positions))
    return np.maximum(found, 0.0)  # below zero by rounding


def _floor(exact: Exact, targets: np.ndarray) -> Float[np.ndarray, " predicted"]:
    right = exact.word == targets[exact.row]
    return -np.log(np.bincount(exact.row[right], exact.probability[right], len(targets)))


def _over(
    rows: np.ndarray, nats: np.ndarray, of_number: np.ndarray
) -> Float[np.ndarray, " phenomenon"]:
    """Sums over the tokens of each phenomenon, of the full distribution or of the verb's number.

    (A product instead of ``where`` would give ∞ · 0.)
    """
    return np.where(rows, np.where(_AGREES, of_number, nats), 0.0).sum(1)


def _named(models: Any) -> dict[str, Any]:
    """The models by name."""
    if isinstance(models, list | tuple) or models == {}:
        raise CourseError(
            f"There are {len(models)} models without names.",
            'Pass one or more by name: {"bigram": …, "LSTM": …}.',
        )
    if not isinstance(models, Mapping):
        return {"model": models}
    return {str(name): model for name, model in models.items()}


def _predictor(model: Any, world: BookWorld, kind: Kind) -> Any:
    """A model as a function of tokens, or of tokens and masked positions."""
    ids, inside = None, getattr(model, "model", None)
    if not isinstance(model, nn.Module) and isinstance(inside, nn.Module):  # a loaded model
        tokenizer = getattr(model, "tokenizer", None)
        model, ids = inside, None if tokenizer is None else tokenizer.get_vocab()
    if isinstance(model, nn.Module | NGramModel):
        return (of_causal if kind == "causal" else of_masked)(model, world, ids)
    try:
        inspect.signature(model).bind(*(["tokens"] if kind == "causal" else ["tokens", "hidden"]))
    except (TypeError, ValueError):
        wanted = "(tokens)" if kind == "causal" else "(tokens, hidden)"
        raise CourseError(
            f"{model!r:.80} is not a function of {wanted}, which the kind {kind!r} needs.",
            f"Pass of_{kind}(model, world), or kind="
            f"{'masked' if kind == 'causal' else 'causal'!r} if it is of the other kind.",
        ) from None
    return model


def _reviews(world: BookWorld, reviews: int | Sequence[Review], seed: int) -> list[Review]:
    chosen = list(reviews) if isinstance(reviews, Sequence) else world.sample(int(reviews), seed)
    if not chosen:
        raise CourseError("There is no review to measure.", "Pass one review or more.")
    return chosen


def _predicted(
    predict: Any, review: Review, exact: Exact, kind: Kind, width: int, name: str
) -> Float[np.ndarray, "predicted vocab"]:
    """A model's distributions at the predicted positions."""
    if kind == "causal":
        found = predict(list(review.tokens))
    else:
        tokens, hidden = [*review.tokens, END], exact.positions.tolist()
        for position in hidden:
            tokens[position] = END  # so that the targets cannot leak
        found = predict(tokens, hidden)
    try:
        q = checked(found, len(exact.positions), width)
    except CourseError as error:
        raise CourseError(f"{name}, review {review.index}: {error.cause}", error.remedy) from None
    return q / q.sum(1, keepdims=True)
