"""What the training loop costs: `python -m benchmarks.loop [--seconds 20] [--turns 6]`.

The same steps by a bare PyTorch loop and by `lmcourse.training.train`, watched in each way; the
ways take turns. The line is written into a pseudo-terminal. Two trainings of the same steps differ
by more than 3 % where a machine is shared; so the time that goes into showing is measured in the
training that is shown, too, and its share says what a ratio of two trainings hides.
The table goes to `benchmarks/loop.md`.
"""

import argparse
import os
import pty
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from functools import partial
from statistics import median
from typing import Any
from unittest import mock

from benchmarks import tables
from benchmarks.notebooks import one_core

ALLOWED = 1.03  # of the bare loop's time
SIZES = {
    "small: RNN, 1 layer of 64, batch 16 × 32": (64, 16, 32),
    "medium: BERT, 4 layers of 128, batch 16 × 64": (128, 16, 64),
}


def losses_of(width: int, batch: int, time: int) -> tuple[Any, Callable[[int], Iterator[Any]]]:
    """A model, and what computes so many losses of it."""
    import torch

    from lmcourse.models.bert import BertConfig
    from lmcourse.models.bert_heads import BertForMaskedLM
    from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel

    torch.manual_seed(0)
    vocab_size = 2000 if width > 64 else 200
    model: torch.nn.Module
    if width > 64:
        config = BertConfig(vocab_size, width, 4, 4, 4 * width)
        model = BertForMaskedLM(config)
    else:
        model = RNNLanguageModel(RNNConfig(vocab_size, width, width))
    ids = torch.randint(5, vocab_size, (batch, time))

    def losses(steps: int) -> Iterator[Any]:
        for _ in range(steps):
            yield model(input_ids=ids, labels=ids).loss

    return model, losses


def bare(model: Any, losses: Iterator[Any]) -> None:
    """The loop as one writes it down, with what every training wants: clipping, and the losses."""
    import torch

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    model.train()
    seen = []
    for loss in losses:
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen.append((loss.item(), norm.item()))


@contextmanager
def terminal() -> Iterator[None]:
    """The standard error is a terminal, whose end someone reads."""
    reader, writer = pty.openpty()

    def read() -> None:
        try:
            while os.read(reader, 65536):
                pass
        except OSError:  # the terminal is closed
            pass

    thread = threading.Thread(target=read)
    thread.start()
    try:
        with os.fdopen(writer, "w", encoding="utf-8") as stream, redirect_stderr(stream):
            yield
    finally:
        thread.join()
        os.close(reader)


class Shown:
    """What goes into showing, as a share of all else, by way of watching.

    Attributes:
        shares: of each training that was shown so.
    """

    def __init__(self) -> None:
        self.shares: dict[str, list[float]] = {}

    @contextmanager
    def counted(self, way: str) -> Iterator[None]:
        """Count the thread's time that the watcher takes which is made inside."""
        from lmcourse.training import watching

        chosen, spent = watching._chosen, [0.0]

        def timed(work: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any) -> Any:
                start = time.thread_time()
                try:
                    return work(*arguments)
                finally:
                    spent[0] += time.thread_time() - start

            return run

        def choose(*arguments: Any) -> Any:
            watcher = timed(chosen)(*arguments)
            watcher.tick, watcher.end = timed(watcher.tick), timed(watcher.end)
            return watcher

        start = time.thread_time()
        with mock.patch.object(watching, "_chosen", choose):
            yield
        whole = time.thread_time() - start
        self.shares.setdefault(way, []).append(spent[0] / (whole - spent[0]))


def ways(
    model: Any, losses: Callable[[int], Any], steps: int, shown: Shown
) -> dict[str, Callable[[], None]]:
    """So many steps, in each way."""
    from lmcourse.training import train

    class Known:
        """Losses whose number is known, as those of `BatchLosses` is."""

        def __len__(self) -> int:
            return steps

        def __iter__(self) -> Iterator[Any]:
            return losses(steps)

    def ours(way: str, watch: Any) -> None:
        with terminal(), shown.counted(way):
            train(model, Known(), learning_rate=1e-4, watch=watch)

    return {
        "bare": lambda: bare(model, losses(steps)),
        "bare again": lambda: bare(model, losses(steps)),
        "nothing": lambda: ours("nothing", "nothing"),
        "line": lambda: ours("line", "line"),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="of one training")
    parser.add_argument("--turns", type=int, default=6, help="of each way, at least")
    arguments = parser.parse_args()
    held = one_core()
    import torch

    torch.set_num_threads(1)
    rows, within = [], True
    load = os.getloadavg()[0]
    for name, size in SIZES.items():
        model, losses = losses_of(*size)
        bare(model, losses(3))
        seconds = tables.best(1, partial(bare, model, losses(20))) / 20
        steps = max(10, round(arguments.seconds / seconds))
        shown = Shown()
        turns = tables.Turns(ways(model, losses, steps, shown), arguments.turns, 0.0, "cpu")
        ratios = {way: turns.ratio(way, "bare") for way in turns.times if way != "bare"}
        within &= all(ratio.within(ALLOWED) for ratio in ratios.values())
        cells = " | ".join(
            f"{ratio.median:.3f} ({ratio.low:.3f}–{ratio.high:.3f})"
            + (f"; shown: {100 * median(shown.shares[way]):.1f} %" if way in shown.shares else "")
            for way, ratio in ratios.items()
        )
        rows.append(f"| {name} | {steps:,} | {turns.best('bare') / steps:.2f} ms | {cells} |")
        print(rows[-1], flush=True)
    facts = (
        f"PyTorch {torch.__version__}, {held}, one thread, load {load:.1f} at the beginning and "
        f"{os.getloadavg()[0]:.1f} at the end, of which 1 is its own. One "
        f"training takes some {arguments.seconds:.0f} s; of each turn's ratios to the bare loop's "
        f"time (this process's) the median of {arguments.turns} turns, and the middle half. The "
        f"loop may take {ALLOWED:g} of it. "
        "The bare loop again, over itself, says what is chance. Shown: the share of a training's "
        "own time that goes into showing it, in which there is next to no chance."
    )
    header = (
        "model",
        "steps",
        "a bare step",
        "bare again",
        "nothing",
        "line",
    )
    tables.write(__file__, "What the training loop costs", facts, header, rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
