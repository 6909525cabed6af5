"""Make a model whose weights are about to be replaced, without drawing them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode

DRAWS = (Tensor.normal_, Tensor.uniform_, init.normal_, init.uniform_, init.kaiming_uniform_)


class Undrawn(TorchFunctionMode):
    """Inside the ``with`` block, a tensor that would be filled with random numbers gets zeros.

    Most of the time of loading a model is spent on its initial weights. Without them, loading
    also leaves the generator of random numbers alone: what is drawn next does not depend on it.
    """

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if function in DRAWS:
            tensor = args[0] if args else given["tensor"]
            return tensor.detach().zero_()
        return function(*args, **given)
