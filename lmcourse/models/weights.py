"""Weights: safetensors files, and how their tensors get into a model.

A file is compared with the model before memory is taken for either: its header gives the shapes,
and the model is built on the meta device.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from lmcourse.errors import CourseError

N = TypeVar("N", bound=nn.Module)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """An open safetensors file."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise CourseError(f"The file {path} {what}.", "Check it; `model.save(path)` writes one.")
    try:
        with safe_open(path, "pt") as file:
            yield file
    except (SafetensorError, OSError, ValueError) as error:
        raise CourseError(
            f"{path} is no safetensors file, or it is damaged: {error}.",
            "Fetch or save it again. A file that torch.save wrote (.pt, .bin) is a pickle, which "
            "can run any code when it is opened: convert it with safetensors where you trust it.",
        ) from error


def read_header(path: Path) -> tuple[dict[str, str], dict[str, tuple[int, ...]]]:
    """The metadata of a safetensors file, and the shapes of its tensors."""
    with _opened(path) as file:
        names = list(file.keys())
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in names}
        return dict(file.metadata() or {}), shapes


def read_tensors(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and tensors of a safetensors file."""
    with _opened(path) as file:
        names = list(file.keys())
        return dict(file.metadata() or {}), {name: file.get_tensor(name) for name in names}


class Unrandom(TorchFunctionMode):
    """Zeros in place of random numbers, which on the meta device import a compiler first.

    A tensor with values is not left as it is: `nn.init.trunc_normal_` draws until all are in range.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__.endswith(("normal_", "uniform_")):
            with torch.no_grad():
                return (args[0] if args else kwargs["tensor"]).zero_()
        return func(*args, **(kwargs or {}))


@contextmanager
def meta_device() -> Iterator[None]:
    """A context in which models have shapes and no values, which saves memory and time."""
    with torch.device("meta"), Unrandom():
        yield


def on_meta(build: Callable[[], N], tensors: int, source: str) -> N:
    """A model on the meta device, where its tensors have shapes and take no memory.

    Args:
        tensors: the number of tensors in its file, so that a wrong configuration cannot ask for
            millions of layers.
        source: what to call the file in an error.
    """
    registered = 0

    def count(*_: Any) -> None:
        nonlocal registered
        registered += 1
        if registered > 4 * tensors + 1000:
            raise ValueError(f"it asks for many more tensors than the file's {tensors}")

    hook = nn.modules.module.register_module_parameter_registration_hook(count)
    try:
        with meta_device():
            return build()
    except CourseError:
        raise
    except Exception as error:  # PyTorch and transformers have one for each wrong setting
        why = str(error).strip().split("\n")[-1].strip().rstrip(".")
        raise CourseError(
            f"The configuration of {source} makes no model: {why}.",
            "The file is damaged or of another version: download or save it again.",
        ) from error
    finally:
        hook.remove()


def check_shapes(model: nn.Module, shapes: Mapping[str, tuple[int, ...]], source: str) -> None:
    """Check that a model has tensors of these names and shapes."""
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    problems = [f"{name} is missing" for name in wanted if name not in shapes]
    problems += [f"{name} is not part of it" for name in shapes if name not in wanted]
    problems += [
        f"{name} has the shape {shapes[name]} there and {shape} here"
        for name, shape in wanted.items()
        if name in shapes and shapes[name] != shape
    ]
    if problems:
        more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise CourseError(
            f"The weights of {source} do not fit {type(model).__name__}: "
            f"{'; '.join(problems[:5])}{more}.",
            "Give the weights of the same architecture in the same size.",
        )


def load_strictly(model: nn.Module, state: Mapping[str, Tensor], source: str) -> None:
    """Copy every tensor into the model, which takes on their device and type of number."""
    check_shapes(model, {name: tuple(tensor.shape) for name, tensor in state.items()}, source)
    own = model.state_dict(keep_vars=True)
    if any(tensor.is_meta for tensor in own.values()):  # there is no memory to copy into
        copies = {id(own[name]): tensor.detach().clone() for name, tensor in state.items()}
        model.load_state_dict({name: copies[id(own[name])] for name in own}, assign=True)
        return
    floating = next((tensor for tensor in state.values() if tensor.is_floating_point()), None)
    if floating is not None:
        model.to(floating.device, floating.dtype)
    for name, tensor in model.state_dict(keep_vars=True).items():
        tensor.data = tensor.data.to(state[name].device, state[name].dtype)  # they may be mixed
    model.load_state_dict(dict(state))
