"""Each dropout of a call, one at a time: a model has several, and one that works hides the rest."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any
from unittest.mock import patch

from torch import Tensor
from torch.nn import functional


def distinct(config: Any, names: dict[float, str]) -> Any:
    """The configuration with another probability for each of its dropouts, also in its parts.

    Args:
        names: is given the name of each, by its probability.
    """
    changed: dict[str, Any] = {}
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            changed[field.name] = distinct(value, names)
        elif "drop" in field.name:
            changed[field.name] = (20 + len(names)) / 100
            names[changed[field.name]] = field.name
    return replace(config, **changed)


@contextmanager
def only(chosen: int | None, everything: bool = False) -> Iterator[list[float]]:
    """Of the dropouts that a call comes to, let that one alone drop numbers; None: let none.

    Args:
        everything: whether it drops all of them, and not as many as it is set to.

    Yields:
        The probability of each, in the order of the call.
    """
    met: list[float] = []
    dropout, attention = functional.dropout, functional.scaled_dot_product_attention

    def allowed(p: float) -> float:
        if not p:
            return p
        met.append(p)
        return (1.0 if everything else p) if len(met) - 1 == chosen else 0.0

    def one(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        return dropout(x, allowed(p) if training else 0.0, training, inplace)

    def fused(*args: Any, dropout_p: float = 0.0, **kwargs: Any) -> Tensor:
        return attention(*args, dropout_p=allowed(dropout_p), **kwargs)

    with (
        patch.object(functional, "dropout", one),
        patch.object(functional, "scaled_dot_product_attention", fused),
    ):
        yield met
