"""A leak to find, which tags need the future."""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal


def dependencies(model: Callable[[Tensor], Tensor], ids: Tensor, vocab_size: int) -> Tensor:
    before = model(ids)
    table = torch.zeros(ids.shape[1], ids.shape[1], dtype=torch.bool)
    for j in range(ids.shape[1]):
        for token in range(vocab_size):
            changed = ids.clone()
            changed[:, j] = token
            table[:, j] |= (model(changed) != before).any(-1).any(0)
    return table


class Model:
    """Logits that depend on token j at step t where ``reads[t, j]``.

    Only the token `special` makes a difference, and only in the sequence `row`; None: all do.
    """

    def __init__(self, reads: Tensor, vocab: int, special: int | None, row: int | None) -> None:
        self.reads, self.special, self.row = reads.double(), special, row
        self.embedding = normal(vocab, 3, seed=("embedding", vocab))
        # Where every token counts, changes are tiny, and the largest logit stays the largest.
        spread = 20 if special is None else 0.02
        self.effect = 1e-9 if special is None else 10
        self.base = spread * normal(len(reads), vocab, seed=("base", vocab))
        self.output = normal(3, vocab, seed=("output", vocab))
        self.output[:, 0] = 0  # one logit never changes
        if special is not None:
            self.embedding = torch.zeros_like(self.embedding)
            self.embedding[special] = 1.0

    def __call__(self, ids: Tensor) -> Tensor:
        if ids.ndim != 2 or ids.shape[1] != len(self.reads):
            raise ValueError(f"The model takes ids [batch, {len(self.reads)}], as it was given.")
        weights = self.reads * (1 + torch.arange(ids.shape[1]))
        mixed = torch.einsum("tj,bjw->btw", weights, self.embedding[ids])
        if self.row is not None:
            mixed = mixed * (torch.arange(len(ids)) == self.row)[:, None, None]
        return self.base + self.effect * (mixed @ self.output)


def _model(
    reads: Tensor, vocab: int, special: int | None = None, row: int | None = None
) -> Example:
    time = len(reads)
    ids = normal(3, time, vocab, seed=("ids", time)).argmax(-1)
    if special is not None:
        ids[ids == special] = (special + 1) % vocab
    return Model(reads, vocab, special, row), ids, vocab


_ALL = torch.ones(5, 5, dtype=torch.bool)
_RANDOM = normal(6, 6, seed="reads") > 0.3
LEAK = Task(
    dependencies,
    examples=[
        _model(_ALL.tril(), 4),  # left to right
        _model(_ALL.tril(1).triu(-1), 5, special=4),  # a window
        _model(_RANDOM, 4, special=0),
        _model(_ALL & ~torch.eye(5, dtype=torch.bool), 4, special=2, row=1),  # gaps
        _model(_ALL.tril(2), 4, row=0),
        _model(_ALL.triu(-2), 4, row=2),
    ],
    slips="""
The table is transposed. Row t is the output, column j the token that was changed.
    table[:, j] |= -> table[j] |=
Some replacements are not tried, or only the last one counts. A model may react to one token only:
try the whole vocabulary, and collect what any of them changes.
    range(vocab_size) -> [0] || [1] || [vocab_size - 1] || range(1, vocab_size) ||
        range(vocab_size - 1)
    or
    changed[:, j] = token -> changed[:, j] = (ids[:, j] + 1) % vocab_size ||
        changed[:, j] = (ids[:, j] - 1) % vocab_size
    or
    |= -> =
Earlier changes are still in the input. Begin each with a fresh copy of `ids`.
    changed = ids.clone() -> pass
    before = model(ids) -> before = model(ids); changed = ids.clone()
One sequence is changed or compared. A dependency in any sequence of the batch counts.
    .any(-1).any(0) -> .any(-1)[0] || .any(-1)[-1]
    or
    changed[:, j] -> changed[0, j] || changed[-1, j]
A dependency counts only if it appears in all sequences, or in all logits of a step. One is enough.
    .any(-1).any(0) -> .any(-1).all(0) || .all(-1).any(0) || .all(-1).all(0)
Only the predicted token is compared. Logits can change, and the largest can be the same one.
    (model(changed) != before).any(-1) -> (model(changed).argmax(-1) != before.argmax(-1))
Small changes are ignored. Equal inputs give equal logits, so any difference is a dependency.
    (model(changed) != before) -> (~torch.isclose(model(changed), before))
        || ((model(changed) - before).abs() > 1e-6)
The table is inverted: it is True where the logits stay the same.
    return table -> return ~table
    or
    != before -> == before
Part of the table is missing. A leak is above the diagonal, so compare all pairs t, j.
    return table -> return table.tril() || return table.triu() || return table.triu(1)
        || return table.tril(-1)
""",
    note="For the next token, t may depend on j ≤ t only; each True above the diagonal is a leak. "
    "Gradients with respect to the embeddings find the same faster, except where they are 0.",
)


def words_ahead(
    posterior: Callable[[list[str], int], dict[str, float]],
    words: list[str],
    position: int,
    threshold: float,
) -> int:
    for ahead in range(len(words) - position):
        shares = posterior(words[: position + 1 + ahead], position)
        if max(shares.values()) >= threshold:
            return ahead
    return -1


class Posterior:
    """Shares that depend on the number of words read after the position."""

    def __init__(self, words: list[str], levels: list[float]) -> None:
        self.words, self.levels = words, levels

    def __call__(self, words: list[str], position: int) -> dict[str, float]:
        if list(words) != self.words[: len(words)] or len(words) <= position:
            raise ValueError(
                "The posterior takes a prefix of the sentence, up to the token at `position` or "
                f"further, and not {' '.join(words)!r} with position {position}."
            )
        level = self.levels[len(words) - position - 1]
        return {"ADJ": (1 - level) * 0.7, "NOUN": level, "VERB": (1 - level) * 0.3}


def _sentence(position: int, *levels: float, threshold: float) -> Example:
    words = [f"w{i}" for i in range(position + len(levels))]
    return Posterior(words, list(levels)), words, position, threshold


FUTURE = Task(
    words_ahead,
    examples=[
        _sentence(2, 0.5, 0.6, 0.9995, 1.0, 1.0, threshold=0.999),
        _sentence(0, 1.0, 1.0, threshold=0.999),
        _sentence(3, 0.5, 0.6, 0.7, 0.95, threshold=0.999),
        _sentence(1, 0.4, 0.85, 0.95, 0.995, 1.0, threshold=0.9),
        _sentence(1, 0.5, 0.95, 0.6, 0.99, threshold=0.9),  # sure, then less so, then sure again
        _sentence(4, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0, threshold=0.999),
        _sentence(1, 0.5, 1.0, 1.0, threshold=1.0),
    ],
    slips="""
The count is too large or too small by one. Count the words that are read *after* the token: 0 if
the token and its left context are enough.
    return ahead -> return ahead + 1 || return ahead - 1
This is the length of the text that was read, or a position. Return the number of words after the
token.
    return ahead -> return position + ahead || return position + 1 + ahead
The search begins after the next word. First try the left context and the token itself.
    in range( -> in range(1,
The whole sentence is read in each case. Pass a prefix, up to `ahead` words after the token.
    words[: position + 1 + ahead] -> words
The beginning of the sentence is missing, or the token itself. Pass `words` from 0 up to and
including `position`, and `ahead` words more.
    words[: position + 1 + ahead] -> words[position : position + 1 + ahead] ||
        words[: position + ahead] || words[: 1 + ahead] || words[:ahead]
The last words of the sentence are never read.
    len(words) - position) -> len(words) - position - 1) || min(4, len(words) - position))
The threshold is fixed. Use the argument `threshold`.
    >= threshold -> >= 0.999 || >= 0.5 || >= 1 || == 1
The tag of the last word read is compared. The tag of the token at `position` is the question.
    ahead], position) -> ahead], position + ahead)
The search goes on after the first success. More words can make a reader less sure again; the
smallest sufficient number counts.
    in range(len(words) - position): -> in reversed(range(len(words) - position)):
    or
    max(shares.values()) >= threshold -> all(max(posterior(words[:end], position).values())
        >= threshold for end in range(position + 1 + ahead, len(words) + 1))
    or
    def words_ahead(posterior, words, position, threshold):
        ends = range(position + 1, len(words) + 1)
        unsure = sum(max(posterior(words[:e], position).values()) < threshold for e in ends)
        return unsure if unsure < len(ends) else -1
A probability that equals `threshold` is enough.
    >= threshold -> > threshold
The wrong probability is compared: it is that of the most probable tag.
    max(shares.values()) -> min(shares.values()) || next(iter(shares.values()))
        || [*shares.values()][-1] || sum(shares.values())
    or
    max(shares.values()) >= threshold -> min(shares.values()) <= 1 - threshold
Where even the whole sentence is not enough, return −1.
    return -1 -> return len(words) - position || return len(words) || return 0
        || return len(words) - position - 1
""",
    note="Now use it on BookWorld, whose posterior is exact.",
)
