"""DeBERTa and its heads beside the `transformers` library's, and beside slow forms of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, cast
from unittest.mock import patch

import torch
from torch import Tensor

from lmcourse.models import deberta
from lmcourse.models.checkpoint import Model
from lmcourse.models.conversion import conversion_of
from lmcourse.models.disentangled_attention import TERMS
from lmcourse.models.enhanced_mask_decoder import DebertaForPreTraining
from lmcourse.models.inputs import IGNORED
from lmcourse.models.sift import sift, squared_error, symmetric_kl
from tests.parity import bert
from tests.parity import slow_deberta as slow
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradient,
    padded_batch,
    probe,
    shaken,
)
from tests.parity.slow_bert import activation, below, copied, cost, linear


def settings(draw: Random) -> dict[str, Any]:
    """Settings of the `transformers` library's DeBERTa, small and anything but the usual.

    The distances are clipped in most batches, which have 6 to 12 tokens, and not in all.
    """
    own = bert.settings(draw)
    del own["classifier_dropout"]  # which it has not
    return own | {
        "type_vocab_size": draw.choice([0, 0, 2]),
        "layer_norm_eps": draw.choice([1e-7, 1e-5, 1e-2]),
        "relative_attention": draw.random() < 0.85,
        "pos_att_type": draw.choice(["c2p|p2c", "c2p|p2c", "p2c|c2p", "c2p", "p2c", None]),
        "max_relative_positions": draw.choice([-1, 1, 2, 4, 7, 12, 20]),
        "position_biased_input": draw.random() < 0.3,
        "pooler_dropout": draw.choice([0.0, 0.2]),
        "pooler_hidden_act": draw.choice(["gelu", "relu", "gelu_new"]),
    }


def batch_of(draw: Random, config: Any) -> dict[str, Tensor]:
    """Ids, padded at one side, with segments and places where the model has any."""
    rows, time = draw.randint(2, 4), draw.randint(6, 12)
    ids, mask = padded_batch(draw, config.vocab_size, rows, time, left=draw.random() < 0.3)
    given = {"input_ids": ids, "attention_mask": mask}
    if config.type_vocab_size and draw.random() < 0.7:
        given["token_type_ids"] = torch.randint(config.type_vocab_size, (rows, time))
    if config.position_biased_input and draw.random() < 0.5:
        given["position_ids"] = torch.randint(config.max_position_embeddings, (rows, time))
    return given


def padded_on_the_right(draw: Random, config: Any) -> dict[str, Tensor]:
    """Such a batch with a token at the first place, which the classifier reads."""
    given = batch_of(draw, config)
    given["attention_mask"] = given["attention_mask"].sort(dim=1, descending=True).values
    return given


def unpadded(draw: Random, config: Any) -> dict[str, Tensor]:
    """Such a batch without padding: a loss of places counts them all."""
    given = batch_of(draw, config)
    given["attention_mask"].fill_(1)
    return given


def sequence_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    """Labels whose problem is named: by itself the library reads it off them in another way."""
    given = bert.sequence_labels(draw, config, ids)
    if given["labels"].is_floating_point() and config.problem_type is None:
        several = given["labels"].ndim == 2
        config.problem_type = "multi_label_classification" if several else "regression"
    config.cls_dropout = draw.choice([None, 0.3])
    return given


def two_scores(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    """No labels, and both sides' head as it is."""
    config.num_labels = 2
    return {}


@contextmanager
def exact_scale() -> Iterator[None]:
    """Have the library compute √(3d) in its numbers' type: it rounds it to float32."""
    from transformers.models.deberta import modeling_deberta as theirs

    def scale(query: Tensor, factor: int) -> Tensor:
        return torch.tensor(query.shape[-1] * factor, dtype=query.dtype).sqrt()

    with patch.object(theirs, "scaled_size_sqrt", scale):
        yield


@dataclass(frozen=True)
class Row(bert.Row):
    """A row of the table, compared with the library at its exact scale.

    No label stands where there is padding: the library's attention is there the mean over all
    places, padded ones too, and ours over the real ones.
    """

    def given(self, draw: Random, config: Any) -> dict[str, Tensor]:
        given = super().given(draw, config)
        labels, mask = given.get("labels"), given["attention_mask"]
        if labels is not None and labels.shape == mask.shape:
            given["labels"] = labels.masked_fill(mask == 0, IGNORED)
            first = mask[0].argmax()
            given["labels"][0, first] = labels[0, 0]  # which is one
        return given

    def compare(self, draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
        with exact_scale():
            super().compare(draw, dtype, comparison)


def row(
    name: str, kind: type[Model], labels: bert.Labels | None = None, batch: Any = batch_of
) -> Architecture:
    reference = f"transformers.{conversion_of(kind).architecture}"
    compare = Row(kind, labels, settings=settings, batch=batch).compare
    return Architecture(name, reference, compare)


def config_of(draw: Random, **changes: Any) -> deberta.DebertaConfig:
    """Settings of ours for the slow form: positions as in the paper or as in its code."""
    own = settings(draw) | {"position_biased_input": False, "type_vocab_size": 0} | changes
    own["pad_token_id"] = None  # whose embedding would not learn from being read
    own["pos_att_type"] = tuple(term for term in TERMS if term in (own["pos_att_type"] or ""))
    return deberta.DebertaConfig(**own, p2c_as_in_paper=draw.random() < 0.7)


def compare_slow(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """All states, attentions, scores and losses with the enhanced mask decoder, every gradient."""
    config = config_of(draw)
    model = shaken(DebertaForPreTraining(config))
    rows, time = draw.randint(2, 3), draw.randint(4, 7)
    ids, mask = padded_batch(draw, config.vocab_size, rows, time, left=draw.random() < 0.3)
    real = mask.bool()
    labels = bert.some(torch.randint(config.vocab_size, ids.shape)).masked_fill(~real, IGNORED)
    labels[0, -1] = 1
    given = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    where = torch.arange(time).expand(rows, time)
    if draw.random() < 0.5:
        where = given["position_ids"] = torch.randint(config.max_position_embeddings, ids.shape)
    readable = model(**given, **bert.BOTH)
    fused = model(**given)
    (fused.loss + 0.1 * probe(fused.logits[real])).backward()

    w = copied(model)
    states: list[list[Tensor]] = [[] for _ in readable.hidden_states]
    logits, costs = [], []
    for row in range(rows):
        there = real[row].nonzero().flatten()
        words = list(w["bert.embeddings.word.weight"][ids[row][there]])
        places = list(w["decoder.position.weight"][where[row][there]])
        body = below(w)
        layers, weights = slow.sequence(body, config, words)
        steps, seen = slow.decoded(body, places, config, layers[-2])
        for number, layer in enumerate([*layers[:-1], *steps]):
            states[number] += layer
        for number, one in enumerate([*weights[:-1], *seen]):
            own = readable.attentions[number][row][:, there][:, :, there]
            comparison.add("attentions", own, one, name=f"attentions[{number}]")
        logits += [slow.scores(w, config, state) for state in steps[-1]]
    for one, target in zip(logits, labels[real].tolist(), strict=True):
        if target != IGNORED:
            costs.append(cost(one, target))
    loss = sum(costs[1:], costs[0]) / len(costs)
    (loss + 0.1 * probe(torch.stack(logits))).backward()

    for number, layer in enumerate(states):
        own = readable.hidden_states[number][real]
        comparison.add("outputs", own, torch.stack(layer), name=f"hidden_states[{number}]")
    for ours in (readable, fused):
        comparison.add("outputs", ours.logits[real], torch.stack(logits), name="logits")
        comparison.add("loss", ours.loss, loss, name="loss")
    comparison.add_gradients(model, {name: gradient(copy) for name, copy in w.items()})


def compare_sift(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """SiFT's loss of a classifier's text, or of one that predicts numbers, and every gradient."""
    numbers = draw.random() < 0.3
    config = config_of(draw, num_hidden_layers=1, num_labels=draw.randint(1 if numbers else 2, 4))
    distance = squared_error if numbers else symmetric_kl
    model = shaken(deberta.DebertaForSequenceClassification(config))
    time = draw.randint(3, 6)
    ids, mask = torch.randint(config.vocab_size, (1, time + 2)), torch.ones(1, time + 2)
    mask[:, time:] = 0
    start, step = 0.1 * torch.randn(1, time + 2, config.hidden_size), draw.choice([0.01, 0.1])

    def predict(x: Tensor) -> Tensor:
        return cast(Tensor, model(inputs_embeds=x, attention_mask=mask).logits)

    words = model.bert.embeddings.word(ids)
    found = sift(predict, words, start=start, step=step, distance=distance)
    (10 * found.loss).backward()

    w = copied(model)

    def slow_predict(x: list[Tensor]) -> Tensor:
        first = slow.sequence(below(w), config, x)[0][-1][0]
        pooled = linear(w, "classifier.pooler", first)
        return linear(w, "classifier.dense", activation(config.pooler_hidden_act, pooled))

    read = list(w["bert.embeddings.word.weight"][ids[0, :time]])
    far = slow.squared_error if numbers else slow.divergence
    expected, clean = slow.sift(slow_predict, read, list(start[0, :time]), step, far)
    (10 * expected).backward()
    comparison.add("outputs", found.logits[0], clean, name="logits")
    comparison.add("loss", 10 * found.loss, 10 * expected, name="loss")
    comparison.add_gradients(model, {name: gradient(copy) for name, copy in w.items()})


ARCHITECTURES = (
    row("DeBERTa", deberta.Deberta),
    row("DeBERTa for masked LM", deberta.DebertaForMaskedLM, bert.token_labels),
    row(
        "DeBERTa for sequences",
        deberta.DebertaForSequenceClassification,
        sequence_labels,
        padded_on_the_right,
    ),
    row("DeBERTa for questions", deberta.DebertaForQuestionAnswering, bert.span_labels, unpadded),
    row("DeBERTa for questions, padded", deberta.DebertaForQuestionAnswering, two_scores),
    row("DeBERTa for tokens", deberta.DebertaForTokenClassification, bert.tag_labels),
    Architecture("DeBERTa for pre-training", "its equations in loops", compare_slow),
    Architecture("SiFT", "its equations in loops", compare_sift),
)
