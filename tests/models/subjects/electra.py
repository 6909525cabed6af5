"""ELECTRA, its heads and its two models together, and what is wrongly done in them."""

import copy
import dataclasses
import math
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.models import electra, electra_pair, inputs
from lmcourse.models.electra import ElectraConfig
from lmcourse.models.electra_pair import ElectraPair, ElectraPairConfig
from lmcourse.models.factorized_embeddings import FactorizedEmbeddings
from lmcourse.models.inputs import IGNORED
from tests.models.broken import Broken
from tests.models.subject import Batch, Subject
from tests.models.subjects import bert
from tests.models.subjects.albert import unprojected
from tests.models.subjects.bert import (
    CLASSES,
    DROPOUTS,
    LAYERS,
    SPANS,
    VOCAB,
    batch,
    classes,
    masked_words,
    spans,
    tags,
)
from tests.models.subjects.transformer import replaced

CONFIG = ElectraConfig(
    VOCAB,
    12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=20,
    max_position_embeddings=16,
    num_labels=CLASSES,
    embedding_size=8,
)
CLASSIFIED = {"dropouts": DROPOUTS | {"classifier_dropout": 1}}
subject = partial(bert.subject, config=CONFIG)


def fakes() -> Batch:
    """Labels at padded places too, which must not count."""
    return batch() | {"labels": torch.randint(2, (3, 7))}


def middling(logits: Tensor, uniform: Tensor) -> Tensor:
    """In the place of chance: the token in which a third of the distribution is reached."""
    return (logits.softmax(-1).cumsum(-1) < 1 / 3).sum(-1)


@dataclass(frozen=True)
class Pair(Subject):
    """The two models, of which one draws: here without chance, so that runs can be compared."""

    def call(self, model: nn.Module, batch: Batch, **options: Any) -> Any:
        with patch.object(electra_pair, "inverse_transform", middling):
            return super().call(model, batch, **options)


SUBJECTS = (
    subject("ELECTRA", electra.Electra, batch),
    bert.subject(
        "ELECTRA, as wide below",
        electra.Electra,
        batch,
        config=dataclasses.replace(CONFIG, embedding_size=12),
    ),
    subject(
        "ELECTRA's discriminator",
        electra.ElectraForPreTraining,
        fakes,
        chance=math.log(2),
        pooled=("loss",),
        **LAYERS,
    ),
    subject(
        "ELECTRA's generator",
        electra.ElectraForMaskedLM,
        masked_words,
        output="logits",
        shift=0,
        chance=math.log(VOCAB),
    ),
    subject(
        "ELECTRA for sequences",
        electra.ElectraForSequenceClassification,
        partial(classes, CLASSES),
        chance=math.log(CLASSES),
        pooled=("logits", "loss"),
        dropouts=DROPOUTS | {"classifier_dropout": 2},
        **LAYERS,
    ),
    subject("ELECTRA for questions", electra.ElectraForQuestionAnswering, spans, **SPANS),
    subject(
        "ELECTRA for tokens",
        electra.ElectraForTokenClassification,
        tags,
        output="logits",
        shift=0,
        chance=math.log(CLASSES),
        **CLASSIFIED,
    ),
    Pair(
        "ELECTRA's two models together",
        partial(ElectraPair, ElectraPairConfig(CONFIG, 1 / 3)),
        masked_words,
        ids=bert.IDS,
        output="generator_logits",
        attentions="discriminator_attentions",
        hidden_states="discriminator_hidden_states",
        pooled=("loss", "generator_loss", "discriminator_loss"),
        chance=math.log(VOCAB) + 50 * math.log(2),
        dropouts={name: 2 * times for name, times in DROPOUTS.items()},
    ),
)


def through_the_draw(forward: Any) -> Any:
    """The generator taught to deceive: the draw has the gradient of the probabilities."""

    @wraps(forward)
    def wrong(
        self: ElectraPair, input_ids: Tensor, labels: Tensor, *, draws: Any = None, **more: Any
    ) -> Any:
        done = forward(self, input_ids, labels, draws=draws, **more)
        gaps = labels != IGNORED
        p = done.generator_logits[gaps].softmax(-1)
        drawn = (
            functional.one_hot(done.corrupted_ids[gaps], p.shape[-1]).to(p.dtype) + p - p.detach()
        )
        table = self.discriminator.bert.embeddings.word
        words = table(done.corrupted_ids).index_put((gaps,), drawn @ table.weight)
        judged = self.discriminator(inputs_embeds=words, labels=done.replaced, **more)
        loss = done.generator_loss + self.config.discriminator_weight * judged.loss
        return dataclasses.replace(done, loss=loss)

    return wrong


def right_guesses_are_fakes(corrupt: Any) -> Any:
    """Every token that was drawn counts as replaced, also the text's own."""

    def wrong(input_ids: Tensor, labels: Tensor, *more: Any) -> tuple[Tensor, Tensor]:
        return corrupt(input_ids, labels, *more)[0], (labels != IGNORED).long()

    return staticmethod(wrong)


def gaps_alone(corrupt: Any) -> Any:
    """The discriminator learns at the masked places alone, as BERT does."""

    def wrong(input_ids: Tensor, labels: Tensor, *more: Any) -> tuple[Tensor, Tensor]:
        corrupted, fakes = corrupt(input_ids, labels, *more)
        return corrupted, fakes.masked_fill(labels == IGNORED, IGNORED)

    return staticmethod(wrong)


def masks_left(corrupt: Any) -> Any:
    """What stands at an unmasked place compared with the label there: all are fakes."""

    def wrong(input_ids: Tensor, labels: Tensor, *more: Any) -> tuple[Tensor, Tensor]:
        corrupted = corrupt(input_ids, labels, *more)[0]
        return corrupted, (corrupted != labels).long()

    return staticmethod(wrong)


def likeliest(inverse_transform: Any) -> Any:
    """The likeliest token for one that is drawn."""
    return lambda logits, uniform: logits.argmax(-1)


def all_places(padding_mask: Any) -> Any:
    """The loss over padding, too."""
    return lambda mask, hidden: None


def summed(replaced_loss: Any) -> Any:
    """The discriminator's loss without its mean."""

    def wrong(logits: Tensor, labels: Tensor, real: Tensor | None) -> Tensor:
        places = labels.numel() if real is None else real.sum()
        return replaced_loss(logits, labels, real) * places

    return wrong


def unweighted(forward: Any) -> Any:
    """λ forgotten."""

    @wraps(forward)
    def wrong(self: ElectraPair, *given: Any, **more: Any) -> Any:
        done = forward(self, *given, **more)
        return dataclasses.replace(done, loss=done.generator_loss + done.discriminator_loss)

    return wrong


def own_embeddings(share: Any) -> Any:
    """The generator with a copy of the embeddings."""
    return lambda generator, discriminator: share(generator, copy.deepcopy(discriminator))


def words_alone(share: Any) -> Any:
    """The tokens' embeddings shared, and not the rest, as section 3.2 can be read."""

    def wrong(generator: Any, discriminator: Any) -> None:
        with patch.object(electra_pair, "SHARED", ("word",)):
            share(generator, discriminator)

    return wrong


def original_is_one(forward: Any) -> Any:
    """The probability of a replaced token for that of an original one, as the paper writes D."""

    @wraps(forward)
    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        done = forward(self, *given, **more)
        return dataclasses.replace(done, logits=-done.logits)

    return wrong


def with_tanh(forward: Any) -> Any:
    """BERT's activation where ELECTRA's head has GELU."""
    return lambda self, x: self.dense(self.dropout(self.first(self.dropout(x)).tanh()))


def one_dropout(forward: Any) -> Any:
    """A classifying head that drops once, not twice."""
    return lambda self, x: self.dense(self.dropout(functional.gelu(self.first(x))))


def no_dropout(share: Any) -> Any:
    """The generator's dropout left out of what it reads."""

    def wrong(generator: Any, discriminator: Any) -> None:
        share(generator, discriminator)
        generator.bert.embeddings.dropout = nn.Identity()

    return wrong


BOTH = ("ELECTRA's two models together",)
ALL, FAKES = ("ELECTRA", "ELECTRA for tokens"), ("ELECTRA's discriminator",)
SEQUENCES = ("ELECTRA for sequences",)
BROKEN = (
    Broken("ELECTRA: projection left out", replaced(FactorizedEmbeddings, "forward", unprojected),
           ALL, ("ELECTRA",)),
    Broken("ELECTRA: the generator learns through the draw",
           replaced(ElectraPair, "forward", through_the_draw), BOTH),
    Broken("ELECTRA: a right guess counts as replaced",
           replaced(ElectraPair, "corrupt", right_guesses_are_fakes), BOTH),
    Broken("ELECTRA: the discriminator learns at the gaps alone",
           replaced(ElectraPair, "corrupt", gaps_alone), BOTH),
    Broken("ELECTRA: unmasked tokens compared with no label",
           replaced(ElectraPair, "corrupt", masks_left), BOTH),
    Broken("ELECTRA: the likeliest token for a drawn one",
           replaced(electra_pair, "inverse_transform", likeliest), BOTH),
    Broken("ELECTRA: loss over padding", replaced(inputs, "padding_mask", all_places),
           (*FAKES, *BOTH), (*FAKES, *BOTH)),
    Broken("ELECTRA: the discriminator's loss summed", replaced(electra, "replaced_loss", summed),
           FAKES, FAKES),
    Broken("ELECTRA: λ forgotten", replaced(ElectraPair, "forward", unweighted), BOTH, BOTH),
    Broken("ELECTRA: embeddings not shared",
           replaced(electra_pair, "share_embeddings", own_embeddings), BOTH),
    Broken("ELECTRA: words' embeddings alone shared",
           replaced(electra_pair, "share_embeddings", words_alone), BOTH),
    Broken("ELECTRA: an original token is 1",
           replaced(electra.ElectraForPreTraining, "forward", original_is_one), FAKES),
    Broken("ELECTRA: tanh for GELU below the classes",
           replaced(electra.ElectraClassificationHead, "forward", with_tanh), SEQUENCES),
    Broken("ELECTRA: a classifier with one dropout",
           replaced(electra.ElectraClassificationHead, "forward", one_dropout), (), SEQUENCES),
    Broken("ELECTRA: the generator's embeddings without dropout",
           replaced(electra_pair, "share_embeddings", no_dropout), (), BOTH),
)  # fmt: skip
