"""Adapters from models to probabilities of BookWorld's words, for gap tables and widgets.

`BookWorld.next_tokens` is an exact `Continue`, `BookWorld.masked_posterior` an exact `Predict`.

Models over pieces of words are refused: the probability of a *word* is a product over its pieces,
and no single call computes it for all words.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from lmcourse.corpus.bookworld import END, BookWorld
from lmcourse.errors import CourseError
from lmcourse.evaluation.logits import FORWARD, MASKED, check_looks_ahead, check_module, logits_of
from lmcourse.models.ngram import NGramModel
from lmcourse.models.sampling import evaluating

Continue = Callable[[list[str]], Any]
"""Probabilities of the word after each prefix of a review's tokens, (token + 1, word).

Row i is the distribution of token i given the tokens before it; the last row is that of the token
after the last.
"""

Predict = Callable[[list[str], list[int]], Any]
"""Probabilities of the vocabulary's words at masked positions of a review, (position, word).

Called with the tokens and the positions, which are all masked at once: it must not read the tokens
there.
"""

_MASKS, _STARTS, _STOPS = ("[MASK]", "<mask>"), ("[CLS]", "<s>"), ("[SEP]", "</s>")
_ROUNDING = 1e-5  # tolerance of the sum of float32 probabilities


def of_causal(
    model: NGramModel | nn.Module, world: BookWorld, ids: Mapping[str, int] | None = None
) -> Continue:
    """Adapt a left-to-right model: n-gram, recurrent, or a Transformer with a causal mask.

    A text is read after a start token: [CLS] or <s> if ``ids`` has one, else the end mark of the
    previous review, as in a stream of reviews.

    Args:
        model: n-gram, counted on ids; or one of ours that, called with ``input_ids`` (batch, time),
            returns ``logits`` of the next token, or ``forward_logits`` (ELMo's).
        world: the world of the words.
        ids: each token's id, such as ``tokenizer.get_vocab()``; None: indices in
            ``world.vocabulary``. The end mark is ``<end>``, or else [SEP] or </s>. Probabilities
            are renormalized over the world's words.

    Raises:
        CourseError: the model has a smaller vocabulary, or cuts words into pieces.
    """
    known = _Ids(world, ids)
    first = known.first(_STARTS, known.end)
    if isinstance(model, NGramModel):
        known.check(model.vocabulary_size)
        row = _ngram_rows(model)

        def counted(tokens: list[str]) -> NDArray[np.float64]:
            read = [first, *known.encode(tokens)]
            return known.words(np.array([row(read[: i + 1]) for i in range(len(read))]))

        return counted

    _check_model(model, known)

    def read(tokens: list[str]) -> Tensor:
        return known.softmax(_logits(model, [first, *known.encode(tokens)], FORWARD))

    return read


def of_masked(
    model: NGramModel | nn.Module, world: BookWorld, ids: Mapping[str, int] | None = None
) -> Predict:
    """Adapt a masked language model, or an n-gram model with `of_ngram`.

    Args:
        model: one of ours that, called with ``input_ids`` (batch, time), returns ``logits`` or
            ``prediction_logits`` of the token at each position.
        world: the world of the words. If they are the model's only tokens, 0 is a word: build it
            with ``pad_token_id=None``, or the embedding of that word is never trained.
        ids: as in `of_causal`, with [MASK] or <mask>. If it has [CLS] or <s>, texts are enclosed in
            that and the end mark. None: indices in ``world.vocabulary``, and [MASK] after them.

    Raises:
        CourseError: the model has a smaller vocabulary, cuts words into pieces, or reads from left
            to right; there is no mask token.
    """
    if isinstance(model, NGramModel):
        return of_ngram(model, world, ids)
    known = _Ids(world, ids)
    mask = len(world.vocabulary) if ids is None else known.first(_MASKS)
    start = known.first(_STARTS, -1)
    _check_model(model, known, masked=True)

    def predict(tokens: list[str], hidden: list[int]) -> Tensor:
        read = known.encode(tokens)
        for position in hidden:
            read[position] = mask
        shift = int(start >= 0)
        if shift:
            read = [start, *read, *([] if tokens[-1:] == [END] else [known.end])]
        logits = _logits(model, read, MASKED)
        return known.softmax(logits[torch.tensor(hidden, dtype=torch.long) + shift])

    return predict


def of_ngram(model: NGramModel, world: BookWorld, ids: Mapping[str, int] | None = None) -> Predict:
    """Adapt an n-gram model: its context is to the left, up to the previous masked position.

    Args:
        model: counted on ids.
        world, ids: as in `of_causal`.
    """
    known = _Ids(world, ids)
    known.check(model.vocabulary_size)
    row, first = _ngram_rows(model), known.first(_STARTS, known.end)

    def predict(tokens: list[str], hidden: list[int]) -> NDArray[np.float64]:
        read, masked = [first, *known.encode(tokens)], {position + 1 for position in hidden}
        rows = []
        for position in hidden:
            end = start = position + 1  # after the start token
            while start > 0 and start - 1 not in masked and end - start < model.context:
                start -= 1
            rows.append(row(read[start:end]))
        return known.words(np.array(rows).reshape(len(hidden), model.vocabulary_size))

    return predict


def checked(rows: Any, count: int, width: int) -> Float[np.ndarray, "prediction word"]:
    """Return a model's probabilities in float64."""
    found = np.asarray(rows.detach().cpu() if isinstance(rows, Tensor) else rows, np.float64)
    if found.shape != (count, width):
        raise CourseError(
            f"The model returned the shape {found.shape}, where {(count, width)} is needed.",
            "Return one row for each prediction, with a probability for each word of "
            "world.vocabulary.",
        )
    sums = found.sum(1, keepdims=True)
    wrong = ~(np.abs(sums[:, 0] - 1) <= _ROUNDING) | (found < 0).any(1)
    if wrong.any():
        at = int(wrong.argmax())
        raise CourseError(
            f"Row {at} of the model's result is not a distribution: its smallest number is "
            f"{found[at].min():.4g}, its sum {sums[at, 0]:.6g}.",
            "Return probabilities, not logits, such as logits.float().softmax(-1).",
        )
    return found


class _Ids:
    """The ids of a world's words in a model's vocabulary."""

    def __init__(self, world: BookWorld, ids: Mapping[str, int] | None) -> None:
        self.world, self.ids = world, ids
        if ids is None:
            self.columns = list(range(len(world.vocabulary)))
        else:
            known = {**ids} if END in ids else {**ids, END: self.first(_STOPS)}
            missing = [f"“{word}”" for word in world.vocabulary if word not in known]
            if missing:
                raise CourseError(
                    f"{len(missing):,} of BookWorld's {len(world.vocabulary):,} words are not "
                    f"single tokens of this model, such as {', '.join(missing[:3])}.",
                    "Pass a model over words: its vocabulary must contain world.vocabulary.",
                )
            self.columns = [known[word] for word in world.vocabulary]
        self.end = self.columns[world.vocabulary.index(END)]

    def first(self, names: Sequence[str], default: int | None = None) -> int:
        """The id of the first of some special tokens in the vocabulary."""
        for name in names:
            if self.ids is not None and name in self.ids:
                return self.ids[name]
        if default is None:
            raise CourseError(
                f"ids has no {' or '.join(names)}.",
                "Pass the model's whole vocabulary, such as tokenizer.get_vocab().",
            )
        return default

    def encode(self, tokens: Sequence[str]) -> list[int]:
        return [self.columns[id_] for id_ in self.world.encode(tokens)]

    def check(self, count: int) -> None:
        """Check that a model predicts all words."""
        if count <= max(self.columns):
            raise CourseError(
                f"The model predicts {count:,} tokens; the last of BookWorld's "
                f"{len(self.columns):,} words has the id {max(self.columns):,}.",
                "Pass a model over world.vocabulary; or, if its ids are others, ids=….",
            )

    def words(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities renormalized over the world's words, (row, word)."""
        found: NDArray[np.float64] = rows[:, self.columns]
        return found / found.sum(1, keepdims=True)

    def softmax(self, logits: Float[Tensor, "row vocab"]) -> Float[Tensor, "row word"]:
        self.check(logits.shape[-1])
        chosen = logits[:, torch.tensor(self.columns, device=logits.device)]
        return chosen.double().softmax(-1).cpu()


@torch.no_grad()
def _logits(
    model: nn.Module, ids: list[int], names: tuple[str, ...]
) -> Float[Tensor, "time vocab"]:
    with evaluating(model):
        return logits_of(model, names)(torch.tensor([ids]))[0]


def _check_model(model: nn.Module, known: _Ids, masked: bool = False) -> None:
    """Check the vocabulary's size, if the model's configuration has it; and a masked model."""
    check_module(model)
    size = getattr(getattr(model, "config", None), "vocab_size", None)
    if not isinstance(size, int):
        return
    known.check(size)
    if masked:
        check_looks_ahead(model, torch.tensor(known.columns[:4]))


def _ngram_rows(model: NGramModel) -> Callable[[Sequence[int]], NDArray[np.float64]]:
    """`NGramModel.probability` of all tokens at once, as a function of the preceding ids."""

    def deeper(row: NDArray[np.float64], followers: Counter[int]) -> NDArray[np.float64]:
        total, different = followers.total(), len(followers)
        row = row * (different / (total + different))
        row[list(followers)] += np.array(list(followers.values())) / (total + different)
        return row

    uniform = np.full(model.vocabulary_size, 1 / model.vocabulary_size)
    shortest = deeper(uniform, model.counts[0][()])

    def of(before: Sequence[int]) -> NDArray[np.float64]:
        row = shortest
        for length in range(1, min(model.context, len(before)) + 1):
            followers = model.counts[length].get(tuple(before[len(before) - length :]))
            if followers is None:
                break
            row = deeper(row, followers)
        return row

    return of
