"""The scalar engine of chapter 01 equals PyTorch on random expressions, and keeps its promises."""

import math
import random
from typing import Any

import pytest
import torch

from lmcourse import engine
from lmcourse.engine import Value, backward, ordered

BINARY = "+-*/"
UNARY = ("exp", "log", "tanh", "square", "cube", "inverse", "negative", "from one", "into one")


def step(op: str, library: Any, a: Any, b: Any) -> Any:
    """One operation, in the engine or in torch; arguments stay where all operations are defined."""
    safe = 1.5 + a * a  # for log and powers
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "/": lambda: a / (1.5 + b * b),
        "exp": lambda: library.exp(library.tanh(a)),
        "log": lambda: library.log(safe),
        "tanh": lambda: library.tanh(a),
        "square": lambda: a**2,
        "cube": lambda: library.tanh(a) ** 3,
        "inverse": lambda: safe**-0.5,
        "negative": lambda: -a,
        "from one": lambda: 1 - a,
        "into one": lambda: 2 / safe,
    }[op]()


def expression(seed: int, library: Any, inputs: list[Any]) -> Any:
    """A random expression of 25 operations that use earlier results again, the same by its seed."""
    draw, nodes = random.Random(seed), list(inputs)
    for _ in range(25):
        op, a, b = draw.choice([*BINARY, *UNARY]), draw.choice(nodes), draw.choice(nodes)
        nodes.append(step(op, library, a, b))
    return sum((node * draw.uniform(-1, 1) for node in nodes[1:]), nodes[0])


def numbers(seed: int) -> list[float]:
    draw = random.Random(-1 - seed)
    return [draw.uniform(-1.5, 1.5) for _ in range(3)]


@pytest.mark.parametrize("seed", range(200))
def test_values_and_gradients_equal_torch_to_rounding(seed: int) -> None:
    ours = [Value(number) for number in numbers(seed)]
    theirs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in numbers(seed)]
    output, reference = expression(seed, engine, ours), expression(seed, torch, theirs)
    backward(output)
    reference.backward()
    assert math.isclose(output.value, reference.item(), rel_tol=1e-12)
    largest = max(float(x.grad.abs()) for x in theirs if x.grad is not None)
    for a, b in zip(ours, theirs, strict=True):
        assert abs(a.grad - (0.0 if b.grad is None else b.grad.item())) <= 1e-12 * largest


def diamonds(count: int) -> tuple[Value, Value]:
    bottom = top = Value(1.0)
    for _ in range(count):
        top = 0.75 * top + 0.25 * top
    return bottom, top


def test_every_node_is_visited_once_and_after_its_parents() -> None:
    bottom, top = diamonds(30)
    order = ordered(top)
    place = {node: i for i, node in enumerate(order)}
    assert len(order) == len(place) == 1 + 30 * 5
    assert all(place[parent] < place[node] for node in order for parent in node.parents)
    backward(top)
    assert bottom.grad == 1.0


def test_gradients_of_inputs_accumulate_as_in_torch() -> None:
    ours, theirs = Value(1.5), torch.tensor(1.5, requires_grad=True)
    y, z = ours**2, theirs**2
    for _ in range(2):
        backward(y)
        z.backward(retain_graph=True)
    assert ours.grad == theirs.grad == 6.0
    assert y.grad == 1.0


def test_a_long_chain_needs_no_recursion() -> None:
    x = Value(2.0)
    total = x
    for _ in range(20_000):
        total = total + x
    backward(total)
    assert x.grad == 20_001


def test_an_input_is_its_own_output() -> None:
    x = Value(3.0)
    backward(x)
    assert (repr(x), x.parents, x.op) == ("Value(3, grad=1)", (), "")


def test_the_power_zero_of_zero_has_the_derivative_zero() -> None:
    x = Value(0.0)
    backward(x**0)
    assert x.grad == 0.0
