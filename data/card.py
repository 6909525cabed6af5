"""Write the data card, ``data/README.md``: every figure in it is computed here.

It also computes the floors that the course ships. Run it after a change of BookWorld's grammar
(``make card``); it takes some minutes. The figures of real corpora are those in ``corpora.json``.
"""

import sys
from collections import Counter
from pathlib import Path
from string import Template

import numpy as np

from data import corpora
from lmcourse import table_forms
from lmcourse.corpus.bookworld import SPLITS, BookWorld, Review
from lmcourse.corpus.bookworld.floors import ship

CARD = Path(__file__).parent / "README.md"
REVIEWS = 10  # printed in the card
SEED = 2026


def main() -> int:
    """Write the floors that are shipped, and the card."""
    world = BookWorld()
    ship(world)
    CARD.write_text(written(world), encoding="utf-8")
    return 0


def written(world: BookWorld) -> str:
    """The card of a world."""
    template = Template((Path(__file__).parent / "card.md.in").read_text(encoding="utf-8"))
    return template.substitute(
        figures(world) | corpora.for_card(),
        reviews=printed(world),
        splits=splits(),
        digest=world.digest,
        count=REVIEWS,
        seed=SEED,
    )


def figures(world: BookWorld) -> dict[str, str]:
    """The figures in the card's text."""
    train, test = world.split("train"), world.split("test")
    floors = world.floor("test")
    counts = Counter(token for review in train for token in review.tokens)
    rare = sum(counts[word] < 20 for word in world.vocabulary)
    bayes, within = rating_accuracy(world, test[:500])
    return {
        "words": f"{len(world.vocabulary) - 1:,}",
        "states": f"{world.network.states:,}",
        "arcs": f"{len(world.network.source):,}",
        "tokens": f"{np.mean([len(review.tokens) for review in test]):.0f}",
        "total": f"{sum(counts.values()) / 1e6:.2f}",
        "rare": f"{rare}",
        "language": f"{floors.language.nats:.3f} ± {floors.language.error:.3f}",
        "perplexity": f"{floors.language.perplexity:.2f}",
        "masked": f"{floors.masked.nats:.3f} ± {floors.masked.error:.3f}",
        "top": f"{floors.masked.accuracy:.3f}",
        "bayes": f"{bayes:.2f}",
        "within": f"{within:.2f}",
        "spoilers": f"{np.mean([review.has_spoiler for review in train]):.2f}",
    }


def rating_accuracy(world: BookWorld, reviews: list[Review]) -> tuple[float, float]:
    """How often the best guess of the stars, before they are told, is right, and within one."""
    errors = np.array(
        [
            int(world.rating_posterior(review.before_closing).argmax()) + 1 - review.rating
            for review in reviews
        ]
    )
    return float((errors == 0).mean()), float((abs(errors) <= 1).mean())


def printed(world: BookWorld) -> str:
    """The first reviews of the card's seed, none left out, none changed."""
    return "\n\n".join(
        f"> {review.text}\n>\n> *{review.genre}, {review.rating} of 5*"
        for review in world.sample(REVIEWS, SEED)
    )


def splits() -> str:
    """The table of the splits."""
    rows = [[name, f"{count:,}", str(seed)] for name, (count, seed) in SPLITS.items()]
    return table_forms.markdown(["split", "reviews", "seed"], rows)


if __name__ == "__main__":
    sys.exit(main())
