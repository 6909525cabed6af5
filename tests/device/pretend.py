"""An accelerator in software: what a GPU refuses, it refuses, and it computes as the CPU does.

Most machines have no GPU, and code that forgets to move a tensor runs on all of them. Here tensors
that claim to be on another device hold a CPU tensor and compute with it. They refuse

- an operation with a tensor of the CPU (one of at least one dimension, as a scalar is allowed),
- ``.numpy()`` and ``numpy.asarray``,
- random numbers from a generator of the CPU (CUDA does),
- float64 (MPS does).

The device is called "meta", the one that PyTorch has on every machine with a complete autograd;
real meta tensors cannot be made while `pretending` is active. ``with torch.device("meta")`` makes
tensors of the CPU meanwhile.

Sources: PyTorch's documentation of ``TorchDispatchMode`` and of wrapper subclasses
(``torch.Tensor._make_wrapper_subclass``).
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.utils._device import _device_constructors
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from lmcourse.devices import available

DEVICE = torch.device("meta")
PRETENDED = "pretended"
NAMES = (PRETENDED, *(name for name in available() if name != "cpu"))  # and the real ones, if any
# Operations that take a CPU tensor beside one of the device: copies; indices (the indexed tensor's
# device decides); the lengths of packed sequences, which PyTorch wants on the CPU.
_MIXED = ("aten::copy_", "aten::_to_copy")
_PACKED = ("aten::_pack_padded_sequence", "aten::_pad_packed_sequence")
_INDEXED = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_unsafe_index")


class DeviceTensor(Tensor):
    """A tensor of the pretended device; ``inner`` is the CPU tensor that it holds."""

    inner: Tensor
    is_meta = False  # it has values

    @staticmethod
    def __new__(cls, inner: Tensor) -> "DeviceTensor":
        if inner.dtype in (torch.float64, torch.complex128):
            raise TypeError(f"The pretended device has no {inner.dtype}, as MPS has none.")
        made = Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=DEVICE,
            requires_grad=inner.requires_grad,
        )
        made.inner = inner
        return made

    def __repr__(self, **_: Any) -> str:
        return f"on the pretended device: {self.inner!r}"

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function under the mode: it may make further tensors of the device in C++."""
        with _Mode(), torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _run(func, args, kwargs or {})

    def tolist(self) -> Any:
        """Its values; a GPU's tensor copies them to the CPU by itself here."""
        return self.inner.tolist()

    def new_tensor(self, data: Any, **options: Any) -> Tensor:
        """`torch.tensor` with this one's dtype and device, which C++ would not ask a mode about."""
        return torch.tensor(data, **({"dtype": self.dtype, "device": DEVICE} | options))

    def __format__(self, spec: str) -> str:
        return self.inner.__format__(spec)

    def numpy(self, *_: Any, **__: Any) -> Any:
        """Refused, as on every device but the CPU."""
        raise TypeError("can't convert a tensor of the pretended device to numpy. Use .cpu() first")

    __array__ = numpy


class _Mode(TorchDispatchMode):
    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _run(func, args, kwargs or {})

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: nothing is compiled here, and to skip it takes a third of an operation's time."""
        return False


def _run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Check the devices of an operation's arguments, and compute it on the CPU."""
    on_device: list[Tensor] = []
    elsewhere: list[Tensor] = []

    def taken(value: Any) -> Any:
        if isinstance(value, DeviceTensor):
            on_device.append(value)
            return value.inner
        if isinstance(value, Tensor):
            elsewhere.append(value)
        return value

    operation = _operation(func)
    inner_args, inner = _each(taken, args), _each(taken, kwargs) if kwargs else {}
    if elsewhere:
        _check_others(func, args, on_device, elsewhere)
    there = bool(on_device)
    if kwargs:
        requested = kwargs.get("device")
        if requested is not None:
            there = torch.device(requested) == DEVICE
            inner["device"] = torch.device("cpu") if there else requested
        if there:
            _check_generator(kwargs.get("generator"))
    out = func(*inner_args, **inner)
    if operation.changes_shape:  # such as transpose_: the outer tensor's shape, too
        with no_dispatch():
            func(*args, **kwargs)
    if operation.returns_argument and out is not None:
        return args[0] if isinstance(args[0], Tensor) else kwargs.get("out", out)
    if not there:
        return out
    if isinstance(out, Tensor):
        return DeviceTensor(out)
    if operation.name in _PACKED:
        return DeviceTensor(out[0]), out[1]
    return _each(lambda it: DeviceTensor(it) if isinstance(it, Tensor) else it, out)


def _check_others(
    func: Any, args: tuple[Any, ...], on_device: list[Tensor], elsewhere: list[Tensor]
) -> None:
    others = [each for each in elsewhere if each.dim() > 0]
    if any(each.device == DEVICE for each in elsewhere):
        raise NotImplementedError(f"{func}: a meta tensor that does not hold a CPU tensor.")
    if on_device and others and not _may_mix(func, args, others):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found cpu and the pretended device "
            f"({func}, shapes {[tuple(each.shape) for each in (*on_device, *elsewhere)]})"
        )


class _Operation(NamedTuple):
    """What matters of an operation's schema."""

    name: str
    changes_shape: bool
    returns_argument: bool  # it changes its first argument, or `out`, and returns it


@functools.cache
def _operation(func: Any) -> _Operation:
    aliases = [each.alias_info for each in func._schema.returns]
    written = len(aliases) == 1 and aliases[0] is not None and aliases[0].is_write
    returns_argument = func._schema.is_mutable and written
    return _Operation(func._schema.name, torch.Tag.inplace_view in func.tags, returns_argument)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """A function of a value, or of each that lists, tuples and dictionaries hold.

    PyTorch's pytree does the same, and took most of an operation's time.
    """
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([_each(change, it) for it in value])
    if kind is dict:
        return {name: _each(change, it) for name, it in value.items()}
    return change(value)


def _may_mix(func: Any, args: tuple[Any, ...], others: list[Tensor]) -> bool:
    name = _operation(func).name
    if name in _INDEXED:  # indices of the CPU into a tensor of the device, not the reverse
        plain = all(not each.dtype.is_floating_point for each in others)
        return isinstance(args[0], DeviceTensor) and plain
    return name in _MIXED or name in _PACKED


_generators: dict[int, torch.Generator] = {}  # those of the device, by their address in C++


class _Generators(type):
    """So that ``isinstance(it, torch.Generator)`` still holds for the real ones."""

    real = torch.Generator

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.real)

    def __call__(cls, device: Any = "cpu") -> torch.Generator:
        if torch.device(device) != DEVICE:
            return cls.real(device)
        made = cls.real()
        _generators[made._cdata] = made
        return made


class _Generator(metaclass=_Generators):
    """Stands in for ``torch.Generator``, and remembers which generators are the device's."""


def _check_generator(generator: torch.Generator | None) -> None:
    if generator is not None and generator._cdata not in _generators:
        raise RuntimeError("Expected a generator of the pretended device, but found one of the cpu")


# What can make a tensor of the device where none is yet.
_FACTORIES = (
    *("arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones", "ones_like"),
    *("rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "zeros"),
    *("zeros_like", "logspace", "tril_indices", "triu_indices"),
)
_METHODS = ("to", "new_empty", "new_full", "new_ones", "new_zeros")
_FROM_DATA = ("tensor", "as_tensor", "asarray")


def _names_device(values: Any) -> bool:
    return any(
        (isinstance(it, torch.device) and it == DEVICE)
        or (isinstance(it, str) and it == DEVICE.type)
        or isinstance(it, DeviceTensor)
        for it in values
    )


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that can make a tensor of the device: calls that name it go through `_run`.

    A mode that is always on would slow every operation of the CPU down, too.
    """

    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        if _names_device((*args, *kwargs.values())):
            with _Mode():
                return function(*args, **kwargs)
        return function(*args, **kwargs)

    return watched


def _from_data(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`torch.tensor` and its siblings, which build a tensor in C++ that no mode is asked about."""

    @functools.wraps(make)
    def made(*args: Any, device: Any = None, requires_grad: bool = False, **kwargs: Any) -> Tensor:
        if device is None or torch.device(device) != DEVICE:
            own = {"device": device} | ({"requires_grad": True} if requires_grad else {})
            return make(*args, **own, **kwargs)
        moved = make(*args, **kwargs).to(DEVICE)
        return moved.requires_grad_() if requires_grad else moved

    return made


def _keeping_identity(apply: Callable[..., Any]) -> Callable[..., Any]:
    """`Module.to` as on a GPU, where a parameter that has moved is the same object."""

    @functools.wraps(apply)
    def applied(*args: Any, **kwargs: Any) -> Any:
        before = torch.__future__.get_swap_module_params_on_conversion()
        torch.__future__.set_swap_module_params_on_conversion(True)
        try:
            return apply(*args, **kwargs)
        finally:
            torch.__future__.set_swap_module_params_on_conversion(before)

    return applied


@contextmanager
def pretending() -> Iterator[torch.device]:
    """A context in which tensors of the device exist; it returns the device."""
    with ExitStack() as stack:
        for owner, names, wrapper in (
            (torch, _FACTORIES, _watched),
            (Tensor, _METHODS, _watched),
            (torch, _FROM_DATA, _from_data),
        ):
            for name in names:
                stack.enter_context(patch.object(owner, name, wrapper(getattr(owner, name))))
        stack.enter_context(patch.object(torch, "Generator", _Generator))
        moved = _keeping_identity(nn.Module._apply)
        stack.enter_context(patch.object(nn.Module, "_apply", moved))
        # What `with torch.device(...)` gives a device to: kept from its first use, which may have
        # been before. The functions are replaced, so that now it finds none of them.
        _device_constructors.cache_clear()
        stack.callback(_device_constructors.cache_clear)
        yield DEVICE


def entered(name: str) -> AbstractContextManager[torch.device]:
    """A context in which the device of that name, one of `NAMES` or the CPU, can be used.

    A GPU computes with all bits of float32 in it: by default cuDNN's recurrent layers use TF32,
    whose mantissa has 10 bits, and differ from the CPU's by 1e-2.
    """
    return pretending() if name == PRETENDED else _precise(torch.device(name))


@contextmanager
def _precise(device: torch.device) -> Iterator[torch.device]:
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        yield device
