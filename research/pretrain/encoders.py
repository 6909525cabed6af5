"""Recipes of encoders that learn from masked tokens: BERT and its successors (chapters 10 to 16).

All of the family have one size, one budget and one way of masking: what differs between two of them
is what their chapter is about. The teacher is larger.

What is masked becomes [MASK] and nothing else. BERT's 80 / 10 / 10 has another floor: a reader who
knows that some words are replaced must doubt every word.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.evaluation import gap_table, of_masked
from lmcourse.models.albert import AlbertForMaskedLM
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.deberta import DebertaForMaskedLM
from lmcourse.models.enhanced_mask_decoder import DebertaForPreTraining
from lmcourse.models.spanbert import SpanBertForPreTraining
from lmcourse.tokenizers import words
from lmcourse.training.masking import Masking
from lmcourse.training.objectives import MaskedLM, Objective
from lmcourse.training.selection import Selection, Spans, Tokens, Words
from research.pretrain import held_out
from research.pretrain.budget import Budget
from research.pretrain.head_scores import head_scores
from research.pretrain.recipe import Recipe, Trained
from research.pretrain.records import Scores

LONGEST = 448  # tokens; the longest of 60,000 reviews has 413
DISTANCES = 32  # from how far on all relative distances are one

NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
"""There are more reviews than a small model can learn by heart, and dropout takes time."""
SMALL: dict[str, Any] = {
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "max_position_embeddings": LONGEST,
    "initializer_range": 128**-0.5,  # 0.02 is for BERT's width; here it costs hundreds of steps
    **NO_DROPOUT,
}
"""The size of the family. Two layers, since in so few steps deeper ones learn less: of post-norm
networks with four, none has learned to name again a character who was named before."""
LARGE: dict[str, Any] = SMALL | {"num_hidden_layers": 4}
"""The size of the teacher."""
ENCODER = {"type_vocab_size": 1, "add_pooling_layer": False}  # one text, and no classes of texts
RELATIVE = {"max_relative_positions": DISTANCES, "type_vocab_size": 0}
SHAW = RELATIVE | {"pos_att_type": ("c2p",)}
"""What a key adds for its distance: of DeBERTa's terms the one that Shaw et al. (2018) have."""

FAMILY = Budget(steps=10_000, matrix_rate=0.02)
COPY_WARM_UP = replace(FAMILY, repeats=0.1)
"""Also of the family: where positions are learned at once, copying is learned next. Absolute
positions of a masked text are learned after hundreds of steps; a warm-up phase delays them."""
TEACHER = replace(FAMILY, steps=15_000)

SELECTIONS: dict[str, Selection] = {"tokens": Tokens(), "words": Words(), "spans": Spans()}


@dataclass(frozen=True)
class Masks:
    """How texts are masked to learn from; see `lmcourse.training.Masking`."""

    rate: float = 0.3
    masked: float = 1.0
    random: float = 0.0
    select: Literal["tokens", "words", "spans"] = "tokens"

    def masking(self, vocab_size: int) -> Masking:
        """The masking of our tokens."""
        select = SELECTIONS[self.select]
        return Masking(words.MASK, vocab_size, select, self.rate, self.masked, self.random)


@dataclass(frozen=True)
class MaskedRecipe(Recipe):
    """A network that predicts masked tokens, and is measured by it."""

    masks: Masks = Masks()

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        config: Any = network.config
        return MaskedLM(network, self.masks.masking(config.vocab_size))

    def held_out(self, world: BookWorld, device: torch.device) -> held_out.HeldOut:
        """See `Recipe.held_out`."""
        return held_out.masked(self.held_out_reviews(world), device)

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The gap table, and what heads look at."""
        asked = {self.name: of_masked(trained.model, world, words.ids(world))}
        reviews = self.test_reviews(world)
        table = gap_table(asked, world, kind="masked", reviews=reviews)
        return Scores.of(table, heads=head_scores(trained.model, world, reviews is not None))


ENCODERS = (
    MaskedRecipe(
        "bookworld-mlm",
        "BERT with absolute positions: masked words of BookWorld",
        BertForMaskedLM,
        SMALL | ENCODER,
        FAMILY,
    ),
    MaskedRecipe(
        "bookworld-mlm-relative",
        "BERT with relative positions: each key has a term for its distance (Shaw et al. 2018)",
        DebertaForMaskedLM,
        SMALL | SHAW,
        COPY_WARM_UP,
    ),
    MaskedRecipe(
        "bookworld-albert",
        "ALBERT: one shared layer and factorized embeddings",
        AlbertForMaskedLM,
        SMALL | ENCODER | {"embedding_size": 32, "classifier_dropout": 0.0},
        FAMILY,
    ),
    MaskedRecipe(
        "bookworld-spanbert",
        "SpanBERT: masked spans, also predicted from their boundary tokens",
        SpanBertForPreTraining,
        SMALL | ENCODER | {"span_position_size": 32},
        FAMILY,
        Masks(select="spans"),
    ),
    MaskedRecipe(
        "bookworld-deberta",
        "DeBERTa: disentangled attention and the enhanced mask decoder",
        DebertaForPreTraining,
        SMALL | RELATIVE,
        COPY_WARM_UP,
    ),
    MaskedRecipe(
        "bookworld-teacher",
        "A larger BERT, trained longer: the teacher of the distilled models",
        BertForMaskedLM,
        LARGE | ENCODER,
        TEACHER,
    ),
)
