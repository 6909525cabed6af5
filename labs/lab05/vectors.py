"""The gradients of negative sampling, analogies, an association test."""

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal


def gradients(v: Tensor, U: Tensor, o: int, noise: Tensor) -> tuple[Tensor, Tensor]:
    words = torch.cat([torch.tensor([o]), noise])
    errors = (U[words] @ v).sigmoid() - (torch.arange(len(words)) == 0).double()
    slope_U = torch.zeros_like(U).index_add(0, words, errors[:, None] * v)
    return errors @ U[words], slope_U


def _pair(vocab: int, width: int, o: int, *noise: int) -> Example:
    v, U = normal(width, seed=(vocab, noise)), normal(vocab, width, seed=(width, o))
    return v, U, o, torch.tensor(noise)


GRADIENTS = Task(
    gradients,
    examples=[_pair(6, 3, 4, 1, 0, 1), _pair(9, 4, 2, 7, 7, 3, 7, 0), _pair(5, 3, 0, 2, 4, 2, 2)],
    edge_cases={"where a noise word is the true word": _pair(6, 4, 3, 1, 3, 5)},
    slips="""
A noise word that is drawn twice counts once in the second gradient. `G[words] += …` keeps one of
several values for the same row: use `index_add`, or a loop.
    torch.zeros_like(U).index_add(0, words, errors[:, None] * v) ->
        torch.zeros_like(U).index_put((words,), errors[:, None] * v)
A noise word that is drawn twice counts once. Each draw has a term in the sum.
    words = torch.cat([torch.tensor([o]), noise]) ->
        words = torch.cat([torch.tensor([o]), noise.unique()])
The sign is reversed, of all terms or of the true word's: an error is σ(u·v) minus the target.
    slope_U = torch -> errors = -errors; slope_U = torch || errors[0] *= -1; slope_U = torch
The targets are missing or wrong: the target is 1 for `o` and 0 for noise.
    - (torch.arange(len(words)) == 0).double() -> - 0 || - 1 ||
        - (torch.arange(len(words)) > 0).double()
The error of a noise word is σ(u·v), not σ(−u·v) or its negative: a large product is a large error.
    errors = (U[words] @ v).sigmoid() - (torch.arange(len(words)) == 0).double() ->
        errors = (-(U[words] @ v)).sigmoid(); errors[0] *= -1 ||
        errors = (U[words] @ v).sigmoid(); errors[0] -= 1; errors[1:] *= -1
The terms are averaged, all or those of the noise words. The loss is a sum.
    slope_U = torch -> errors[1:] /= len(noise); slope_U = torch ||
        errors = errors / len(words); slope_U = torch
This is a softmax over the drawn words. Negative sampling decides about each pair by itself: σ.
    (U[words] @ v).sigmoid() -> (U[words] @ v).softmax(0)
All words of the vocabulary are in the sum. Only `o` and the drawn noise words are.
    words = torch.cat([torch.tensor([o]), noise]) -> words = torch.arange(len(U))
    (U[words] @ v).sigmoid() - (torch.arange(len(words)) == 0) ->
        (U @ v).sigmoid() - (words == o) || (U @ v).softmax(0) - (words == o)
There is a factor σ (1 − σ). The loss is −log σ, so it cancels.
    slope_U = torch -> s = errors.abs(); errors = errors * s * (1 - s); slope_U = torch ||
        s = errors.abs(); errors = errors.sign() * s * (1 - s); slope_U = torch
The noise words or the true word are left out of one gradient. Both have all k + 1 errors.
    errors @ U[words], -> errors[:1] @ U[words[:1]], || errors[1:] @ U[words[1:]],
    or
    index_add(0, words, errors[:, None] * v) -> index_add(0, words[:1], errors[:1, None] * v) ||
        index_add(0, words[1:], errors[1:, None] * v)
The vectors are exchanged: ∂L/∂v is a sum of vectors u, and ∂L/∂u is a multiple of v.
    errors[:, None] * v -> errors[:, None] * U[words]
    or
    errors @ U[words], -> errors.sum() * v,
The two results are exchanged: return the gradient of v first.
    return errors @ U[words], slope_U -> return slope_U, errors @ U[words]
""",
    names=("∂L/∂v", "∂L/∂U"),
    autograd=False,
    note="One pair changes k + 2 vectors, all others have gradient 0: that is why an update is "
    "cheap, and why `sparse=True` pays for a large vocabulary.",
)


def analogy_scores(vectors: Tensor, questions: Tensor) -> tuple[Tensor, ...]:
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    a, b, c, d = questions.T
    cosines = (unit[b] - unit[a] + unit[c]) @ unit.T
    free, near, out = cosines.argmax(1), unit[c] @ unit.T, questions[:, :3]
    best = cosines.scatter(1, out, -torch.inf).argmax(1)
    near = near.scatter(1, out, -torch.inf).argmax(1)
    return tuple((x == y).double().mean() for x, y in ((best, d), (free, d), (free, c), (near, d)))


def _questions(seed: int, pairs: int, width: int, noise: float) -> Example:
    """Pairs of words: each second one is the first plus a common offset and noise. The last
    question has b = a + e and c = a − e, so that a is nearest to b − a + c, and d is next."""
    first, offset = normal(pairs, width, seed=seed), 1.5 * normal(width, seed=(seed, "offset"))
    second = first + offset + noise * normal(pairs, width, seed=(seed, "noise"))
    a, e, d = normal(3, width, seed=(seed, "a"))
    vectors = torch.cat([first, second, torch.stack([a, a + e, a - e, a + 0.1 * d])])
    one, other = (~torch.eye(pairs, dtype=torch.bool)).nonzero().T
    asked = torch.stack([one, one + pairs, other, other + pairs], 1)
    lengths = normal(len(vectors), 1, seed=(seed, "length")).exp()
    return vectors * lengths, torch.cat([asked, 2 * pairs + torch.arange(4)[None]])


_OPPOSITE = torch.tensor([[-3, 0.1], [2, 0.1], [1, -0.1], [-0.8, 0.6], [-0.9, -0.3]]).double()

ANALOGIES = Task(
    analogy_scores,
    examples=[_questions(0, 9, 5, 0.9), _questions(1, 8, 6, 0.7), _questions(4, 10, 5, 0.8)],
    edge_cases={"where other cosines are negative": (_OPPOSITE, torch.arange(4)[None])},
    slips="""
The vectors do not have length 1, so this ranks by dot products or distances. Divide every row by
its norm first.
    vectors.norm(dim=1, keepdim=True) -> 1 || vectors.norm(dim=0) || vectors.norm()
    or
    (unit[b] - unit[a] + unit[c]) @ unit.T ->
        -torch.cdist(vectors[b] - vectors[a] + vectors[c], vectors)
    unit[c] @ unit.T -> -torch.cdist(vectors[c], vectors)
The sum is formed from vectors of any length: the longest one decides. Scale them to length 1 before
you add.
    (unit[b] - unit[a] + unit[c]) @ -> (vectors[b] - vectors[a] + vectors[c]) @
The candidates are not scaled to length 1: long vectors win.
    + unit[c]) @ unit.T -> + unit[c]) @ vectors.T
    unit[c] @ unit.T -> unit[c] @ vectors.T || unit[c] @ unit.T
    or
    unit[c] @ unit.T -> unit[c] @ vectors.T
The words of the sum have the wrong signs: the target is b − a + c.
    (unit[b] - unit[a] + unit[c]) -> (unit[a] - unit[b] + unit[c]) || (unit[a] + unit[c] - unit[b])
        || (unit[b] + unit[c]) || (unit[a] + unit[b] - unit[c]) || (unit[a] + unit[b] + unit[c])
Only one or two of the query words are excluded. All three are, *a* and *b* included.
    questions[:, :3] -> questions[:, 2:3] || questions[:, 1:3] || questions[:, :3:2] ||
        questions[:, :2]
    or
    cosines.scatter(1, out, -> cosines.scatter(1, out[:, 2:], || cosines.scatter(1, out[:, 1:], ||
        cosines.scatter(1, out[:, ::2], || cosines.scatter(1, out[:, :2],
Two scores are exchanged: the order is with exclusion, without, *c*, control.
    (best, d), (free, d), (free, c), (near, d) -> (free, d), (best, d), (free, c), (near, d) ||
        (best, d), (free, d), (near, d), (free, c)
The first two scores are equal: without exclusion, the query words are candidates too. Find that
answer before you overwrite their cosines.
    (best, d), (free, d), (free, c) -> (best, d), (best, d), (free, c) ||
        (free, d), (free, d), (free, c) || (best, d), (best, d), (best, c)
The third score counts *c* alone, among all questions, where no word is excluded.
    return tuple( -> wrong = free != d; return tuple(
    (x == y).double() -> (x == y)[wrong if y is c else slice(None)].double()
    or
    (free, c) -> ((free[:, None] == out).any(1), True) || (free, b) || (free, a) || (best, c)
The control must ignore the relation and exclude what the first score excludes: the nearest
neighbor of *c*, other than *a*, *b* and *c*.
    near.scatter(1, out, -torch.inf) -> near || near.scatter(1, out[:, 2:], -torch.inf) ||
        near.scatter(1, out[:, ::2], -torch.inf)
The control has another target. It answers with the nearest neighbor of *c* alone.
    unit[c] @ unit.T -> unit[b] @ unit.T || unit[a] @ unit.T || (unit[b] - unit[a]) @ unit.T ||
        unit[d] @ unit.T || (unit[b] + unit[c]) @ unit.T || (unit[c] - unit[a]) @ unit.T
These are counts, percentages or shares of wrong answers. Return shares of all questions.
    .double().mean() for -> .double().sum() for || .double().mean() * 100 for
    or
    (x == y) -> (x != y)
""",
    names=("Score 1 (with exclusion)", "Score 2 (without)", "Score 3 (c)", "Score 4 (control)"),
    note="The four numbers together say what one of them hides: how much of a score is the offset, "
    "and how much the neighborhood of c.",
)


def association(X: Tensor, Y: Tensor, A: Tensor, B: Tensor, splits: Tensor) -> tuple[Tensor, ...]:
    words, a, b = (M / M.norm(dim=1, keepdim=True) for M in (torch.cat([X, Y]), A, B))
    s = (words @ a.T).mean(1) - (words @ b.T).mean(1)
    own = torch.arange(len(s)) < len(X)
    gaps = torch.stack([s[on].mean() - s[~on].mean() for on in (own, *splits)])
    return gaps[0] / s.std(), (gaps[1:] >= gaps[0]).double().mean()


def _sets(seed: int, n: int, m: int, *attributes: int) -> Example:
    X, Y = normal(n, 4, seed=(seed, "X")), normal(m, 4, seed=(seed, "Y"))
    A, B = (normal(size, 4, seed=(seed, size)) for size in attributes)
    X = X + 0.3 * (A.mean(0) - B.mean(0))
    splits = normal(100, n + m, seed=(seed, "splits")).argsort(1).argsort(1) < n
    scaled = [M * normal(len(M), 1, seed=(seed, len(M))).exp() for M in (X, Y, A, B)]
    return scaled[0], scaled[1], scaled[2], scaled[3], splits


# The values of s are exact in floating point: 1, 1, 1, −1. Three splits have the observed gap.
_FIRST, _SECOND = torch.tensor([[[2, 0], [2, 0]], [[2, 0], [0, 2]]]).double()
_SPLITS = torch.tensor([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]]).bool()
_TIED = _FIRST, _SECOND, _SECOND[:1], _SECOND[1:], _SPLITS

ASSOCIATION = Task(
    association,
    examples=[_sets(0, 9, 12, 3, 4), _sets(1, 12, 8, 5, 2), _sets(2, 10, 11, 4, 3)],
    edge_cases={"where the difference of a split equals the observed one": _TIED},
    slips="""
Some or all vectors keep their lengths: these are dot products, not cosines.
    torch.cat([X, Y]), A, B)) -> torch.cat([X, Y]), A, B)); words, a, b = torch.cat([X, Y]), A, B ||
        torch.cat([X, Y]), A, B)); words = torch.cat([X, Y]) ||
        torch.cat([X, Y]), A, B)); a, b = A, B
The attribute words are averaged before the cosine. Average the cosines.
    torch.cat([X, Y]), A, B)) -> torch.cat([X, Y]), A.mean(0)[None], B.mean(0)[None])) ||
        torch.cat([X, Y]), A, B)); a, b = (M.mean(0)[None] / M.mean(0).norm() for M in (a, b))
The sign is reversed or lost: A minus B, and X minus Y, also where that is negative.
    return gaps[0] / s.std() -> gaps, s = -gaps, s; return gaps[0] / s.std() ||
        return -gaps[0] / s.std() || return gaps[0].abs() / s.std() ||
        gaps[0] = gaps[0].abs(); return gaps[0] / s.std()
The variance is divided by n, not by n − 1.
    s.std() -> s.std(correction=0)
The standard deviation is that of s over all words of X and Y together.
    s.std() -> ((s[own].var() + s[~own].var()) / 2).sqrt() || s[own].std() || s[~own].std() ||
        gaps[1:].std() || torch.cat([s[own] - s[own].mean(), s[~own] - s[~own].mean()]).std() ||
        (words @ torch.cat([a, b]).T).std()
The difference is not divided by the standard deviation, but by the variance or something else.
    gaps[0] / s.std() -> gaps[0] || gaps[0] / s.var() || gaps[0] / s.std() * len(s) ** 0.5
Sums are compared. The sets have different sizes: take means, over attribute words and over words.
    (words @ a.T).mean(1) - (words @ b.T).mean(1) -> (words @ a.T).sum(1) - (words @ b.T).sum(1)
    or
    s[on].mean() - s[~on].mean() -> s[on].sum() - s[~on].sum()
p is two-sided here. Count the splits whose difference is at least the observed one, with its sign.
    gaps[1:] >= gaps[0] -> gaps[1:].abs() >= gaps[0].abs()
p counts smaller differences, the larger ones alone, or exchanged groups (the words of X come first
in a split). Count those at least as large.
    gaps[1:] >= gaps[0] -> gaps[1:] < gaps[0] || -gaps[1:] >= gaps[0] || gaps[1:] > gaps[0]
    or
    *splits) -> *splits.roll(-len(Y), 1))
p compares two different quantities. Compute for a split the same difference as for X and Y.
    gaps[1:] >= gaps[0] -> gaps[1:] >= gaps[0] / s.std() || gaps[1:] / s.std() >= gaps[0]
p is a count, a percentage, or includes the observed split. It is a share of the table's rows.
    (gaps[1:] >= gaps[0]).double().mean() -> (gaps[1:] >= gaps[0]).double().sum() ||
        (gaps[1:] >= gaps[0]).double().mean() * 100 || (gaps >= gaps[0]).double().mean() ||
        (gaps >= gaps[0]).double().sum() / len(splits)
The two results are exchanged: return the effect size first.
    return gaps[0] / s.std(), (gaps[1:] >= gaps[0]).double().mean() ->
        return (gaps[1:] >= gaps[0]).double().mean(), gaps[0] / s.std()
""",
    names=("The effect size", "p"),
    note="p says that the two sets of words differ along this direction. It does not say that the "
    "direction is special: compare with random attribute words.",
)
