"""SpanBERT's body beside the library's BERT, and its two tasks beside their equations in loops."""

from random import Random

import torch
from torch import Tensor

from lmcourse.models import spanbert
from lmcourse.models.inputs import IGNORED
from tests.parity import bert
from tests.parity import slow_spanbert as slow
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradient,
    padded_batch,
    probe,
    shaken,
)
from tests.parity.slow_bert import copied

Spans = list[list[tuple[int, int]]]


def config_of(draw: Random) -> spanbert.SpanBertConfig:
    """Small, and with spans that are longer than the places that are told apart now and then."""
    drawn = bert.settings(draw) | {"vocab_size": draw.randint(7, 14)}
    return spanbert.SpanBertConfig(
        **drawn,
        max_span_length=draw.choice([1, 2, 3, 20]),
        span_position_size=draw.randint(1, 6),
    )


def spans_of(draw: Random, mask: Tensor) -> Spans:
    """Some spans of each sequence, with a token of the sequence on both sides of each."""
    found: Spans = []
    for row in mask.bool():
        there = row.nonzero().flatten().tolist()
        spans: list[tuple[int, int]] = []
        place = there[0] + 1
        while place < there[-1]:
            end = min(place + draw.randint(0, 3), there[-1] - 1)
            if draw.random() < 0.6 or (not found and not spans):
                spans.append((place, end))
            place = end + 2
        found.append(spans)
    return found


def compare(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """All states and attentions, both tasks' scores and losses, and every gradient."""
    config = config_of(draw)
    model = shaken(spanbert.SpanBertForPreTraining(config))
    rows, time = draw.randint(2, 3), draw.randint(5, 8)
    ids, mask = padded_batch(draw, config.vocab_size, rows, time, left=draw.random() < 0.3)
    segments = torch.randint(config.type_vocab_size, (rows, time))
    spans = spans_of(draw, mask)
    labels = torch.full_like(ids, IGNORED)
    for row, own in enumerate(spans):
        for s, e in own:
            labels[row, s : e + 1] = torch.randint(config.vocab_size, (e - s + 1,))
    result = model(ids, attention_mask=mask, token_type_ids=segments, labels=labels, **bert.BOTH)
    told = model(ids, attention_mask=mask, token_type_ids=segments, labels=labels)
    real = mask.bool()
    total = 3 * told.loss + 0.1 * probe(told.logits[real], told.boundary_logits)
    total.backward()

    weights = copied(model)
    results, targets = [], []
    for row in range(rows):
        there = real[row].nonzero().flatten()
        first = int(there[0])
        own = [(s - first, e - first) for s, e in spans[row]]
        tokens, places = ids[row][there].tolist(), there.tolist()
        kinds = segments[row][there].tolist()
        results.append(slow.sequence(weights, config, tokens, places, kinds, own))
        masked = {i - first: int(labels[row, i]) for s, e in spans[row] for i in range(s, e + 1)}
        targets.append(masked)
    masked_lm_loss, boundary_loss = slow.losses(results, targets)
    logits = torch.stack([one for each in results for one in each.logits])
    boundary_logits = torch.stack([o for each in results for o in each.boundary_logits.values()])
    expected = 3 * (masked_lm_loss + boundary_loss) + 0.1 * probe(logits, boundary_logits)
    expected.backward()

    for ours in (result, told):
        comparison.add("outputs", ours.logits[real], logits, name="logits")
        comparison.add("outputs", ours.boundary_logits, boundary_logits, name="boundary_logits")
        comparison.add("loss", ours.masked_lm_loss, masked_lm_loss, name="masked_lm_loss")
        comparison.add("loss", ours.boundary_loss, boundary_loss, name="boundary_loss")
        comparison.add("loss", ours.loss, masked_lm_loss + boundary_loss, name="loss")
    for number, layer in enumerate(result.hidden_states):
        theirs = torch.stack([one for each in results for one in each.states[number]])
        comparison.add("outputs", layer[real], theirs, name=f"hidden_states[{number}]")
    for row, each in enumerate(results):
        there = real[row].nonzero().flatten()
        for number, seen in enumerate(each.weights):
            ours = result.attentions[number][row][:, there][:, :, there]
            comparison.add("attentions", ours, seen, name=f"attentions[{number}]")
    comparison.add_gradients(model, {name: gradient(copy) for name, copy in weights.items()})


ARCHITECTURES = (
    bert.row("SpanBERT", spanbert.SpanBert),
    bert.row(
        "SpanBERT for sequences",
        spanbert.SpanBertForSequenceClassification,
        bert.sequence_labels,
    ),
    bert.row("SpanBERT for questions", spanbert.SpanBertForQuestionAnswering, bert.span_labels),
    bert.row("SpanBERT for tokens", spanbert.SpanBertForTokenClassification, bert.tag_labels),
    Architecture("SpanBERT for pre-training", "its equations in loops", compare),
)
