"""Right answers to lab 01, written differently from the master's."""

import heapq
import math
from graphlib import TopologicalSorter

import numpy as np
import torch

from lmcourse.engine import Value
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("01", RIGHT)


@right("derivatives")
def derivatives_of_an_array(x, y):
    inner = 6 * x * x
    return np.array(
        [0, 2, 2, 3 * x * x, np.exp(x), np.log(inner) + 2 * x**3 + 10, inner, 1 + 2 * x + y]
    )


@right("derivatives")
def derivatives_as_tensors(x, y):
    x = torch.tensor(x, dtype=torch.float64)
    sixth = torch.log(torch.tensor(6.0)) + 2 * torch.log(x.abs()) + 2 * x**3 + 10
    return [torch.zeros(()), 2, 2.0, x.pow(2) * 3, x.exp(), sixth, x * x * 6, y + 2 * x + 1]


@right("operation")
def operation_of_the_difference(a, b):
    share = 0.5 * (1 + math.tanh((a.value - b.value) / 2))
    value = max(a.value, b.value) + math.log1p(math.exp(-abs(a.value - b.value)))
    return Value(value, (b, a), (1 - share, share), "log_add_exp")


@right("operation")
def operation_numpy(a, b):
    value = np.logaddexp(a.value, b.value)
    return Value(float(value), (a, b), tuple(np.exp(np.array([a.value, b.value]) - value)))


@right("order")
def order_of_kahn(parents):
    waiting = {node: len(above) for node, above in parents.items()}
    ready, order = [node for node, count in waiting.items() if not count], []
    while ready:
        node = ready.pop()
        order.append(node)
        for child in parents:
            waiting[child] -= parents[child].count(node)
            if node in parents[child] and not waiting[child]:
                ready.append(child)
    return order


@right("order")
def order_of_the_library(parents):
    return tuple(TopologicalSorter(parents).static_order())


@right("order")
def order_by_longest_distance(parents):
    depth = dict.fromkeys(parents, 0)
    for _ in parents:
        for node, above in parents.items():
            depth[node] = max((depth[each] + 1 for each in above), default=0)
    return sorted(parents, key=depth.__getitem__)


@right("gradients")
def gradients_in_reversed_post_order(output):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(output)
    z = dict.fromkeys(order, 0.0) | {output: 1.0}
    for node in reversed(order):
        for parent, partial in zip(node.parents, node.partials, strict=True):
            z[parent] += z[node] * partial
    return z


@right("gradients")
def gradients_with_a_heap(output):
    z, waiting = {output: 1.0}, [(-output.born, output)]
    while waiting:
        _, node = heapq.heappop(waiting)
        for parent, partial in zip(node.parents, node.partials, strict=True):
            if parent not in z:
                z[parent] = 0.0
                heapq.heappush(waiting, (-parent.born, parent))
            z[parent] += z[node] * partial
    return z


@right("gradients")
def gradients_pulled_from_children(output):
    children, nodes = {output: []}, [output]
    for node in nodes:
        for parent, partial in zip(node.parents, node.partials, strict=True):
            if parent not in children:
                children[parent] = []
                nodes.append(parent)
            children[parent].append((node, partial))
    found = {output: 1.0}

    def z(node):
        if node not in found:
            found[node] = sum(z(child) * partial for child, partial in children[node])
        return found[node]

    return {node: z(node) for node in nodes}


@right("gradients")
def gradients_when_all_children_are_done(output):
    seen, stack, left = {output}, [output], {output: 0}
    while stack:
        for parent in stack.pop().parents:
            left[parent] = left.get(parent, 0) + 1
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    z, ready = dict.fromkeys(seen, 0.0) | {output: 1.0}, [output]
    while ready:
        node = ready.pop()
        for parent, partial in zip(node.parents, node.partials, strict=True):
            z[parent] += z[node] * partial
            left[parent] -= 1
            if not left[parent]:
                ready.append(parent)
    return z


@right("layer")
def layer_with_jacobians(W, b, x, m, z_y):
    u = torch.nn.functional.linear(x, W, b)
    jacobians = torch.diag_embed(m * u.cosh() ** -2.0)  # [row, out, out]
    z_u = torch.einsum("no,nop->np", z_y, jacobians)
    return torch.einsum("no,ni->oi", z_u, x), z_u.T @ torch.ones(len(x)).double(), z_u.matmul(W)


@right("layer")
def layer_row_by_row(W, b, x, m, z_y):
    z_W, z_b, z_x = np.zeros(W.shape), np.zeros(b.shape), []
    for row, mask, z in zip(x.numpy(), m.numpy(), z_y.numpy(), strict=True):
        z_u = z * mask / np.cosh(W.numpy() @ row + b.numpy()) ** 2
        z_W += np.outer(z_u, row)
        z_b += z_u
        z_x.append(W.numpy().T @ z_u)
    return z_W, z_b, z_x


@right("error")
def error_numpy(f, gradient, point, h):
    point = np.array(point)
    steps = h * np.eye(len(point))
    slopes = [(f([*(point + step)]) - f([*(point - step)])) / 2 / h for step in steps]
    return np.abs(np.array(gradient) - slopes).max()


@right("error")
def error_in_two_steps(f, gradient, point, h):
    """Moves its own copy up, then down by twice as much, and puts the entry back."""
    point, worst = [*point], 0.0
    for i, entry in enumerate(gradient):
        kept = point[i]
        point[i] = kept + h
        above = f(point)
        point[i] = kept - h
        worst = max(worst, math.fabs(entry - (above - f(point)) / h / 2))
        point[i] = kept
    return worst
