"""How a model becomes what gap tables and widgets ask: probabilities of BookWorld's words.

Two questions are asked, and BookWorld answers both exactly: `BookWorld.next_tokens` is a `Continue`
and `BookWorld.masked_posterior` a `Predict`.

A model that reads pieces of words is refused. What it says of a *word* is a product over the word's
pieces, and of what follows the last one; no single call gives that for all words at once.
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
from lmcourse.evaluation.exact import check_world
from lmcourse.evaluation.logits import FORWARD, MASKED, asking, check_looks_ahead, check_module
from lmcourse.models.ngram import NGramModel
from lmcourse.models.sampling import evaluating

Continue = Callable[[list[str]], Any]
"""Probabilities of the word after each prefix of a text, (token + 1, word).

It is called with the tokens of a review. Row i is about token i and may look at those before it
alone; the last row is about what follows the last token.
"""

Predict = Callable[[list[str], list[int]], Any]
"""Probabilities of the vocabulary's words at some hidden positions, (position, word).

It is called with the tokens of a review and the positions that are hidden, all at once; what the
tokens hold there must not be looked at.
"""

_MASKS, _STARTS, _STOPS = ("[MASK]", "<mask>"), ("[CLS]", "<s>"), ("[SEP]", "</s>")
_ROUNDING = 1e-5  # by how much float32's probabilities may miss a sum of 1


def of_causal(
    model: NGramModel | nn.Module, world: BookWorld, ids: Mapping[str, int] | None = None
) -> Continue:
    """A model that reads from left to right: n-gram, recurrent, or a Transformer with causal mask.

    A text is read behind a mark of its beginning: [CLS] or <s> where ``ids`` has one, else the end
    mark of the review before, as it stands in a stream of reviews.

    Args:
        model: n-gram, counted on ids; or one of ours that, called with ``input_ids`` (batch, time),
            returns ``logits`` of the token after each, or ``forward_logits`` (ELMo's).
        world: whose words it predicts.
        ids: of each token its id, such as ``tokenizer.get_vocab()``; None: a word's place in
            ``world.vocabulary``. The end mark is ``<end>``, or else [SEP] or </s>. Scores of what
            is no word of the world's are left out, and the rest renormalized.

    Raises:
        CourseError: the model knows fewer tokens, or cuts words into pieces.
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
        return known.softmax(_scores(model, [first, *known.encode(tokens)], FORWARD))

    return read


def of_masked(
    model: NGramModel | nn.Module, world: BookWorld, ids: Mapping[str, int] | None = None
) -> Predict:
    """A masked language model; or an n-gram model, which looks to the left alone.

    Args:
        model: one of ours that, called with ``input_ids`` (batch, time), returns ``logits`` or
            ``prediction_logits`` of the token at each place.
        world: whose words it predicts. In a model over these alone, 0 is a word: build it with
            ``pad_token_id=None``, or the embedding of that word is never trained.
        ids: as in `of_causal`, with [MASK] or <mask>. Where it has [CLS] or <s>, texts are read
            behind that and before the end mark. None: a word's place in ``world.vocabulary``, and
            [MASK] behind all of them.

    Raises:
        CourseError: the model knows fewer tokens, cuts words into pieces, or looks to the left
            alone; no mask is known.
    """
    if isinstance(model, NGramModel):
        return of_ngram(model, world, ids)
    if ids is None:
        return of_masked_lm(model, world)
    known = _Ids(world, ids)
    mask, start = known.first(_MASKS), known.first(_STARTS, -1)
    _check_model(model, known, mask)

    def predict(tokens: list[str], hidden: list[int]) -> Tensor:
        read = known.encode(tokens)
        for place in hidden:
            read[place] = mask
        around = int(start >= 0)
        if around:
            read = [start, *read, *([] if tokens[-1:] == [END] else [known.end])]
        logits = _scores(model, read, MASKED)
        return known.softmax(logits[torch.tensor(hidden, dtype=torch.long) + around])

    return predict


def of_ngram(model: NGramModel, world: BookWorld, ids: Mapping[str, int] | None = None) -> Predict:
    """An n-gram model as a masked one: it looks to the left alone, and past other holes not at all.

    A text is read behind a mark of its beginning, as in `of_causal`.

    Args:
        model: counted on ids.
        world: whose words it predicts.
        ids: as in `of_causal`.
    """
    known = _Ids(world, ids)
    known.check(model.vocabulary_size)
    row, first = _ngram_rows(model), known.first(_STARTS, known.end)

    def predict(tokens: list[str], hidden: list[int]) -> NDArray[np.float64]:
        read, holes = [first, *known.encode(tokens)], {place + 1 for place in hidden}
        rows = []
        for hole in hidden:
            place = start = hole + 1  # behind the mark
            while start > 0 and start - 1 not in holes and place - start < model.context:
                start -= 1
            rows.append(row(read[start:place]))
        return known.words(np.array(rows).reshape(len(hidden), model.vocabulary_size))

    return predict


def of_masked_lm(model: nn.Module, world: BookWorld, mask_id: int | None = None) -> Predict:
    """A masked language model of ours, over the world's own words.

    Args:
        model: as in `of_masked`. Its first ids are those of the world's vocabulary; scores of
            others are left out, and the rest renormalized.
        world: whose vocabulary it is.
        mask_id: the id of [MASK]; None: the first behind the world's words.
    """
    known = _Ids(world, None)
    mask = len(world.vocabulary) if mask_id is None else mask_id
    _check_model(model, known, mask)

    def predict(tokens: list[str], hidden: list[int]) -> Tensor:
        read = world.encode(tokens)
        for place in hidden:
            read[place] = mask
        return known.softmax(_scores(model, read, MASKED)[hidden])

    return predict


def checked(rows: Any, count: int, width: int) -> Float[np.ndarray, "prediction word"]:
    """What a model returned, in float64.

    Raises:
        CourseError: it has another shape, or its rows are no distributions.
    """
    found = np.asarray(rows.detach().cpu() if isinstance(rows, Tensor) else rows, np.float64)
    if found.shape != (count, width):
        raise CourseError(
            f"The model returned the shape {found.shape}, where {(count, width)} is needed.",
            "Return one row for each prediction, with a probability for each word of "
            "world.vocabulary.",
        )
    sums = found.sum(1, keepdims=True)
    # (NaN is not near to one.)
    wrong = ~(np.abs(sums[:, 0] - 1) <= _ROUNDING) | (found < 0).any(1)
    if wrong.any():
        at = int(wrong.argmax())
        raise CourseError(
            f"Row {at} of what the model returned is no distribution: its smallest number is "
            f"{found[at].min():.4g}, its sum {sums[at, 0]:.6g}.",
            "Return probabilities, not logits, such as logits.float().softmax(-1).",
        )
    return found


class _Ids:
    """Where a model has the words of a world."""

    def __init__(self, world: BookWorld, ids: Mapping[str, int] | None) -> None:
        check_world(world)
        self.world, self.ids = world, ids
        if ids is None:
            self.columns = list(range(len(world.vocabulary)))
        else:
            known = {**ids} if END in ids else {**ids, END: self.first(_STOPS)}
            missing = [f"“{word}”" for word in world.vocabulary if word not in known]
            if missing:
                raise CourseError(
                    f"{len(missing):,} of BookWorld's {len(world.vocabulary):,} words are no "
                    f"single token of this model's, as {', '.join(missing[:3])}.",
                    "Pass a model over whole words: its vocabulary must have all of "
                    "world.vocabulary. What a model over pieces gives a word is no one number.",
                )
            self.columns = [known[word] for word in world.vocabulary]
        self.end = self.columns[world.vocabulary.index(END)]

    def first(self, names: Sequence[str], default: int | None = None) -> int:
        """The id of the first of some special tokens that is known."""
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
        """See that a model scores all words."""
        if count <= max(self.columns):
            raise CourseError(
                f"The model predicts {count:,} tokens; the last of BookWorld's "
                f"{len(self.columns):,} words has the id {max(self.columns):,}.",
                "Pass a model over world.vocabulary; or, if its ids are others, ids=….",
            )

    def words(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the world's words alone, renormalized, (row, word)."""
        found: NDArray[np.float64] = rows[:, self.columns]
        return found / found.sum(1, keepdims=True)

    def softmax(self, logits: Float[Tensor, "row vocab"]) -> Float[Tensor, "row word"]:
        self.check(logits.shape[-1])
        chosen = logits[:, torch.tensor(self.columns, device=logits.device)]
        return chosen.double().softmax(-1).cpu()


@torch.no_grad()
def _scores(
    model: nn.Module, ids: list[int], names: tuple[str, ...]
) -> Float[Tensor, "time vocab"]:
    with evaluating(model):
        return asking(model, names)(torch.tensor([ids]))[0]


def _check_model(model: nn.Module, known: _Ids, mask: int | None = None) -> None:
    """See that a model, where it tells its size, has all words, and a mask if it needs one."""
    check_module(model)
    size = getattr(getattr(model, "config", None), "vocab_size", None)
    if not isinstance(size, int):
        return
    known.check(size)
    if mask is None:
        return
    if not 0 <= mask < size:
        raise CourseError(
            f"The model knows {size:,} tokens, so there is none with the id {mask:,} for [MASK].",
            "Pass a model that was trained with a mask; or, if its id is another, say which.",
        )
    check_looks_ahead(model, torch.tensor(known.columns[:4]))


def _ngram_rows(model: NGramModel) -> Callable[[Sequence[int]], NDArray[np.float64]]:
    """`NGramModel.probability` of all tokens at once, as a function of what stands before them."""

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
