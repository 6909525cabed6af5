"""Several processes train one model: the same script, started by ``torchrun``.

One line prepares a script for any number of processes:

    model = parallel(BertForMaskedLM(config))       # or parallel(…, sharded=True)
    losses = BatchLosses(MaskedLM(model, masking), examples, epochs=10)  # its share of each batch
    train(model, losses, checkpoints=Checkpoints("runs/bert"))
    whole = unwrapped(model)                        # in every process
    if here().rank == 0:
        whole.save("bert.safetensors")

    python script.py                                             one process
    torchrun --standalone --nproc-per-node 4 script.py           four, on this machine
    torchrun --nnodes 2 --nproc-per-node 4 --node-rank 0 \\
        --master-addr 10.0.0.1 --master-port 29500 script.py     four on each of two machines:
    torchrun --nnodes 2 --nproc-per-node 4 --node-rank 1 \\
        --master-addr 10.0.0.1 --master-port 29500 script.py     the address is that of the first

On machines with GPUs, start a process for each of them. All machines need the same code and data,
and access to the folder of the checkpoints. ``python -m torch.distributed.run`` is another name of
torchrun.

**Data-parallel** (PyTorch's `DistributedDataParallel`; Li et al. 2020): every process has the whole
model and a share of each batch, and they average their gradients. The steps equal those of one
process with the whole batch. **Sharded** (PyTorch's `fully_shard`; Zhao et al. 2023; after ZeRO,
Rajbhandari et al. 2020): each process stores only a shard of the parameters, gradients and
optimizer state, and gathers the parameters of a layer when it computes it. This takes more
communication, but less memory.

Every process must compute the same number of losses: in each step, it waits for all others.
"""

import atexit
import copy
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel

from lmcourse import devices
from lmcourse.errors import CourseError

_TIMEOUT = timedelta(minutes=10)  # of waiting for the other processes

_originals: "WeakKeyDictionary[nn.Module, nn.Module]" = WeakKeyDictionary()
"""For each sharded model, a copy without memory for its parameters."""


@dataclass(frozen=True)
class Process:
    """A process: number ``rank``, from 0, of ``count``."""

    rank: int
    count: int


def here() -> Process:
    """This process, according to torchrun; without it, the only one."""
    return Process(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


class Processes:
    """The processes that train a model together; often, this one alone.

    Attributes:
        count: their number.
        rank: the number of this one, from 0.
        exchanged: whether they are known to exchange their gradients.
    """

    def __init__(self, model: nn.Module) -> None:
        self.rank, self.count = here().rank, here().count
        self.exchanged = self.count == 1
        self._model = model
        replicated = isinstance(model, DistributedDataParallel)
        if self.count > 1 and not (replicated or _is_sharded(model)):
            raise CourseError(
                f"{self.count} processes were started, and each would train its own "
                f"{type(model).__name__}.",
                "Build the optimizer and the losses from "
                "model = lmcourse.training.distributed.parallel(model), or start one process.",
            )

    def together(self, last: bool) -> AbstractContextManager[Any]:
        """The context of a loss and its backward pass: gradients are exchanged only if ``last``.

        When a step accumulates several losses, one exchange is enough.
        """
        if isinstance(self._model, DistributedDataParallel):
            return nullcontext() if last else self._model.no_sync()
        if _is_sharded(self._model):
            self._model.set_requires_gradient_sync(last)  # type: ignore[operator]
        return nullcontext()

    def summed(self, values: Sequence[int | float]) -> list[float]:
        """Each value, summed over the processes: exactly the same in all of them."""
        if self.count == 1:
            return [float(value) for value in values]
        total = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(total)
        return total.tolist()


class Replicated(DistributedDataParallel):
    """PyTorch's `DistributedDataParallel`, with the attributes of the wrapped model."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The model's result."""
        try:
            return super().forward(*inputs, **named)
        except RuntimeError as error:
            if "finished reduction" not in str(error):
                raise
            names = [name for name, p in self.module.named_parameters() if p.requires_grad]
            numbers = re.search(r"did not receive grad for rank \d+:([ \d]+)", str(error))
            idle = [names[int(at)] for at in numbers[1].split()] if numbers else ["(unknown)"]
            raise without_gradient(idle) from error


def without_gradient(names: Sequence[str]) -> CourseError:
    """The error about parameters whose gradient the processes could not exchange."""
    return CourseError(
        "Processes exchange the gradient of each parameter, but some had none in a step: "
        f"{', '.join(names[:5])}{' and more' if len(names) > 5 else ''}.",
        "Before parallel(model), freeze parameters that the loss does not depend on "
        "(….requires_grad_(False)); or train with parallel(model, sharded=True).",
    )


def parallel(model: nn.Module, *, sharded: bool = False) -> nn.Module:
    """The model, prepared for training by all processes, on the device of this one.

    All begin with the parameters of the first one, and have different random numbers from here on,
    so that dropout differs between the shares of a batch. Build the optimizer from the result.

    Args:
        model: on any device; the same architecture in every process.
        sharded: whether each process stores only a shard of the parameters. With one process, this
            has no effect.

    Raises:
        CourseError: there are more processes than GPUs; or they cannot connect.
    """
    device = _device()
    model.to(device)
    if here().count == 1:
        return model
    _join(device)
    if here().rank:
        torch.manual_seed(torch.initial_seed() + here().rank)
    if sharded:
        return _sharded(model, device)
    ids = [device] if device.type == "cuda" else None
    # Buffers are broadcast once, at the beginning: writing into them at each call would invalidate
    # the gradient of losses that call the model twice.
    return Replicated(model, device_ids=ids, forward_sync_buffers=False)


def unwrapped(model: nn.Module) -> nn.Module:
    """The model as it was before `parallel`, to be saved or evaluated.

    For a sharded model it is a copy, on its device, and all processes must call this function.
    """
    if isinstance(model, DistributedDataParallel):
        return model.module
    if model not in _originals:
        return model
    parameters: dict[str, Any] = dict(model.named_parameters())  # DTensors
    full = {
        n: nn.Parameter(p.detach().full_tensor(), p.requires_grad) for n, p in parameters.items()
    }
    copied = _with_parameters(_originals[model], full)
    for name, buffer in model.named_buffers():
        copied.get_buffer(name).copy_(buffer)
    return copied.train(model.training)


def _device() -> torch.device:
    """The device of this process: on a machine with GPUs, one of its own."""
    kind = devices.device().type
    if here().count == 1:
        return torch.device(kind)
    if kind != "cuda":
        return torch.device("cpu")  # there is no backend for Apple's GPUs
    local, found = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if local >= found:
        raise CourseError(
            f"This is process {local + 1} on a machine with {found} GPU{'s' * (found > 1)}.",
            f"Start torchrun with --nproc-per-node {found}, or set LMCOURSE_DEVICE=cpu.",
        )
    torch.cuda.set_device(local)
    return torch.device("cuda", local)


def _join(device: torch.device) -> None:
    """Connect to the other processes, unless that is done."""
    if dist.is_initialized():
        return
    # Python's numbers are exchanged between CPUs, gradients between their devices.
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    try:
        dist.init_process_group(backend, timeout=_TIMEOUT)
    except (ValueError, RuntimeError) as error:
        raise CourseError(
            f"The processes cannot connect: {error}",
            "Start them with torchrun, on every machine with the same --master-addr and "
            "--master-port, and check that no firewall blocks that port.",
        ) from error
    atexit.register(_leave)


def _leave() -> None:
    """Disconnect, unless an error ended this process: the others may still wait for it."""
    failed = hasattr(sys, "last_value")  # set by Python for an uncaught exception
    if dist.is_initialized() and not failed:
        dist.destroy_process_group()


def _sharded(model: nn.Module, device: torch.device) -> nn.Module:
    """The same model, with a shard of its parameters in this process."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    # It warns about results that are modified in place; the course's losses only read them.
    warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view", UserWarning)
    for tensor in (*model.parameters(), *model.buffers()):
        dist.broadcast(tensor.detach(), src=0)
    empty = {name: nn.Parameter(p.to("meta"), False) for name, p in model.named_parameters()}
    original = _with_parameters(model, empty)
    mesh = init_device_mesh(device.type, (here().count,))
    for layer in _layers(model):
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)  # the rest: embeddings, heads
    type(model).__name__ = type(original).__name__  # for checkpoints and errors
    _originals[model] = original
    return model


def _layers(model: nn.Module) -> list[nn.Module]:
    """The modules whose parameters are gathered together: layers of stacks, inner ones first."""
    stacks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    layers = [layer for stack in reversed(stacks) for layer in stack if _is_layer(layer)]
    return list(dict.fromkeys(layers))  # a layer may be used several times


def _is_layer(module: nn.Module) -> bool:
    """Whether a module has children and is called: its parameters are gathered in the call.

    A list of modules is not called; nor is ALBERT's `Residual`, which has two other methods.
    """
    return any(module.children()) and type(module).forward is not nn.Module.forward


def _with_parameters(model: nn.Module, parameters: dict[str, nn.Parameter]) -> nn.Module:
    """A copy of the model with other parameters, tied like the model's."""
    memo = {id(p): parameters[name] for name, p in model.named_parameters()}
    return copy.deepcopy(model, memo)


def is_sharded(tensor: object) -> bool:
    """Whether each process has a part of this tensor (a DTensor, which is slow to import)."""
    return isinstance(tensor, Tensor) and hasattr(tensor, "full_tensor")


def full_tensor(tensor: Any) -> Tensor:
    """The tensor, detached, and gathered from the processes if they have a part of it each."""
    tensor = tensor.detach()
    return tensor.full_tensor() if is_sharded(tensor) else tensor


def _is_sharded(model: nn.Module) -> bool:
    return hasattr(model, "set_requires_gradient_sync")  # FSDPModule's, which is slow to import
