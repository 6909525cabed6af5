"""A mix of normalized layers, senses with a control, which layer for which task."""

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal


def normalized_mix(layers: Tensor, w: Tensor, gamma: float, mask: Tensor) -> Tensor:
    axes, real = (2, 3), mask[..., None].expand_as(layers)
    count, total = (each.sum(axes, keepdim=True) for each in (real, layers * real))
    centered = (layers - total / count.clamp(min=1)) * real
    variance = centered.square().sum(axes, keepdim=True) / count.clamp(min=1)
    normalized = centered / variance.sqrt().clamp(min=1e-9)
    return gamma * (w.softmax(0)[:, None, None, None] * normalized).sum(0)


def _layers(seed: int, lengths: tuple[int, ...], count: int = 3) -> Example:
    """Layers of different size and mean; what is at padding positions is arbitrary."""
    sizes = torch.tensor([10.0, 60.0, 3.0, 20.0])[:count, None, None, None]
    layers = sizes * (normal(count, len(lengths), max(lengths), 4, seed=seed) + 0.5)
    layers = layers * (1 + torch.arange(len(lengths)))[:, None, None]
    mask, gamma = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None], 1.7 - 0.4 * seed
    layers = torch.where(mask[..., None], layers, 3 * layers + 2)
    return layers, normal(count, seed=seed), gamma, mask


MIX = Task(
    normalized_mix,
    examples=[_layers(0, (5, 2)), _layers(1, (3, 6, 4)), _layers(2, (2, 4), 4)],
    slips="""
Padding counts in the mean or in the standard deviation. Both are of the real tokens only.
    (real, layers * real) -> (real, layers) || (real | True, layers) || (real | True, layers * real)
    centered.square() -> centered.square() || (layers - total / count.clamp(min=1)).square()
    normalized = centered -> normalized = centered || normalized = (layers - total / count)
    or
    centered.square() -> (layers - total / count).square()
    or
    (real, layers * real) -> (real | True, layers * real)
    (layers - total / count.clamp(min=1)) * real -> layers * real - total / count
    normalized = centered -> normalized = centered || normalized = centered * real
Mean and deviation are those of the whole batch. Each sentence has its own.
    (2, 3) -> (1, 2, 3)
    normalized = centered -> normalized = centered || normalized = (layers - total / count)
    keepdim=True) / count -> keepdim=True) / count || keepdim=True) / (count - 1)
Tokens, or entries, are normalized by themselves. A sentence has one mean and one deviation.
    (2, 3) -> (3,) || (2,)
    keepdim=True) / count -> keepdim=True) / count || keepdim=True) / (count - 1)
All layers share one mean and one deviation. A large layer then still outweighs a small one.
    (2, 3) -> (0, 2, 3)
The mix is normalized. Normalize each layer, then mix.
    (2, 3), mask -> (2, 3), (layers := (w.softmax(0)[:, None, None, None] * layers).sum(0)[None],
        mask)[1]
    (w.softmax(0)[:, None, None, None] * normalized) -> normalized
The layers are not normalized, or only in part: subtract the mean, divide by the deviation.
    (layers - total / count.clamp(min=1)) -> (layers - 0)
    or
    normalized = centered / -> normalized = layers * real /
    or
    normalized = centered / variance.sqrt().clamp(min=1e-9) -> normalized = centered ||
        normalized = layers * real || normalized = layers
The layers are divided by the variance. Its square root is the standard deviation.
    .sqrt() -> .abs()
The deviation divides by n − 1, or by the number of tokens. Divide by n, the number of *entries*.
    .sum(axes, keepdim=True) / count.clamp(min=1) -> .sum(axes, keepdim=True) / (count - 1) ||
        .sum(axes, keepdim=True) / (count / layers.shape[-1])
The layers' weights are not the softmax of w.
    w.softmax(0) -> w || (w / w.sum()) || w.exp() || w.sigmoid() || torch.full_like(w, 1 / len(w))
γ is missing, or is part of the softmax. It scales the mix.
    gamma * (w -> (w || ((gamma * w)
The result is not 0 at padding.
    normalized = centered -> normalized = (layers - total / count)
This is a mean over the layers. The weights already sum to 1, so add.
    normalized).sum(0) -> normalized).mean(0)
""",
    note="Now each s_j is the share of its layer: all layers have the same size. The published "
    "program normalizes over all real tokens of a *batch*.",
)


def sense_scores(
    states: list[Tensor], static: list[Tensor], positions: list[int], words: Tensor, senses: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    own = torch.stack([h[p] for h, p in zip(states, positions, strict=True)])
    pairs = zip(static, positions, strict=True)
    around = torch.stack([(v.sum(0) - v[p]) / (len(v) - 1) for v, p in pairs])
    right = []
    for vectors in (own, around):
        v = F.normalize(vectors, dim=1)
        cosines = (v @ v.T).masked_fill(words[:, None] != words, -2.0)
        near = cosines.fill_diagonal_(-2.0).argmax(1)
        right.append((senses[near] == senses).double())
    gain = right[0] - right[1]
    return right[0].mean(), right[1].mean(), gain.std() / len(gain) ** 0.5


def _sentences(seed: int, count: int, signal: float) -> Example:
    """Sentences with one of four words, which has one of two senses, in random order."""
    words = normal(count, 4, seed=(seed, "words")).argmax(1)
    words[:8] = torch.arange(8) % 4
    senses = (normal(count, seed=(seed, "senses")) > 0.3).long()
    meanings = 2 * normal(4, 2, 5, seed="meanings")
    states, static, positions = list[Tensor](), list[Tensor](), list[int]()
    for i, (word, sense) in enumerate(zip(words.tolist(), senses.tolist(), strict=True)):
        time, position = 4 + (3 * i + seed) % 5, (2 * i + seed) % 4
        v, h = (normal(time, 5, seed=(seed, i, name)) for name in ("static", "states"))
        v[(position + 1) % time] += 2 * signal * meanings[word, sense]
        v[position] = 6 * normal(5, seed=word)  # the word's static vector
        h[position] += signal * meanings[word, sense]
        h *= 1 + 3 * (i % 3)  # of different lengths
        states, static, positions = [*states, h], [*static, v], [*positions, position]
    return states, static, positions, words, senses


SENSES = Task(
    sense_scores,
    examples=[_sentences(9, 10, 0.5), _sentences(1, 43, 0.5), _sentences(2, 52, 0.8)],
    slips="""
Each occurrence is its own nearest neighbor. It must not be a candidate.
    cosines.fill_diagonal_(-2.0) -> cosines
Occurrences of other words are candidates. (0 does not exclude them: a cosine may be negative.)
    != words, -2.0) -> > 99, -2.0) || != words, 0.0)
    cosines.fill_diagonal_(-2.0) -> cosines.fill_diagonal_(-2.0) || cosines.fill_diagonal_(0.0)
The nearest *average* of a sense is selected, or the farthest occurrence. Take the nearest one.
    cosines = (v @ v.T) -> cosines = (-v @ v.T)
    or
    right = [] -> right, k = [], 2 * words + senses; k = (k == k[:, None])[..., None]
    F.normalize(vectors, dim=1) -> F.normalize(vectors, dim=1) || (vectors := F.normalize(vectors))
    (v @ v.T) -> F.cosine_similarity(v[:, None], (k * vectors).sum(1)[None], dim=2) ||
        F.cosine_similarity(v[:, None], (k * vectors).sum(1) - k * vectors[:, None], dim=2)
The control is the mean of the static vectors of all *other* words, on both sides.
    (v.sum(0) - v[p]) / (len(v) - 1) -> v.mean(0) || v[p] || (v[:p] if p else v[1:]).mean(0) ||
        (v[p + 1 :] if p < len(v) - 1 else v[:-1]).mean(0) ||
        v[[i for i in (p - 1, p + 1) if 0 <= i < len(v)]].mean(0)
The state is not that of the ambiguous word, at its position in the sentence.
    h[p] for -> h.mean(0) for || h[0] for || h[-1] for || h[min(p + 1, len(h) - 1)] for
The control is computed from the network's states. These have read the ambiguous word; use `static`.
    pairs = zip(static -> pairs = zip(states
The neighbor is that with the largest dot product, or with the smallest distance. Use the cosine.
    F.normalize(vectors, dim=1) -> vectors || F.normalize(vectors, dim=0)
    or
    cosines = (v @ v.T) -> cosines = (-1e-4 * torch.cdist(vectors, vectors))
The error is that of two independent scores. They are paired: use the deviation of differences.
    gain.std() / len(gain) ** 0.5 -> ((right[0].var() + right[1].var()) / len(gain)) ** 0.5 ||
        ((right[0].var(correction=0) + right[1].var(correction=0)) / len(gain)) ** 0.5
The error is that of one score, or of differences without a sign.
    gain = right[0] - right[1] -> gain = right[0] || gain = right[1] || gain = right[0] != right[1]
    gain.std() -> gain.double().std() || gain.double().std(correction=0)
The denominator of the error is wrong. The standard error of the mean is s / √n.
    gain.std() / len(gain) ** 0.5 -> gain.std() || gain.var() / len(gain) ||
        gain.std() / len(gain) || gain.std() / (len(gain) - 1) ** 0.5
The standard deviation divides by n. For a sample, divide by n − 1.
    gain.std() -> gain.std(correction=0)
The two scores are exchanged, or one is given twice, or the second is their difference.
    return right[0].mean(), right[1].mean() -> return right[1].mean(), right[0].mean() ||
        return right[0].mean(), right[0].mean() || return right[0].mean(), gain.mean()
""",
    names=("The score of the states", "The score of the control", "The standard error"),
    note="Compare the difference of the scores with its error. A score above chance says little: "
    "the control never reads the word, and may score as high.",
)


def select_layer(right: Tensor, first: Tensor) -> tuple[int, int, Tensor, Tensor]:
    a, b = (int(right[:, half].mean(1).argmax()) for half in (first, ~first))
    fair = torch.where(first, right[b], right[a])
    score = fair.mean()
    return a, b, score, right.mean(1).max() - score


def _items(seed: int, *rates: tuple[float, float], share: float = 0.35, count: int = 60) -> Example:
    """Items that each layer answers rightly at the rates of their half."""
    first = normal(count, seed=(seed, "first")).sigmoid() < share
    first[:2] = torch.tensor([True, False])
    one, other = torch.tensor(rates, dtype=torch.float64).T[..., None]
    wanted = torch.where(first, one, other)
    return (normal(len(rates), count, seed=seed).sigmoid() < wanted).double(), first


_TIED = torch.tensor([[0, 1, 0, 1, 1, 0], [1, 0, 1, 0, 1, 1], [0, 1, 1, 0, 1, 1.0]]).double()
SELECT = Task(
    select_layer,
    examples=[
        (_TIED, torch.tensor([True, True, False, False, False, True])),
        _items(0, (0.4, 0.4), (0.75, 0.5), (0.5, 0.7)),
        _items(1, (0.3, 0.5), (0.5, 0.6), (0.5, 0.4), (0.6, 0.5), share=0.6),
        _items(2, (0.7, 0.3), (0.3, 0.7), (0.6, 0.6), share=0.5),  # the last is best, on no half
    ],
    slips="""
Items are scored by a layer that was selected on them. Select on one half, score on the other.
    torch.where(first, right[b], right[a]) -> torch.where(first, right[a], right[b]) || right[a] ||
        right[b] || (right[a] + right[b]) / 2
Both layers are selected on all items, which include those they are scored on.
    for half in (first, ~first) -> for half in (first | True, first | True)
Only one of the two halves is scored.
    right[b], right[a]) -> right[b], right[a])[~first] || right[b], right[a])[first]
This is the mean of the two halves' scores. They have different sizes: take the mean over all items.
    fair.mean() -> (fair[first].mean() + fair[~first].mean()) / 2
The optimism is the hindsight score minus the fair score.
    right.mean(1).max() - score -> score - right.mean(1).max() || right.mean(1).max()
The hindsight score is that of *one* layer on all items: the best one.
    right.mean(1).max() - -> (right[a, first].mean() + right[b, ~first].mean()) / 2 - ||
        torch.where(first, right[a], right[b]).mean() - || right.mean(1).mean() - ||
        right.amax(0).mean() - || right[a].mean() - || right[b].mean() - || right[-1].mean() - ||
        right[[a, b]].mean(1).max() -
Of several layers with the same score, take the lowest.
    right[:, half].mean(1).argmax() -> len(right) - 1 - right[:, half].mean(1).flip(0).argmax()
Layers are numbered from 0.
    return a, b -> return a + 1, b + 1
The two layers are exchanged: first the one that was selected on the first half.
    return a, b -> return b, a
The worst layer is selected: 1 means that an item is right.
    .argmax() -> .argmin()
""",
    names=("The first half's layer", "The second half's layer", "The fair score", "The optimism"),
    note="If the two halves select different layers, the data do not decide which one is better.",
)
