"""The machine: processor, memory, disk, and what PyTorch finds on it."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from coursekit import course
from coursekit.doctor.files import existing
from coursekit.doctor.finding import Finding
from lmcourse.errors import CourseError

ENOUGH_MEMORY = 2e9  # bytes: JupyterLab, a browser's tab and one kernel of a chapter
ENOUGH_DISK = 1e9  # bytes
CGROUP = Path("/sys/fs/cgroup")


def cores() -> int:
    """Return how many processor cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory() -> float:
    """Return the bytes that are free here, as far as a container's limit allows."""
    import psutil  # type: ignore[import-untyped]

    free = float(psutil.virtual_memory().available)
    try:  # cgroup v2, as in Docker and on Binder; the page cache counts as used there, yet is free
        limit = float((CGROUP / "memory.max").read_text(encoding="ascii"))
        used = float((CGROUP / "memory.current").read_text(encoding="ascii"))
        cache = re.search(r"^inactive_file (\d+)", (CGROUP / "memory.stat").read_text(), re.M)
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return free
    return min(free, limit - used + float(cache[1] if cache else 0))


def pytorch() -> Iterator[Finding]:
    """Look at PyTorch, its device and its threads."""
    try:
        import torch
    except Exception as error:  # a missing library of the system, a broken file: anything may come
        yield Finding(
            "PyTorch",
            "problem",
            f"It cannot be imported ({type(error).__name__}: {error}).",
            "Remove it, `python -m pip uninstall torch`, and install it again: "
            "`python -m coursekit.install` in the course's folder.",
        )
        return
    from lmcourse.devices import device

    try:
        yield Finding("device", "ok", f"PyTorch {torch.__version__} computes on {device().type}")
    except CourseError as error:
        yield Finding("device", "problem", error.cause, error.remedy)
    if shutil.which("nvidia-smi") and not torch.cuda.is_available():
        yield _idle_gpu(torch.version.cuda)
    threads = torch.get_num_threads()
    if threads <= cores():
        yield Finding("threads", "ok", f"{threads} on {cores()} cores")
        return
    yield Finding(
        "threads",
        "warning",
        f"PyTorch uses {threads} threads on {cores()} cores, which makes it slow.",
        f"Set OMP_NUM_THREADS={cores()} before the course starts.",
    )


def _idle_gpu(built_for: str | None) -> Finding:
    """Say why an NVIDIA GPU is not used; ``built_for`` is PyTorch's CUDA version, or None."""
    if built_for is None:
        cause = "There is an NVIDIA GPU, but this PyTorch is built for the CPU only."
        remedy = "Install the CUDA build; pytorch.org's page “Get Started” shows the command."
    else:
        cause = f"There is an NVIDIA GPU, but PyTorch (for CUDA {built_for}) cannot use it."
        remedy = f"Run `nvidia-smi`: its driver must be new enough for CUDA {built_for}."
    return Finding("GPU", "warning", cause, f"{remedy} The CPU is enough for the course.")


def memory() -> Iterator[Finding]:
    """Look at the free memory."""
    free = free_memory()
    found = f"{free / 1e9:.1f} GB free"
    if free >= ENOUGH_MEMORY:
        yield Finding("memory", "ok", found)
        return
    remedy = "Close other programs, and notebooks whose kernels still run."
    yield Finding("memory", "warning", f"Only {found}; a chapter needs up to 1 GB.", remedy)


def disk() -> Iterator[Finding]:
    """Look at the free space where the notebooks are."""
    folder = existing(course.workbook())
    free = shutil.disk_usage(folder).free
    found = f"{free / 1e9:.1f} GB free in {folder}"
    if free >= ENOUGH_DISK:
        yield Finding("disk", "ok", found)
        return
    remedy = "Free some space, or put the workbook elsewhere with LMCOURSE_WORKBOOK=path."
    yield Finding("disk", "warning", f"Only {found}; a notebook that is saved may not fit.", remedy)


def network() -> Iterator[Finding]:
    """Say that the course asks for none."""
    yield Finding("network", "ok", "not needed once the course is installed")
