"""The size of a model: parameters, memory, and bytes on disk.

They differ. A shared matrix counts once in all of them. A pruned weight still counts as a parameter
and takes four bytes in memory and on disk: only the number of nonzeros shrinks. A file shrinks if
it is written in a sparse form (`saving.save`) or compressed by gzip.
"""

import gzip
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torch import nn

from lmcourse.compression import saving
from lmcourse.compression.layers import Mask
from lmcourse.compression.magnitude_pruning import make_permanent
from lmcourse.errors import CourseError


@dataclass(frozen=True)
class Size:
    """The size of a model in memory.

    Attributes:
        parameters: the number of parameters, shared ones once; quantization scales excluded.
        nonzero: the number of nonzero parameters; None on the meta device.
        bytes: the memory of parameters, scales, masks and buffers. (PyTorch's kernels pack int8
            weights into slightly more.)
    """

    parameters: int
    nonzero: int | None
    bytes: int


def size_of(model: nn.Module) -> Size:
    """Return the size of a model in memory; masked weights count as zeros."""
    masks = [module.mask for module in model.modules() if isinstance(module, Mask)]
    plain = make_permanent(model) if masks else model
    tensors, forms, _ = saving.contents(plain)
    scales = {f"{name}.scale".lstrip(".") for name, form in forms.items() if "int8" in form}
    buffers = {name for name, _ in plain.named_buffers(remove_duplicate=False)}
    parameters = [t for name, t in tensors.items() if name not in scales | buffers]
    meta = any(tensor.is_meta for tensor in parameters)
    return Size(
        sum(tensor.numel() for tensor in parameters),
        None if meta else sum(int(tensor.count_nonzero()) for tensor in parameters),
        sum(tensor.nbytes for tensor in [*tensors.values(), *masks]),
    )


def bytes_on_disk(model: nn.Module, form: Literal["dense", "sparse", "gzip"] = "dense") -> int:
    """Return the size of the model's file, which is written to a temporary folder.

    Args:
        form: ``"dense"`` or ``"sparse"``, as `saving.save` writes; or ``"gzip"``, the dense file
            compressed (a model cannot be loaded from it).

    Raises:
        CourseError: the form is unknown; the model has masks, or was prepared for quantization.
    """
    if form not in ("dense", "sparse", "gzip"):
        raise CourseError(f"The form is {form!r}.", "Choose 'dense', 'sparse' or 'gzip'.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        if form == "gzip":
            path.write_bytes(gzip.compress(saving.as_bytes(model)))
        else:
            saving.save(model, path, sparse=form == "sparse")
        return path.stat().st_size
