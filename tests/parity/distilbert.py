"""DistilBERT and its heads beside the `transformers` library's, and its start from a teacher."""

from copy import deepcopy
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import distilbert
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.conversion import conversion_of
from lmcourse.models.conversion.distilbert import SETTINGS
from tests.parity import bert
from tests.parity.bert import (
    compare_results,
    sequence_labels,
    span_labels,
    tag_labels,
    token_labels,
    total,
)
from tests.parity.comparing import Architecture, Comparison, gradients, shaken


def settings(draw: Random) -> dict[str, Any]:
    """BERT's draw under the names of the library's DistilBERT, and its own settings."""
    drawn = bert.settings(draw)
    return {theirs: drawn[ours] for ours, theirs in SETTINGS.items() if ours in drawn} | {
        "qa_dropout": draw.choice([0.0, 0.3]),
        "seq_classif_dropout": draw.choice([0.0, 0.3]),
        "sinusoidal_pos_embds": draw.random() < 0.3,
    }


def batch_of(draw: Random, config: Any) -> dict[str, Tensor]:
    """BERT's draw without segments."""
    sizes = {"vocab_size": config.vocab_size, "type_vocab_size": 1}
    sizes["max_position_embeddings"] = config.max_position_embeddings
    given = bert.batch_of(draw, SimpleNamespace(**sizes))
    given.pop("token_type_ids", None)
    return given


PUBLISHED = (0, 2, 4, 7, 9, 11)
"""The layers of 12 that the published code takes (``scripts/extract_distilbert.py``)."""


def extracted(teacher: dict[str, Tensor], layers: tuple[int, ...]) -> dict[str, Tensor]:
    """The student's state under the library's names, taken from the teacher's name by name."""
    state: dict[str, Tensor] = {}
    for part in ("word_embeddings.weight", "position_embeddings.weight"):
        state[f"embeddings.{part}"] = teacher[f"bert.embeddings.{part}"]
    for number in ("weight", "bias"):
        norm = f"embeddings.LayerNorm.{number}"
        state[norm] = teacher[f"bert.{norm}"]
        for own, layer in enumerate(layers):
            for ours, theirs in (
                ("attention.q_lin", "attention.self.query"),
                ("attention.k_lin", "attention.self.key"),
                ("attention.v_lin", "attention.self.value"),
                ("attention.out_lin", "attention.output.dense"),
                ("sa_layer_norm", "attention.output.LayerNorm"),
                ("ffn.lin1", "intermediate.dense"),
                ("ffn.lin2", "output.dense"),
                ("output_layer_norm", "output.LayerNorm"),
            ):
                name = f"transformer.layer.{own}.{ours}.{number}"
                state[name] = teacher[f"bert.encoder.layer.{layer}.{theirs}.{number}"]
    state = {f"distilbert.{name}": tensor for name, tensor in state.items()}
    for number in ("weight", "bias"):
        head = "cls.predictions"
        state[f"vocab_transform.{number}"] = teacher[f"{head}.transform.dense.{number}"]
        state[f"vocab_layer_norm.{number}"] = teacher[f"{head}.transform.LayerNorm.{number}"]
        state[f"vocab_projector.{number}"] = teacher[f"{head}.decoder.{number}"]
    return state


def compare_start(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """A student on 6 of a teacher's 12 layers, or on some that are named; and its teacher after."""
    import transformers

    published = draw.random() < 0.5
    count = 12 if published else draw.randint(2, 5)
    chosen = sorted(draw.sample(range(count), draw.randint(1, count)))
    layers = PUBLISHED if published else tuple(chosen)
    drawn = bert.settings(draw) | {"num_hidden_layers": count, "layer_norm_eps": 1e-12}
    theirs = transformers.BertForMaskedLM(transformers.BertConfig(**drawn))
    teacher = BertForMaskedLM.from_transformers(shaken(theirs))
    named = None if published else layers
    ours = distilbert.DistilBertForMaskedLM.from_teacher(teacher, named).eval()
    own = {name: drawn[ours] for ours, name in SETTINGS.items() if ours in drawn}
    config = transformers.DistilBertConfig(**own | {"n_layers": len(layers)})
    config._attn_implementation = "eager"
    reference = transformers.DistilBertForMaskedLM(config).eval()
    reference.load_state_dict(extracted(theirs.state_dict(), layers))
    given = batch_of(draw, config)
    given |= token_labels(draw, config, given["input_ids"])
    real = given["attention_mask"].bool()
    result = ours(**given, **bert.BOTH)
    with bert.library_losses_in(dtype):
        other = reference(**given, **bert.BOTH)
    compare_results(comparison, result, other, real)
    comparison.add("outputs", result.hidden_states, other.hidden_states, real, "hidden_states")
    total(result, real).backward()
    total(other, real).backward()
    renaming = conversion_of(type(ours)).renaming
    comparison.add_gradients(ours, renaming.to_ours(gradients(reference)))
    comparison.add_round_trip(reference, ours.to_transformers())
    before = deepcopy(teacher)
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.add_(1.0)  # the student learns, and its teacher does not
    comparison.add_round_trip(before, teacher)


row = partial(bert.row, settings=settings, batch=batch_of)
ARCHITECTURES = (
    row("DistilBERT", distilbert.DistilBert),
    row("DistilBERT for masked LM", distilbert.DistilBertForMaskedLM, token_labels),
    row(
        "DistilBERT for sequences", distilbert.DistilBertForSequenceClassification, sequence_labels
    ),
    row("DistilBERT for questions", distilbert.DistilBertForQuestionAnswering, span_labels),
    row("DistilBERT for tokens", distilbert.DistilBertForTokenClassification, tag_labels),
    Architecture(
        "DistilBERT's start from its teacher",
        "transformers.DistilBertForMaskedLM, name by name",
        compare_start,
    ),
)
