"""A random generator for each step, from numbers that say which one.

One generator that runs through a whole training would have to be kept, and every process would have
to draw what the others draw. If each step has its own, made of the seed and the step's number, then
any step can be drawn at any time, by anyone.
"""

import hashlib

import torch


def generator_of(*numbers: int) -> torch.Generator:
    """A generator that depends on these numbers alone, and is another if one of them is.

    Args:
        numbers: whole numbers, such as a seed and a step. They are mixed by SHA-256: neighbors
            begin no more alike than others.
    """
    mixed = hashlib.sha256(repr([int(number) for number in numbers]).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(mixed[:8], "little"))
