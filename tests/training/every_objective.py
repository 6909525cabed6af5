"""Each objective with a tiny model in float64, and a batch that is hard to divide.

Its sequences have different lengths and numbers of labels, and the first two have no label at all
for one of the losses, wherever labels can be left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from lmcourse.models.albert import AlbertConfig, AlbertForPreTraining, AlbertForQuestionAnswering
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import (
    BertForMaskedLM,
    BertForPreTraining,
)
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.electra import ElectraConfig, ElectraForPreTraining
from lmcourse.models.electra_pair import ElectraPair, ElectraPairConfig
from lmcourse.models.gpt import GPTConfig, GPTForCausalLM
from lmcourse.models.inputs import IGNORED
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.models.spanbert import SpanBertConfig, SpanBertForPreTraining
from lmcourse.models.tinybert import TinyBertDistiller
from lmcourse.models.triple_loss import DistillationConfig, Distiller
from lmcourse.training.examples import Batch, padded, part_of
from lmcourse.training.fit import Terms
from lmcourse.training.masking import Masking, StaticMasking
from lmcourse.training.objectives import (
    CausalLM,
    Labelled,
    MaskedLM,
    Objective,
    PreTraining,
)
from lmcourse.training.selection import Spans
from lmcourse.training.two_models import Distilled, ReplacedTokens
from tests.parity.comparing import shaken

V, MASK, CLASSES = 23, 3, 4
SETTINGS: dict[str, Any] = {
    "vocab_size": V,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 32,
}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
LENGTHS = 3, 2, 14, 6, 9, 4, 11
MASKING = Masking(MASK, V, rate=0.4)
NO_LABEL = range(2)  # the first examples
BINARY = "multi_label_classification"


def examples() -> list[dict[str, Any]]:
    """Texts of pairs; the first ones consist of special tokens, and their pairs have no label."""
    generator, found = torch.Generator().manual_seed(0), []
    for number, length in enumerate(LENGTHS):
        ids = torch.randint(4, V, (length,), generator=generator)
        ids[0], ids[-1] = 1, 2
        special = (ids < 4) | torch.tensor(number in NO_LABEL)
        pair = IGNORED if number in NO_LABEL else number % 2
        found.append(
            {
                "input_ids": ids.tolist(),
                "special_tokens_mask": special.long().tolist(),
                "token_type_ids": (torch.arange(length) > length // 2).long().tolist(),
                "word_ids": list(range(length)),
                "next_sentence_label": pair,
                "sentence_order_label": pair,
            }
        )
    return found


def labeled(label: Callable[[int, int], Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The examples with labels, from each one's number and length."""
    return [example | label(at, LENGTHS[at]) for at, example in enumerate(examples())]


def classes(at: int, length: int) -> dict[str, Any]:
    return {"labels": IGNORED if at in NO_LABEL else at % CLASSES}


def tags(at: int, length: int) -> dict[str, Any]:
    """One token in three, at most, has no tag."""
    kept = range(0) if at in NO_LABEL else range(length)
    return {"labels": [i % CLASSES if i in kept and i % 3 else IGNORED for i in range(length)]}


def numbers(count: int) -> Callable[[int, int], dict[str, Any]]:
    return lambda at, length: {"labels": [(at * (i + 1) % 5) / 5 for i in range(count)]}


def answers(at: int, length: int) -> dict[str, Any]:
    """One answer ends beyond its example."""
    known = at not in NO_LABEL
    return {
        "start_positions": length // 3 if known else IGNORED,
        "end_positions": length - 1 if known and at % 3 else IGNORED,
    }


def model(kind: Any, config: Any = BertConfig, **more: Any) -> Any:
    return kind(config(**(SETTINGS | NO_DROPOUT | more)))


def distilled(kind: Any, masking: Masking | None = None, **changes: Any) -> Distilled:
    weights = DistillationConfig(2.0, 5.0, 2.0, 1.0, **changes)
    sizes = {"num_labels": CLASSES}
    pair = model(kind, num_hidden_layers=1, **sizes), model(kind, **sizes)
    return Distilled(_double(Distiller(*pair, weights)), masking)


def tinybert(kind: Any, stage: str) -> Distilled:
    """Without gradients for what a stage does not train: processes could not exchange them."""
    pair = model(kind, num_hidden_layers=1, num_labels=CLASSES), model(kind, num_labels=CLASSES)
    distiller = _double(TinyBertDistiller(*pair, weights=(0.5, 2.0, 3.0)))
    unused = {
        "general": [part for name, part in pair[0].named_children() if name != "bert"],
        "prediction": [distiller.embedding_projection, distiller.hidden_projection],
        "all": [],
    }
    for part in unused[stage]:
        part.requires_grad_(False)
    return Distilled(distiller, MASKING if kind is BertForMaskedLM else None, stage=stage)


def _double(module: nn.Module) -> nn.Module:
    for teacher in (part.teacher for part in module.modules() if hasattr(part, "teacher")):
        teacher.model.double()
    return module.double()


def pair() -> ElectraPair:
    config = ElectraConfig(**SETTINGS, **NO_DROPOUT, embedding_size=8)
    return ElectraPair(ElectraPairConfig(config, 1 / 3))


def spans() -> SpanBertForPreTraining:
    return model(SpanBertForPreTraining, SpanBertConfig, max_span_length=2)


ALBERT = {"classifier_dropout": 0.0, "embedding_size": 6}
Made = tuple[Objective, list[dict[str, Any]]]
EVERY: dict[str, Callable[[], Made]] = {
    "masked tokens": lambda: (MaskedLM(model(BertForMaskedLM), MASKING), examples()),
    "masked tokens, static": lambda: (
        MaskedLM(model(BertForMaskedLM), StaticMasking(MASKING)),
        examples(),
    ),
    "masked spans": lambda: (MaskedLM(spans(), Masking(MASK, V, Spans(), rate=0.6)), examples()),
    "masked tokens and next sentences": lambda: (
        PreTraining(model(BertForPreTraining), MASKING),
        examples(),
    ),
    "masked tokens and order": lambda: (
        PreTraining(model(AlbertForPreTraining, AlbertConfig, **ALBERT), MASKING),
        examples(),
    ),
    "GPT": lambda: (
        CausalLM(GPTForCausalLM(GPTConfig(**SETTINGS, **NO_DROPOUT, embd_pdrop=0.0))),
        [
            {"input_ids": one["input_ids"][:1] if at in NO_LABEL else one["input_ids"]}
            for at, one in enumerate(examples())
        ],
    ),
    "recurrent": lambda: (
        CausalLM(RNNLanguageModel(RNNConfig(V, 5, 6))),
        [
            {"input_ids": one["input_ids"][:1] if at in NO_LABEL else one["input_ids"]}
            for at, one in enumerate(examples())
        ],
    ),
    "GPT on labels": lambda: (
        Labelled(GPTForCausalLM(GPTConfig(**SETTINGS, **NO_DROPOUT, embd_pdrop=0.0))),
        labeled(tags),
    ),
    "classes": lambda: (
        Labelled(model(BertForSequenceClassification, num_labels=CLASSES)),
        labeled(classes),
    ),
    "tags": lambda: (
        Labelled(model(BertForTokenClassification, num_labels=CLASSES)),
        labeled(tags),
    ),
    "a number": lambda: (
        Labelled(model(BertForSequenceClassification, num_labels=1)),
        labeled(lambda at, length: {"labels": -100.0 if at == 3 else float(at)}),
    ),
    "several numbers": lambda: (
        Labelled(model(BertForSequenceClassification, num_labels=5, problem_type="regression")),
        labeled(numbers(5)),
    ),
    "binary labels": lambda: (
        Labelled(model(BertForSequenceClassification, num_labels=5, problem_type=BINARY)),
        labeled(numbers(5)),
    ),
    "binary integers": lambda: (
        Labelled(model(BertForSequenceClassification, num_labels=5, problem_type=BINARY)),
        labeled(lambda at, length: {"labels": [at % 2, 1, 0, at % 3 % 2, 1]}),
    ),
    "answers": lambda: (Labelled(model(BertForQuestionAnswering)), labeled(answers)),
    "ALBERT's answers": lambda: (
        Labelled(model(AlbertForQuestionAnswering, AlbertConfig, **ALBERT)),
        labeled(answers),
    ),
    "replaced tokens, labeled": lambda: (
        Labelled(model(ElectraForPreTraining, ElectraConfig, embedding_size=8)),
        labeled(lambda at, length: {"labels": [min(1, tag) for tag in tags(at, length)["labels"]]}),
    ),
    "replaced tokens": lambda: (ReplacedTokens(pair(), MASKING), examples()),
    "DistilBERT's losses": lambda: (distilled(BertForMaskedLM, MASKING), examples()),
    "DistilBERT's losses at masks": lambda: (
        distilled(BertForMaskedLM, MASKING, restrict_ce_to_mask=True),
        examples(),
    ),
    "distilled classes": lambda: (distilled(BertForSequenceClassification), labeled(classes)),
    "distilled tags": lambda: (distilled(BertForTokenClassification), labeled(tags)),
    "distilled without labels": lambda: (distilled(BertForSequenceClassification), examples()),
    "TinyBERT, general": lambda: (tinybert(BertForMaskedLM, "general"), examples()),
    "TinyBERT, prediction": lambda: (
        tinybert(BertForSequenceClassification, "prediction"),
        examples(),
    ),
    "TinyBERT, all": lambda: (tinybert(BertForMaskedLM, "all"), examples()),
}


def made(name: str) -> Made:
    """An objective with its model in float64, and its examples."""
    torch.manual_seed(1)
    objective, found = EVERY[name]()
    shaken(objective.model.double())
    return objective, found


def whole_batch(objective: Objective, found: Sequence[Mapping[str, Any]]) -> Batch:
    """All examples, with the objective's random draws; without examples, multiple choices."""
    if found:
        batch = padded(found, objective.pad_token_id)
        rows = torch.arange(len(found))
        batch |= {"example": rows, "epoch": torch.zeros_like(rows)}
        return objective.sample(batch, torch.Generator().manual_seed(2))
    texts = padded(examples())
    names = ("input_ids", "attention_mask", "token_type_ids")
    batch = {name: torch.stack([texts[name], texts[name].roll(1, 0)], 1) for name in names}
    return batch | {"labels": torch.tensor([IGNORED, IGNORED, 0, 1, 1, 0, 1])}


class Parts:
    """The losses of a batch's parts, or of this process's share of each of them."""

    def __init__(
        self, objective: Objective, batch: Batch, cuts: Sequence[int], share: tuple[int, int]
    ) -> None:
        self.objective, self.at = objective, 0
        edges = [0, *cuts, len(batch["input_ids"])]
        rank, count = share
        self.parts = [
            self._part(batch, slice(start + rank, end, count)) for start, end in pairwise(edges)
        ]

    @staticmethod
    def _part(batch: Batch, rows: slice) -> Batch:
        if batch["input_ids"].ndim == 2:
            return part_of(batch, rows)
        return {name: tensor[rows] for name, tensor in batch.items()}

    def __iter__(self) -> Iterator[Terms]:
        for part in self.parts:
            self.at += 1
            means, counts = self.objective.means(part), self.objective.counts(part)
            yield [*zip(means, counts, strict=True)]

    def ahead(self, number: int) -> list[Sequence[float]]:
        following = self.parts[self.at : self.at + number]
        return [self.objective.counts(part) for part in following]
