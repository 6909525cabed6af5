"""The property kit: what must hold of every model, whatever it is.

Each property is a function of a `tests.models.subject.Subject`, and raises an AssertionError that
says what does not hold. `tests/models/test_properties.py` runs all of them over all subjects, and
`tests/models/test_broken.py` shows that they, with the parity table, catch models that are wrong.
"""

import inspect
import math
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor
from torch.nn import functional

from lmcourse.models.inputs import IGNORED
from tests.models.dropping import distinct, only
from tests.models.subject import Subject
from tests.parity.comparing import shaken


def twice_the_same(subject: Subject) -> None:
    """Two evaluation runs agree (no dropout is on), two training runs do not (some is)."""
    model, batch = subject.made(), subject.batch()
    one, other = (subject.places(subject.call(model, batch)) for _ in range(2))
    assert torch.equal(one, other), "two evaluation runs differ: is dropout on?"
    model.train()
    one, other = (subject.places(subject.call(model, batch)) for _ in range(2))
    assert not torch.equal(one, other), "two training runs agree: is dropout off?"


def every_dropout(subject: Subject) -> None:
    """Each probability of the configuration drops where it should, and each of them matters."""
    if subject.dropouts is None:
        return
    names: dict[float, str] = {}
    plain = subject.build()
    config = distinct(plain.config, names)
    model, batch = shaken(type(plain)(config).double()).train(), subject.batch()
    with only(None) as met:
        before = _tensors(subject.call(model, batch))
    found = Counter(names.get(p, f"an unknown one of {p}") for p in met)
    assert found == subject.dropouts, f"dropouts: {dict(found)}, not {subject.dropouts}"
    for number, p in enumerate(met):
        with only(number):
            after = _tensors(subject.call(model, batch))
        assert not all(map(torch.equal, before, after)), f"{names[p]} drops nothing ({number})"


def causality(subject: Subject) -> None:
    """What comes later changes nothing before it, in a causal model; and only there."""
    model, batch = subject.made(), subject.batch()
    ids = batch[subject.ids[0]]
    before = subject.places(subject.call(model, batch))
    for place in range(1, ids.shape[1]):
        row = int(subject.real(batch)[:, place].long().argmax())
        if not subject.real(batch)[row, place]:
            continue
        changed = ids.clone()
        changed[row, place] = (changed[row, place] + 1) % int(ids.max() + 1)
        if torch.equal(changed, ids):
            continue
        after = subject.places(subject.call(model, batch | {subject.ids[0]: changed}))
        difference = (after - before)[row].flatten(1).abs().amax(1)
        if subject.causal:
            assert difference[:place].max() < 1e-12, f"place {place} changed a place before it"
        else:
            assert difference[:place].max() > 1e-9, f"place {place} changed nothing before it"
        assert difference[place] > 1e-9, f"place {place} does not see itself"
        assert (after - before)[[r for r in range(len(ids)) if r != row]].abs().max() < 1e-12


def padding(subject: Subject) -> None:
    """What stands in padded places, and how many there are, changes nothing."""
    if subject.mask is None:
        return
    model, batch = subject.made(), subject.batch()
    real = subject.real(batch)
    assert not real.all(), "the subject's batch has no padding"
    before = subject.call(model, batch)
    ids = batch[subject.ids[0]]
    other = torch.where(real, ids, (ids + 1) % int(ids.max() + 1))
    wider = {
        name: _wider(name, subject, tensor)
        for name, tensor in batch.items()
        if name in subject.ids or tensor.shape == ids.shape
    }
    for changed in ({subject.ids[0]: other}, wider):
        after = subject.call(model, batch | changed)
        kept = subject.places(after)[:, : ids.shape[1]]
        _same(kept[real], subject.places(before)[real], "padding changed a real place")
        for name in subject.pooled:
            _same(after[name], before[name], f"padding changed {name}")
        if "loss" in before and subject.shift is not None:
            _same(after["loss"], before["loss"], "padding changed the loss")
    alone = {
        n: t[:1, : int(real[0].sum())] if t.shape == ids.shape else t[:1] for n, t in batch.items()
    }
    if real[0].all():
        _same(
            subject.places(subject.call(model, alone))[0],
            subject.places(before)[0],
            "a sequence alone differs from the same one in a batch",
        )


def nothing_to_attend_to(subject: Subject) -> None:
    """A row that is all padding gives numbers, and so does its gradient."""
    if subject.mask is None:
        return
    readable = {"output_attentions": True} if "output_attentions" in _parameters(subject) else {}
    for training, options in ((False, {}), (True, {}), (False, readable)):
        model, batch = subject.made().train(training), subject.batch()
        mask = batch[subject.mask].clone()
        mask[-1] = 0
        result = subject.call(model, batch | {subject.mask: mask}, **options)
        assert all(bool(t.isfinite().all()) for t in _tensors(result)), "a row of padding gives NaN"
        subject.places(result).sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is None or parameter.grad.isfinite().all(), (
                f"NaN gradient: {name}"
            )


def gradients(subject: Subject) -> None:
    """Every parameter gets a gradient, but those that the subject says cannot.

    What these get is none at all, or what rounding leaves of a sum that is zero.
    """
    model, batch = subject.made(), subject.batch()
    result = subject.call(model, batch)
    loss = result["loss"] if "loss" in result else _sum(result)
    loss.backward()
    largest = {
        name: 0.0 if p.grad is None else float(p.grad.abs().max())
        for name, p in model.named_parameters()
    }
    wrong = [
        name
        for name, gradient in largest.items()
        if (gradient > 1e-12 if name in subject.unused else gradient == 0)
    ]
    assert not wrong, f"no gradient, or one that should not be, for {wrong}"
    assert subject.unused.keys() <= largest.keys(), "an unused parameter that there is not"


def loss_of_labels(subject: Subject) -> None:
    """The loss is the mean cross-entropy over the labelled places, and those alone."""
    if subject.shift is None:
        return
    model, batch = subject.made(), subject.batch()
    result = subject.call(model, batch)
    logits, labels = result["logits"], batch["labels"]
    if subject.shift:
        logits, labels = logits[:, : -subject.shift], labels[:, subject.shift :]
    chosen = labels != IGNORED
    assert chosen.any() and not chosen.all(), "the subject labels all places, or none"
    log_p = logits.log_softmax(-1)[chosen]
    own = -log_p.gather(-1, labels[chosen][:, None]).mean()
    _same(result["loss"], own, "the loss is not the mean over the labelled places")
    none = subject.call(model, batch | {"labels": torch.full_like(batch["labels"], IGNORED)})
    assert none["loss"].isfinite(), "without any label the loss is not a number"


def initial_loss(subject: Subject) -> None:
    """A model that knows nothing yet finds all classes about equally likely."""
    if subject.chance is None:
        return
    losses = []
    for _ in range(5):
        model = subject.build().eval()
        losses.append(subject.call(model, subject.batch())["loss"].item())
    mean = sum(losses) / len(losses)
    assert abs(mean - subject.chance) < 0.1 * subject.chance + 0.05, (
        f"the loss starts at {mean:.3f}; log of the number of classes is {subject.chance:.3f}"
    )


def saved_and_loaded(subject: Subject) -> None:
    """It comes back from a file as it went, to the last bit."""
    model, batch = subject.made(torch.float32), subject.batch()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        again = type(model).load(path)
    assert again.config == model.config
    assert again.state_dict().keys() == model.state_dict().keys()
    one, other = (_tensors(subject.call(each, batch)) for each in (model, again))
    assert all(map(torch.equal, one, other)), "a reloaded model differs"


def attention_weights(subject: Subject) -> None:
    """The weights sum to one over what may be seen; asking for them changes nothing else."""
    model, batch = subject.made(), subject.batch()
    plain = subject.call(model, batch)
    wanted = {"output_attentions", "output_hidden_states"} & _parameters(subject)
    if subject.mask is None or subject.attentions is None or "output_attentions" not in wanted:
        return
    full = subject.call(model, batch, **dict.fromkeys(wanted, True))
    real = subject.real(batch)
    for one, other in zip(_tensors(plain), _tensors(full), strict=True):
        if one.shape[:2] == real.shape:
            one, other = one[real], other[real]
        _same(one, other, "a result depends on whether the attentions are asked for")
    for weights in full[subject.attentions]:
        hidden = weights.masked_select(~real[:, None, None, :])
        assert hidden.numel() and not hidden.any(), "padding is attended to"
        own = weights.shape[2] == weights.shape[3]  # else the queries are another sequence's
        sums = weights.sum(-1).transpose(1, 2)
        sums = sums[real] if own else sums
        _same(sums, torch.ones_like(sums), "weights do not sum to one")
        if subject.causal and own:
            assert not weights.triu(1).any(), "a causal model attends to what comes"
    if "output_hidden_states" in wanted and subject.hidden_states is not None:
        assert len(full[subject.hidden_states]) == len(full[subject.attentions]) + 1


PROPERTIES: tuple[Callable[[Subject], None], ...] = (
    twice_the_same,
    every_dropout,
    causality,
    padding,
    nothing_to_attend_to,
    gradients,
    loss_of_labels,
    initial_loss,
    saved_and_loaded,
    attention_weights,
)


def _wider(name: str, subject: Subject, tensor: Tensor) -> Tensor:
    """With three more padded places."""
    if name == subject.mask and tensor.ndim == 3:
        return functional.pad(tensor, (0, 3, 0, 3))
    return torch.cat([tensor, _pad(name, subject, tensor)], 1)


def _pad(name: str, subject: Subject, tensor: Tensor) -> Tensor:
    """Three more padded places: random ids, nothing to see, no label."""
    shape = (len(tensor), 3, *tensor.shape[2:])
    if name == subject.mask:
        return torch.zeros(shape, dtype=tensor.dtype)
    if name == "labels":
        return torch.full(shape, IGNORED)
    return tensor[:, :1].expand(shape)


def _parameters(subject: Subject) -> set[str]:
    """What a call of the model may be given, also what it hands on as ``**inputs``."""
    names: set[str] = set()
    for name, parameter in inspect.signature(subject.build().forward).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            names |= set(get_args(parameter.annotation)[0].__annotations__)
        else:
            names.add(name)
    return names


def _same(one: Tensor, other: Tensor, message: str) -> None:
    assert one.shape == other.shape, f"{message}: {tuple(one.shape)} and {tuple(other.shape)}"
    difference = float((one - other).detach().abs().max()) if one.numel() else 0.0
    assert difference < 1e-10 and math.isfinite(difference), f"{message}: by {difference:.1e}"


def _tensors(result: Any) -> list[Tensor]:
    """The results that are one tensor, in order."""
    return [tensor for tensor in result.to_tuple() if isinstance(tensor, Tensor)]


def _sum(result: Any) -> Tensor:
    return torch.stack([tensor.square().sum() for tensor in _tensors(result)]).sum()
