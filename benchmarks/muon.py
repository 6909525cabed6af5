"""What Muon costs with and without bfloat16: `python -m benchmarks.muon [--turns 8]`.

On the matrices of some of the course's recipes, beside what else a training step does: to read a
batch, and take the gradients. The table goes to `benchmarks/muon.md`.
"""

import argparse

import torch

from benchmarks import tables
from benchmarks.notebooks import one_core
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.tokenizers import words
from lmcourse.training.checks import single_loss
from lmcourse.training.examples import padded
from lmcourse.training.seeds import generator_of
from research.pretrain.optimizers import Muon, matrices
from research.pretrain.recipes import recipe

NAMES = "mlm", "deberta", "electra", "teacher"


def row(name: str, turns: int) -> str:
    """A line of the table."""
    world, asked = BookWorld(), recipe(f"bookworld-{name}")
    network = asked.built(world)
    objective = asked.objective(network)
    batch = padded(words.examples(world.split("train", asked.budget.batch_size)), words.PAD)
    chosen = matrices(network)

    def gradients() -> None:
        network.zero_grad()
        single_loss(objective(batch, generator_of(0)), 0).backward()

    gradients()
    works = {
        "gradients": gradients,
        "float32": Muon(chosen, lr=1e-9).step,
        "bfloat16": torch.optim.Muon(chosen, lr=1e-9).step,
    }
    measured = tables.Turns(works, turns, 0.0, "cpu")
    cells = [f"{measured.best(way):.1f} ms" for way in works]
    return (
        f"| {name} | {len(chosen)} | {' | '.join(cells)} | {measured.ratio(*list(works)[:0:-1])} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=8, help="of each way")
    turns = parser.parse_args().turns
    held = one_core()
    torch.set_num_threads(1)
    rows = []
    for name in NAMES:
        rows.append(row(name, turns))
        print(rows[-1], flush=True)
    facts = (
        f"PyTorch {torch.__version__}, {held}, one thread, its best instructions "
        f"{torch.backends.cpu.get_cpu_capability()}; the best of {turns} turns, of the process's "
        "time; of each turn's ratios the median, and the middle half. PyTorch's own Muon rounds to "
        "bfloat16; this one multiplies in the weights' float32."
    )
    header = ("recipe", "matrices", "gradients", "Muon here", "PyTorch's", "PyTorch's / here")
    tables.write(__file__, "What Muon costs with and without bfloat16", facts, header, rows)
    return 0


if __name__ == "__main__":
    tables.run(main)
