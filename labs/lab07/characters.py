"""The windows of a word, a highway layer's Jacobian, a word never seen."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from lmcourse.labs.kit import Example, Task, normal


def num_windows(word: str, width: int, max_characters: int) -> int:
    spelled = min(len(word.encode()), max_characters - 2) + 2
    return max(spelled - width + 1, 0)


WINDOWS = Task(
    num_windows,
    examples=[
        *(("stick", 3, 16), ("unbelievably", 4, 10), ("café", 2, 16), ("cœur", 1, 6)),
        *(("a", 5, 16), ("élèves", 6, 9), ("at", 4, 16), ("7€", 3, 9), ("lalala", 2, 16)),
    ],
    slips="""
A mark is missing, or the count is off by one. There are two marks; and of n characters, the last
window begins `width` before the end, so n characters have one window of width n.
    + 1, 0) -> + 0, 0) || + 2, 0) || + (spelled > width), 0)
    or
    max_characters - 2) + 2 -> max_characters - 1) + 1
The marks are not counted. Both are characters, like the bytes of the word.
    max_characters - 2) + 2 -> max_characters - 2) || max_characters)
A word has as many characters here as it has bytes in UTF-8: "é" has two.
    len(word.encode()) -> len(word)
Long words are not cut to `max_characters` characters, or are cut before they become bytes.
    min(len(word.encode()), max_characters - 2) + 2 -> len(word.encode()) + 2 ||
        len(word[: max_characters - 2].encode()) + 2
The marks need room, too: a long word is cut so far that both of them fit.
    max_characters - 2) -> max_characters) || max_characters - 1)
Windows that contain padding are counted. Only those without padding are.
    max(spelled - width + 1, 0) -> max_characters - width + 1 ||
        min(spelled, max_characters - width + 1) || spelled
A word that is shorter than the filter has no window, neither a negative number nor one.
    max(spelled - width + 1, 0) -> spelled - width + 1 || max(spelled - width + 1, 1)
Windows overlap: each begins one character after the one before.
    max(spelled - width + 1, 0) -> spelled // width || -(-spelled // width)
""",
    note="The package takes the maximum over all windows, even those with padding, like the "
    "published program. So every word must be padded to the same length.",
)


def highway_jacobian(x: Tensor, W_H: Tensor, b_H: Tensor, W_T: Tensor, b_T: Tensor) -> Tensor:
    H = torch.relu(W_H @ x + b_H)
    T = torch.sigmoid(W_T @ x + b_T)
    transformed = (T * (H > 0))[:, None] * W_H
    gated = ((H - x) * T * (1 - T))[:, None] * W_T
    return transformed + gated + torch.diag(1 - T)


def _highway(seed: int, width: int, shift: float = 0.0) -> Example:
    W_H, W_T = (normal(width, width, seed=(seed, name)) for name in ("H", "T"))
    b_H, b_T = (normal(width, seed=(seed, name)) for name in ("b", "c"))
    return normal(width, seed=seed), W_H, b_H, 0.7 * W_T, b_T + shift


_ZERO = (torch.zeros(4).double(), *_highway(3, 4)[1:])
_ZERO[2][1] = 0
JACOBIAN = Task(
    highway_jacobian,
    examples=[_highway(0, 4), _highway(1, 6), _highway(2, 3)],
    edge_cases={
        "where the gate is closed": _highway(3, 4, -2000.0),
        "where the gate is fully open": _highway(3, 4, 2000.0),
        "where an argument of the ReLU is 0": _ZERO,
    },
    slips="""
The carried path is missing, or its factor: x is multiplied by (1 − T).
    + torch.diag(1 - T) -> + 0 || + torch.eye(len(x))
The gate is treated as a constant. It depends on x, so it has a path of its own.
    transformed + gated + -> transformed +
The path through H is missing, or its factor T.
    (T * (H > 0))[:, None] * W_H -> 0 * W_H || (H > 0)[:, None] * W_H
One effect of the gate is missing: with T, the share of H rises *and* that of x falls.
    (H - x) -> H || (-x)
A sign in the gate's path is wrong: as T rises, y moves from x towards H.
    (H - x) -> (x - H) || (-H - x) || (H + x)
The ReLU, or its derivative, is missing or wrong. Where the argument is negative, both are 0.
    (T * (H > 0)) -> T || (T * H) || (T * (x > 0))
    or
    (H - x) -> (W_H @ x + b_H - x)
    or
    (T * (H > 0))[:, None] * W_H -> T[:, None] * W_H.relu()
The derivative of the logistic function is missing, or is not T (1 − T).
    * T * (1 - T)) -> * T) || * (1 - T)) || ) || * T * T) || * (1 - T * T))
Transform and carry gate are exchanged: the layer transforms with T, and carries with 1 − T.
    torch.diag(1 - T) -> torch.diag(T)
    (T * (H > 0)) -> (T * (H > 0)) || ((1 - T) * (H > 0))
    (H - x) -> (H - x) || (x - H)
The Jacobian, or a matrix in it, is transposed. Row i and its factors belong to output i.
    return transformed + gated + -> return (transformed + gated).T +
    or
    (T * (H > 0))[:, None] -> (T * (H > 0))[None]
    T * (1 - T))[:, None] -> T * (1 - T))[None] || T * (1 - T))[:, None]
    or
    T * (1 - T))[:, None] -> T * (1 - T))[None]
    or
    W_H @ x -> x @ W_H
    W_T @ x -> x @ W_T
    [:, None] * W_H -> [:, None] * W_H || [:, None] * W_H.T
    [:, None] * W_T -> [:, None] * W_T || [:, None] * W_T.T
A bias is missing, in H or in T.
    W_H @ x + b_H -> W_H @ x || W_H @ x + b_H
    W_T @ x + b_T -> W_T @ x
    or
    W_H @ x + b_H -> W_H @ x
The carried path belongs to the diagonal: entry i of x is carried to entry i of y only.
    torch.diag(1 - T) -> (1 - T) || (1 - T)[:, None]
One weight matrix is used for both paths, or a path has none.
    [:, None] * W_T -> [:, None] * W_H || [:, None] * torch.eye(len(x)) || [:, None] * 1
    or
    [:, None] * W_H -> [:, None] * W_T || [:, None] * torch.eye(len(x))
""",
    autograd=False,
    note="With a closed gate the Jacobian is the identity: the gradient passes unchanged.",
)


def explain_neighbor(
    unseen: Tensor, known: list[Tensor], F: Tensor, b: Tensor
) -> tuple[int, int, int, int]:
    def outputs(C: Tensor) -> Tensor:
        windows = C.unfold(0, F.shape[1], 1)  # [window, embedding, width]
        return torch.relu(torch.einsum("new,fwe->nf", windows, F) + b)

    found = [outputs(C) for C in (unseen, *known)]
    y, *others = (each.amax(0) for each in found)
    near = int(torch.stack([cosine_similarity(y, z, dim=0) for z in others]).argmax())
    best = int((y * others[near]).argmax())
    starts = [int(found[i][:, best].argmax()) for i in (0, near + 1)]
    return near, best, starts[0], starts[1]


def _words(seed: int, width: int, filters: int) -> Example:
    """A new word and six known ones, of which one shares letters with it, and one is long."""
    near, large = (3 * seed + 1) % 6, (3 * seed + 3) % 6
    known = [(2.0 if i == large else 0.8) * normal(5 + i, 4, seed=(seed, i)) for i in range(6)]
    unseen = normal(7, 4, seed=(seed, "unseen"))
    unseen[0] *= 1.8  # it is not in the other word
    known[near][1:5] = 0.8 * unseen[3:]
    F = normal(filters, width, 4, seed=(seed, "F"))
    b = normal(filters, seed=(seed, "b")) - 2 * width**0.5
    b[0] = -1000  # it matches nowhere
    return unseen, known, F, b


NEIGHBOR = Task(
    explain_neighbor,
    examples=[_words(10, 4, 20), _words(47, 3, 12), _words(9, 2, 16), _words(2, 2, 16)],
    slips="""
The nearest word has the largest *cosine*. Dot products and distances also depend on the norms.
    cosine_similarity(y, z, dim=0) -> y @ z || -(y - z).norm()
The most distant word is selected.
    for z in others]).argmax() -> for z in others]).argmin()
The activation is not ReLU: a filter that matches nowhere has the output 0, not a negative one.
    torch.relu( -> ( || torch.tanh( || torch.sigmoid( || torch.nn.functional.leaky_relu(
The biases are missing.
    + b -> + 0
The outputs are averaged, added, or taken from one window. Each filter keeps its largest output.
    each.amax(0) -> each.mean(0) || each.sum(0) || each[0] || each[-1]
The number of windows is wrong: n characters have n − w + 1, which overlap, without padding.
    windows = C -> windows = C[:-1] || windows = C[1:-1] || windows = torch.cat([C, 0 * F[0]])
    or
    F.shape[1], 1) -> F.shape[1], F.shape[1])
The filters are flipped. Row 0 of a filter belongs to the *first* character of the window.
    windows, F) -> windows, F.flip(1)) || windows, F.flip(2))
The filter that contributes most to the cosine has the largest *product* of both words' outputs.
    (y * others[near]).argmax() -> y.argmax() || others[near].argmax() ||
        (y + others[near]).argmax() || (y - others[near]).abs().argmin() ||
        torch.minimum(y, others[near]).argmax()
A window is numbered by another character than its first, or from 1. Return the starts, from 0.
    starts[0], starts[1] -> starts[0] + 1, starts[1] + 1 ||
        starts[0] + F.shape[1] - 1, starts[1] + F.shape[1] - 1 ||
        starts[0] + F.shape[1] // 2, starts[1] + F.shape[1] // 2
The starts are exchanged, or both are of the same word.
    starts[0], starts[1] -> starts[1], starts[0] || starts[0], starts[0] || starts[1], starts[1]
The known word comes first, then the filter. All are counted from 0, without the new word.
    return near, best -> return near + 1, best || return near, best + 1 || return best, near ||
        return near + 1, best + 1
    starts[0], starts[1] -> starts[0], starts[1] || starts[0] + 1, starts[1] + 1
""",
    names=("The nearest word", "The filter", "The start in the new word", "The start in the known"),
    note="The cosine is a sum over the filters, so a neighbor has its reasons: letters that both "
    "words share. After the filters, the highway layer and the projection mix them.",
)
