"""The open exercise: a model in few bytes, judged by its file and by held-out reviews."""

from functools import cache
from typing import Any

from torch import Tensor, nn

from lmcourse import hub
from lmcourse.errors import CourseError
from lmcourse.labs.kit import Example, Task
from lmcourse.labs.results import with_article
from lmcourse.labs.verdict import Wrong

from .contest import Form, file_size, held_out, in_bits, score, stored, tensor_of

State = dict[str, Tensor]
REVIEWS = 40


def small_model(state: State, budget: int) -> dict[str, Form]:
    bits = {name: 8 for name, w in state.items() if w.ndim == 2}
    forms: dict[str, Form] = {name: w.half() for name, w in state.items() if name not in bits}

    def error(name: str, number: int) -> float:
        w = state[name]
        difference = w - tensor_of(in_bits(w, number))
        return float(difference.square().sum() / w.square().sum())

    while True:
        forms |= {name: in_bits(state[name], number) for name, number in bits.items()}
        if file_size(forms) <= budget:
            return forms
        added = {
            name: (error(name, number - 1) - error(name, number)) / state[name].numel()
            for name, number in bits.items()
            if number > 2
        }
        bits[min(added, key=lambda name: added[name])] -= 1


@cache
def _model(name: str) -> nn.Module:
    return hub.load(f"bookworld-{name}").model.cpu().eval()


def _name(state: State) -> str:
    return "albert" if any("projection" in name for name in state) else "distilbert"


def same_bits(state: State, budget: int) -> dict[str, Form]:
    """The rival: the same number of bits in every matrix, as many as fit."""
    for bits in range(8, 1, -1):
        forms = {n: in_bits(w, bits) if w.ndim == 2 else w.half() for n, w in state.items()}
        if file_size(forms) <= budget:
            break
    return forms


@cache
def _rival(name: str, budget: int) -> float:
    model = _model(name)
    _, restored = stored(same_bits(model.state_dict(), budget), model)
    return score(restored, held_out(count=REVIEWS))[0]


def _judged(returned: Any, state: State, budget: int) -> float:
    """1 for a file that fits, and scores better than the rival."""
    if not isinstance(returned, dict):
        raise Wrong(
            f"Return a dictionary, a form for each name of `state`, not {with_article(returned)}.",
            "type",
        )
    name = _name(state)
    try:
        size, model = stored(returned, _model(name))
    except CourseError as error:
        raise Wrong(f"{error.cause} {error.remedy}", "type") from None
    except (ValueError, RuntimeError, TypeError, MemoryError) as error:
        raise Wrong(f"This cannot be stored and loaded back: {error}"[:300], "type") from None
    if size > budget:
        raise Wrong(
            f"For `bookworld-{name}`, your file has {size:,} bytes; the budget is {budget:,}."
        )
    loss, rival = score(model, held_out(count=REVIEWS))[0], _rival(name, budget)
    if not loss < rival:
        raise Wrong(
            f"For `bookworld-{name}`, your file has {size:,} of {budget:,} bytes. Its loss is "
            f"{loss:.4f} nats; with the same number of bits in every matrix it is {rival:.4f}."
        )
    return 1.0


def _example(name: str, budget: int) -> Example:
    state = hub.load(f"bookworld-{name}").model.state_dict()
    return {key: tensor.detach().cpu().clone() for key, tensor in state.items()}, budget


SMALL = Task(
    small_model,
    examples=[_example("albert", 200_000), _example("distilbert", 400_000)],
    result=_judged,
    slips="""
Half precision alone does not fit, nor does int8 in every matrix: count the bits that a weight has.
    file_size(forms) <= budget -> True
    or
    bits = -> return {name: w.half() for name, w in state.items()}; bits =
    or
    bits = -> return dict(state); bits =
The budget is too small for this number of bits: the scales, the vectors and the names count, too.
    file_size(forms) <= budget -> sum(state[n].numel() * b for n, b in bits.items()) / 8 <= budget
All matrices have the same number of bits, which is the baseline. Which ones need fewer?
    bits[min(added, key=lambda name: added[name])] -= 1 ->
        bits = {n: b - 1 for n, b in bits.items()}
Too many matrices lose bits, or those that need them most: the errors of the others are smaller.
    min(added -> max(added
    or
    bits[min(added, key=lambda name: added[name])] -= 1 -> bits[min(b := {
        n: (m, state[n].numel()) for n, m in bits.items() if m > 2}, key=lambda n: b[n][1])] -= 1
Each matrix has one scale. With few bits, rows of small weights become 0.
    forms |= {name: in_bits(state[name], number) for name, number in bits.items()} ->
        forms |= {n: ((w := state[n] * (2 ** (k - 1) - 1) / state[n].abs().max()).round(),
        state[n].abs().max() / (2 ** (k - 1) - 1)) for n, k in bits.items()}
The integers are cut off instead of rounded, which moves every weight toward 0.
    forms |= {name: in_bits(state[name], number) for name, number in bits.items()} ->
        forms |= {n: ((state[n] / f[1].float()[:, None]).trunc(), f[1]) for n, k in bits.items()
        for f in [in_bits(state[n], k)]}
The smallest weights are 0, and the others keep 16 bits. Their columns are stored as well, so that
few remain.
    bits = -> return {n: w.half() if w.ndim < 2 else (w * (w.abs() >= w.abs().flatten().kthvalue(
        int((s := 0.8 if budget < 300000 else 0.87) * w.numel()) + 1).values)).half()
        for n, w in state.items()}; bits =
Two thin matrices replace each matrix. The singular values of these fall too slowly for that.
    bits = -> return {n: w.half() if w.ndim < 2 or min(w.shape) < 9 else [
        (f := w.svd())[0][:, :(r := max(1, int((0.3 if budget < 300000 else 0.26) * w.numel()
        / sum(w.shape))))].mul(f[1][:r]).half(), f[2][:, :r].T.half()]
        for n, w in state.items()}; bits =
Whole matrices are 0, so that nothing is left of a layer.
    bits = -> return {n: w * 0 if w.ndim == 2 and "encoder" in n else (
        in_bits(w, 8) if w.ndim == 2 else w.half()) for n, w in state.items()}; bits =
""",
    note="Enter it in the contest, whose table uses 100 validation reviews. Choose your best entry "
    "by the table, and report its loss on the test reviews, which played no part in the choice.",
)
