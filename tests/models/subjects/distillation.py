"""A student of DistilBERT's triple loss, and what is wrongly done in distillation.

The kit examines a student that always has the same teacher: so it is made from its configuration
alone, as the kit makes models, and saved without its teacher.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial, wraps
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lmcourse.models import distillation
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.checkpoint import Model
from lmcourse.models.distillation import FrozenTeacher
from lmcourse.models.triple_loss import Distiller
from tests.models.broken import Broken
from tests.models.subject import Subject
from tests.models.subjects.bert import CONFIG, DROPOUTS, IDS, masked_words
from tests.models.subjects.transformer import replaced
from tests.parity.comparing import shaken


@cache
def trained(kind: type[Model], config: BertConfig) -> Model:
    with torch.random.fork_rng():
        torch.manual_seed(17)
        return shaken(kind(config).double())


def teacher(kind: type[Model], **changes: Any) -> Model:
    """A model in training mode, the same each time, with dropout that must not come to pass."""
    return deepcopy(trained(kind, replace(CONFIG, **changes))).train()


class TaughtByBert(Model):
    """A student with its teacher, made from the student's configuration."""

    Config = BertConfig

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        taught_by = teacher(BertForMaskedLM, num_hidden_layers=3)
        self.distiller = Distiller(BertForMaskedLM(config), taught_by)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> Any:
        return self.distiller(input_ids, attention_mask, token_type_ids, labels)


SUBJECTS = (
    Subject(
        "DistilBERT's triple loss",
        partial(TaughtByBert, CONFIG),
        masked_words,
        ids=IDS,
        output="logits",
        pooled=("loss", "distillation_loss", "label_loss", "cosine_loss"),
        attentions=None,
        hidden_states=None,
        dropouts=DROPOUTS,
    ),
)


def without_square(loss: Any) -> Any:
    """The gradient shrinks as T grows."""

    def wrong(student: Tensor, teacher: Tensor, T: float = 2.0, counted: Any = None) -> Tensor:
        return loss(student, teacher, T, counted) / T**2

    return wrong


def one_sided(loss: Any) -> Any:
    """The student's softmax without the temperature: it is to be as even as the teacher's."""

    def wrong(student: Tensor, teacher: Tensor, T: float = 2.0, counted: Any = None) -> Tensor:
        return loss(student * T, teacher, T, counted)

    return wrong


def negative(loss: Any) -> Any:
    """Σ t log s without its sign, as it is printed: the student flees from the teacher."""
    return lambda *given, **more: -loss(*given, **more)


def hard(loss: Any) -> Any:
    """The teacher's best class as a label: what it says of the others is lost."""

    def wrong(student: Tensor, teacher: Tensor, T: float = 2.0, counted: Any = None) -> Tensor:
        best = functional.one_hot(teacher.argmax(-1), teacher.shape[-1])
        return loss(student, best.to(teacher.dtype) * 1e4, T, counted)

    return wrong


def reversed_divergence(loss: Any) -> Any:
    """KL(s ‖ t)."""
    return lambda student, teacher, *given: loss(teacher, student, *given)


def over_classes(loss: Any) -> Any:
    """The mean over the classes too: ``reduction="mean"`` for ``"batchmean"``."""
    return lambda student, *given, **more: loss(student, *given, **more) / student.shape[-1]


def everywhere(loss: Any) -> Any:
    """The mean over padding, too."""
    return lambda student, teacher, *given: loss(student, teacher, *given[:-1])


def over_all(loss: Any) -> Any:
    """The sum over what counts, over the number of all places: averaged before it is weighted."""

    def wrong(student: Tensor, teacher: Tensor, *given: Any) -> Tensor:
        counted = given[-1] if given and isinstance(given[-1], Tensor) else None
        share = 1.0 if counted is None else counted.double().mean().item()
        return loss(student, teacher, *given) * share

    return wrong


def apart(loss: Any) -> Any:
    """PyTorch's cosine loss with the target −1: max(0, cos)."""

    def wrong(student: Tensor, teacher: Tensor, counted: Any = None) -> Tensor:
        one, other = distillation.select_positions(student, teacher, counted, "hidden states")
        return functional.cosine_embedding_loss(one, other, -torch.ones(len(one)))

    return wrong


def lively(asked: Any) -> Callable[..., Any]:
    """A teacher in training mode, as its student is."""

    @contextmanager
    def wrong(self: Any, device: torch.device) -> Iterator[Any]:
        with torch.no_grad():
            yield self.model.train()

    return wrong


def learning(asked: Any) -> Callable[..., Any]:
    """A teacher that learns from its student."""

    @contextmanager
    def wrong(self: Any, device: torch.device) -> Iterator[Any]:
        yield self.model.eval()

    return wrong


def held(init: Any) -> Any:
    """A teacher that is a part of what is trained and saved."""

    @wraps(init)
    def wrong(self: Any, student: Model, teacher: Model, *given: Any, **more: Any) -> None:
        init(self, student, teacher, *given, **more)
        self.held = teacher

    return wrong


def one_segment(read: Any) -> Any:
    """Segments kept from the teacher, too."""

    def wrong(model: Any, ids: Tensor, mask: Any = None, segments: Any = None, **more: Any) -> Any:
        return read(model, ids, mask, None, **more)

    return wrong


def first_layer(read: Any) -> Any:
    """What is embedded in place of the last hidden state."""

    def wrong(*given: Any, **more: Any) -> Any:
        done = read(*given, **more)
        return replace(done, hidden_states=done.hidden_states[::-1])

    return wrong


def deaf(counted: Any) -> Any:
    """``restrict_ce_to_mask`` not looked at."""
    return lambda self, labels, real: real


def loss(wrong: Any) -> Any:
    return replaced(distillation, "distillation_loss", wrong)


ALONE, TRIPLE = ("distillation",), ("DistilBERT's triple loss",)
BOTH = ALONE + TRIPLE
BROKEN = (
    Broken("distillation: no T²", loss(without_square), BOTH),
    Broken("distillation: temperature on the teacher's side alone", loss(one_sided), BOTH),
    Broken("distillation: the sign dropped", loss(negative), BOTH),
    Broken("distillation: cross-entropy with the sign dropped",
           replaced(distillation, "soft_cross_entropy", negative), ALONE),
    Broken("distillation: hard labels for soft ones", loss(hard), BOTH),
    Broken("distillation: student and teacher swapped", loss(reversed_divergence), BOTH),
    Broken("distillation: the mean over the classes too", loss(over_classes), BOTH),
    Broken("distillation: padding counted", loss(everywhere), BOTH, TRIPLE),
    Broken("distillation: the sum of real places over all", loss(over_all), BOTH, TRIPLE),
    Broken("distillation: cosine with the target −1",
           replaced(distillation, "cosine_loss", apart), BOTH),
    Broken("distillation: cosine over padding",
           replaced(distillation, "cosine_loss", everywhere), TRIPLE, TRIPLE),
    Broken("distillation: cosine of what is embedded",
           replaced(distillation, "run", first_layer), TRIPLE),
    Broken("distillation: a teacher with dropout", replaced(FrozenTeacher, "on", lively),
           TRIPLE, TRIPLE),
    Broken("distillation: a teacher that learns", replaced(FrozenTeacher, "on", learning),
           TRIPLE),
    Broken("distillation: a teacher in the optimizer", replaced(Distiller, "__init__", held),
           TRIPLE, TRIPLE),
    Broken("distillation: a teacher without segments", replaced(distillation, "run", one_segment),
           TRIPLE),
    Broken("distillation: the teacher heard at places without a label",
           replaced(Distiller, "_counted", deaf), TRIPLE),
)  # fmt: skip
