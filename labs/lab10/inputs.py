"""What a masked language model reads and predicts."""

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result


def pair(
    a: list[int], b: list[int], cls: int, sep: int, length: int
) -> tuple[list[int], list[int]]:
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > length:
        longer = a if len(a) > len(b) else b
        longer.pop()
    ids = [cls, *a, sep, *b, sep]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return ids, segments


def _pair_of(first: int, second: int, length: int) -> Example:
    return [*range(10, 10 + first)], [*range(30, 30 + second)], first, 99 - second, length


PAIR = Task(
    pair,
    examples=[
        *(_pair_of(3, 3, 7), _pair_of(4, 3, 12), _pair_of(9, 2, 10), _pair_of(3, 6, 9)),
        *(_pair_of(6, 5, 10), _pair_of(7, 1, 8), _pair_of(2, 9, 8), _pair_of(8, 8, 13)),
    ],
    slips="""
`[CLS]` is missing. It is the first token of every pair.
    [cls, *a -> [*a
    (len(a) + 2) -> (len(a) + 1)
    + 3 -> + 3 || + 2
A `[SEP]` is missing. Each text is followed by one.
    *a, sep, *b, sep] -> *a, sep, *b]
    (len(b) + 1) -> len(b)
    + 3 -> + 3 || + 2
    or
    *a, sep, *b, sep] -> *a, *b, sep]
    (len(a) + 2) -> (len(a) + 1)
    + 3 -> + 3 || + 2
A `[SEP]` is in the wrong segment. Each one belongs to the text that it ends.
    [0] * (len(a) + 2) + [1] * (len(b) + 1) -> [0] * (len(a) + 1) + [1] * (len(b) + 2) ||
        [0] * (len(a) + 2) + [1] * len(b) + [0]
A long pair is not shortened, or by only one token. Remove tokens until the pair fits.
    while -> if False and || if
The length of a long pair is wrong. Its three special tokens count toward `length`.
    + 3 -> + 0 || + 1 || + 2 || + 4
The pair is cut after the special tokens were added, so it loses its last `[SEP]`. Shorten the
texts first.
    > length -> > 10**9
    ids, segments -> ids[:length], segments[:length]
Only one text is shortened. Before removing *each* token, compare the lengths of the two texts.
    a if len(a) > len(b) else b -> b or a || a or b
    or
    longer.pop() -> b = b[: max(0, length - 3 - len(a))]; break ||
        a = a[: max(0, length - 3 - len(b))]; break ||
        del longer[length - 3 - len(a if longer is b else b) :]
Both texts are shortened (to halves, alternately, or together). Only the text that is longer at that
moment loses a token.
    longer.pop() -> a, b = a[:-1], b[:-1] || a, b = a[: (length - 3) // 2], b[: (length - 3) // 2]
        || a = a[: (length - 2) // 2]; b = b[: (length - 3) // 2]; break
    or
    a, b = list(a), list(b) -> a, b = a[: (length - 3) // 2], b[: (length - 3) // 2]
    or
    list(a), list(b) -> list(a), list(b); turn = 0
    longer = a if len(a) > len(b) else b -> turn += 1; longer = (a, b)[turn % 2] ||
        turn += 1; longer = (b, a)[turn % 2]
Tokens are removed from the front. Remove the last one of the longer text.
    .pop() -> .pop(0)
Of two texts of equal length, the first one is shortened; it should be the second.
    len(a) > len(b) -> len(a) >= len(b)
""",
    names=("The ids", "The segments"),
    note="BERT reads every pair in this form, in pretraining and in the tasks that follow. Its "
    "published code removes each token from the front or the back at random.",
)


def whole_words(selected: Tensor, words: Tensor) -> Tensor:
    same = words[:, None] == words  # [piece, piece]
    return (same & selected).any(1)


def _words_of(pieces: tuple[int, ...], positions: tuple[int, ...]) -> Example:
    """Pieces of each word, −1 for a special token; and the selected positions."""
    words: list[int] = []
    for count in pieces:
        words += [-1] if count < 0 else [max(words, default=-1) + 1] * count
    selected = torch.zeros(len(words), dtype=torch.bool)
    selected[list(positions)] = True
    return selected, torch.tensor(words)


WORDS = Task(
    whole_words,
    examples=[
        _words_of((-1, 1, 3, 2, 1, 2, -1), (3, 8)),
        _words_of((-1, 2, 2, 1, 4, 3, -1, 1, 3, -1), (2, 7, 14)),
        _words_of((-1, 1, 1, 3, 3, -1), (1, 5, 6)),
        _words_of((-1, 5, 2, 6, -1), (1, 3, 12)),
        _words_of((-1, 3, 2, -1), ()),
    ],
    slips="""
Nothing is added. Some pieces of a selected word are still visible.
    (same & selected).any(1) -> selected
Nothing is selected, not even the given positions. Is a tensor looked up in a `set`? Two tensors are
different elements of a set, even if they are equal; `words.tolist()` gives numbers.
    (same & selected).any(1) -> selected & False
A word is selected only if all, or most, of its pieces are selected. One piece is enough.
    .any(1) -> .sum(1) == same.sum(1) || .sum(1) * 2 >= same.sum(1)
A word is selected only if its *first* piece is selected. Any piece is enough.
    (same & selected) -> (same & selected & (words != words.roll(1)))
Only the pieces on one side of a selected piece are added. Its word extends to both sides.
    .any(1) -> .tril().any(1) || .triu().any(1)
Only pieces close to a selected piece are added, of any word, or of its own. Compare the numbers in
`words`: a word may have five pieces, or more.
    (same & selected) -> selected.expand_as(same).tril(1).triu(-1) ||
        (same & selected).tril(1).triu(-1) || (same & selected).tril(2).triu(-2)
The numbers of words are used as positions. The pieces of word 2 need not be at position 2.
    (same & selected).any(1) -> torch.zeros_like(selected).index_fill(0, words[selected], True)
Only one of the selected words is completed. There may be several.
    same & selected -> torch.isin(words, words[selected][-1:])[:, None] ||
        torch.isin(words, words[selected][:1])[:, None]
Word 0 is left out. Words are counted from 0; only −1 marks a special token.
    .any(1) -> .any(1) & (words > 0)
Special tokens are selected, too. Their number in `words` is −1; they are never selected.
    .any(1) -> .any(1) | (words < 0)
""",
    note="A piece that stays visible reveals its word: after “light”, the masked token is probably "
    "“##house”. In 2019 BERT's authors released models trained with whole word masking.",
)


def exactly(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
    numbers = maskable.sum(1)
    counts = (rate * numbers).round().clamp(min=1)
    scores = chance.masked_fill(~maskable, 2.0)
    rank = scores.argsort(1).argsort(1)
    chosen = rank < counts[:, None]
    return chosen & maskable


def _chances(time: int, lengths: tuple[int, ...], rate: float) -> Example:
    """Texts of so many maskable positions, in rows of ``time``."""
    maskable = torch.zeros(len(lengths), time, dtype=torch.bool)
    for row, length in enumerate(lengths):
        # Position 0 is [CLS]. The second of three rows begins with its padding; the third one has
        # two texts, with [SEP] between them.
        start = time - length if row % 3 == 1 else 1
        maskable[row, start : start + length] = True
        if row % 3 == 2:
            maskable[row, [length // 2 + 1, length + 1]] = torch.tensor([False, True])
    return normal(len(lengths), time, seed=lengths).sigmoid(), maskable, rate


def _counts(arguments: Example, value: Result, wanted: Result) -> str:
    counts, expected = (each.parts[0].sum(1).long().tolist() for each in (value, wanted))
    if counts == expected:
        return (
            "Each text has the right number of positions, but not those with the smallest `chance`."
        )
    return (
        f"The texts have {arguments[1].sum(1).tolist()} maskable positions and the rate is "
        f"{arguments[2]:g}. You select {counts} of them; expected: {expected}."
    )


EXACTLY = Task(
    exactly,
    examples=[
        _chances(12, (10, 7, 4, 9), 0.17),
        _chances(20, (18, 12, 1, 5), 0.23),
        _chances(9, (7, 7, 7), 0.4),
        _chances(70, (40, 66), 0.43),
    ],
    edge_cases={"where a text has no maskable token": _chances(6, (4, 0), 0.3)},
    slips="""
A short text may have no masked position. Select at least one.
    .clamp(min=1) -> .clamp(min=0)
Each position is drawn independently: `chance < rate` selects the share only on average.
    rank < counts[:, None] -> chance < rate
Special tokens and padding compete for the smallest numbers. Exclude them before sorting.
    chance.masked_fill(~maskable, 2.0) -> chance
    chosen & maskable -> chosen || chosen & maskable
The maskable positions are assumed to be the first ones after `[CLS]`. Padding may come first, and
`[SEP]` in the middle: `maskable` says where they are.
    scores = -> time = torch.arange(chance.shape[1]);
        maskable = (time >= 1) & (time <= numbers[:, None]); scores =
n counts too much: special tokens, padding, or the length of the row. Only maskable tokens count.
    maskable.sum(1) -> torch.ones_like(maskable).sum(1) || maskable.sum(1) + 2
All texts have the same count. Each should have its own, from its number of maskable positions.
    maskable.sum(1) -> maskable.sum(1)[:1] || maskable.sum(1).max()[None] || maskable.sum()[None]
The smallest numbers of the whole batch are selected. Each text has its own count.
    .argsort(1).argsort(1) -> .flatten().argsort().argsort().view(chance.shape)
    counts[:, None] -> counts.sum() || (rate * numbers.sum()).round()
The count is rounded down, or up. Round to the nearest integer.
    .round() -> .floor() || .ceil()
The result of one `argsort`, which is positions in sorted order, is used as ranks. A second
`argsort` gives the rank of each number (hint 2).
    .argsort(1).argsort(1) -> .argsort(1)
    chosen & maskable -> chosen || chosen & maskable
Indices among the maskable positions are used as positions of the row. The first entry of
`chance[row][maskable[row]]` belongs to the first *maskable* position, not to position 0.
    chance.masked_fill(~maskable, 2.0) -> 2 * torch.ones_like(chance);
        scores[torch.arange(chance.shape[1]) < numbers[:, None]] = chance[maskable]
    chosen & maskable -> chosen || chosen & maskable
A text without maskable tokens has a masked position. There is nothing to select in it.
    chosen & maskable -> chosen
""",
    cause=_counts,
    note="Every text now has masked positions. Drawn independently, a text of ten tokens would "
    "have none in a fifth of all cases: 0.85¹⁰.",
)
