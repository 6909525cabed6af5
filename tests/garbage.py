"""Python's garbage collector rests while tests are collected, and later skips what was imported.

Collecting imports some 5,000 modules, PyTorch's and ours, that stay to the end. The collector went
through them again and again: 5 of the 32 seconds that each worker needed.
"""

import gc

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> object:
    """Switch it off, and on again when the tests are known."""
    running = gc.isenabled()
    gc.disable()
    try:
        return (yield)
    finally:
        if running:
            gc.freeze()
            gc.enable()
