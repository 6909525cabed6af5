"""The state of the interpreter that an answer may disturb: set to what is usual, then put back."""

import builtins
import contextlib
import inspect
import io
import math
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import torch

from lmcourse.labs import values

_LONGEST = 2000  # characters kept of what an answer prints: it may print without end

# Modules and classes whose functions an answer, or our judges, compute with.
_SHARED = (
    builtins,
    math,
    random,
    np,
    torch,
    torch.Tensor,
    torch.nn,
    torch.nn.Module,
    torch.nn.functional,
    torch.nn.utils,
    torch.autograd,
    values,
)


class Printed(io.TextIOBase):
    """Takes in what is printed, and keeps the beginning."""

    def __init__(self) -> None:
        self.text = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if len(self.text) <= _LONGEST:
            self.text += text[:_LONGEST]
            if len(self.text) > _LONGEST:
                self.text = self.text[:_LONGEST] + " …"
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
    publisher, shell.display_pub, shell.ask_exit = (
        shell.display_pub,
        CapturingDisplayPublisher(),
        leave,
    )
    try:
        yield
    finally:
        shell.display_pub = publisher
        del shell.ask_exit  # the class's own method again


@contextlib.contextmanager
def watched_autograd() -> Iterator[list[torch.Tensor]]:
    """Note what autograd is asked to differentiate, and let it pass through a graph twice.

    For a second call of an answer, to find out what it does: its result may change.
    """
    seen: list[torch.Tensor] = []
    inside = False  # with a default device, PyTorch calls these functions from within themselves

    def watched(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal inside
            if inside:
                return original(*arguments, **options)
            bound = signature.bind(*arguments, **options)
            bound.arguments["retain_graph"] = True
            outputs = bound.args[0]
            seen.extend([outputs] if isinstance(outputs, torch.Tensor) else outputs)
            inside = True
            try:
                return original(*bound.args, **bound.kwargs)
            finally:
                inside = False

        return call

    with (
        mock.patch.object(torch.autograd, "backward", watched(torch.autograd.backward)),
        mock.patch.object(torch.autograd, "grad", watched(torch.autograd.grad)),
    ):
        yield seen


@contextlib.contextmanager
def usual_state() -> Iterator[None]:
    """Run with fixed seeds, gradients on and float32 as default; then restore what was before.

    The working directory and the environment variables stay as they are, and are restored too.
    """
    before = (
        random.getstate(),
        np.random.get_state(),
        torch.get_rng_state(),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_num_threads(),
        np.geterr(),
        sys.getrecursionlimit(),
    )
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    try:
        random.seed(0)
        np.random.seed(0)
        torch.manual_seed(0)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        if before[5].type != "cpu":
            torch.set_default_device(None)
        with _same_process():
            yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])
        torch.set_rng_state(before[2])
        torch.set_grad_enabled(before[3])
        torch.set_default_dtype(before[4])
        if torch.get_default_device() != before[5]:
            # The CPU is the default where none is set; set by name it would be a mode of its own,
            # through which every later call would go.
            torch.set_default_device(None if before[5].type == "cpu" else before[5])
        if torch.get_num_threads() != before[6]:
            torch.set_num_threads(before[6])
        np.seterr(**before[7])
        sys.setrecursionlimit(before[8])
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)


@contextlib.contextmanager
def _same_process() -> Iterator[None]:
    """Restore the working directory and the environment: the next check, the record need them."""
    environment, before = os.environ, dict(os.environ)
    try:
        folder = os.getcwd()  # noqa: PTH109 - Path.cwd() is the same
    except OSError:  # it was deleted: nobody can go back there
        folder = None
    try:
        yield
    finally:
        os.environ = environment  # noqa: B003 - a new object may stand there
        for name in environment.keys() - before.keys():
            del environment[name]
        for name, value in before.items():
            if environment.get(name) != value:
                environment[name] = value
        if folder is not None:
            with contextlib.suppress(OSError):  # deleted meanwhile
                os.chdir(folder)


@contextlib.contextmanager
def unpatched() -> Iterator[list[str]]:
    """Undo replaced functions of shared modules; the list then names them ("torch.tanh")."""
    replaced: list[str] = []
    before = [(owner, dict(vars(owner))) for owner in _SHARED]
    try:
        yield replaced
    finally:
        for owner, names in before:
            now = vars(owner)
            for name, original in names.items():
                if callable(original) and now.get(name) is not original:
                    setattr(owner, name, original)
                    replaced.append(f"{_name_of(owner)}.{name}")
            for name in _hidden(owner, now.keys() - names.keys()):
                delattr(owner, name)
                replaced.append(f"{_name_of(owner)}.{name}")


def _hidden(owner: Any, added: set[str]) -> list[str]:
    """Names added to a class that hide what it inherits (`torch.Tensor.mean` is its parent's)."""
    parents = owner.__mro__[1:] if isinstance(owner, type) else ()
    return [name for name in added if any(name in vars(parent) for parent in parents)]


def _name_of(owner: Any) -> str:
    return f"torch.{owner.__name__}" if isinstance(owner, type) else str(owner.__name__)
