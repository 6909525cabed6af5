"""How fast the recurrent layers are: `python -m benchmarks.recurrent [--runs 10]`.

One forward and backward pass of each layer, three ways with the same weights: the loop that is read
in the chapters, PyTorch's kernel called by our layer, and `torch.nn`'s own layer. The three take
turns. On one core and one thread, and on a GPU where there is one.
The table goes to `benchmarks/recurrent.md`.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import tables
from benchmarks.notebooks import one_core

SECONDS = 5.0  # a short pass is run oftener
ALLOWED = 1.05  # of torch.nn's time, for the kernel called by our layer


@dataclass(frozen=True)
class Case:
    """A layer and a batch: its name, sizes, and whether the sequences differ in length."""

    cell: str
    batch: int
    time: int
    input_size: int
    hidden_size: int
    projection_size: int = 0
    padded: bool = False

    def __str__(self) -> str:
        projection = f", projected to {self.projection_size}" if self.projection_size else ""
        return (
            f"{self.cell}, {self.batch} × {self.time}, {self.input_size} → {self.hidden_size}"
            f"{projection}{', padded' if self.padded else ''}"
        )


CASES = (
    Case("LSTM", 64, 64, 128, 128),
    Case("LSTM", 32, 128, 256, 512),
    Case("LSTM", 64, 64, 128, 128, padded=True),
    Case("LSTM", 64, 64, 128, 256, projection_size=64),
    Case("GRU", 64, 64, 128, 128),
    Case("RNN", 64, 64, 128, 128),
)


def ways(case: Case, device: str) -> dict[str, Callable[[], object]]:
    """One forward and backward pass, by each of the three ways."""
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    from lmcourse.models.recurrent import CELLS

    torch.manual_seed(0)
    options = {"proj_size": case.projection_size} if case.projection_size else {}
    reference = getattr(nn, case.cell)(
        case.input_size, case.hidden_size, batch_first=True, **options
    ).to(device)
    ours: Any = CELLS[case.cell.lower()].from_torch(reference)  # type: ignore[index]
    inputs = torch.randn(case.batch, case.time, case.input_size, device=device, requires_grad=True)
    lengths = torch.linspace(case.time // 4, case.time, case.batch).long() if case.padded else None

    def theirs() -> torch.Tensor:
        if lengths is None:
            outputs: torch.Tensor = reference(inputs)[0]
            return outputs
        packed = pack_padded_sequence(inputs, lengths, True, enforce_sorted=False)
        return pad_packed_sequence(reference(packed)[0], True)[0]

    def finished(outputs: torch.Tensor) -> None:
        outputs.square().sum().backward()

    own_lengths = None if lengths is None else lengths.to(device)
    return {
        "loop": lambda: finished(ours(inputs, lengths=own_lengths, fused=False)[0]),
        "kernel": lambda: finished(ours(inputs, lengths=own_lengths)[0]),
        "torch.nn": lambda: finished(theirs()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="of each way, at least")
    arguments = parser.parse_args()
    held = one_core()
    import torch

    torch.set_num_threads(1)
    rows, within = [], True
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    for device in devices:
        for case in CASES:
            turns = tables.Turns(ways(case, device), arguments.runs, SECONDS, device)
            loop, kernel = (turns.ratio(way, "torch.nn") for way in ("loop", "kernel"))
            within &= kernel.within(ALLOWED)
            times = " | ".join(f"{turns.best(way):.1f}" for way in ("loop", "kernel", "torch.nn"))
            rows.append(f"| {case} | {device} | {times} | {loop} | {kernel} |")
            print(rows[-1], flush=True)
    gpu = f", and on one {torch.cuda.get_device_name()}" if len(devices) > 1 else ""
    facts = (
        f"PyTorch {torch.__version__}, {held}, one thread{gpu}. Milliseconds (of this process, on "
        "the CPU) of a forward and a backward pass in float32, batch × time, input → hidden: the "
        f"best of {arguments.runs} turns or more; of each turn's ratios the median, and the middle "
        f"half. The kernel may take {ALLOWED:g} of torch.nn's time."
    )
    header = ("layer", "device", "loop", "kernel", "torch.nn", "loop/torch.nn", "kernel/torch.nn")
    tables.write(__file__, "How fast the recurrent layers are", facts, header, rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
