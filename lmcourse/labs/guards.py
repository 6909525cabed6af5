"""The state of the interpreter that an answer may disturb: set to what is usual, then restored."""

import builtins
import contextlib
import io
import math
import operator
import os
import random
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import numpy as np
import torch

from lmcourse import engine
from lmcourse.labs import results
from lmcourse.labs.verdict import Wrong

_LONGEST = 2000  # characters kept of what an answer prints: it may print without end

# Modules and classes that other code, the check's too, computes with.
_SHARED: tuple[Any, ...] = (
    *(builtins, math, random, np, torch, torch.Tensor, torch.nn, torch.nn.Module),
    *(torch.nn.functional, torch.nn.utils, torch.autograd, results),
)


class Printed(io.StringIO):
    """Takes in what is printed, and keeps the beginning."""

    def write(self, text: str) -> int:
        room = _LONGEST - self.tell()
        if room > 0:
            super().write(text if len(text) <= room else text[:room] + " …")
        return len(text)


@contextlib.contextmanager
def captured() -> Iterator[tuple[Printed, Printed]]:
    """Catch what is printed or displayed, and keep `exit()` from stopping the kernel.

    Two streams: what was printed, and what came as an error message or, at the end, as a warning.
    """
    printed, warned = Printed(), Printed()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(warned),
        warnings.catch_warnings(record=True) as warnings_given,
        _quiet_shell(),
    ):
        warnings.simplefilter("default")  # each once for each line, whatever was seen before
        yield printed, warned
    for warning in warnings_given:
        if not is_library(warning.filename):
            warned.write(f"{warning.category.__name__}: {warning.message}\n")


@contextlib.contextmanager
def _quiet_shell() -> Iterator[None]:
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        yield
        return
    from IPython.core.displaypub import CapturingDisplayPublisher

    def leave() -> None:
        raise SystemExit

    # In a notebook `exit()` raises no SystemExit: it asks the shell, which stops the kernel.
    publisher, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    try:
        with mock.patch.object(shell, "ask_exit", leave, create=True):
            yield
    finally:
        shell.display_pub = publisher


@contextlib.contextmanager
def no_autograd() -> Iterator[None]:
    """Refuse automatic differentiation, the engine's too, where the formula is the exercise."""

    def refusing() -> Callable[..., Any]:  # one for each: PyTorch's compiler wants different ones
        def refuse(*_: Any, **__: Any) -> Any:
            raise Wrong(
                "Autograd computes the gradient here. Write its formula yourself, without "
                "`backward`, `grad` or the engine's `ordered`.",
                "autograd",
            )

        return refuse

    ours = mock.patch.multiple(engine, backward=refusing(), ordered=refusing())
    forward = mock.patch.object(torch.autograd.forward_ad, "make_dual", refusing())
    with ours, forward, mock.patch.multiple(torch.autograd, backward=refusing(), grad=refusing()):
        yield


# The interpreter's states: how each is read, how it is set, and what it is within a check.
_KEEP = object()
_STATES: tuple[tuple[Callable[[], Any], Callable[[Any], Any], Any], ...] = (
    (random.getstate, random.setstate, random.Random(0).getstate()),
    (np.random.get_state, np.random.set_state, np.random.RandomState(0).get_state()),
    (torch.get_rng_state, torch.set_rng_state, torch.Generator().manual_seed(0).get_state()),
    (torch.is_grad_enabled, torch.set_grad_enabled, True),
    (torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    (torch.get_num_threads, torch.set_num_threads, _KEEP),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, _KEEP),
    (np.geterr, lambda state: np.seterr(**state), _KEEP),
    (sys.getrecursionlimit, sys.setrecursionlimit, _KEEP),
)


@contextlib.contextmanager
def usual_state() -> Iterator[None]:
    """Run with fixed seeds, gradients on, float32 and the CPU as default; then restore all."""
    before = [look() for look, _, _ in _STATES]
    device = torch.get_default_device()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    try:
        for _, write, usual in _STATES:
            if usual is not _KEEP:
                write(usual)
        if device.type != "cpu":
            torch.set_default_device(None)
        with _same_process():
            yield
    finally:
        for (look, write, _), state in zip(_STATES, before, strict=True):
            if look is not torch.get_deterministic_debug_mode or look() != state:
                write(state)  # which would import PyTorch's compiler
        if torch.get_default_device() != device:
            # The CPU is the default where none is set; set by name it would be a mode of its own,
            # through which every later call would go.
            torch.set_default_device(None if device.type == "cpu" else device)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)


@contextlib.contextmanager
def _same_process() -> Iterator[None]:
    """Restore the working directory and the environment, which the next check needs."""
    folder = None
    with contextlib.suppress(OSError):  # it was deleted: nobody can go back there
        folder = os.getcwd()  # noqa: PTH109 - Path.cwd() is the same
    try:
        with mock.patch.dict(os.environ):
            yield
    finally:
        with contextlib.suppress(OSError):  # deleted meanwhile
            if folder is not None:
                os.chdir(folder)


@contextlib.contextmanager
def unpatched() -> Iterator[list[str]]:
    """Undo replaced functions of shared modules; the list then names them ("torch.tanh").

    What a library replaces itself, as PyTorch does when it imports its compiler, is left.
    """
    replaced: list[str] = []
    before = [(owner, dict(vars(owner))) for owner in _SHARED]
    try:
        yield replaced
    finally:
        for owner, names in before:
            if _same_names(vars(owner), names):
                continue
            parents = owner.__mro__[1:] if isinstance(owner, type) else ()
            for name, now in list(vars(owner).items()):
                original = names.get(name)
                # A new name may hide an inherited one: `torch.Tensor.mean` is its parent's.
                hides = original is None and any(name in vars(parent) for parent in parents)
                if now is original or _of_a_library(now) or not (callable(original) or hides):
                    continue
                delattr(owner, name) if hides else setattr(owner, name, original)
                prefix = "torch." if isinstance(owner, type) else ""
                replaced.append(f"{prefix}{owner.__name__}.{name}")


def _same_names(now: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether two namespaces hold the same objects: quick, and no object's own ``==`` is asked."""
    same = len(now) == len(before) and all(map(operator.is_, now.values(), before.values()))
    return same and now.keys() == before.keys()


def _of_a_library(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and is_library(code.co_filename)


def is_library(filename: str) -> bool:
    """Whether a file of code belongs to Python or an installed package."""
    return "site-packages" in filename or filename.startswith(
        (sysconfig.get_path("stdlib"), "<frozen")
    )
