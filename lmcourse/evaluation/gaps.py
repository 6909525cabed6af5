"""The gap table: how far a model is above BookWorld's floor, phenomenon by phenomenon.

With p the exact distribution of a token given what the model is given, and q the model's,

    E[−log q(token)] = H(p) + KL(p ‖ q)        loss = floor + gap,

at every place where a token is predicted. So the mean of loss − floor over tokens *estimates* the
gap. The gap itself is a sum over all words that may stand there, whichever of them does:

    KL(p ‖ q) = Σ_w p(w) · (log p(w) − log q(w)) ≥ 0,        0 only where q = p.

It is what tables and figures show. Chance is left in it only through the reviews that were drawn,
and in what p and q are about.

Over the tokens of *one phenomenon* the two are different things. That a name stands here, and not a
verb, is part of what is predicted. A model that expects names too readily has a small loss − floor
over names alone, even below zero, and pays for it at other tokens. The gap is read so: how far is
the model's answer from the exact one at the places where a name stands. The rows of agreement are
an exception: they are of the verb's number alone, given that a verb that agrees stands there
(`lmcourse.evaluation.agreement`), and loss − floor estimates their gap.
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
from lmcourse.evaluation.exact import Exact, Kind, answers_key, check_world, exact_answers
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
    """How far models are above the floor, by phenomenon.

        gap_table({"bigram": NGramModel(ids, 1, len(world.vocabulary)), "LSTM": model}, world)

    The exact answers take 15 to 40 ms a review, once: they are kept in the user's cache.

    Args:
        models: one model, or several by name. A model is what answers: `world.next_tokens` or
            `world.masked_posterior` themselves, `of_causal` or `of_masked` of a model, or any
            function of the same kind. An n-gram model or a module is passed to these two first;
            so is what `lmcourse.hub.load` gives, with its tokenizer's ids.
        world: what the reviews are from.
        kind: ``"causal"`` or ``"masked"``.
        reviews: how many are drawn, or reviews of this world; None: 300, or 600 of ``"masked"``,
            which predicts one token in seven. Rare phenomena may need more.
        seed: what they are drawn from; by default they are the first of the test split.

    Raises:
        CourseError: there is no review, or one is no review of the world's; a model is of another
            kind or another vocabulary, or what it returns are no distributions.
    """
    check_world(world)
    if kind not in ("causal", "masked"):
        raise CourseError(f"The kind {kind!r} is not known.", 'Choose "causal" or "masked".')
    asked = {name: _asked(model, world, kind) for name, model in _named(models).items()}
    chosen = _reviews(world, REVIEWS[kind] if reviews is None else reviews, seed)
    phenomena, number = Phenomena(world), VerbNumber(world)
    shown = [phenomena.of(review) for review in chosen]
    answers = exact_answers(world, chosen, kind)
    rows = [it[:, answer.places] for it, answer in zip(shown, answers, strict=True)]
    tokens = np.stack([it.sum(1) for it in rows], 1)
    floors, sums = [], {name: Sums(*np.zeros((2, *tokens.shape))) for name in asked}
    for at, (review, answer, row) in enumerate(zip(chosen, answers, rows, strict=True)):
        targets = np.array(world.encode([*review.tokens, END]))[answer.places]
        right, plural = number.exact(answer), number.plural(targets)
        floors.append(_over(row, _floor(answer, targets), agreement.surprise(right, plural)))
        for name, ask in asked.items():
            q = _answered(ask, review, answer, kind, len(world.vocabulary), name)
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
    """KL(p ‖ q) at each predicted place, in nats; inf where q gives a possible word nothing."""
    p = exact.probability
    with np.errstate(divide="ignore"):
        terms = p * (np.log(p) - np.log(q[exact.row, exact.word]))
    found: np.ndarray = np.bincount(exact.row, terms, len(exact.places))
    return np.maximum(found, 0.0)  # rounding takes it no lower


def _floor(exact: Exact, targets: np.ndarray) -> Float[np.ndarray, " predicted"]:
    stands = exact.word == targets[exact.row]
    return -np.log(np.bincount(exact.row[stands], exact.probability[stands], len(targets)))


def _over(
    rows: np.ndarray, nats: np.ndarray, of_number: np.ndarray
) -> Float[np.ndarray, " phenomenon"]:
    """Sums over the tokens of each phenomenon: of what is said there, or of the verb's number.

    (A product in place of ``where`` would make ∞ · 0 of it.)
    """
    return np.where(rows, np.where(_AGREES, of_number, nats), 0.0).sum(1)


def _named(models: Any) -> dict[str, Any]:
    """The models by name."""
    if isinstance(models, list | tuple):
        raise CourseError(
            f"A {type(models).__name__} of {len(models)} models has no names for them.",
            'Pass them by name: {"bigram": …, "LSTM": …}.',
        )
    if not isinstance(models, Mapping):
        return {"model": models}
    if not models:
        raise CourseError("There is no model.", "Pass one, or a dictionary of models by name.")
    found: dict[str, Any] = {}
    for name, model in models.items():
        if str(name) in found:
            raise CourseError(f"Two models are named {str(name)!r}.", "Give each its own name.")
        found[str(name)] = model
    return found


def _asked(model: Any, world: BookWorld, kind: Kind) -> Any:
    """A model as a function of tokens, or of tokens and hidden places."""
    ids, inside = None, getattr(model, "model", None)
    if not isinstance(model, nn.Module) and isinstance(inside, nn.Module):  # what the hub loads
        tokenizer = getattr(model, "tokenizer", None)
        model, ids = inside, None if tokenizer is None else tokenizer.get_vocab()
    if isinstance(model, nn.Module | NGramModel):
        return (of_causal if kind == "causal" else of_masked)(model, world, ids)
    try:
        inspect.signature(model).bind(*(["tokens"] if kind == "causal" else ["tokens", "hidden"]))
    except (TypeError, ValueError):
        wanted = "(tokens)" if kind == "causal" else "(tokens, hidden)"
        raise CourseError(
            f"{model!r:.80} is not what answers {wanted}, as the kind {kind!r} needs.",
            f"Pass of_{kind}(model, world), or kind="
            f"{'masked' if kind == 'causal' else 'causal'!r} if it is of the other kind.",
        ) from None
    return model


def _reviews(world: BookWorld, reviews: int | Sequence[Review], seed: int) -> list[Review]:
    if isinstance(reviews, int | np.integer) and not isinstance(reviews, bool):
        chosen = world.sample(int(reviews), seed)
    elif isinstance(reviews, Sequence) and all(isinstance(it, Review) for it in reviews):
        chosen = list(reviews)
    else:
        raise CourseError(
            "reviews is neither a number nor a list of reviews.",
            "Pass such as 300, or world.split('validation', 300).",
        )
    if not chosen:
        raise CourseError("There is no review to measure.", "Pass one review or more.")
    return chosen


def _answered(
    ask: Any, review: Review, exact: Exact, kind: Kind, width: int, name: str
) -> Float[np.ndarray, "predicted vocab"]:
    """A model's distributions at the places that are predicted."""
    if kind == "causal":
        found = ask(list(review.tokens))
    else:
        tokens, hidden = [*review.tokens, END], exact.places.tolist()
        for place in hidden:
            tokens[place] = END  # so that nobody can look
        found = ask(tokens, hidden)
    try:
        q = checked(found, len(exact.places), width)
    except CourseError as error:
        raise CourseError(f"{name}, review {review.index}: {error.cause}", error.remedy) from None
    return q / q.sum(1, keepdims=True)
