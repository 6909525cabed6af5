"""Recipes of students: DistilBERT and TinyBERT, which learn from the course's teacher (chapters 17
and 18).

The teacher is a model of the course like the others, so it has to be there first. What a student
becomes depends on it: its file's digest is a part of a student's configuration.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn

from lmcourse import hub
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.errors import CourseError
from lmcourse.evaluation import gap_table, of_masked
from lmcourse.evaluation.probes import hidden_states
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.checkpoint import Model
from lmcourse.models.distilbert import DistilBertForMaskedLM
from lmcourse.models.tinybert import Stage, TinyBertDistiller
from lmcourse.models.triple_loss import DistillationConfig, Distiller
from lmcourse.tokenizers import words
from lmcourse.training import Distilled
from lmcourse.training.objectives import Objective
from research.pretrain import held_out
from research.pretrain.encoders import ENCODER, FAMILY, LONGEST, NO_DROPOUT, Masks
from research.pretrain.head_scores import head_scores
from research.pretrain.looks import loss_of
from research.pretrain.probing import States, Texts, sense_scores, tag_scores
from research.pretrain.recipe import Recipe, Trained
from research.pretrain.records import Scores

TEACHER = "bookworld-teacher"
TAUGHT = replace(FAMILY, steps=6000)
"""A student's budget: it learns more of a step, and a step has its teacher to ask."""


@dataclass(frozen=True)
class StudentRecipe(Recipe):
    """A student of the teacher; both read the same masked reviews.

    Attributes:
        masks: how these are masked.
        teacher: the name of the teacher.
    """

    masks: Masks = field(default_factory=Masks)
    teacher: str = TEACHER

    @property
    def config(self) -> dict[str, Any]:
        """See `Trainable.config`; the digest is None as long as there is no teacher."""
        known = hub.shipped().get(self.teacher)
        digest = None if known is None else known.model.sha256
        return super().config | {"teacher": {"name": self.teacher, "sha256": digest}}

    def teacher_model(self) -> BertForMaskedLM:
        """The teacher.

        Raises:
            CourseError: it is not there, or is no BERT.
        """
        if self.teacher not in hub.shipped():
            raise CourseError(
                f"{self.name} learns from {self.teacher}, which does not come with this checkout.",
                f"Train and ship that one first: lmcourse pretrain {self.teacher}",
            )
        found = hub.load(self.teacher).model
        if type(found) is not BertForMaskedLM:  # a subclass computes something else
            raise CourseError(
                f"{self.teacher} is a {type(found).__name__}; these students copy a BERT's layers.",
                f"Make the recipe of {self.teacher} one of a BertForMaskedLM, and train it again.",
            )
        return found

    def distiller(self, world: BookWorld) -> Distiller | TinyBertDistiller:
        """The student at its start, and its teacher."""
        raise NotImplementedError

    def network(self, world: BookWorld) -> nn.Module:
        """See `Recipe.network`."""
        return self.distiller(world)

    def built(self, world: BookWorld) -> Model:
        """See `Recipe.built`."""
        return self.kept(self.distiller(world))

    def kept(self, network: nn.Module) -> Model:
        """The student."""
        assert isinstance(network, Distiller | TinyBertDistiller)
        assert isinstance(network.student, Model)
        return network.student

    def masked_table(self, trained: Trained, world: BookWorld) -> Any:
        """The gap table of the student and of its teacher."""
        ids = words.ids(world)
        asked = {
            self.name: of_masked(trained.model, world, ids),
            self.teacher: of_masked(self.teacher_model(), world, ids),
        }
        return gap_table(asked, world, kind="masked", reviews=self.test_reviews(world))


@dataclass(frozen=True)
class DistilBertRecipe(StudentRecipe):
    """DistilBERT: half of the teacher's layers, and the triple loss (Sanh et al. 2019).

    Attributes:
        losses: how the three are added up.
    """

    losses: DistillationConfig = field(default_factory=DistillationConfig)

    def distiller(self, world: BookWorld) -> Distiller:
        """See `StudentRecipe.distiller`."""
        teacher = self.teacher_model()
        student = DistilBertForMaskedLM.from_teacher(teacher, **self.settings)
        return Distiller(student, teacher, self.losses)

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        assert isinstance(network, Distiller)
        return Distilled(network, self.masks.masking(words_known(network)))

    def held_out(self, world: BookWorld, device: torch.device) -> held_out.HeldOut:
        """See `Recipe.held_out`: the student's loss of masked tokens, without its teacher."""
        loss = held_out.masked(self.held_out_reviews(world), device)
        return lambda network: loss(self.kept(network))

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The gap table, beside the teacher's; and what heads look at."""
        heads = head_scores(trained.model, world, self.budget.measured is not None)
        return Scores.of(self.masked_table(trained, world), heads=heads)


@dataclass(frozen=True)
class TinyBertRecipe(StudentRecipe):
    """TinyBERT: a narrower student that copies its teacher layer by layer (Jiao et al. 2020).

    Attributes:
        stage: "general", as published: the layers alone, by which a student is ready to learn a
            task from a tuned teacher. What is shipped is a `Bert` without a head. Or "all": the
            predictions of masked words too, and their head.
    """

    stage: Stage = "general"

    def distiller(self, world: BookWorld) -> TinyBertDistiller:
        """See `StudentRecipe.distiller`."""
        kind = Bert if self.stage == "general" else BertForMaskedLM
        student = self.placed(kind(BertConfig(vocab_size=words.size(world), **self.settings)))
        return TinyBertDistiller(student, self.teacher_model())

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        assert isinstance(network, TinyBertDistiller)
        return Distilled(network, self.masks.masking(words_known(network)), stage=self.stage)

    def held_out(self, world: BookWorld, device: torch.device) -> held_out.HeldOut:
        """See `Recipe.held_out`: by the losses that it learns by."""
        return loss_of(self.objective, words.examples(self.held_out_reviews(world)))

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The gap table, if it predicts words; senses and tags by layer, the teacher's last."""
        table = None if self.stage == "general" else self.masked_table(trained, world)
        tokenizer, teacher = words.words(world), self.teacher_model()

        def layers(texts: Texts) -> dict[str, States]:
            own = hidden_states(trained.model, texts, tokenizer)
            (last,) = hidden_states(teacher, texts, tokenizer, layers=[-1])
            return {f"layer {at}": states for at, states in enumerate(own)} | {"teacher": last}

        small = self.budget.measured is not None
        return Scores.of(
            table, sense_scores(layers, world, small) | tag_scores(layers, world, small)
        )


def words_known(network: Distiller | TinyBertDistiller) -> int:
    """How many tokens a student knows."""
    config: Any = network.student.config
    return int(config.vocab_size)


STUDENTS: tuple[StudentRecipe, ...] = (
    DistilBertRecipe(
        "bookworld-distilbert",
        "DistilBERT: every other layer of bookworld-teacher, trained with the triple loss",
        DistilBertForMaskedLM,
        {},
        TAUGHT,
    ),
    TinyBertRecipe(
        "bookworld-tinybert",
        "TinyBERT: a narrow copy of bookworld-teacher, layer by layer (general distillation)",
        Bert,
        {
            "hidden_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 192,
            "max_position_embeddings": LONGEST,
            **ENCODER,
            **NO_DROPOUT,
        },
        TAUGHT,
    ),
)
