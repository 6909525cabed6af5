"""What a model's attention heads find, beside its loss: antecedents, subjects, earlier mentions."""

from collections.abc import Callable

from torch import nn

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.evaluation.probes import (
    HeadProbe,
    Link,
    agreement_links,
    antecedent_links,
    head_probe,
    mention_links,
    word_attentions,
)
from lmcourse.pretrain import words

REVIEWS, FEW = 200, 12  # of the test split; so few to see whether it works

LINKS: dict[str, Callable[[list[Review]], list[list[Link]]]] = {
    "from a pronoun to its antecedent": antecedent_links,
    "from a name to its earlier mentions": mention_links,
    "from a verb to its subject": agreement_links,
    "from a verb to its subject, past other nouns": lambda reviews: agreement_links(reviews, 1),
}


def head_scores(model: nn.Module, world: BookWorld, small: bool = False) -> dict[str, HeadProbe]:
    """How often the best head finds what words are linked to, by the kind of link.

    Args:
        small: on few reviews, to see whether it works.
    """
    reviews = world.split("test", FEW if small else REVIEWS)
    weights = list(word_attentions(model, [it.tokens for it in reviews], words.ids(world)))
    return {name: head_probe(weights, links_of(reviews)) for name, links_of in LINKS.items()}
