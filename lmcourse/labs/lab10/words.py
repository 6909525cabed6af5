"""10.2 Whole words: where a piece is selected, all pieces of its word are."""

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab10.probing import first_wrong
from lmcourse.labs.values import Mistake, tensor
from lmcourse.labs.verdict import Wrong

# Pieces of each word, −1 for a special token; and which places are selected.
_PROBES = (
    ((-1, 1, 3, 2, 1, 2, -1), (3, 8)),
    ((-1, 2, 2, 1, 4, 3, -1, 1, 3, -1), (2, 7, 14)),
    ((-1, 1, 1, 3, 3, -1), (1, 5, 6)),
    ((-1, 5, 2, 6, -1), (1, 12)),
    ((-1, 3, 2, -1), ()),
)


def judge(answer: Answer) -> str:
    found = first_wrong(
        [_probe(*each) for each in _PROBES],
        lambda probe: tensor(answer(*probe), probe[0].shape),
        _right,
        MISTAKES,
    )
    if found is not None:
        (selected, words), value = found
        raise Wrong(
            f"With words {words.tolist()} and {_places(selected)} selected, {_places(value)} "
            "come out. Which numbers stand in `words` where `selected` is True? Every place with "
            "one of these numbers belongs to the result."
        )
    return (
        "Pieces that are left would give a word away: behind “light” the hole is easily “##house”. "
        "In 2019 BERT's authors added models that were trained with whole words masked."
    )


def _places(chosen: Tensor) -> str:
    return f"the places {chosen.nonzero()[:, 0].tolist()}"


def _probe(pieces: tuple[int, ...], places: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    words, number = [], 0
    for count in pieces:
        words += [-1] if count < 0 else [number] * count
        number += count > 0
    selected = torch.zeros(len(words), dtype=torch.bool)
    selected[list(places)] = True
    return selected, torch.tensor(words)


def _right(selected: Tensor, words: Tensor) -> Tensor:
    return torch.isin(words, words[selected])


def _count(selected: Tensor, words: Tensor, of: Tensor) -> Tensor:
    """Of each place how many of its word's pieces are in ``of``."""
    return ((words[:, None] == words) & of).sum(1)


def _first(words: Tensor) -> Tensor:
    """Where a word begins."""
    return words != words.roll(1)


def _on_one_side(selected: Tensor, words: Tensor, behind: bool) -> Tensor:
    """A selected piece, and those of its word behind it, or before it."""
    earlier = torch.ones(len(words), len(words), dtype=torch.bool).tril()
    return ((words[:, None] == words) & selected & (earlier if behind else earlier.T)).any(1)


def _one_word(selected: Tensor, words: Tensor, which: int) -> Tensor:
    """One word alone, the first or the last selected one."""
    numbers = words[selected]
    return torch.isin(words, numbers[which] if len(numbers) else numbers)


def _within(selected: Tensor, words: Tensor, distance: int) -> Tensor:
    """The pieces of a selected one's word that stand so near to it."""
    places = torch.arange(len(words))
    near = (places[:, None] - places).abs() <= distance
    return (near & (words[:, None] == words) & selected).any(1)


def _spread(selected: Tensor, words: Tensor) -> Tensor:
    near = (torch.arange(len(words))[:, None] - torch.arange(len(words))).abs() <= 1
    return (near & selected).any(1)


def _as_places(selected: Tensor, words: Tensor) -> Tensor:
    result = torch.zeros_like(selected)
    result[words[selected]] = True
    return result


# Each takes (selected, words).
MISTAKES = (
    Mistake(
        "Nothing is selected any more, not even what was. Are tensors looked up in a `set`? Two "
        "tensors are two elements of it, whatever their numbers: `words.tolist()` gives numbers.",
        lambda selected, words: torch.zeros_like(selected),
    ),
    Mistake(
        "Nothing was added: pieces of a word of which another piece is selected are still visible.",
        lambda selected, words: selected,
    ),
    Mistake(
        "A word is taken only if *all* of its pieces are selected; one is enough.",
        lambda selected, words: (
            (words >= 0)
            & (_count(selected, words, selected) == _count(selected, words, words >= 0))
        ),
    ),
    Mistake(
        "The pieces *behind* a selected one are added, those before it are not.",
        lambda selected, words: _on_one_side(selected, words, behind=True),
    ),
    Mistake(
        "The pieces *before* a selected one are added, those behind it are not.",
        lambda selected, words: _on_one_side(selected, words, behind=False),
    ),
    Mistake(
        "Of a word's pieces only those right beside a selected one are added; others may stand "
        "farther away.",
        lambda selected, words: _within(selected, words, 1),
    ),
    Mistake(
        "The pieces up to two places away from a selected one are added: a word may have five "
        "pieces, or more.",
        lambda selected, words: _within(selected, words, 2),
    ),
    Mistake(
        "Neighbors are added whether they belong to the word or not: compare numbers in `words`, "
        "not places.",
        _spread,
    ),
    Mistake(
        "Only the first piece of each word is taken: all of them belong to it.",
        lambda selected, words: _right(selected, words) & _first(words),
    ),
    Mistake(
        "The numbers of words are taken for places: word 2 need not stand at place 2.",
        _as_places,
    ),
    Mistake(
        "Only the last selected word is complete: there may be several.",
        lambda selected, words: _one_word(selected, words, -1),
    ),
    Mistake(
        "Only the first selected word is complete: there may be several.",
        lambda selected, words: _one_word(selected, words, 0),
    ),
    Mistake(
        "This is the opposite: the words that are *not* selected.",
        lambda selected, words: ~_right(selected, words),
    ),
    Mistake(
        "A word is taken only if its *first* piece is selected: any of them is enough.",
        lambda selected, words: _right(selected & _first(words), words),
    ),
    Mistake(
        "A word is taken only if at least half of its pieces are selected: one is enough.",
        lambda selected, words: (
            (words >= 0)
            & (2 * _count(selected, words, selected) >= _count(selected, words, words >= 0))
        ),
    ),
    Mistake(
        "Word 0 is left out: words are counted from 0, and only −1 stands for a special token.",
        lambda selected, words: _right(selected, words) & (words > 0),
    ),
    Mistake(
        "Special tokens come out, too; `words` is −1 there, and they are never selected.",
        lambda selected, words: _right(selected, words) | (words < 0),
    ),
)
