"""How two implementations are compared: what differs most, by kind."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeVar, cast

import torch
from torch import Tensor, nn

Kind = Literal["outputs", "attentions", "loss", "gradients", "round trip"]
KINDS: tuple[Kind, ...] = ("outputs", "attentions", "loss", "gradients", "round trip")
Module = TypeVar("Module", bound=nn.Module)
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


@dataclass
class Comparison:
    """The largest difference found so far, of each kind, and how many tensors were compared.

    A difference is that of the entry that differs most, over the reference's largest entry or 1,
    whichever is more. It is infinite where shapes differ or an entry is not finite.
    """

    worst: dict[Kind, float] = field(default_factory=dict)
    tensors: dict[Kind, int] = field(default_factory=lambda: defaultdict(int))
    where: dict[Kind, str] = field(default_factory=dict)

    def add(
        self,
        kind: Kind,
        ours: Tensor | Iterable[Tensor],
        theirs: Tensor | Iterable[Tensor],
        real: Tensor | None = None,
        name: str = "",
    ) -> None:
        """Compare one tensor with another, or each of several with its counterpart.

        Args:
            real: True at the places that count, over the first axes; None: all count.
            name: what it is, for the report.
        """
        if not isinstance(ours, Tensor) or not isinstance(theirs, Tensor):
            pairs = list(
                zip(cast(Iterable[Tensor], ours), cast(Iterable[Tensor], theirs), strict=True)
            )
            for number, (one, other) in enumerate(pairs):
                self.add(kind, one, other, real, f"{name}[{number}]")
            return
        self.tensors[kind] += 1
        difference = _difference(ours.detach(), theirs.detach(), real)
        if difference >= self.worst.get(kind, 0.0):
            self.worst[kind], self.where[kind] = difference, name

    def add_gradients(self, ours: nn.Module, theirs: Mapping[str, Tensor]) -> None:
        """Compare every parameter's gradient with the reference's, given under our names."""
        mine = gradients(ours)
        if missing := mine.keys() ^ theirs.keys():
            raise AssertionError(f"these parameters have no counterpart: {sorted(missing)}")
        for name, gradient in mine.items():
            self.add("gradients", gradient, theirs[name], name=name)

    def add_round_trip(self, before: nn.Module, after: nn.Module) -> None:
        """See that a model came back from the other library as it went: the same tensors."""
        one, other = before.state_dict(), after.state_dict()
        if one.keys() != other.keys():
            raise AssertionError(f"the round trip changed {sorted(one.keys() ^ other.keys())}")
        for name in one:
            self.add("round trip", other[name], one[name], name=name)

    def passed(self, dtype: torch.dtype) -> bool:
        """Whether all that was compared is within the tolerance, and a round trip exact."""
        return bool(self.worst) and all(
            worst <= (0.0 if kind == "round trip" else TOLERANCE[dtype])
            for kind, worst in self.worst.items()
        )


@dataclass(frozen=True)
class Architecture:
    """A model to be compared.

    Attributes:
        name: what it is.
        reference: what it is compared with.
        compare: one random configuration and padded batch, from a draw, a type of number, and the
            comparison that takes it down. PyTorch's default type is that one during the call, and
            its generator is seeded.
    """

    name: str
    reference: str
    compare: Callable[[Random, torch.dtype, Comparison], None]
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float64)

    def run(self, seed: int, configurations: int, dtype: torch.dtype) -> Comparison:
        """Compare some random configurations."""
        comparison = Comparison()
        for number in range(configurations):
            draw = Random(f"{self.name} {seed} {number}")
            torch.manual_seed(draw.getrandbits(40))
            before = torch.get_default_dtype()
            torch.set_default_dtype(dtype)
            try:
                self.compare(draw, dtype, comparison)
            finally:
                torch.set_default_dtype(before)
        return comparison


def shaken(module: Module, scale: float = 0.3) -> Module:
    """The module in evaluation mode with every parameter moved at random.

    So no bias is zero and no LayerNorm the identity, which would hide that one is left out.
    """
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(scale * torch.randn_like(parameter))
    return module.eval()


def gradients(module: nn.Module) -> dict[str, Tensor]:
    """Every parameter's gradient; zeros where it got none."""
    return {name: gradient(parameter) for name, parameter in module.named_parameters()}


def gradient(tensor: Tensor) -> Tensor:
    """A leaf's gradient; zeros if it got none."""
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad


def probe(*outputs: Tensor | None) -> Tensor:
    """A number that depends on every entry of the outputs, each in its own way.

    Its gradient is what is compared where there is no loss: entry i of an output counts as
    cos(i + 1) times.
    """
    total = torch.zeros(())
    for output in outputs:
        if output is not None:
            weights = torch.arange(1, output.numel() + 1, dtype=output.dtype).cos()
            total = total + (output.flatten() * weights).sum()
    return total


def padded_batch(
    draw: Random, vocab_size: int, batch: int, time: int, left: bool = False
) -> tuple[Tensor, Tensor]:
    """Random ids and their mask: one sequence is full, the others are of random length.

    Padded places hold random ids too: what stands there must not matter.
    """
    ids = torch.randint(vocab_size, (batch, time))
    mask = torch.zeros(batch, time, dtype=torch.long)
    for row in range(batch):
        length = time if row == 0 else draw.randint(1, time)
        mask[row, time - length if left else 0 :][:length] = 1
    return ids, mask


def _difference(ours: Tensor, theirs: Tensor, real: Tensor | None) -> float:
    if ours.shape != theirs.shape:
        return math.inf
    if real is not None:
        ours, theirs = ours[real.bool()], theirs[real.bool()]
    if ours.numel() == 0:
        return 0.0
    difference = float((ours - theirs).abs().max()) / max(1.0, float(theirs.abs().max()))
    return difference if math.isfinite(difference) else math.inf
