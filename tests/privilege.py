"""Permission bits do not bind root; tests of what may not be written give that privilege up."""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

import pytest

_VERSION = 0x20080522  # of the capability functions, linux/capability.h
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Set(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Let permission bits bind this thread, root's too, which needs Linux."""
    if sys.platform == "win32":
        pytest.skip("Windows has no permission bits")
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("permission bits do not bind root")
    header, sets = _Header(_VERSION, 0), (_Set * 2)()
    _call("capget", header, sets)
    before = sets[0].effective
    sets[0].effective = before & ~(1 << _DAC_OVERRIDE | 1 << _DAC_READ_SEARCH)
    _call("capset", header, sets)
    try:
        yield
    finally:
        sets[0].effective = before
        _call("capset", header, sets)


def _call(name: str, header: _Header, sets: "ctypes.Array[_Set]") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(ctypes.byref(header), sets) != 0:
        raise OSError(ctypes.get_errno(), f"{name} failed")
