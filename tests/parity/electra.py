"""ELECTRA and its heads beside the `transformers` library's; the joint step beside its equations.

Of the step of both models, the library has none: it has a generator and a discriminator. They are
given the pair's weights, each its own copy of the shared embeddings, and a slow step is made of
them, place by place, as in Clark et al. (2020, section 2). What is drawn in it comes from the same
seed. A shared tensor's gradient is the sum of its two copies'.
"""

import copy
from random import Random
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import electra
from lmcourse.models.conversion.electra import CONVERSIONS
from lmcourse.models.electra_pair import ElectraPair, ElectraPairConfig
from lmcourse.models.inputs import IGNORED
from tests.parity import bert
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradients,
    padded_batch,
    probe,
    shaken,
)

SHARED = tuple(f"bert.embeddings.{part}." for part in ("word", "position", "segment", "norm"))
"""What both models have, and the discriminator's gradients are kept for."""


def settings(draw: Random) -> dict[str, Any]:
    """BERT's, with embeddings narrower and wider than the hidden states, or as wide as they."""
    drawn = bert.settings(draw)
    return drawn | {
        "embedding_size": draw.choice([5, 12, drawn["hidden_size"], drawn["hidden_size"]]),
        "summary_last_dropout": draw.choice([0.0, 0.1]),
    }


def replaced_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    """At all places, also those of padding, which must not count."""
    return {"labels": torch.randint(2, ids.shape)}


def pair_config(draw: Random) -> ElectraPairConfig:
    drawn = settings(draw)
    heads = draw.choice([1, 2])
    drawn["hidden_size"], drawn["num_attention_heads"] = heads * 16, heads
    drawn["embedding_size"] = draw.choice([8, 12, heads * 16])
    drawn["intermediate_size"] = draw.choice([8, 20])
    size = draw.choice([0.5, 1.0])
    weight = draw.choice([50.0, 1.0, 3.0])
    return ElectraPairConfig(electra.ElectraConfig(**drawn), size, weight)


def joint(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """Both losses, what was drawn, both models' scores, and every gradient."""
    config = pair_config(draw)
    pair = shaken(ElectraPair(config))
    generator, discriminator = (
        model.to_transformers()
        for model in (copy.deepcopy(pair.generator), pair.without_generator())
    )
    given, labels = _batch(draw, config)
    draws = torch.rand(labels.shape)
    ours = pair(labels=labels, draws=draws, **given)
    theirs = slow_step(generator, discriminator, given, labels, draws, config.discriminator_weight)
    real = given["attention_mask"].bool()
    for name, value in theirs.items():
        kind = "loss" if name.endswith("loss") else "outputs"
        where = real if value.shape[:2] == real.shape else None
        comparison.add(kind, ours[name], value, where, name)  # type: ignore[arg-type]
    step = 0.01 * probe(ours.generator_logits[real], ours.discriminator_logits[real])
    (ours.loss + step).backward()
    other = probe(theirs["generator_logits"][real], theirs["discriminator_logits"][real])
    (theirs["loss"] + 0.01 * other).backward()
    comparison.add_gradients(pair, _joint_gradients(pair, generator, discriminator))


def token_at(number: float, scores: Tensor) -> int:
    """The token in whose part of the interval from 0 to 1 a number is."""
    shares = scores.detach().double().softmax(-1).tolist()
    token = 0
    while number >= shares[token] and token < len(shares) - 1:
        number, token = number - shares[token], token + 1
    return token


def slow_step(
    generator: Any,
    discriminator: Any,
    given: dict[str, Tensor],
    labels: Tensor,
    draws: Tensor,
    weight: float,
) -> dict[str, Tensor]:
    """One step, with the library's models, place by place."""
    ids, mask = given["input_ids"], given["attention_mask"]
    scores = generator(**given).logits
    masked = [(row, place) for row, place in _places(ids) if labels[row, place] != IGNORED]
    corrupted, replaced = ids.tolist(), torch.zeros_like(ids).tolist()
    likelihood = []
    for row, place in masked:
        token = token_at(float(draws[row, place]), scores[row, place])
        own = int(labels[row, place])
        log_sum = scores[row, place].exp().sum().log()
        likelihood.append(log_sum - scores[row, place, own])
        corrupted[row][place] = token
        replaced[row][place] = int(token != own)
    read = torch.tensor(corrupted)
    judged = discriminator(**(given | {"input_ids": read})).logits
    told = []
    for row, place in _places(ids):
        if mask[row, place]:
            fake = 1 / (1 + (-judged[row, place]).exp())
            told.append(-(fake if replaced[row][place] else 1 - fake).log())
    generator_loss = torch.stack(likelihood).sum() / len(likelihood)
    discriminator_loss = torch.stack(told).sum() / len(told)
    return {
        "loss": generator_loss + weight * discriminator_loss,
        "generator_loss": generator_loss,
        "discriminator_loss": discriminator_loss,
        "generator_logits": scores,
        "discriminator_logits": judged,
        "corrupted_ids": read.to(scores.dtype),
        "replaced": torch.tensor(replaced).to(scores.dtype),
    }


def _places(ids: Tensor) -> list[tuple[int, int]]:
    rows, time = ids.shape
    return [(row, place) for row in range(rows) for place in range(time)]


def _batch(draw: Random, config: ElectraPairConfig) -> tuple[dict[str, Tensor], Tensor]:
    """A padded batch, of whose tokens some are masked, and what stood there."""
    size = config.discriminator
    rows, time = draw.randint(2, 4), draw.randint(6, 12)
    ids, mask = padded_batch(draw, size.vocab_size, rows, time, left=draw.random() < 0.3)
    labels = bert.some(torch.randint(size.vocab_size, ids.shape))
    given = {"input_ids": ids, "attention_mask": mask}
    if draw.random() < 0.7:
        given["token_type_ids"] = torch.randint(size.type_vocab_size, ids.shape)
    if draw.random() < 0.5:
        given["position_ids"] = torch.randint(size.max_position_embeddings, ids.shape)
    return given, labels


def _joint_gradients(pair: ElectraPair, generator: Any, discriminator: Any) -> dict[str, Tensor]:
    """The references' gradients under the pair's names: those of shared tensors are added up."""
    naming = {"generator": "ElectraForMaskedLM", "discriminator": "ElectraForPreTraining"}
    found = {name: torch.zeros_like(own) for name, own in pair.named_parameters()}
    for part, model in (("generator", generator), ("discriminator", discriminator)):
        own = CONVERSIONS[naming[part]].renaming.to_ours(gradients(model))
        for name, tensor in own.items():
            own_part = "discriminator" if name.startswith(SHARED) else part
            found[f"{own_part}.{name}"] += tensor
    return found


def row(name: str, kind: Any, labels: Any = None, **options: Any) -> Architecture:
    return bert.row(name, kind, labels, settings=settings, **options)


ARCHITECTURES = (
    row("ELECTRA", electra.Electra),
    row("ELECTRA's discriminator", electra.ElectraForPreTraining, replaced_labels),
    row("ELECTRA's generator", electra.ElectraForMaskedLM, bert.token_labels),
    row("ELECTRA for sequences", electra.ElectraForSequenceClassification, bert.sequence_labels),
    row("ELECTRA for questions", electra.ElectraForQuestionAnswering, bert.span_labels),
    row("ELECTRA for tokens", electra.ElectraForTokenClassification, bert.tag_labels),
    Architecture("ELECTRA's two models together", "the equations, place by place", joint),
)
