"""How long compressed models take, as a ratio to the teacher's time.

Time is CPU time of one thread, in one process: in each round, the teacher is timed directly before
each other model, on the same batch, and their ratio counts. What a matrix holds does not change its
time, so models need no training here.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles

import msgspec
import torch
from torch import nn

from lmcourse.models.checkpoint import Model
from lmcourse.tokenizers import words
from lmcourse.training.examples import Batch, padded
from research.compression.methods import BY_NAME, METHODS
from research.compression.tasks import Data

ROUNDS, BATCH = 9, 16
CALLS = 2  # of a model, one after the other; the last one is timed


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """A model's time in units of the teacher's.

    Attributes:
        ratio, low, high: the median over rounds, and its quartiles.
    """

    ratio: float
    low: float
    high: float


def speeds(
    encoders: Mapping[str, Model],
    data: Data,
    say: Callable[[str], None],
    rounds: int = ROUNDS,
) -> dict[str, dict[str, Speed]]:
    """Return the time of each method of each encoder, by names; the first is the teacher."""
    batch = padded(data.train[:BATCH], words.PAD)
    inputs: Batch = {it: batch[it] for it in ("input_ids", "attention_mask") if it in batch}
    models = {name: compressed(data.head_on(model), [batch]) for name, model in encoders.items()}
    teacher = next(iter(models.values()))[METHODS[0].name]
    found = {}
    for name, by_method in models.items():
        say(f"timing {name}, {data.name} ...")
        found[name] = timed(teacher, by_method, inputs, rounds)
    return found


def compressed(model: nn.Module, batches: Sequence[Batch]) -> dict[str, nn.Module]:
    """Return a model compressed by each method, without recovery."""
    done: dict[str, nn.Module] = {}
    for method in METHODS:
        if method.of is None:
            raw = method.before(model, batches).train()
            with torch.no_grad():
                raw(**batches[0])  # quantization learns its ranges
            done[method.name] = method.after(raw.eval()).eval()
    for method in METHODS:
        if method.of is not None:
            done[method.name] = BY_NAME[method.name].after(done[method.of]).eval()
    return done


@torch.no_grad()
def timed(
    teacher: nn.Module, models: Mapping[str, nn.Module], inputs: Batch, rounds: int
) -> dict[str, Speed]:
    """Return the ratios of the models' times to the teacher's."""
    ratios: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(rounds):
        for name, model in models.items():
            unit = _seconds(teacher, inputs)
            ratios[name].append(_seconds(model, inputs) / unit)
    return {name: _speed(values) for name, values in ratios.items()}


def _speed(values: list[float]) -> Speed:
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Speed(ratio=median(values), low=low, high=high)


def _seconds(model: nn.Module, inputs: Batch) -> float:
    for _ in range(CALLS):
        start = time.process_time()
        model(**inputs)
        seconds = time.process_time() - start
    return seconds
