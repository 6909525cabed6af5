"""ALBERT and its heads beside the `transformers` library's; partial sharing beside its BERT.

The library shares all of a layer, or nothing. Where only the attention or only the feed-forward
network is shared, the reference is its BERT, whose layers hold copies of the shared tensors: the
gradient of one tensor is then the sum of its copies'.
"""

from random import Random
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import albert
from lmcourse.models.conversion.bert import LAYER
from tests.parity import bert
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradient,
    gradients,
    padded_batch,
    probe,
    shaken,
)

SHARED = {
    "all": ("attention", "feed_forward"),
    "attention": ("attention",),
    "ffn": ("feed_forward",),
    "none": (),
}


def settings(draw: Random) -> dict[str, Any]:
    """BERT's, with narrow embeddings and groups of layers."""
    drawn = bert.settings(draw)
    del drawn["classifier_dropout"]
    layers = draw.randint(1, 4)
    return drawn | {
        "embedding_size": draw.choice([5, 8, drawn["hidden_size"]]),
        "num_hidden_layers": layers,
        "num_hidden_groups": draw.randint(1, layers),
        "hidden_act": draw.choice(["gelu_new", "gelu_new", "gelu", "relu"]),
        "classifier_dropout_prob": draw.choice([0.0, 0.1]),
    }


def order_labels(draw: Random, config: Any, ids: Tensor) -> dict[str, Tensor]:
    """Both tasks' labels."""
    config.num_labels = 2  # which is how many scores the library's head for the order has
    order = torch.randint(2, (len(ids),))
    return bert.token_labels(draw, config, ids) | {"sentence_order_label": order}


def partial_sharing(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """All hidden states and attentions, and every gradient, that of the input too."""
    import transformers

    drawn = bert.settings(draw)
    layers = draw.randint(2, 5)
    groups = draw.randint(1, layers - 1)
    sharing = draw.choice([*SHARED, "attention", "ffn"])
    names = ("hidden_size", "num_attention_heads", "hidden_act", "intermediate_size")
    given = {name: drawn[name] for name in (*names, "layer_norm_eps")}
    given["num_hidden_layers"] = layers
    config = albert.AlbertConfig(**given | {"sharing": sharing, "num_hidden_groups": groups})
    ours = shaken(albert.SharedEncoder(config))
    theirs_config = transformers.BertConfig(**given)
    theirs_config._attn_implementation = "eager"
    reference = transformers.BertModel(theirs_config).encoder.eval()
    copies = _copies(reference, layers, groups, SHARED[sharing])
    own = dict(ours.named_parameters())
    if other_names := own.keys() ^ set(copies.values()):
        raise AssertionError(f"not shared as it should be: {sorted(other_names)}")
    with torch.no_grad():
        for theirs, name in copies.items():
            reference.get_parameter(theirs).copy_(own[name])
    mask = padded_batch(draw, 2, draw.randint(2, 4), draw.randint(3, 8))[1]
    x = torch.randn(*mask.shape, config.hidden_size, requires_grad=True)
    other = x.detach().clone().requires_grad_()
    visible = mask.bool()[:, None, None, :]
    result = ours(x, visible, output_attentions=True, output_hidden_states=True)
    states, attentions = _by_layers(reference, other, visible)
    comparison.add("outputs", result.hidden_states, states, mask, "hidden_states")
    comparison.add("attentions", result.attentions, attentions, name="attentions")
    probe(result.last_hidden_state[mask.bool()]).backward()
    probe(states[-1][mask.bool()]).backward()
    summed = {name: torch.zeros_like(own[name]) for name in copies.values()}
    for theirs, tensor in gradients(reference).items():
        summed[copies[theirs]] += tensor
    comparison.add_gradients(ours, summed)
    comparison.add("gradients", gradient(x), gradient(other), name="x")


def _copies(reference: Any, layers: int, groups: int, shared: tuple[str, ...]) -> dict[str, str]:
    """Of each of the reference's tensors, the name of the one of ours that it is a copy of."""
    found = {}
    for number in range(layers):
        group = number * groups // layers
        for rule in LAYER.rules:
            half, rest = rule.parts[0].split(".", 1)
            place = group if half.removesuffix("_residual") in shared else number
            found[f"layer.{number}.{rule.theirs}"] = f"{half}.{place}.{rest}"
    assert found.keys() == dict(reference.named_parameters()).keys()
    return found


def _by_layers(
    reference: Any, x: Tensor, visible: Tensor
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """What each of the reference's layers was given and gave, and its attention's weights."""
    states, attentions = [x], []
    added = torch.zeros(visible.shape, dtype=x.dtype).masked_fill(~visible, -torch.inf)
    for layer in reference.layer:
        attentions.append(layer.attention(states[-1], added)[1])
        states.append(layer(states[-1], added))
    return tuple(states), tuple(attentions)


def row(name: str, kind: Any, labels: Any = None, **options: Any) -> Architecture:
    return bert.row(name, kind, labels, settings=settings, **options)


ARCHITECTURES = (
    row("ALBERT", albert.Albert),
    row("ALBERT without pooler", albert.Albert, arguments={"add_pooling_layer": False}),
    row("ALBERT for pre-training", albert.AlbertForPreTraining, order_labels),
    row("ALBERT for masked LM", albert.AlbertForMaskedLM, bert.token_labels),
    row("ALBERT for sequences", albert.AlbertForSequenceClassification, bert.sequence_labels),
    row("ALBERT for questions", albert.AlbertForQuestionAnswering, bert.span_labels),
    row("ALBERT for tokens", albert.AlbertForTokenClassification, bert.tag_labels),
    Architecture(
        "ALBERT's partial sharing", "transformers.BertModel with copied layers", partial_sharing
    ),
)
