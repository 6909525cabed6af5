"""Objectives: what a model learns from a batch.

An objective computes the loss of a batch (see `lmcourse.training.examples`) as one or more *terms*.
Each is a mean over predictions of one kind, with their number; the loss is the sum of the means. It
has two parts: the random *sample* (masks), on the CPU and for the whole batch, and the *means* with
the model, on its device and for this process's part of the batch.

    objective                       published as
    MaskedLM(model, masking)        BERT's MLM, RoBERTa; with `Spans` and its model, SpanBERT
    PreTraining(model, masking)     BERT's MLM and NSP; ALBERT's MLM and SOP
    CausalLM(model)                 GPT; recurrent language models
    Labelled(model)                 fine-tuning: classes, tags, answers
    ReplacedTokens(pair, masking)   ELECTRA             (these two in lmcourse.training.two_models)
    Distilled(distiller, masking)   DistilBERT, TinyBERT

In a step of several losses, each term is the mean over all of its predictions together. So loss and
gradient do not depend on how a batch is divided, even if one part has many masked tokens and few
labeled pairs, or none; except that dropout differs.
"""

from collections.abc import Sequence
from inspect import signature
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.bert_tasks import BertForSequenceClassification, problem_type_of
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.inputs import IGNORED, check_range, padding_mask
from lmcourse.models.losses import position_labels
from lmcourse.models.rnn_lm import RNNLanguageModel
from lmcourse.models.spanbert import SpanBertForPreTraining, boundaries, span_offsets
from lmcourse.training.distributed import unwrapped
from lmcourse.training.examples import ANSWER, Batch
from lmcourse.training.fit import Terms
from lmcourse.training.masking import Masking, StaticMasking

INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
PAIRS = ("next_sentence_label", "sentence_order_label")
LABELS = ("labels", "start_positions", "end_positions", *PAIRS)


class Objective:
    """What a model learns from a batch: ``objective(batch, generator)`` are the loss's terms.

    Args:
        model: what is trained; possibly wrapped in PyTorch's ``DistributedDataParallel``.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def __call__(self, batch: Batch, generator: torch.Generator | None = None) -> Terms:
        """The terms of a batch's loss.

        Args:
            batch: from `lmcourse.training.examples.padded`.
            generator: the source of randomness, except for dropout, which uses PyTorch's default.
        """
        batch = self.sample(batch, generator)
        return [*zip(self.means(batch), self.counts(batch), strict=True)]

    def sample(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """The batch with the random sample of this objective; unchanged, if it has none."""
        return batch

    def means(self, batch: Batch) -> Sequence[Tensor]:
        """The mean of each term, for a batch returned by `sample`; 0 if it has no predictions."""
        raise NotImplementedError

    def counts(self, batch: Batch) -> Sequence[int | float]:
        """The number of predictions of each term, which is known before the model is applied."""
        raise NotImplementedError

    @property
    def module(self) -> nn.Module:
        """The model, without the wrapper that exchanges gradients with other processes."""
        return unwrapped(self.model)

    @property
    def config(self) -> dict[str, str]:
        """What must be the same when a run is resumed."""
        return {"class": type(self).__name__}

    @property
    def pad_token_id(self) -> int:
        """The padding token; 0 if the model has none."""
        found = getattr(getattr(self.module, "config", None), "pad_token_id", None)
        return 0 if found is None else found

    @property
    def vocab_size(self) -> int | None:
        """The number of ids that the model knows; None if it is unknown."""
        parts = [part for part in self.module.modules() if isinstance(part, Embeddings)]
        tables = [part.word.num_embeddings for part in parts]
        config = getattr(self.module, "config", None)
        return min(tables, default=getattr(config, "vocab_size", None))

    def model_inputs(self, batch: Batch, *more: str) -> dict[str, Tensor]:
        """The model's arguments in a batch, on its device.

        A model without segments, such as RoBERTa or GPT, gets no ``token_type_ids``.

        Args:
            more: names of further arguments, such as labels.
        """
        known = signature(self.module.forward).parameters
        open_ended = any(it.kind is it.VAR_KEYWORD for it in known.values())
        names = [name for name in INPUTS if name in batch and (open_ended or name in known)]
        segments = getattr(getattr(self.module, "config", None), "type_vocab_size", None)
        if segments is not None and segments < 2 and "token_type_ids" in names:
            names.remove("token_type_ids")
        device = next(self.module.parameters()).device
        if device.type != "cpu":
            names = self._checked(names, batch)
        return {name: batch[name].to(device) for name in (*names, *more)}

    def _checked(self, names: list[str], batch: Batch) -> list[str]:
        """Check a batch for a GPU while it is on the CPU; leave out a mask that hides nothing.

        A model on a GPU does not read the values again (`lmcourse.models.inputs`).
        """
        ids = batch.get("input_ids")
        if ids is not None and ids.ndim == 2 and ids.device.type == "cpu" and self.vocab_size:
            check_range(ids, self.vocab_size, "input_ids")  # ELMo's characters have a third axis
        mask = batch.get("attention_mask")
        if mask is not None and mask.device.type == "cpu" and bool(mask.all()):
            names = [name for name in names if name != "attention_mask"]
        return names


class Labelled(Objective):
    """Labels of the examples: of sequences, of tokens, or an answer's positions."""

    def means(self, batch: Batch) -> Sequence[Tensor]:
        return terms_of(self.model(**self.model_inputs(batch, *self._names(batch))))

    def counts(self, batch: Batch) -> list[int]:
        return predictions(self.module, batch, *self._names(batch))

    def _names(self, batch: Batch) -> list[str]:
        """The labels in a batch that the model takes."""
        known = signature(self.module.forward).parameters
        names = [name for name in LABELS if name in batch and name in known]
        if not names:
            raise CourseError(
                f"A batch has {', '.join(batch)}, and no label for {type(self.module).__name__}.",
                f"Add {', '.join(name for name in LABELS if name in known)} to the examples.",
            )
        return names


class MaskedLM(Objective):
    """Masked tokens. (Labels of the examples belong to another task and are ignored.)

    Args:
        model: one with a head for masked tokens, such as `BertForMaskedLM`.
        masking: `Masking` for a new mask each time, or `StaticMasking`.
    """

    def __init__(self, model: nn.Module, masking: Masking | StaticMasking) -> None:
        super().__init__(model)
        self.masking = masking

    def sample(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """The batch with masked tokens, and the original tokens as labels."""
        input_ids, labels = self.masking.of_batch(batch, generator)
        return {**batch, "input_ids": input_ids, "labels": labels}

    def means(self, batch: Batch) -> Sequence[Tensor]:
        """See `Objective.means`: of the masked tokens; with SpanBERT, also from boundaries."""
        return terms_of(self.model(**self.model_inputs(batch, "labels")))

    def counts(self, batch: Batch) -> list[int]:
        return predictions(self.module, batch, "labels")

    @property
    def config(self) -> dict[str, str]:
        return super().config | {"masking": repr(self.masking)}


class PreTraining(MaskedLM):
    """Masked tokens, and pairs: whether B follows A (BERT), or whether they are swapped (ALBERT).

    The model determines which; `lmcourse.training.pairs` builds the examples.
    """

    def means(self, batch: Batch) -> Sequence[Tensor]:
        """See `Objective.means`: of the masked tokens, and of the pairs."""
        return terms_of(self.model(**self.model_inputs(batch, "labels", self._pairs(batch))))

    def counts(self, batch: Batch) -> list[int]:
        return predictions(self.module, batch, "labels", self._pairs(batch))

    def _pairs(self, batch: Batch) -> str:
        """The name of the pairs' labels."""
        known = signature(self.module.forward).parameters
        wanted = [name for name in PAIRS if name in known]
        if not wanted or wanted[0] not in batch:
            raise CourseError(
                f"{type(self.module).__name__} takes {' '.join(wanted) or 'no label of a pair'}; "
                f"the batch has {', '.join(name for name in PAIRS if name in batch) or 'none'}.",
                "BertForPreTraining needs examples of segment_pairs or sentence_pairs, "
                "AlbertForPreTraining those of swapped_pairs.",
            )
        return wanted[0]


class CausalLM(Objective):
    """Each token from those before it.

    Args:
        model: a `GPTForCausalLM` or an `RNNLanguageModel`. (`lmcourse.training.window_losses` reads
            one long text in windows, and carries the state over.)
    """

    def means(self, batch: Batch) -> Sequence[Tensor]:
        """See `Objective.means`: of each token but a sequence's first."""
        labels = self._labels(batch)
        if isinstance(self.module, RNNLanguageModel):  # its labels are shifted already
            labels = nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORED)
        return terms_of(self.model(**self.model_inputs(batch | {"labels": labels}, "labels")))

    def counts(self, batch: Batch) -> list[int]:
        return [int((self._labels(batch)[:, 1:] != IGNORED).sum())]

    def _labels(self, batch: Batch) -> Tensor:
        return batch["input_ids"].masked_fill(batch["attention_mask"] == 0, IGNORED)


ONE_CLASS = "single_label_classification"


def terms_of(output: Any) -> Sequence[Tensor]:
    """The terms of a model's loss; the loss itself, if it is one mean."""
    return getattr(output, "terms", None) or (output.loss,)


def predictions(model: nn.Module, batch: Batch, *names: str) -> list[int]:
    """The number of predictions of each term of a model's loss on labels with these names."""
    counts = []
    for name in names:
        labels = batch[name]
        if name in ANSWER:
            labels = position_labels(labels, real_positions(batch))
        elif isinstance(model, GPTForCausalLM):  # nothing predicts the first token
            labels = labels[..., 1:]
        predicted = labels != IGNORED
        if not _classes(model, labels):
            predicted = torch.ones_like(predicted)
        counts.append(int(predicted.sum()))
        if isinstance(model, SpanBertForPreTraining):
            near = span_offsets(boundaries(predicted)[0]) < model.config.max_span_length
            counts.append(int((predicted & near).sum()))
    return counts


def real_positions(batch: Batch) -> Bool[Tensor, "sequence time"]:
    """False at padding."""
    ids = batch["input_ids"]
    real = padding_mask(batch.get("attention_mask"), ids[..., None])
    return torch.ones_like(ids, dtype=torch.bool) if real is None else real


def _classes(model: nn.Module, labels: Tensor) -> bool:
    """Whether labels are classes, which may be ``IGNORED``; numbers and binary labels may not."""
    if isinstance(model, BertForSequenceClassification):
        return problem_type_of(model.config, labels) == ONE_CLASS
    return not labels.is_floating_point()
