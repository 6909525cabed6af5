"""What backpropagation costs: the memory that the backward pass waits for."""

import weakref
from collections import Counter
from types import TracebackType

import torch
from torch import Tensor

_Key = tuple[int, int, int]  # storage, offset in it, number of elements


class SavedForBackward:
    """Count the bytes that autograd holds for the backward pass, exactly and on any device.

    Inside the ``with`` block, ``now`` is what is held at this moment and ``peak`` the most that
    was; a tensor that several operations saved counts once. It counts what the graph keeps, not
    what an operation needs while it runs.

        with SavedForBackward() as saved:
            loss = model(inputs).sum()
        print(saved.peak)
    """

    def __init__(self) -> None:
        self.now = 0
        self.peak = 0
        self._holders: Counter[_Key] = Counter()
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, _unpack)

    def __enter__(self) -> "SavedForBackward":
        self._hooks.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._hooks.__exit__(kind, error, traceback)

    def _pack(self, tensor: Tensor) -> "_Held":
        storage = tensor.untyped_storage()
        # A view counts for what it shows, and its transpose is the same bytes again.
        key = (storage.data_ptr(), int(tensor.storage_offset()), tensor.numel())
        size = min(tensor.numel() * tensor.element_size(), storage.nbytes())
        if self._holders[key] == 0:
            self.now += size
            self.peak = max(self.peak, self.now)
        self._holders[key] += 1
        held = _Held(tensor)
        weakref.finalize(held, self._release, key, size)
        return held

    def _release(self, key: _Key, size: int) -> None:
        self._holders[key] -= 1
        if self._holders[key] == 0:
            self.now -= size


class _Held:
    """A saved tensor, without its history: with it, a node would keep itself alive."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor.detach()


def _unpack(held: _Held) -> Tensor:
    return held.tensor
