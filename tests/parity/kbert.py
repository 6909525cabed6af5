"""K-BERT beside its equations in loops, and beside the library's BERT given the same mask."""

from random import Random
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import kbert
from lmcourse.models.checkpoint import Model
from lmcourse.models.conversion import conversion_of
from lmcourse.models.inputs import IGNORED
from lmcourse.models.sentence_tree import Branch, SentenceTree
from tests.parity import bert
from tests.parity import slow_kbert as slow
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradient,
    gradients,
    probe,
    shaken,
)
from tests.parity.slow_bert import copied


def tree(draw: Random, vocab_size: int) -> SentenceTree:
    """A random sentence with up to three branches, of any entities."""
    tokens = tuple(draw.randrange(vocab_size) for _ in range(draw.randint(1, 5)))
    branches = []
    for _ in range(draw.randint(0, 3)):
        start = draw.randrange(len(tokens))
        end = draw.randint(start + 1, min(start + 3, len(tokens)))
        known = tuple(draw.randrange(vocab_size) for _ in range(draw.randint(1, 2)))
        branches.append(Branch(start, end, known))
    return SentenceTree(tokens, tuple(branches))


def batch_of(
    draw: Random, config: Any, left: bool = False
) -> tuple[list[SentenceTree], list[list[int]], dict[str, Tensor]]:
    """Some trees, their own tokens' segments, and the batch that they make.

    Args:
        left: whether it is filled up in front.
    """
    trees = [tree(draw, config.vocab_size) for _ in range(draw.randint(2, 3))]
    trees[0] = SentenceTree((1, 2, 3), (Branch(0, 2, (4, 5)), Branch(0, 2, (6,))))
    segments = [[draw.randrange(config.type_vocab_size) for _ in t.tokens] for t in trees]
    given = kbert.batch_of(
        [one.flatten() for one in trees], pad_token_id=2, token_type_ids=segments
    )
    seen = given["attention_mask"].diagonal(dim1=1, dim2=2)
    given["input_ids"] = torch.where(seen, given["input_ids"], 5)  # not the same in all of it
    if left:
        turns = (~seen).sum(1).tolist()
        for name, values in given.items():
            axes = (0, 1) if values.ndim == 3 else (0,)
            rows = [row.roll([n] * len(axes), axes) for row, n in zip(values, turns, strict=True)]
            given[name] = torch.stack(rows)
    return trees, segments, given


def real(given: dict[str, Tensor]) -> Tensor:
    """True at what is no padding: it sees itself."""
    return given["attention_mask"].diagonal(dim1=1, dim2=2)


def compare_with_loops(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """Each layer's states and weights, and every gradient, over trees."""
    config = kbert.KBert.Config(**bert.settings(draw), add_pooling_layer=False)
    model = shaken(kbert.KBert(config))
    trees, segments, given = batch_of(draw, config, left=draw.random() < 0.4)
    readable, fused = model(**given, **bert.BOTH), model(**given)
    own = real(given)
    step = fused.last_hidden_state[own].numel() ** -0.5  # as `bert.total` has it
    (step * probe(fused.last_hidden_state[own])).backward()

    weights = copied(model)
    found = []
    for one, kinds in zip(trees, segments, strict=True):
        known = [(branch.start, branch.end - 1, branch.tokens) for branch in one.branches]
        found.append(slow.sequence(weights, config, one.tokens, kinds, known))
    layers = [torch.stack([x for states, _ in found for x in states[n]])
              for n in range(config.num_hidden_layers + 1)]  # fmt: skip
    (step * probe(layers[-1])).backward()

    comparison.add("outputs", fused.last_hidden_state[own], layers[-1], name="last_hidden_state")
    for number, (ours, theirs) in enumerate(zip(readable.hidden_states, layers, strict=True)):
        comparison.add("outputs", ours[own], theirs, name=f"hidden_states[{number}]")
    for row, (_, seen) in enumerate(found):
        there = own[row].nonzero().flatten()
        for number, theirs in enumerate(seen):
            ours = readable.attentions[number][row][:, there][:, :, there]
            comparison.add("attentions", ours, theirs, name=f"attentions[{number}]")
    comparison.add_gradients(model, {name: gradient(copy) for name, copy in weights.items()})


def with_the_library(kind: type[Model], labels: bert.Labels | None = None) -> Any:
    """A comparison with the library's BERT, whose mask has an axis for the heads and is added."""

    def compare(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
        import transformers

        conversion = conversion_of(kind)
        config = transformers.BertConfig(**bert.settings(draw))
        _, _, given = batch_of(draw, config)
        if labels is not None:
            given |= labels(draw, config, given["input_ids"])
        if labels is bert.tag_labels:  # where nothing is seen, both give numbers without a meaning
            given["labels"] = given["labels"].masked_fill(~real(given), IGNORED)
        config._attn_implementation = draw.choice(["eager", "sdpa"])
        reference = shaken(getattr(transformers, conversion.architecture)(config).to(dtype))
        ours = kind.from_transformers(reference)
        hidden = ~given["attention_mask"][:, None]
        mask = torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min)
        with bert.library_losses_in(dtype):
            theirs = reference(**given | {"attention_mask": mask}, output_hidden_states=True)
        mine, own = ours(**given, output_hidden_states=True), real(given)
        bert.compare_results(comparison, mine, theirs, own)
        comparison.add("outputs", mine.hidden_states, theirs.hidden_states, own, "hidden_states")
        bert.total(theirs, own).backward()
        bert.total(mine, own).backward()
        names = conversion.names(reference.config)
        comparison.add_gradients(ours, names.to_ours(gradients(reference)))
        comparison.add_round_trip(reference, ours.to_transformers())

    return compare


def row(name: str, kind: type[Model], labels: bert.Labels | None = None) -> Architecture:
    reference = f"transformers.{conversion_of(kind).architecture}"
    return Architecture(name, reference, with_the_library(kind, labels))


ARCHITECTURES = (
    Architecture("K-BERT", "its equations in loops", compare_with_loops),
    row("K-BERT as BERT", kbert.KBert),
    row(
        "K-BERT for sequences",
        kbert.KBertForSequenceClassification,
        bert.sequence_labels,
    ),
    row("K-BERT for tokens", kbert.KBertForTokenClassification, bert.tag_labels),
)
