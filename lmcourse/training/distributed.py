"""Several processes train one model: the same script, started by ``torchrun``.

A script asks for it in one line, and is the same for one process and for many:

    model = parallel(BertForMaskedLM(config))       # or parallel(…, sharded=True)
    losses = BatchLosses(MaskedLM(model, masking), examples, epochs=10)  # its share of each batch
    train(model, losses, checkpoints=Checkpoints("runs/bert"))
    whole = unwrapped(model)                        # in every process
    if here().rank == 0:
        whole.save("bert.safetensors")

    python script.py                                             one process
    torchrun --standalone --nproc-per-node 4 script.py           four, on this machine
    torchrun --nnodes 2 --nproc-per-node 4 --node-rank 0 \\
        --master-addr 10.0.0.1 --master-port 29500 script.py     and four, on each of two machines:
    torchrun --nnodes 2 --nproc-per-node 4 --node-rank 1 \\
        --master-addr 10.0.0.1 --master-port 29500 script.py     the address is that of the first

On machines with GPUs, start as many processes as each has. All machines need the same code and
data, and the folder of the checkpoints. Where torchrun is not found, ``python -m
torch.distributed.run`` is the same.

**Data-parallel** (PyTorch's `DistributedDataParallel`; Li et al. 2020): every process has the
whole model and a share of each batch, and they exchange the mean of their gradients. The steps are
those of one process with the whole batch. **Sharded** (PyTorch's `fully_shard`; Zhao et al. 2023;
the idea is ZeRO's, Rajbhandari et al. 2020): each process keeps a part of the parameters, gradients
and optimizer's state only, and fetches the rest of a layer when it computes it. This takes more
traffic, and holds models that one device could not train.

Every process must compute as many losses as the others: each waits for all in every step.
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
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from lmcourse import devices
from lmcourse.errors import CourseError

_PATIENCE = timedelta(minutes=10)  # for the others, before a process gives up

_wholes: "WeakKeyDictionary[nn.Module, nn.Module]" = WeakKeyDictionary()
"""For each sharded model, the same one with no memory for its parameters."""


@dataclass(frozen=True)
class Place:
    """Which process this is: number ``rank``, from 0, of ``count``."""

    rank: int
    count: int


def here() -> Place:
    """Which process this is, as torchrun says it; the only one where it did not start it."""
    return Place(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


class Processes:
    """The processes that train a model together; often, this one alone.

    Attributes:
        count: how many there are.
        rank: which of them this is, from 0.

    Raises:
        CourseError: there are several, and each would train a model of its own.
    """

    def __init__(self, model: nn.Module) -> None:
        self.rank, self.count = here().rank, here().count
        self._model = model
        if self.count > 1 and not (_is_replicated(model) or _is_sharded(model)):
            raise CourseError(
                f"{self.count} processes were started, and each would train its own "
                f"{type(model).__name__}.",
                "Build the optimizer and the losses from "
                "model = lmcourse.training.distributed.parallel(model), or start one process.",
            )

    def together(self, last: bool) -> AbstractContextManager[Any]:
        """The context of a loss and its backward pass: gradients are exchanged only if ``last``.

        Where several losses make one step, each adds to the gradient, and one exchange is enough.
        """
        if isinstance(self._model, DistributedDataParallel):
            return nullcontext() if last else self._model.no_sync()
        if _is_sharded(self._model):
            self._model.set_requires_gradient_sync(last)  # type: ignore[operator]
        return nullcontext()

    def summed(self, values: Sequence[int | float]) -> list[float]:
        """Each value, summed over the processes: the same in all of them, to the last bit."""
        if self.count == 1:
            return [float(value) for value in values]
        total = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(total)
        return total.tolist()


class Replicated(DistributedDataParallel):
    """PyTorch's `DistributedDataParallel`, which has the attributes of the model in it, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The model's own result.

        Raises:
            CourseError: in the step before, a parameter had no gradient.
        """
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
    """What is said of parameters whose gradient the processes could not exchange."""
    return CourseError(
        "Processes exchange the gradient of each parameter, and some had none in a step: "
        f"{', '.join(names[:5])}{' and more' if len(names) > 5 else ''}.",
        "Before parallel(model), freeze what the loss does not depend on "
        "(….requires_grad_(False)); or train with parallel(model, sharded=True).",
    )


def parallel(model: nn.Module, *, sharded: bool = False) -> nn.Module:
    """The model, ready to be trained by all processes, on the device of this one.

    All begin with the first one's parameters. From here on each has random numbers of its own, so
    that dropout differs between the shares of a batch. Build the optimizer from what is returned.

    Args:
        model: on any device; the same architecture in every process.
        sharded: whether each process keeps only a part of the parameters. With one process, this
            changes nothing.

    Raises:
        CourseError: there are more processes than GPUs; or they do not find each other.
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
    # Buffers are exchanged once, at the beginning: to write into them at each call would spoil the
    # gradient of losses that call the model twice.
    return Replicated(model, device_ids=ids, forward_sync_buffers=False)


def unwrapped(model: nn.Module) -> nn.Module:
    """The model by itself, whole, as it was before `parallel`: to be saved or evaluated.

    Of a sharded model it is a copy, on its device; then all processes must ask for it at once.
    """
    if isinstance(model, DistributedDataParallel):
        return model.module
    if model not in _wholes:
        return model
    whole = _wholes[model]
    parameters: dict[str, Any] = dict(model.named_parameters())  # DTensors
    full = {
        n: nn.Parameter(p.detach().full_tensor(), p.requires_grad) for n, p in parameters.items()
    }
    copied = _with_parameters(whole, full)
    for name, buffer in model.named_buffers():
        copied.get_buffer(name).copy_(buffer)
    return copied.train(model.training)


def _device() -> torch.device:
    """The device of this process: with GPUs, one for each process on this machine.

    Raises:
        CourseError: it has fewer.
    """
    kind = devices.device().type
    if here().count == 1:
        return torch.device(kind)
    if kind != "cuda":
        return torch.device("cpu")  # Apple's GPUs exchange nothing
    local, found = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if local >= found:
        raise CourseError(
            f"This is process {local + 1} on a machine with {found} GPU{'s' * (found > 1)}.",
            f"Give torchrun --nproc-per-node {found}, or set LMCOURSE_DEVICE=cpu.",
        )
    torch.cuda.set_device(local)
    return torch.device("cuda", local)


def _join(device: torch.device) -> None:
    """Meet the other processes, if that was not done yet."""
    if dist.is_initialized():
        return
    # Numbers of Python's are exchanged between CPUs, gradients where they are.
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    try:
        dist.init_process_group(backend, timeout=_PATIENCE)
    except (ValueError, RuntimeError) as error:
        raise CourseError(
            f"The processes do not find each other: {error}",
            "Start them with torchrun, on every machine with the same --master-addr and "
            "--master-port, to which no firewall bars the way.",
        ) from error
    atexit.register(_leave)


def _leave() -> None:
    """Part from the others, unless an error ends this process: they may wait for it in vain."""
    failed = hasattr(sys, "last_value")  # Python leaves there what nobody caught
    if dist.is_initialized() and not failed:
        dist.destroy_process_group()


def _sharded(model: nn.Module, device: torch.device) -> nn.Module:
    """The same model, a part of whose parameters are in this process."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    # It warns of results that are changed in place, which the course's losses only read.
    warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view", UserWarning)
    for tensor in (*model.parameters(), *model.buffers()):
        dist.broadcast(tensor.detach(), src=0)
    empty = {name: nn.Parameter(p.to("meta"), False) for name, p in model.named_parameters()}
    whole = _with_parameters(model, empty)
    mesh = init_device_mesh(device.type, (here().count,))
    for layer in _layers(model):
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)  # what is in no layer: embeddings, heads
    type(model).__name__ = type(whole).__name__  # checkpoints and errors name no class of PyTorch's
    _wholes[model] = whole
    return model


def _layers(model: nn.Module) -> list[nn.Module]:
    """What is fetched and forgotten as a whole: each of a stack of layers, the inner ones first."""
    stacks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    layers = [layer for stack in reversed(stacks) for layer in stack if _is_layer(layer)]
    return list(dict.fromkeys(layers))  # one layer may stand in many places


def _is_layer(module: nn.Module) -> bool:
    """Whether it has parts, and is called: what is fetched is fetched when it is called.

    A list of modules is not; nor is ALBERT's `Residual`, two methods of which are used instead.
    """
    return any(module.children()) and type(module).forward is not nn.Module.forward


def _with_parameters(model: nn.Module, parameters: dict[str, nn.Parameter]) -> nn.Module:
    """A copy of the model with other parameters, tied where the model's are."""
    memo = {id(p): parameters[name] for name, p in model.named_parameters()}
    return copy.deepcopy(model, memo)


def _is_replicated(model: nn.Module) -> bool:
    return isinstance(model, DistributedDataParallel)


def _is_sharded(model: nn.Module) -> bool:
    return hasattr(model, "set_requires_gradient_sync")  # FSDPModule's, which is slow to import
