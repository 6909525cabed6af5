"""What a model's attention heads find, beside its loss: antecedents, subjects, earlier mentions.

A model that sees the whole text may look at them from the word itself. One that reads from left to
right predicts a word from the position before it, so its links begin there.
"""

from collections.abc import Callable

from torch import nn

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.evaluation.probes import (
    HeadProbe,
    Link,
    agreement_links,
    antecedent_links,
    head_probe,
    word_attentions,
)
from lmcourse.tokenizers import words
from research.pretrain.links import mention_links, one_before

REVIEWS, FEW = 200, 12  # of the test split; so few to see whether it works

LINKS: dict[tuple[str, str], Callable[[list[Review]], list[list[Link]]]] = {
    ("a pronoun", "its antecedent"): antecedent_links,
    ("a name", "its earlier mentions"): mention_links,
    ("a verb", "its subject"): agreement_links,
    ("a verb", "its subject, past other nouns"): lambda reviews: agreement_links(reviews, 1),
}


def head_scores(
    model: nn.Module, world: BookWorld, small: bool = False, causal: bool = False
) -> dict[str, HeadProbe]:
    """How often the best head finds what words are linked to, by the kind of link.

    Args:
        small: on few reviews, to see whether it works.
        causal: the model predicts each word from the position before it.
    """
    reviews = world.split("test", FEW if small else REVIEWS)
    weights = list(word_attentions(model, [it.tokens for it in reviews], words.ids(world)))
    found = {}
    for (word, target), links_of in LINKS.items():
        links = links_of(reviews)
        start = f"where {word} is told" if causal else word
        probe = head_probe(weights, one_before(links) if causal else links)
        found[f"from {start} to {target}"] = probe
    return found
