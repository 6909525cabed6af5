"""The memory that backpropagation needs: what is saved for the backward pass."""

import weakref
from collections import Counter
from types import TracebackType

import torch
from torch import Tensor

_Key = tuple[int, int, int]  # storage, offset in it, number of elements


class SavedForBackward:
    """Count the bytes that autograd saves for the backward pass, exactly and on any device.

    Inside the ``with`` block, ``now`` is the current number and ``peak`` the maximum. A tensor that
    several operations save counts once; temporary memory of operations does not count.

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
        # A view counts for its own elements; its transpose has the same bytes.
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
    """A saved tensor, detached: otherwise a node would keep itself alive."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor.detach()


def _unpack(held: _Held) -> Tensor:
    return held.tensor
