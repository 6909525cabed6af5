"""Why names are copied or not: `python -m benchmarks.names [--steps 1500] [--seeds 3]`.

`bookworld-clm`'s recipe, shortened, without a warm-up on repeated names, and with one of a fifth of
the steps. Then each network, a new one, and the first one with new random vectors of names are
trained on repeated mentions of characters alone: which of them learns within `ALONE` steps to copy
a name from the context? The spread of the names' vectors and the gaps are written to
`benchmarks/names.md`.
"""

import argparse
import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks import tables
from benchmarks.alone import learned
from lmcourse import table_forms

RECIPE, MEASURED = "bookworld-clm", 100  # reviews of the gap table
ALONE = 150  # steps of training on repeated mentions alone
HEADER = (
    "network",
    "spread",
    "gap",
    "gap, repeated mentions",
    f"nats, repeated mentions, after {ALONE} steps on these alone",
)


class Names:
    """The characters of a world, and their repeated mentions in a review."""

    def __init__(self, world: Any) -> None:
        from lmcourse.corpus.bookworld.registers import CHARACTERS
        from lmcourse.tokenizers import words

        known = words.ids(world)
        self.ids = sorted(
            {
                known[token]
                for review in world.sample(2000, 1)
                for token, tag in zip(review.tokens, review.tags, strict=True)
                if tag.register in CHARACTERS
            }
        )

    def again(self, review: Any) -> list[int]:
        """The positions of such tokens in ``input_ids``."""
        from research.pretrain.links import mention_links

        (links,) = mention_links([review])
        return [link.query + 1 for link in links]  # behind [CLS]

    def apart(self, model: Any) -> float:
        """The mean squared distance of a name's vector from the mean of all names' vectors."""
        vectors = table(model)[self.ids]
        return float((vectors - vectors.mean(0)).pow(2).sum(1).mean())

    def draw(self, model: Any, seed: int) -> None:
        """Give each name another vector: the mean of all, and what is its own, as long as it was
        at the start."""
        import torch

        vectors = table(model)
        chance = torch.randn(
            len(self.ids), vectors.shape[1], generator=torch.Generator().manual_seed(seed)
        )
        vectors[self.ids] = vectors[self.ids].mean(0) + chance * model.config.initializer_range


def table(model: Any) -> Any:
    """The words' vectors; what is written into them changes the model."""
    from lmcourse.models.embeddings import Embeddings

    return next(it.word.weight for it in model.modules() if isinstance(it, Embeddings)).detach()


def alone(recipe: Any, model: Any, names: Names, reviews: Sequence[Any]) -> float:
    """The loss in nats after training on repeated mentions of characters alone.

    Each review is read once, so that it is a loss on texts that were not learned from.
    """
    import torch

    from lmcourse.models.inputs import IGNORED
    from lmcourse.tokenizers import words
    from lmcourse.training.examples import padded

    def batches() -> Iterator[tuple[Any, Any, Any]]:
        size = recipe.budget.batch_size
        for step in range(ALONE):
            part = reviews[step * size : (step + 1) * size]
            batch = padded(words.examples(part), words.PAD)
            labels = torch.full_like(batch["input_ids"], IGNORED)
            for row, review in enumerate(part):
                for position in names.again(review):
                    labels[row, position] = batch["input_ids"][row, position]
            yield batch["input_ids"], batch["attention_mask"], labels

    return learned(recipe, copy.deepcopy(model), batches())


def measured(steps: int, seed: int) -> dict[str, list[float | None]]:
    """The table's numbers, by network, of one seed."""
    import torch

    from lmcourse.corpus.bookworld import BookWorld
    from lmcourse.evaluation import gap_table, of_causal
    from lmcourse.evaluation.phenomena import AGAIN
    from lmcourse.tokenizers import words
    from research.pretrain.recipes import recipe

    world = BookWorld()
    names, known = Names(world), recipe(RECIPE)
    held_out = world.split("test", MEASURED)
    fresh = world.sample(ALONE * known.budget.batch_size, 9000 + seed)

    def gaps(model: Any) -> list[float | None]:
        asked = {"it": of_causal(model, world, words.ids(world))}
        found = gap_table(asked, world, reviews=held_out)
        return [found.gap(phenomenon).value for phenomenon in ("all", AGAIN)]

    def trained(repeats: float) -> Any:
        budget = replace(known.budget, steps=steps, repeats=repeats, looks=1, held_out=8)
        return (
            replace(known, budget=budget)
            .train(world, seed, torch.device("cpu"), None, "nothing")
            .model
        )

    torch.manual_seed(seed)
    start, plain, led = known.built(world), trained(0.0), trained(0.2)
    drawn = copy.deepcopy(plain)
    names.draw(drawn, seed)
    rows = {}
    for name, model, whole in (
        ("at its start", start, False),
        ("trained without a warm-up on repeated names", plain, True),
        ("the same, new random vectors of names", drawn, False),
        ("trained with a warm-up on repeated names", led, True),
    ):
        both = gaps(model) if whole else [None, None]
        rows[name] = [names.apart(model), *both, alone(known, model, names, fresh)]
    return rows


def main() -> int:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    found = [measured(given.steps, seed) for seed in range(given.seeds)]
    rows = []
    for name in found[0]:
        cells = [name]
        for values in zip(*(one[name] for one in found), strict=True):
            if values[0] is None:
                cells.append("")
            else:
                cells.append(tables.over_seeds(values))
        rows.append(table_forms.markdown_line(cells))
    tables.write(
        __file__,
        "Why names are copied or not",
        f"{RECIPE}'s recipe with {given.steps:,} steps, without a warm-up on repeated names or "
        f"with one of a fifth of them; of the first {given.seeds} seed(s) the "
        "mean (smallest and largest). *Spread*: the mean squared distance of a name's vector "
        "from the mean of all names' vectors. Gaps in nats a token, over "
        f"{MEASURED} reviews. Names occur in the same contexts, so training moves their vectors "
        "together. Once these are similar, copying is no longer learned; with new random vectors "
        "it is.",
        HEADER,
        rows,
    )
    return 0


if __name__ == "__main__":
    tables.run(main)
