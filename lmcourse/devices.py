"""Where notebooks compute: the best device there is, or the one that ``LMCOURSE_DEVICE`` names."""

import os
from typing import TYPE_CHECKING

from lmcourse.errors import CourseError

if TYPE_CHECKING:
    import torch

KINDS = ("cpu", "cuda", "mps")


def available() -> list[str]:
    """The kinds of device that PyTorch can use here, best first; ``"cpu"`` is always the last."""
    import torch

    found = ["cuda"] if torch.cuda.is_available() else []
    if torch.backends.mps.is_available():
        found.append("mps")
    return [*found, "cpu"]


def device() -> "torch.device":
    """The device that this run uses.

    Raises:
        CourseError: ``LMCOURSE_DEVICE`` names no device, or one that is not there.
    """
    import torch

    asked = os.environ.get("LMCOURSE_DEVICE", "").strip().lower()
    found = available()
    if not asked:
        return torch.device(found[0])
    if asked not in KINDS:
        raise CourseError(
            f"LMCOURSE_DEVICE is {asked!r}, which is no device.",
            f"Set it to one of {', '.join(KINDS)}, or remove it to take the best one there is.",
        )
    if asked not in found:
        raise CourseError(
            f"The device {asked!r} was asked for, but PyTorch {torch.__version__} finds only "
            f"{', '.join(found)} here.",
            "Ask for one of those, or for none to take the best there is (DEVICE=… for make, "
            "--device for lmcourse, or LMCOURSE_DEVICE); `make doctor` or `lmcourse doctor` says "
            "what is missing.",
        )
    return torch.device(asked)
