"""What masked models leave unlearned, and that they could: `python -m benchmarks.unlearned`.

The shipped masked encoders copy names badly or not at all, and tell a review's stars by how
frequent each number of stars is. Here each is asked of nothing else for some steps, once from its
shipped weights and once from its start: if it learns then what it had not learned from all words,
it is able to, and what was missing was a signal that is not drowned by the others; if only the
fresh one learns, the trained one has become unable to. The table goes to `benchmarks/unlearned.md`.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any

from benchmarks import tables
from benchmarks.alone import LAST, learned
from lmcourse import table_forms

MODELS = "bookworld-mlm", "bookworld-mlm-relative"
HEADER = ("model", "asked of", "floor", "loss as shipped", "then asked alone", "alone, from start")


def batches(world: Any, asked: str, size: int, steps: int, seed: int) -> Iterator[Any]:
    """Reviews that have such words, to be asked of these alone; each comes once.

    Besides those that are asked for, the words that gap tables hide are hidden.
    """
    import torch

    from lmcourse.models.inputs import IGNORED
    from lmcourse.tokenizers import words
    from lmcourse.training.examples import padded
    from research.pretrain import held_out

    found = _with_places(world, asked, seed)
    for _ in range(steps):
        part = list(islice(found, size))
        reviews = [review for review, _ in part]
        plain = padded(words.examples(reviews), words.PAD)
        ids = held_out.hidden(plain, reviews)["input_ids"]
        labels = torch.full_like(ids, IGNORED)
        for row, (_, places) in enumerate(part):
            labels[row, places] = plain["input_ids"][row, places]
            ids[row, places] = words.MASK
        yield ids, plain["attention_mask"], labels


def _with_places(world: Any, asked: str, seed: int) -> Iterator[tuple[Any, list[int]]]:
    """Reviews that have such words, with their places in ``input_ids``."""
    from lmcourse.evaluation.phenomena import NAMES, Phenomena

    phenomena, at = Phenomena(world), list(NAMES).index(asked)
    for drawn in count(90_000 + 1_000 * seed):
        for review in world.sample(1_000, drawn):
            places = phenomena.of(review)[at].nonzero()[0] + 1  # behind [CLS]
            if len(places):
                yield review, places.tolist()


def measured(name: str, asked: str, steps: int, seed: int) -> Sequence[float]:
    """The table's numbers of one seed: from shipped weights, and from the start."""
    import torch

    from lmcourse import hub
    from lmcourse.corpus.bookworld import BookWorld
    from research.pretrain.recipes import recipe

    world, known = BookWorld(), recipe(name)
    torch.manual_seed(seed)
    models = hub.load(name).model, known.built(world)
    size = known.budget.batch_size
    return [learned(known, model, batches(world, asked, size, steps, seed)) for model in models]


def main() -> int:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    import torch

    from lmcourse.evaluation.phenomena import AGAIN, STARS
    from lmcourse.hub import checkpoints
    from research.pretrain.records import Record

    torch.set_num_threads(1)
    rows = []
    for name in MODELS:
        table = Record.read(checkpoints.home() / f"{name}.json").scores.table
        for asked in (AGAIN, STARS):
            row = table.row(asked)
            found = [measured(name, asked, given.steps, seed) for seed in range(given.seeds)]
            cells = [tables.over_seeds(values) for values in zip(*found, strict=True)]
            shipped = f"{row.floor.value:.2f}", f"{row.models[name].loss.value:.2f}"
            rows.append(table_forms.markdown_line([name, asked, *shipped, *cells]))
            print(rows[-1], flush=True)
    tables.write(
        __file__,
        "What masked models leave unlearned",
        f"losses in nats a word. Floor and loss as shipped: of the test split. *Alone*: after "
        f"{given.steps} steps in which nothing but such words counts, {recipe_told()}; of the "
        f"first {given.seeds} seed(s) the mean (smallest and largest) of the last {LAST} steps. "
        "Where the shipped model learns alone what it had not learned from all words, it is able "
        "to, and the others had drowned the signal; where only the fresh one does, training has "
        "made the model unable to.",
        HEADER,
        rows,
    )
    return 0


def recipe_told() -> str:
    """Of what steps these are."""
    from research.pretrain.recipes import recipe

    budget = recipe(MODELS[0]).budget
    return f"of {budget.batch_size} reviews that have one, by the recipe's optimizer"


if __name__ == "__main__":
    tables.run(main)
