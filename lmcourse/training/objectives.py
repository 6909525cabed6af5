"""Objectives: what is to be learned of a batch.

An objective makes of a batch (see `lmcourse.training.examples`) its mean loss, and says how many
predictions that is the mean of. It has two parts: what is *drawn* (masks), on the CPU and for the
whole batch, and the *loss*, from the model, on its device and for this process's part of the batch.

    objective                       published as
    MaskedLM(model, masking)        BERT's MLM, RoBERTa; with `Spans` and its model, SpanBERT
    PreTraining(model, masking)     BERT's MLM and NSP; ALBERT's MLM and SOP
    NextSentence(model)             NSP alone
    CausalLM(model)                 GPT; recurrent language models
    Labelled(model)                 fine-tuning: classes, tags, answers
    ReplacedTokens(pair, masking)   ELECTRA             (these two in lmcourse.training.two_models)
    Distilled(distiller, masking)   DistilBERT, TinyBERT

Where a loss is a sum of means over different things (masked tokens and pairs of sentences, masked
tokens and all tokens), its weight is the number of the first. In a step of several losses, the
first part is then the mean over all of its predictions together; each other part is a mean of the
losses' means, in which a loss counts as much as it has of the first. One batch with the same number
of both everywhere gives the same gradient, however it is divided.
"""

from inspect import signature
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from lmcourse.errors import CourseError
from lmcourse.models.bert_heads import BertForNextSentencePrediction
from lmcourse.models.bert_tasks import BertForSequenceClassification, BertForTokenClassification
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.inputs import IGNORED
from lmcourse.models.rnn_lm import RNNLanguageModel
from lmcourse.training.examples import PLACES, Batch
from lmcourse.training.masking import Masking, StaticMasking

INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
PAIRS = ("next_sentence_label", "sentence_order_label")
ONE_CLASS = "single_label_classification"
LABELS = ("labels", "start_positions", "end_positions", *PAIRS)


class Objective:
    """What is to be learned of a batch: ``objective(batch, generator)`` is (mean loss, weight).

    Args:
        model: what the loss is computed with, and trained. It may stand in PyTorch's
            ``DistributedDataParallel``.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def __call__(
        self, batch: Batch, generator: torch.Generator | None = None
    ) -> tuple[Tensor, int | float]:
        """The mean loss of a batch, a scalar, and the number of predictions in it.

        Args:
            batch: as `lmcourse.training.examples.padded` makes it.
            generator: where chance comes from (but dropout's, which is PyTorch's own).
        """
        return self.loss(self.drawn(batch, generator), generator)

    def drawn(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """The batch with what is drawn for it; as it is, if nothing is."""
        return batch

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """The mean loss and the number of predictions, of a batch for which all is drawn."""
        raise NotImplementedError

    @property
    def module(self) -> nn.Module:
        """The model, out of what exchanges its gradients with other processes."""
        wrapped = isinstance(self.model, DistributedDataParallel)
        return cast(nn.Module, self.model.module) if wrapped else self.model

    @property
    def config(self) -> dict[str, str]:
        """What must be the same when a run is taken up again."""
        return {"class": type(self).__name__}

    @property
    def pad_token_id(self) -> int:
        """What sequences are filled up with; 0 where the model does not care."""
        found = getattr(getattr(self.module, "config", None), "pad_token_id", None)
        return 0 if found is None else found

    @property
    def classes(self) -> dict[str, int]:
        """How many classes there are of each label; none where only the model can tell."""
        return dict.fromkeys(PAIRS, 2)

    @property
    def vocab_size(self) -> int | None:
        """How many ids the model knows; None where it does not say so."""
        tables = [table.word.num_embeddings for table in self._embeddings]
        config = getattr(self.module, "config", None)
        return min(tables, default=getattr(config, "vocab_size", None))

    @property
    def longest(self) -> int | None:
        """The longest sequence that the model reads; None where it does not say so."""
        return min((table.longest for table in self._embeddings), default=None)

    @property
    def _embeddings(self) -> list[Embeddings]:
        return [part for part in self.module.modules() if isinstance(part, Embeddings)]

    def given(self, batch: Batch, *more: str) -> dict[str, Tensor]:
        """What of a batch the model is given, on its device.

        A model that tells no segments apart, such as RoBERTa or GPT, is not given any.

        Args:
            more: names beside those of the inputs.
        """
        known = signature(self.module.forward).parameters
        open_ended = any(it.kind is it.VAR_KEYWORD for it in known.values())
        names = [name for name in INPUTS if name in batch and (open_ended or name in known)]
        segments = getattr(getattr(self.module, "config", None), "type_vocab_size", None)
        if segments is not None and segments < 2 and "token_type_ids" in names:
            names.remove("token_type_ids")
        device = next(self.module.parameters()).device
        return {name: batch[name].to(device) for name in (*names, *more)}


class Labelled(Objective):
    """Labels that the examples bring: of sequences, of tokens, or where an answer stands."""

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. Each label that is not ``IGNORED`` is a prediction.

        Of an answer, both ends are one.
        """
        known = signature(self.module.forward).parameters
        names = [name for name in LABELS if name in batch and name in known]
        if not names:
            raise CourseError(
                f"A batch has {', '.join(batch)}, and no label that {type(self.module).__name__} "
                "learns from.",
                f"Give the examples {', '.join(name for name in LABELS if name in known)}.",
            )
        time, first = batch["input_ids"].shape[1], batch[names[0]]
        for name in PLACES.intersection(names):  # models leave out what lies behind the text
            batch = batch | {name: batch[name].masked_fill(batch[name] == IGNORED, time)}
        loss = self.model(**self.given(batch, *names)).loss
        there = first != IGNORED
        if names[0] in PLACES:
            there &= first < time
        return loss, int(there.sum())

    @property
    def classes(self) -> dict[str, int]:
        """See `Objective.classes`."""
        tagger = (BertForTokenClassification, BertForSequenceClassification)
        if not isinstance(self.module, tagger):
            return super().classes
        config = self.module.config
        if config.num_labels == 1 or config.problem_type not in (None, ONE_CLASS):
            return super().classes  # numbers, or several yes or no
        return super().classes | {"labels": config.num_labels}


class MaskedLM(Objective):
    """Masked tokens. (Labels that the examples bring are another task's, and put aside.)

    Args:
        model: one with a head for masked tokens, such as `BertForMaskedLM`.
        masking: `Masking` for a fresh mask each time, or `StaticMasking`.

    Raises:
        CourseError: it is none, or has tokens that the model does not know.
    """

    def __init__(self, model: nn.Module, masking: Masking | StaticMasking) -> None:
        super().__init__(model)
        self.masking = fitting(masking, self.vocab_size)

    def drawn(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """The batch with masked tokens in it, and the tokens themselves as labels."""
        input_ids, labels = self.masking.of_batch(batch, generator)
        return {**batch, "input_ids": input_ids, "labels": labels}

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. Each masked token is a prediction."""
        return self.model(**self.given(batch, "labels")).loss, predictions(batch)

    @property
    def config(self) -> dict[str, str]:
        """See `Objective.config`."""
        return super().config | {"masking": repr(self.masking)}


class PreTraining(MaskedLM):
    """Masked tokens, and pairs: whether B follows A (BERT), or whether they are swapped (ALBERT).

    Which of the two, the model says; `lmcourse.training.pairs` makes the examples.
    """

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. The weight counts the masked tokens."""
        known = signature(self.module.forward).parameters
        wanted = [name for name in PAIRS if name in known]
        if not wanted or wanted[0] not in batch:
            raise CourseError(
                f"{type(self.module).__name__} takes {' '.join(wanted) or 'no label of a pair'}; "
                f"the batch has {', '.join(name for name in PAIRS if name in batch) or 'none'}.",
                "BertForPreTraining reads pairs of segment_pairs or sentence_pairs, "
                "AlbertForPreTraining those of swapped_pairs.",
            )
        return self.model(**self.given(batch, "labels", *wanted)).loss, predictions(batch)


class NextSentence(Objective):
    """Pairs alone.

    Args:
        model: a `BertForNextSentencePrediction`.
    """

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. Each pair is a prediction."""
        found = next((name for name in PAIRS if name in batch), None)
        if found is None or not isinstance(self.module, BertForNextSentencePrediction):
            raise CourseError(
                f"{type(self.module).__name__} and a batch of {', '.join(batch)} are not for the "
                "next sentence's task.",
                "Give a BertForNextSentencePrediction, and pairs of lmcourse.training.pairs.",
            )
        labels = batch[found]
        return self.model(**self.given(batch | {"labels": labels}, "labels")).loss, len(labels)


class CausalLM(Objective):
    """Each token from those before it.

    Args:
        model: a `GPTForCausalLM` or an `RNNLanguageModel`. (A text that is read window after
            window, the state carried over, is `lmcourse.training.window_losses`'s.)
    """

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. Each token but a sequence's first is a prediction."""
        ids, mask = batch["input_ids"], batch["attention_mask"]
        labels = ids.masked_fill(mask == 0, IGNORED)
        count = int((labels[:, 1:] != IGNORED).sum())
        if isinstance(self.module, RNNLanguageModel):  # its labels are shifted already
            inputs = {"input_ids": ids[:, :-1], "attention_mask": mask[:, :-1]}
            batch, labels = batch | inputs, labels[:, 1:]
        return self.model(**self.given(batch | {"labels": labels}, "labels")).loss, count


def predictions(batch: Batch) -> int:
    """How many labels a batch has that are not ``IGNORED``."""
    return int((batch["labels"] != IGNORED).sum())


def fitting(masking: Masking | StaticMasking, vocab_size: int | None) -> Masking | StaticMasking:
    """A masking, if a model knows the tokens that it puts into a text.

    Raises:
        CourseError: it does not; or this is no masking.
    """
    drawn = masking.masking if isinstance(masking, StaticMasking) else masking
    if not isinstance(drawn, Masking):
        raise CourseError(
            f"A {type(drawn).__name__} does not mask by itself.",
            "Give Masking(mask_id, vocab_size), with select=Spans() for example, or a "
            "StaticMasking of it.",
        )
    if vocab_size is not None and max(drawn.mask_id, drawn.vocab_size - 1) >= vocab_size:
        raise CourseError(
            f"The masking has mask_id={drawn.mask_id} and draws random tokens from 0 to "
            f"{drawn.vocab_size - 1}; the model knows 0 to {vocab_size - 1}.",
            "Give the mask_id and the vocab_size of the tokenizer that the model was built for.",
        )
    return masking
