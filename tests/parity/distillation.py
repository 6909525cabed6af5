"""What students learn from teachers, beside the papers' equations in loops."""

from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import bert_heads, bert_tasks, distillation, layer_map, tinybert, triple_loss
from lmcourse.models.bert import BertConfig
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import IGNORED
from tests.parity import slow_distillation as slow
from tests.parity.bert import some
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradient,
    gradients,
    padded_batch,
    shaken,
)

STATES = {"output_hidden_states": True}


def places(where: Tensor) -> list[tuple[int, ...]]:
    """The indices of what is True."""
    return [tuple(place) for place in where.nonzero().tolist()]


def losses(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """The losses by themselves, over random logits and states."""
    shape, classes = (draw.randint(1, 3), draw.randint(2, 4)), draw.randint(2, 7)
    T, scale = draw.choice([1.0, 2.0, 0.7, 5.0, 20.0]), draw.choice([0.3, 1.0, 6.0])
    student, teacher = scale * torch.randn(2, *shape, classes)
    counted = torch.rand(shape) < 0.7
    counted[0, 0] = True
    given = None if draw.random() < 0.2 else counted
    chosen = places(torch.ones_like(counted) if given is None else counted)
    comparison.add(
        "outputs",
        distillation.soft_targets(teacher[0], T),
        torch.stack([torch.stack(slow.shares(place, T)) for place in teacher[0]]),
    )
    for name, settings in (
        ("distillation_loss", (T,)),
        ("soft_cross_entropy", (T,)),
        ("cosine_loss", ()),
    ):
        one, other = (student.clone().requires_grad_() for _ in range(2))
        own = getattr(distillation, name)(one, teacher, *settings, given)
        expected = getattr(slow, name)(other, teacher, *settings, chosen)
        own.backward()
        expected.backward()
        comparison.add("loss", own, expected, name=name)
        comparison.add("gradients", gradient(one), gradient(other), name=name)


def sizes(draw: Random, heads: int, width: int | None = None, **more: Any) -> BertConfig:
    """A small BERT with dropout, which a teacher must not have."""
    return BertConfig(
        vocab_size=more.pop("vocab_size", 13),
        hidden_size=width or heads * draw.choice([4, 6]),
        num_hidden_layers=more.pop("num_hidden_layers"),
        num_attention_heads=heads,
        intermediate_size=draw.choice([5, 9]),
        hidden_dropout_prob=0.5,
        attention_probs_dropout_prob=0.5,
        max_position_embeddings=8,
        **more,
    )


def batch_of(draw: Random, vocab_size: int) -> dict[str, Tensor]:
    """Ids padded on either side, perhaps with segments, perhaps with a mask a query."""
    rows, time = draw.randint(2, 3), draw.randint(3, 5)
    ids, mask = padded_batch(draw, vocab_size, rows, time, left=draw.random() < 0.4)
    given = {"input_ids": ids, "attention_mask": mask}
    if draw.random() < 0.7:
        given["token_type_ids"] = torch.randint(2, ids.shape)
    return given


def called(model: Model, given: dict[str, Tensor]) -> Any:
    """The model by itself, in evaluation mode; without segments if it tells none apart."""
    left_out = () if model.config.type_vocab_size else ("token_type_ids",)
    mine = {name: value for name, value in given.items() if name not in left_out}
    return model.eval()(**mine, **STATES)


def ready(distiller: Any) -> None:
    """In training mode, but the student, whose dropouts would be other ones each time."""
    distiller.train()
    distiller.teacher.model.train()
    distiller.student.eval()


def triple(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """DistilBERT's three losses and their sum; every gradient, and none of the teacher's."""
    vocab, heads = draw.randint(7, 13), draw.choice([1, 2])
    sized = sizes(draw, heads, num_hidden_layers=2, vocab_size=vocab)
    teacher = shaken(bert_heads.BertForMaskedLM(sized))
    own = sizes(
        draw,
        heads,
        sized.hidden_size,
        num_hidden_layers=1,
        vocab_size=vocab,
        type_vocab_size=draw.choice([0, 2]),
    )
    student = shaken(bert_heads.BertForMaskedLM(own))
    weights = triple_loss.DistillationConfig(
        temperature=draw.choice([1.0, 2.0, 4.0]),
        alpha_ce=draw.choice([5.0, 0.5]),
        alpha_mlm=draw.choice([2.0, 0.5]),
        alpha_cos=draw.choice([1.0, 3.0]),
        restrict_ce_to_mask=draw.random() < 0.3,
    )
    given = batch_of(draw, vocab)
    labels = some(torch.randint(vocab, given["input_ids"].shape))
    copy, guide = deepcopy(student), deepcopy(teacher)
    distiller = triple_loss.Distiller(student, teacher, weights)
    ready(distiller)
    result = distiller(**given, labels=labels)
    result.loss.backward()

    theirs, taught = called(copy, given), called(guide, given)
    wanted = {place: int(labels[place]) for place in places(labels != IGNORED)}
    real = places(given["attention_mask"] == 1)
    heard = list(wanted) if weights.restrict_ce_to_mask else real
    t_logits, t_hidden = taught.logits.detach(), taught.hidden_states[-1].detach()
    soft = slow.distillation_loss(theirs.logits, t_logits, weights.temperature, heard)
    label = slow.label_loss(theirs.logits, wanted)
    cosine = slow.cosine_loss(theirs.hidden_states[-1], t_hidden, real)
    total = weights.alpha_ce * soft + weights.alpha_mlm * label + weights.alpha_cos * cosine
    total.backward()
    comparison.add("outputs", result.logits, theirs.logits, given["attention_mask"])
    comparison.add("outputs", result.teacher_logits, t_logits, given["attention_mask"])
    found = (result.loss, result.distillation_loss, result.label_loss, result.cosine_loss)
    comparison.add("loss", found, (total, soft, label, cosine), name="losses")
    compare_gradients(comparison, distiller, {"student": copy})


def compare_gradients(
    comparison: Comparison, distiller: Any, theirs: dict[str, torch.nn.Module]
) -> None:
    """Of everything that is trained; and the teacher has none."""
    expected = {
        f"{part}.{name}": value
        for part, model in theirs.items()
        for name, value in gradients(model).items()
    }
    comparison.add_gradients(distiller, expected)
    for name, parameter in distiller.teacher.model.named_parameters():
        nothing = torch.zeros_like(parameter)
        comparison.add("gradients", gradient(parameter), nothing, name=f"teacher.{name}")


def map_of(draw: Random, M: int, N: int) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """A map as it is asked for, and what it is, worked out by hand."""
    even = ["usual", "usual", "usual", "uniform"] if N % M == 0 else []
    strategy = draw.choice([*even, "top", "bottom", "own"])
    if strategy == "own":
        own = (0, *(draw.randint(1, N) for _ in range(M)), N + 1)
        return own, own
    if strategy == "top":
        return layer_map.layer_map(M, N, "top"), (0, *range(N - M + 1, N + 2))
    if strategy == "bottom":
        return layer_map.layer_map(M, N, "bottom"), (0, *range(1, M + 1), N + 1)
    every = (0, *range(N // M, N + 1, N // M), N + 1)
    return (None if strategy == "usual" else layer_map.layer_map(M, N)), every


def layers(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """TinyBERT's losses of each layer, and their sum; every gradient."""
    M, N = draw.choice([(1, 2), (2, 4), (2, 4), (2, 3)])
    heads, classes = draw.choice([1, 2, 3]), draw.randint(2, 4)
    kind: type[Model] = draw.choice(
        [bert_tasks.BertForSequenceClassification, bert_tasks.BertForTokenClassification]
    )
    wide = sizes(draw, heads, num_hidden_layers=N, num_labels=classes)
    same = wide.hidden_size if draw.random() < 0.4 else None
    segments = draw.choice([0, 2])
    own = sizes(
        draw, heads, same, num_hidden_layers=M, num_labels=classes, type_vocab_size=segments
    )
    student, teacher = shaken(kind(own)), shaken(kind(wide))
    given, (asked, g) = batch_of(draw, own.vocab_size), map_of(draw, M, N)
    weights = None if draw.random() < 0.3 else [draw.choice([0.5, 1.0, 2.0]) for _ in range(M + 2)]
    T = draw.choice([1.0, 1.0, 3.0])
    if draw.random() < 0.3:
        real = given["attention_mask"].bool()
        seen = real[:, :, None] & real[:, None] & (torch.rand(*real.shape, real.shape[1]) < 0.7)
        given["attention_mask"] = seen | torch.diag_embed(real)
    stage = draw.choice(["all", "all", "general", "intermediate", "prediction"])
    distiller = tinybert.TinyBertDistiller(student, teacher, asked, weights, T)
    shaken(distiller.embedding_projection), shaken(distiller.hidden_projection)
    copy, guide, matrices = deepcopy(student), deepcopy(teacher), deepcopy(distiller)
    ready(distiller)
    result = distiller(**given, stage=stage)
    result.loss.backward()

    expected = slow_layers(copy, guide, matrices, given, g, T)
    if stage == "prediction":
        expected = [None, None, None, expected[3]]
    elif stage != "all":
        expected[3] = None
    total = weighted(expected, weights or [1.0] * (M + 2))
    total.backward()
    found = (
        result.embedding_loss, result.hidden_losses, result.attention_losses, result.prediction_loss
    )  # fmt: skip
    for name, one, other in zip(("E", "H", "A", "z"), found, expected, strict=True):
        assert (one is None) == (other is None), f"{stage}: {name}"
        if other is not None:
            comparison.add("outputs", one, other, name=name)
    comparison.add("loss", result.loss, total)
    parts = {
        "student": copy,
        "embedding_projection": matrices.embedding_projection,
        "hidden_projection": matrices.hidden_projection,
    }
    compare_gradients(comparison, distiller, parts)


def slow_layers(
    student: Any, teacher: Any, matrices: Any, given: Any, g: Sequence[int], T: float
) -> list[Any]:
    """What is embedded, hidden states, scores and the prediction: each loss in loops."""
    own, taught = called(student, given), called(teacher, given)
    mask = given["attention_mask"].bool()
    seen = mask if mask.ndim == 3 else mask[:, :, None] & mask[:, None]
    alone = mask.any(1) if mask.ndim == 3 else mask
    real, states = places(alone), [state.detach() for state in taught.hidden_states]
    w_e, w_h = matrices.embedding_projection.weight, matrices.hidden_projection.weight
    w, v = dict(student.named_parameters()), dict(teacher.named_parameters())
    heads, hidden, attended = student.config.num_attention_heads, [], []
    for m in range(1, len(g) - 1):
        hidden.append(slow.squared(own.hidden_states[m], states[g[m]], w_h, real))
        A_S = [slow.scores(w, one, m, heads) for one in own.hidden_states[m - 1]]
        A_T = [slow.scores(v, one, g[m], heads).detach() for one in states[g[m] - 1]]
        attended.append(slow.attention(A_S, A_T, seen.tolist()))
    where = real if own.logits.ndim == 3 else [(row,) for row in range(len(mask))]
    return [
        slow.squared(own.hidden_states[0], states[0], w_e, real),
        torch.stack(hidden),
        torch.stack(attended),
        slow.soft_cross_entropy(own.logits, taught.logits.detach(), T, where),
    ]


def weighted(losses: Sequence[Tensor | None], weights: Sequence[float]) -> Tensor:
    """Σ_m λ_m L_layer(m) over the losses that there are (eq. 6)."""
    embedding, hidden, attention, prediction = losses
    total = torch.zeros(())
    if embedding is not None and hidden is not None and attention is not None:
        total = total + weights[0] * embedding
        for m in range(len(hidden)):
            total = total + weights[m + 1] * (hidden[m] + attention[m])
    return total if prediction is None else total + weights[-1] * prediction


LOOPS = "the papers' equations, in loops"
ARCHITECTURES = (
    Architecture("distillation", LOOPS, losses),
    Architecture("DistilBERT's triple loss", LOOPS, triple),
    Architecture("TinyBERT's losses", LOOPS, layers),
)
