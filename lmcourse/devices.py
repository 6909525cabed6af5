"""The device of a notebook: the best available one, or that of ``LMCOURSE_DEVICE``."""

import os
from typing import TYPE_CHECKING

from lmcourse.errors import CourseError

if TYPE_CHECKING:
    import torch

KINDS = ("cpu", "cuda", "mps")


def available() -> list[str]:
    """Return the available types of device, best first; ``"cpu"`` is always the last."""
    import torch

    found = ["cuda"] if torch.cuda.is_available() else []
    if torch.backends.mps.is_available():
        found.append("mps")
    return [*found, "cpu"]


def device() -> "torch.device":
    """Return the device that this run uses.

    Raises:
        CourseError: ``LMCOURSE_DEVICE`` is not a type of device, or not available.
    """
    import torch

    requested = os.environ.get("LMCOURSE_DEVICE", "").strip().lower()
    found = available()
    if not requested:
        return torch.device(found[0])
    if requested not in KINDS:
        raise CourseError(
            f"LMCOURSE_DEVICE is {requested!r}, which is not a device.",
            f"Set it to one of {', '.join(KINDS)}, or unset it to use the best available one.",
        )
    if requested not in found:
        raise CourseError(
            f"The device {requested!r} was requested, but PyTorch {torch.__version__} finds only "
            f"{', '.join(found)} here.",
            "Choose one of those, or none to use the best available one (DEVICE=… for make, "
            "--device for lmcourse, or LMCOURSE_DEVICE); `make doctor` or `lmcourse doctor` "
            "reports what is missing.",
        )
    return torch.device(requested)
