"""A random generator for each step, seeded by a few integers.

The state of a single generator would have to be saved, and every process would have to draw the
others' numbers. If each step has its own, seeded by the training's seed and the step, any process
can repeat any step.
"""

import hashlib

import torch


def generator_of(*numbers: int) -> torch.Generator:
    """A generator seeded by these integers, such as a seed and a step, mixed by SHA-256."""
    mixed = hashlib.sha256(repr([int(number) for number in numbers]).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(mixed[:8], "little"))
