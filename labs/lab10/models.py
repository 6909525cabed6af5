"""The loss of a masked language model, and the use of its predictions."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result, shown


def mlm_gradient(logits: Tensor, labels: Tensor) -> Tensor:
    selected = labels != -100
    truth = F.one_hot(labels.clamp(min=0), logits.shape[-1])
    p = logits.softmax(-1)
    difference = torch.where(selected[..., None], p - truth, 0.0)
    return difference / selected.sum().clamp(min=1)


def _logits(batch: int, time: int, vocab: int) -> tuple[Tensor, Tensor]:
    logits = 1.5 * normal(batch, time, vocab, seed=vocab)
    labels = normal(batch, time, vocab, seed=time).argmax(-1)
    labels[0, 0] = 0  # a token like any other
    labels[0, 1:] = -100  # the texts have different numbers of selected positions
    labels[1, 0] = -100
    return logits, labels


_LOGITS, _LABELS = _logits(2, 3, 5)
_LEVELS = torch.tensor([[1e3, -1e3, 0.0], [0.0, 1e3, -1e3]], dtype=torch.float64)[..., None]

GRADIENT = Task(
    mlm_gradient,
    examples=[_logits(2, 5, 4), _logits(3, 4, 7)],
    edge_cases={
        "with logits near 1000": (_LOGITS + 1000, _LABELS),
        "with logits near −1000": (_LOGITS - 1000, _LABELS),
        "where the logits of positions are far apart": (_LOGITS + _LEVELS, _LABELS),
        "where the logits of one position are far apart": (1000 * _LOGITS.sign(), _LABELS),
        "in a batch where nothing is selected": (_LOGITS, torch.full_like(_LABELS, -100)),
    },
    slips="""
This is the gradient of the *sum* over the selected positions. The loss is their mean.
    / selected.sum().clamp(min=1) -> / 1
The mean is over all positions. It should be over the selected ones.
    selected.sum().clamp(min=1) -> labels.numel()
Each text is averaged by itself. The mean is over the selected positions of the whole batch.
    selected.sum() -> selected.sum(1)[:, None, None] ||
        (len(labels) * selected.sum(1)[:, None, None])
The sign is reversed: a step against this gradient increases the loss.
    p - truth -> truth - p
The label has no effect: this lowers the logit of every token, the right one included.
    p - truth -> p
Positions with the label −100 have a gradient; it should be 0 there. If −100 is replaced by a token
for `one_hot`, mask these positions afterwards.
    torch.where(selected[..., None], p - truth, 0.0) -> p - truth || p
Token 0 is ignored. Only the label −100 means that nothing is predicted.
    labels != -100 -> labels > 0
The softmax is over the positions of a text, or the texts of a batch. It is over the vocabulary.
    softmax(-1) -> softmax(1) || softmax(0)
There is a factor p (1 − p), the derivative of a probability with respect to its own logit. The loss
is −log p, so p cancels; and every logit is in the softmax's denominator.
    p - truth -> p * (1 - p) || (p - truth) * p * (1 - p)
This is right for small logits only. For large ones eˣ overflows, or every eˣ is 0. Subtract the
largest logit *of each position* first, which changes nothing; PyTorch's softmax does so.
    logits.softmax(-1) -> (e := (logits - shift).exp()) / e.sum(-1, keepdim=True)
    selected = -> shift = 0; selected = || shift = logits.max(); selected = ||
        shift = logits.amax((1, 2), keepdim=True); selected = ||
        shift = logits.mean(-1, keepdim=True); selected =
In a batch without selected positions, 0 is divided by 0. The gradient should be 0.
    .clamp(min=1) -> .clamp(min=0)
""",
    autograd=False,
    note="The gradient is the predicted distribution minus the true one, at the selected "
    "positions. At all others it is exactly 0: no target there affects the loss.",
)


def fill(predict: Callable[[Tensor], Tensor], ids: Tensor, mask_id: int) -> Tensor:
    ids = ids.clone()
    while (ids == mask_id).any():
        p = predict(ids)
        largest, word = p.max(-1)
        position = largest.masked_fill(ids != mask_id, -1.0).argmax()
        ids[position] = word[position]
    return ids


WORDS = 5  # 0 to 4; the texts have six positions


class KnownModel:
    """A model with random probabilities for each text; it records the texts it is called with."""

    def __init__(self, seed: int, sharpness: float, mask: int) -> None:
        self.seed, self.sharpness, self.mask, self.calls = seed, sharpness, mask, 0
        self.texts: list[list[int]] = []  # without immediate repetitions

    def __deepcopy__(self, memo: Any) -> "KnownModel":
        return KnownModel(self.seed, self.sharpness, self.mask)

    def __call__(self, ids: Tensor) -> Tensor:
        text, self.calls = torch.as_tensor(ids).tolist(), self.calls + 1
        if self.calls > 100:
            raise TimeoutError(
                f"100 calls of the model, the last one with {_text(text, self.mask)}"
            )
        self.texts += [text] * (self.mask in text and text not in self.texts[-1:])
        return self.rows(text)

    def rows(self, text: list[int]) -> Tensor:
        """The probabilities of the words at each position, [6, 5], without a record."""
        plain = [WORDS if each == self.mask else each for each in text]  # whatever its id is
        return (self.sharpness * normal(6, WORDS, seed=(self.seed, plain))).softmax(-1)


def _text(ids: list[int], mask: int) -> str:
    return "[" + " ".join("MASK" if each == mask else str(each) for each in ids) + "]"


def _first_step(arguments: Example, value: Result, wanted: Result) -> str:
    """The first call of the model after which another text should follow."""
    predict, _, mask = arguments
    for before, after in pairwise([*predict.texts, value.parts[0].long().tolist()]):
        p, masked = predict.rows(before).max(-1), [i for i in range(6) if before[i] == mask]
        written = sum(each != mask for i, each in enumerate(after) if i in masked)
        best = max(masked, key=p.values.tolist().__getitem__, default=0)
        right = [*before[:best], int(p.indices[best]), *before[best + 1 :]]
        if written > 1:
            return (
                f"Between two calls of the model, {written} words are written: "
                f"{_text(before, mask)} becomes {_text(after, mask)}. However certain they are, "
                "write one, and call it again."
            )
        if after != right:
            return (
                f"For {_text(before, mask)}, the largest probability at each position is "
                f"{shown(p.values)}, so {_text(right, mask)} should follow. "
                f"Yours is {_text(after, mask)}."
            )
    return ""


def _masked(seed: int, **words: int) -> Example:
    """A text that is masked but for the words at some positions ("at2=1")."""
    mask = WORDS + 2 * seed
    ids = [words.get(f"at{i}", mask) for i in range(6)]
    return KnownModel(seed, 1.0 + seed, mask), torch.tensor(ids), mask


FILL = Task(
    fill,
    examples=[_masked(0, at2=1), _masked(1), _masked(2, at2=1, at5=0), _masked(3)],
    edge_cases={"without masked positions": (KnownModel(5, 2.0, 7), torch.arange(6) % WORDS, 7)},
    slips="""
All words come from the model's predictions for the original text. Call the model again after each
word, with the words written so far, and take the next word from the new predictions.
    p = predict(ids) -> p = predict(first)
    ids = ids.clone() -> first, ids = ids, ids.clone()
    or
    ids = ids.clone() -> ids = ids.clone(); first = predict(ids).argmax(-1)
    word[position] -> first[position]
The order is that of the model's first predictions. Choose the next position by the newest ones.
    ids = ids.clone() -> ids = ids.clone(); first = predict(ids).amax(-1)
    largest.masked_fill -> first.masked_fill
Masked positions are filled from left to right, or from right to left. Choose the one with the
largest probability.
    largest.masked_fill(ids != mask_id, -1.0).argmax() -> (ids == mask_id).nonzero()[0, 0] ||
        (ids == mask_id).nonzero()[-1, 0]
The position where the model is *least* certain is filled first.
    -1.0).argmax() -> 2.0).argmin()
Certainty is measured by the margin to the second-best word, the entropy, or the mean of log p. The
exercise uses the largest probability only.
    -1.0) -> -99.0)
    largest.masked_fill -> p.topk(2).values.diff().neg()[:, 0].masked_fill ||
        (p * p.log()).sum(-1).masked_fill || p.log().mean(-1).masked_fill
The position is not always a masked one, so visible words are overwritten, possibly in an endless
loop. Choose among the masked positions only: `predict` returns a row for every position.
    .masked_fill(ids != mask_id, -1.0) -> .clone() || .masked_fill(ids == mask_id, -1.0)
""",
    result=lambda ids, predict, *_: (ids, torch.tensor(predict.texts).view(-1, 6)),
    names=("The text", "The texts for which the model is called"),
    cause=_first_step,
    note="Each word takes the earlier ones into account. This is a greedy search: the most "
    "probable text may begin with a word of smaller probability.",
)


def window_losses(
    predict: Callable[..., Tensor], tokens: list[str], position: int, target: int, widths: list[int]
) -> Tensor:
    losses = []
    for width in widths:
        hidden = [i for i in range(len(tokens)) if i == position or abs(i - position) > width]
        p = predict(tokens, hidden)[hidden.index(position)]
        losses.append(-p[target].log())
    return torch.stack(losses)


class KnownPredictions:
    """Distributions that depend on the text and on its hidden positions, which it records."""

    def __init__(self) -> None:
        self.hidden: list[list[int]] = []  # of each call

    def __deepcopy__(self, memo: Any) -> "KnownPredictions":
        return KnownPredictions()

    def __call__(self, tokens: list[str], hidden: list[int]) -> Tensor:
        """One row for each hidden position, in their order: [hidden, word]."""
        positions = [int(i) for i in hidden]
        if len({*range(len(tokens))}.intersection(positions)) != len(positions):
            raise ValueError(f"`hidden` are {positions}, not different positions of the text")
        self.hidden.append(sorted(positions))
        text = ["MASK" if i in positions else word for i, word in enumerate(tokens)]
        return (2 * normal(len(tokens), 6, seed=text)).softmax(-1)[positions]


def _window(seed: int, length: int, position: int, *widths: int) -> Example:
    tokens = [f"w{i}" for i in range(length)]
    return KnownPredictions(), tokens, position, (seed + 2) % 6, [*widths]


def _hidden(arguments: Example, value: Result, wanted: Result) -> str:
    """Where the hidden positions differ."""
    predict, tokens, position, _, widths = arguments
    window_losses(right := KnownPredictions(), tokens, position, 0, widths)
    for width, yours, wants in zip(widths, predict.hidden, right.hidden, strict=False):
        if yours != wants:
            case = f"With {len(tokens)} tokens, position {position} and the width {width}"
            return f"{case}, you hide {shown(yours)}; expected: {shown(wants)}."
    return ""


WINDOWS = Task(
    window_losses,
    examples=[
        *(_window(0, 9, 4, 3, 0, 20, 1), _window(1, 12, 2, 2, 20, 0, 4)),
        _window(2, 8, 7, 3, 1, 0, 20),
    ],
    slips="""
The row is not that of the masked position. The rows are in the order of the list `hidden`.
    hidden.index(position) -> 0 || -1 || position || hidden.index(target)
The masked position is not hidden, so there is no row for it. It is always hidden.
    i == position or abs(i - position) > width -> abs(i - position) > width
    hidden.index(position) -> hidden.index(position) || 0
The column is that of the most probable word. `target` is the column of the right word.
    p[target] -> p.max()
This is a mean, or a sum, over all hidden positions. The loss is that of the masked position only.
    [hidden.index(position)] -> .log().mean(0).exp() || .mean(0) || .log().sum(0).exp()
Your result is p, log p, a function of 1 − p, or in bits. The loss is −log p, with the natural
logarithm.
    -p[target].log() -> p[target] || p[target].log() || 1 - p[target] ||
        -(1 - p[target]).log() || -p[target].log2()
The widths are 0, 1, 2, …, or sorted. Use the elements of `widths` in their order.
    in widths -> in range(len(widths)) || in sorted(widths)
The positions at a distance of exactly `width` are hidden, on one side or both. They are the last
visible ones; `range(a, b)` ends before b.
    abs(i - position) > width -> abs(i - position) >= width ||
        i - position >= width or position - i > width
The text is cut to the window. Pass the whole text, and hide the positions outside the window: a
text that ends there is a different text.
    predict(tokens, hidden)[hidden.index(position)] ->
        predict(tokens[max(0, position - width) : position + width + 1], [min(position, width)])[0]
One side of the window is wrong: everything there is visible, or everything is hidden.
    i == position or abs(i - position) > width -> i == position or position - i > width ||
        i == position or i - position > width || i >= position or position - i > width ||
        i <= position or i - position > width
`width` is the size of the whole window. It should be the number of positions on each side.
    > width -> > width // 2
""",
    cause=_hidden,
    note="Now evaluate a trained model. The gain from one width to the next shows how much context "
    "it uses; this differs between kinds of words.",
)
