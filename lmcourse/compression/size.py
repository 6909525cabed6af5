"""How large a model is: in numbers, in memory, and as a file that was really written.

Three sizes that are not the same. A matrix that two layers share counts once in each. A pruned
weight counts as a parameter and takes its four bytes, in memory and in a file: only what is not
zero is fewer. A file is smaller where it is written in a form that skips zeros (`saving.save`), or
packed by gzip, which also shrinks what is in eight bits a little.
"""

import gzip
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torch import nn

from lmcourse.compression import saving
from lmcourse.compression.magnitude_pruning import Mask, make_permanent
from lmcourse.errors import CourseError


@dataclass(frozen=True)
class Size:
    """What a model holds.

    Attributes:
        parameters: how many numbers, each once; scales of quantization are none of them.
        nonzero: how many of them are not zero; None on the meta device, where nobody knows.
        bytes: what they take in memory, with scales, masks and buffers. (PyTorch packs what is in
            eight bits for its kernels, which takes a little more.)
    """

    parameters: int
    nonzero: int | None
    bytes: int


def size_of(model: nn.Module) -> Size:
    """A model's size in memory; weights under masks count as the zeros that they are.

    Raises:
        CourseError: it rounds in training (`quantization_aware.prepare`).
    """
    plain = make_permanent(model) if _masked(model) else model
    tensors, forms, _ = saving.contents(plain)
    scales = {f"{name}.scale".lstrip(".") for name, form in forms.items() if "int8" in form}
    buffers = {name for name, _ in plain.named_buffers(remove_duplicate=False)}
    numbers = [t for name, t in tensors.items() if name not in scales | buffers]
    meta = any(tensor.is_meta for tensor in numbers)
    masks = sum(m.mask.nbytes for m in model.modules() if isinstance(m, Mask))
    return Size(
        sum(tensor.numel() for tensor in numbers),
        None if meta else sum(int(tensor.count_nonzero()) for tensor in numbers),
        sum(tensor.nbytes for tensor in tensors.values()) + masks,
    )


def bytes_on_disk(model: nn.Module, form: Literal["dense", "sparse", "gzip"] = "dense") -> int:
    """The size of the model's file, which is written and thrown away.

    Args:
        form: every number; what is not zero, wherever that is smaller; or every number, packed by
            gzip (which no model is read from directly).

    Raises:
        CourseError: the form is none; weights are under masks, or round in training.
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


def _masked(model: nn.Module) -> bool:
    return any(isinstance(module, Mask) for module in model.modules())
