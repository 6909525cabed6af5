"""Several processes train one model: the same script, started by ``torchrun``.

One line prepares a script for any number of processes:

    model = parallel(BertForMaskedLM(config))
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

Training is data-parallel (PyTorch's `DistributedDataParallel`; Li et al. 2020): every process has
the whole model and a share of each batch, and they average their gradients. The steps equal those
of one process with the whole batch. Every process must compute the same number of losses: in each
step, it waits for all others.
"""

import atexit
import gc
import inspect
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from weakref import WeakSet

import torch
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from lmcourse import devices
from lmcourse.errors import CourseError

_TIMEOUT = timedelta(minutes=10)  # of waiting for the other processes
_replicated: "WeakSet[Replicated]" = WeakSet()


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
        if self.count > 1 and not isinstance(model, DistributedDataParallel):
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
        if last or not isinstance(self._model, DistributedDataParallel):
            return nullcontext()
        return self._model.no_sync()

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


def parallel(model: nn.Module) -> nn.Module:
    """The model, prepared for training by all processes, on the device of this one.

    All begin with the parameters of the first one, and have different random numbers from here on,
    so that dropout differs between the shares of a batch. Build the optimizer from the result.

    Args:
        model: on any device; the same architecture in every process.

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
    ids = [device] if device.type == "cuda" else None
    # Buffers are broadcast once, at the beginning: writing into them at each call would invalidate
    # the gradient of losses that call the model twice. PyTorch 2.13 renamed the argument.
    known = inspect.signature(DistributedDataParallel).parameters
    name = next(it for it in ("forward_sync_buffers", "broadcast_buffers") if it in known)
    never: dict[str, Any] = {name: False}
    replicated = Replicated(model, device_ids=ids, **never)
    _replicated.add(replicated)
    return replicated


def unwrapped(model: nn.Module) -> nn.Module:
    """The model as it was before `parallel`, to be saved or evaluated."""
    return model.module if isinstance(model, DistributedDataParallel) else model


def _device() -> torch.device:
    """The device of this process: on a machine with GPUs, one of its own."""
    kind = devices.device().type
    if here().count == 1:
        return torch.device(kind)
    if kind != "cuda":
        return torch.device("cpu")  # there is no backend for Apple's GPUs
    local = int(os.environ.get("LOCAL_RANK", "0"))
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
        for model in _replicated:  # what outlives the group here makes PyTorch abort now and then
            for name in ("reducer", "logger", "process_group"):
                vars(model).pop(name, None)
        gc.collect()
        dist.destroy_process_group()
