"""BERT and its heads beside the `transformers` library's, with random settings and batches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from lmcourse.models import bert, bert_heads, bert_tasks
from lmcourse.models.checkpoint import Model
from lmcourse.models.conversion import conversion_of
from lmcourse.models.inputs import IGNORED
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradients,
    padded_batch,
    probe,
    shaken,
)

BOTH = {"output_attentions": True, "output_hidden_states": True}


def settings(draw: Random) -> dict[str, Any]:
    """Settings of the `transformers` library's BERT, small and anything but the usual."""
    heads = draw.choice([1, 2, 3, 4])
    return {
        "vocab_size": draw.randint(11, 40),
        # A LayerNorm over two or three numbers that are about equal multiplies rounding errors.
        "hidden_size": heads * draw.choice([8, 10] if heads == 1 else [4, 5, 8]),
        "num_hidden_layers": draw.randint(1, 3),
        "num_attention_heads": heads,
        "intermediate_size": draw.choice([3, 7, 32]),
        "hidden_act": draw.choice(["gelu", "gelu", "relu", "gelu_new"]),
        "hidden_dropout_prob": draw.choice([0.0, 0.1, 0.5]),
        "attention_probs_dropout_prob": draw.choice([0.0, 0.1, 0.5]),
        "max_position_embeddings": draw.randint(12, 20),
        "type_vocab_size": draw.randint(1, 3),
        "layer_norm_eps": draw.choice([1e-12, 1e-5, 1e-2]),
        "pad_token_id": draw.choice([None, 0, 3]),
        "classifier_dropout": draw.choice([None, 0.2]),
        "num_labels": draw.randint(2, 5),
    }


def batch_of(draw: Random, config: Any) -> dict[str, Tensor]:
    """Ids, padded at one side, perhaps with segments and places.

    There are more places than classes: so the shape says which results have one entry a place.
    """
    rows, time = draw.randint(2, 4), draw.randint(6, 12)
    ids, mask = padded_batch(draw, config.vocab_size, rows, time, left=draw.random() < 0.3)
    given = {"input_ids": ids, "attention_mask": mask}
    if draw.random() < 0.7:
        given["token_type_ids"] = torch.randint(config.type_vocab_size, (rows, time))
    if draw.random() < 0.5:
        given["position_ids"] = torch.randint(config.max_position_embeddings, (rows, time))
    return given


def some(labels: Tensor) -> Tensor:
    """Labels at some of the places: the first has one, and others by chance."""
    chosen = torch.rand(labels.shape) < 0.4
    chosen.view(-1)[0] = True
    return labels.masked_fill(~chosen, IGNORED)


Labels = Callable[[Random, Any, Tensor], dict[str, Tensor]]


def token_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    return {"labels": some(torch.randint(config.vocab_size, ids.shape))}


def pair_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    return {"labels": torch.randint(2, (len(ids),))}


def both_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    pairs = pair_labels(draw, config, ids)["labels"]
    return token_labels(draw, config, ids) | {"next_sentence_label": pairs}


def sequence_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    """Of any of the kinds of problem that there are, which the configuration then has."""
    rows, kind = len(ids), draw.choice(["classes", "numbers", "one number", "several"])
    if kind == "classes":
        return {"labels": some(torch.randint(config.num_labels, (rows,)))}
    if kind == "several":
        return {"labels": torch.randint(2, (rows, config.num_labels)).to(torch.get_default_dtype())}
    config.num_labels = 1 if kind == "one number" else config.num_labels
    config.problem_type = None if kind == "one number" else "regression"
    return {
        "labels": torch.randn(rows)
        if kind == "one number"
        else torch.randn(rows, config.num_labels)
    }


def tag_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    return {"labels": some(torch.randint(config.num_labels, ids.shape))}


def span_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    """Some of them behind the text, and some before it."""
    rows, time = ids.shape
    start, end = torch.randint(-1, time + 2, (2, rows))
    start[0], end[0] = 1, time - 1
    config.num_labels = 2  # which is what both sides' head has
    return {"start_positions": start, "end_positions": end}


@dataclass(frozen=True)
class Row:
    """A row of the table: one of our classes, and what its settings and batches are.

    Attributes:
        ours: the class.
        labels: what labels a batch has, if any.
        arguments: what the counterpart is made with, besides its configuration.
        settings: draws the counterpart's settings.
        batch: draws a batch for a configuration.
    """

    ours: type[Model]
    labels: Labels | None = None
    arguments: tuple[tuple[str, Any], ...] = ()
    settings: Callable[[Random], dict[str, Any]] = settings
    batch: Callable[[Random, Any], dict[str, Tensor]] = batch_of

    def compare(self, draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
        import transformers

        conversion = conversion_of(self.ours)
        config = getattr(transformers, conversion.config)(**self.settings(draw))
        given = self.given(draw, config)
        config._attn_implementation = "eager"
        kind = getattr(transformers, conversion.architecture)
        reference = shaken(kind(config, **dict(self.arguments)).to(dtype))
        if draw.random() < 0.2:
            given["attention_mask"] = torch.ones_like(given["attention_mask"])
        compare(comparison, self.ours, reference, given, dtype)

    def given(self, draw: Random, config: Any) -> dict[str, Tensor]:
        """A batch, and its labels, which may settle what the configuration leaves open."""
        given = self.batch(draw, config)
        if self.labels is not None:
            given |= self.labels(draw, config, given["input_ids"])
        return given


def compare(
    comparison: Comparison,
    kind: type[Model],
    reference: Any,
    given: dict[str, Tensor],
    dtype: torch.dtype,
) -> None:
    """All that both give for the same batch, and every gradient; and the way there and back.

    The reference computes its attention both in steps and by PyTorch's fused kernel.
    """
    ours = kind.from_transformers(reference)
    asked = {"transformers_loss": True} if "start_positions" in given else {}
    with library_losses_in(dtype):
        theirs = reference(**given, **BOTH)
        theirs_fused = theirs
        if reference._supports_sdpa:
            reference.set_attn_implementation("sdpa")
            theirs_fused = reference(**given)
            reference.set_attn_implementation("eager")
    readable, fused = ours(**given, **asked, **BOTH), ours(**given, **asked)
    real = given["attention_mask"].flatten(0, -2).bool()
    for own in (readable, fused):
        for other in (theirs, theirs_fused):
            compare_results(comparison, own, other, real)
    comparison.add("outputs", readable.hidden_states, theirs.hidden_states, real, "hidden_states")
    seen = real[:, :, None].expand(*real.shape, real.shape[1])
    for number, (weights, others) in enumerate(
        zip(readable.attentions, theirs.attentions, strict=True)
    ):
        one, other = weights.permute(0, 2, 3, 1), others.permute(0, 2, 3, 1)
        comparison.add("attentions", one, other, seen, f"attentions[{number}]")
    total(theirs, real).backward()
    total(fused, real).backward()
    names = conversion_of(kind, type(reference).__name__).names(reference.config)
    comparison.add_gradients(ours, names.to_ours(gradients(reference)))
    comparison.add_round_trip(ours, kind.from_transformers(ours.to_transformers()))
    comparison.add_round_trip(reference, ours.to_transformers())


def compare_results(comparison: Comparison, ours: Any, theirs: Any, real: Tensor) -> None:
    """Every result but hidden states and attentions."""
    for name in single(ours):
        one, other = ours[name], theirs[name]
        where = real if one.shape[:2] == real.shape else None
        comparison.add("loss" if name == "loss" else "outputs", one, other, where, name)


def total(result: Any, real: Tensor) -> Tensor:
    """What is differentiated: the loss where there is one, and a probe of all other results.

    The probe counts as a step of length about one: the gradients of a sum over thousands of
    logits would be thousands of times the rounding errors of one.
    """
    names = [name for name in single(result) if name != "loss"]
    tensors = [result[name] for name in names]
    chosen = [t[real] if t.shape[:2] == real.shape else t for t in tensors]
    step = probe(*chosen) / sum(t.numel() for t in chosen) ** 0.5
    return step + result["loss"] if "loss" in result.keys() else step  # noqa: SIM118


def single(result: Any) -> list[str]:
    """The names of the results that are one tensor."""
    names = result.keys()
    return [name for name in names if isinstance(result[name], Tensor)]


@contextmanager
def library_losses_in(dtype: torch.dtype) -> Iterator[None]:
    """Have the library compute its losses in this type: it rounds logits to float32 for them."""
    with patch.object(Tensor, "float", lambda tensor: tensor.to(dtype)):
        yield


def row(name: str, kind: type[Model], labels: Labels | None = None, **options: Any) -> Architecture:
    """A row of the table; the options are the further attributes of `Row`."""
    arguments = tuple(options.pop("arguments", {}).items())
    reference = f"transformers.{conversion_of(kind).architecture}"
    compare = Row(kind, labels, arguments=arguments, **options).compare
    return Architecture(name, reference, compare)


ARCHITECTURES = (
    row("BERT", bert.Bert),
    row("BERT without pooler", bert.Bert, arguments={"add_pooling_layer": False}),
    row("BERT for pre-training", bert_heads.BertForPreTraining, both_labels),
    row("BERT for masked LM", bert_heads.BertForMaskedLM, token_labels),
    row("BERT for sequences", bert_tasks.BertForSequenceClassification, sequence_labels),
    row("BERT for questions", bert_tasks.BertForQuestionAnswering, span_labels),
    row("BERT for tokens", bert_tasks.BertForTokenClassification, tag_labels),
)
