"""What 09.6 gives to a student's function in place of the lab's `train` and `draw`.

A model of ours is right at a fixed share of the places: one share for each setting, length and
mode.
"""

import hashlib
from typing import NamedTuple

import torch
from torch import Tensor, nn

SYMBOLS, BACK, _TRAINED, _BATCH = 8, 3, 9, 50
_RANDOM = torch.Generator().manual_seed(0)  # the student's own random state is left alone
SETTINGS, LENGTHS = ("plain", "fancy"), (6, 9, 13)
IGNORED = -100


class Batch(NamedTuple):
    input_ids: Tensor  # [batch, time]
    targets: Tensor  # [batch, time]: the symbol some places back; -100 where there is none


class KnownModel(nn.Module):
    """Names the right symbol at a known share of the places, and a wrong one at the rest."""

    def __init__(self, setting: str, seen: Batch) -> None:
        super().__init__()
        self.setting = setting
        self.weight = nn.Parameter(torch.ones(()))  # so that its logits have a graph
        self.register_buffer("seen", seen.input_ids)

    def forward(self, input_ids: Tensor) -> Tensor:
        if isinstance(input_ids, tuple):
            raise ValueError("`draw` returns two things, ids and targets; the model takes the ids.")
        if input_ids.ndim != 2:
            raise ValueError(
                f"The model takes ids [batch, time]; these have {input_ids.ndim} axes."
            )
        length = input_ids.shape[1]
        known = torch.equal(input_ids, self.seen)  # type: ignore[arg-type]
        right = input_ids.roll(BACK, 1)  # in front of the first place there is nothing to name
        scattered = torch.Generator().manual_seed(length)
        place = torch.randperm(len(input_ids) * (length - BACK), generator=scattered)
        place = place.view(len(input_ids), -1)
        share = 1.0 if known else self._share(length)
        wrong = torch.zeros_like(right, dtype=torch.bool)
        wrong[:, BACK:] = place >= round(share * place.numel())
        said = torch.where(wrong, (right + 1) % SYMBOLS, right)
        return self.weight * 2.5 * nn.functional.one_hot(said, SYMBOLS)

    def _share(self, length: int) -> float:
        """A number of its own in 0.1 … 0.9 for each circumstance, the same on every machine."""
        what = f"{self.setting} {length} {self.training}"
        return 0.1 + 0.8 * hashlib.sha256(what.encode()).digest()[0] / 255


def train(setting: str) -> tuple[KnownModel, Batch]:
    """Stands in for the lab's: a model in training mode, and the last batch it was trained on."""
    if setting not in SETTINGS:
        raise ValueError(
            f"The call is train({setting!r}), and {setting!r} is none of the settings "
            f"{list(SETTINGS)}: is it an index, or another variable?"
        )
    last = draw(_TRAINED)
    return KnownModel(setting, last), last


def draw(length: int) -> Batch:
    """Stands in for the lab's: a fresh batch at each call.

    A target is missing at the first places, as in the lab, and at one more in each sequence.
    """
    if length not in LENGTHS:
        raise ValueError(
            f"The call is draw({length!r}), and the lengths are {list(LENGTHS)}: is it an index, "
            "or another variable?"
        )
    ids = torch.randint(SYMBOLS, (_BATCH, length), generator=_RANDOM)
    targets = torch.full_like(ids, IGNORED)
    targets[:, BACK:] = ids[:, :-BACK]
    rows = torch.arange(_BATCH)
    targets[rows, BACK + rows % (length - BACK - 1)] = IGNORED
    return Batch(ids, targets)
