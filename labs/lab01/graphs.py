"""An operation of one's own, a topological order, a broken backward pass."""

import math
import random
from typing import Any

from lmcourse.engine import Value, backward, exp, ordered, tanh
from lmcourse.labs.kit import Example, Task
from lmcourse.labs.results import with_article
from lmcourse.labs.verdict import Wrong


def log_add_exp(a: Value, b: Value) -> Value:
    top = max(a.value, b.value)
    p, q = math.exp(a.value - top), math.exp(b.value - top)
    value = top + math.log(p + q)
    return Value(value, (a, b), (p / (p + q), q / (p + q)))


def _gradients(returned: Any, a: Value, b: Value) -> tuple[float, float, float]:
    if not isinstance(returned, Value):
        text = "; it should return a new node, `Value(value, parents, partials)`."
        raise Wrong(f"Your function returns {with_article(returned)}{text}", "type")
    nodes = all(isinstance(parent, Value) for parent in returned.parents)
    if not nodes or len(returned.parents) != len(returned.partials):
        raise Wrong("`parents` are nodes, and `partials` has one number for each of them.", "type")
    if not {*returned.parents} <= {a, b}:
        text = "more than one node. Write one, with the parents `a` and `b`."
        raise Wrong(f"Your function composes operations of the engine: {text}", "type")
    backward(3.0 * returned + a * a)  # a is used elsewhere, too
    return returned.value, a.grad, b.grad


_X = Value(0.7)
OPERATION = Task(
    log_add_exp,
    examples=[(Value(0.5), Value(1.3)), (Value(2.0), Value(-1.0)), (tanh(Value(0.4)), Value(0.1))],
    edge_cases={
        "if both arguments are the same node": (_X, _X),
        "for values near 1000": (Value(1000.0), Value(1001.0)),
        "for values near −1000": (Value(-1000.5), Value(-1000.0)),
        "for values that are far apart": (Value(-2000.0), Value(3.0)),
        "if the first one is far larger": (Value(800.0), Value(-800.0)),
    },
    slips="""
The node has no parents, so no gradient flows back: pass both arguments as `parents`.
    (a, b), (p / (p + q), q / (p + q)) -> (), ()
Only one argument is a parent. The other one gets no gradient.
    (a, b), (p / (p + q), q / (p + q)) -> (a,), (p / (p + q),) || (b,), (q / (p + q),)
The local derivatives are exchanged or inverted. The first one belongs to the first parent.
    (p / (p + q), q / (p + q)) -> (q / (p + q), p / (p + q)) || ((p + q) / p, (p + q) / q)
`a` and `b` are nodes. Compute with the numbers `a.value` and `b.value`.
    max(a.value, b.value) -> max(a, b).value
The derivative of the logarithm is missing: 1 divided by the sum of both exponentials.
    (p / (p + q), q / (p + q)) -> (math.exp(a.value), math.exp(b.value)) || (p, q)
The derivative of the exponential is missing: e^a for the first argument, e^b for the second.
    (p / (p + q), q / (p + q)) -> (math.exp(-value),) * 2 || (1 / (p + q),) * 2
The local derivatives are those of a sum. The more e^a contributes to the sum, the more a counts.
    (p / (p + q), q / (p + q)) -> (1.0, 1.0) || (0.5, 0.5)
    or
    (p / (p + q), q / (p + q)) -> (a.value / (a.value + b.value), b.value / (a.value + b.value))
The value is wrong: it is the natural logarithm of a sum of exponentials.
    top + math.log(p + q) -> top + math.log2(p + q) ||
        top + math.log1p(math.exp(abs(a.value - b.value))) || math.log(p + q) || top ||
        math.exp(a.value) + math.exp(b.value) || math.log(math.exp(a.value) * math.exp(b.value))
The gradients are passed on within your function. Return the node only; `backward` does the rest.
    value = top + math.log(p + q) -> value = top + math.log(p + q); a.grad += p / (p + q);
        b.grad += q / (p + q)
This is right for moderate values. For large ones `exp` overflows, and for small ones the sum is 0.
Subtract the larger argument first, and add it to the result.
    top = max(a.value, b.value) -> top = 0.0 || top = a.value || top = b.value ||
        top = min(a.value, b.value) || top = max(a.value, b.value, 0.0)
""",
    result=_gradients,
    names=("The value", "The gradient of a", "The gradient of b"),
    note="The local derivatives are the softmax of the two arguments. With more arguments, this is "
    "the loss of every language model in this course.",
)


def topological_order(parents: dict[str, list[str]]) -> list[str]:
    order: list[str] = []

    def visit(node: str) -> None:
        if node in order:
            return
        for parent in parents[node]:
            visit(parent)
        order.append(node)

    for node in parents:
        visit(node)
    return order


def _violations(returned: Any, parents: dict[str, list[str]]) -> tuple[int, int, int]:
    """How many nodes are missing, how many are repeated, how many arcs point backward."""
    if not isinstance(returned, (list, tuple)) or not all(
        isinstance(each, str) and each in parents for each in returned
    ):
        raise Wrong("Return a list of the names of the nodes, such as `['x', 'y', 'u']`.", "type")
    at = {node: returned.index(node) for node in returned}
    arcs = [(parent, node) for node, all_of in parents.items() for parent in all_of]
    backward_arcs = sum(at.get(parent, 99) > at.get(node, 99) for parent, node in arcs)
    return len(parents.keys() - at.keys()), len(returned) - len(at), backward_arcs


def _graph(seed: int, size: int) -> Example:
    """A graph with several inputs and outputs, whose nodes are listed in a random order."""
    draw, names = random.Random(seed), random.Random(seed).sample("abcdefghijklmnopqrstuvw", size)
    parents = {
        name: draw.sample(names[:i], min(i, draw.choice((1, 2, 2, 3)))) if i > 1 else []
        for i, name in enumerate(names)
    }
    return ({name: parents[name] for name in draw.sample(names, size)},)


_LECTURE = {"6": ["4", "5"], "4": ["2", "3"], "2": [], "5": ["1"], "3": ["1"], "1": []}
_SHORTCUT = {"L": ["x", "w"], "w": ["v"], "v": ["u"], "u": ["x"], "x": []}
ORDER = Task(
    topological_order,
    examples=[(_LECTURE,), (_SHORTCUT,), *(_graph(seed, 8 + seed) for seed in range(4))],
    edge_cases={
        "if a node uses a parent twice": ({"z": ["y", "x"], "y": ["x", "x"], "x": []},),
        "for twelve diamonds": (
            {"x0": []}
            | {f"{k}{i}": [f"x{i}"] for i in range(12) for k in "uv"}
            | {f"x{i + 1}": [f"u{i}", f"v{i}"] for i in range(12)},
        ),
    },
    slips="""
This is the order of the dictionary, the alphabet or the number of parents. It ignores the arcs.
    return order -> return list(parents) || return list(parents)[::-1] || return sorted(parents) ||
        return sorted(parents, key=lambda node: len(parents[node]))
A node whose parents are not listed yet is skipped for good. Return to it when they are.
    visit(parent) -> if parent not in order: return
The order is reversed: here the children come first. The forward pass needs the parents first.
    return order -> return order[::-1]
Nodes are listed more than once: once for each path that leads to them. List a node only if it is
not in the order yet.
    if node in order: -> if False:
A node is listed at its first visit, before its parents, and the list is then reversed or not. List
it after all of its parents are listed.
    order.append(node) -> pass
    in parents[node]: -> in order.append(node) or parents[node]:
    return order -> return order || return order[::-1]
Nodes are missing. A graph may have several outputs, and parts that are not connected.
    for node in parents: -> for node in list(parents)[:1]: || for node in list(parents)[-1:]:
Inputs are missing. They have no parents, and belong to the order as well.
    return order -> return [node for node in order if parents[node]]
A node is listed after *one* of its parents, or by its *shortest* distance. It needs all of them.
    def topological_order(parents):
        def depth(node):
            return 1 + min(map(depth, parents[node])) if parents[node] else 0
        return sorted(parents, key=depth)
    or
    def topological_order(parents):
        order = [node for node in parents if not parents[node]]
        for node in order:
            order += [c for c in parents if node in parents[c] and c not in order]
        return order
""",
    result=_violations,
    names=("Nodes that are missing", "Repeated nodes", "Nodes that precede one of their parents"),
    note="An engine needs no search: a node is created after its parents, so the order of creation "
    "is a topological order.",
)


def gradients(output: Value) -> dict[Value, float]:
    z, waiting = {output: 1.0}, {output}
    while waiting:
        node = max(waiting, key=lambda each: each.born)
        waiting.remove(node)
        for parent, partial in zip(node.parents, node.partials, strict=True):
            z[parent] = z.get(parent, 0.0) + z[node] * partial
            waiting.add(parent)
    return z


def _of_all(returned: Any, output: Value) -> Any:
    nodes = ordered(output)
    if not isinstance(returned, dict) or any(node not in returned for node in nodes):
        text = "the gradient of every node, inputs and output included: `{node: gradient, …}`."
        raise Wrong(f"Return a dictionary with {text}", "type")
    return [returned[node] for node in nodes]


def _diamonds(count: int, weights: tuple[float, float] = (0.75, 0.5)) -> Value:
    top = Value(1.0)
    for _ in range(count):
        left, right = (Value(w * top.value, (top,), (w,)) for w in weights)
        top = left + right
    return top


def _expression(x: float, y: float) -> Value:
    a, b = Value(x), Value(y)
    return (a + b) * a * b**2


def _network() -> Value:
    w = [Value(each) for each in (0.8, -0.3, 0.5, 0.9, -0.7, 0.4)]
    h = [tanh(w[0] * 0.5 + w[1]), tanh(w[2] * -0.7 + w[3])]
    g = [tanh(h[0] * w[4] + h[1] * w[5]), h[0] * h[1]]
    return (g[0] - 0.3) ** 2 + exp(g[1]) + w[0] * w[0]


def _used(output: Value) -> Example:
    """The graph after an earlier backward pass, which left its gradients in the slots."""
    for node in ordered(output):
        node.grad = 0.5
    return (output,)


GRADIENTS = Task(
    gradients,
    examples=[*map(_used, (_expression(1, 2), _expression(-0.5, 3), _diamonds(3), _network()))],
    edge_cases={
        "if the output is an input": _used(Value(2.0)),
        "for 30 diamonds, if each path is walked on its own": _used(_diamonds(30, (0.75, 0.25))),
    },
    slips="""
Contributions overwrite each other. A node that is used twice adds both (`+=`), from 0.
    z.get(parent, 0.0) + z[node] -> z[node] || z.get(parent, 1.0) + z[node]
    or
    , {output} -> , [output]
    max(waiting, key=lambda each: each.born) -> waiting.pop() || waiting.pop(0)
    waiting.remove(node) -> pass
    z.get(parent, 0.0) + z[node] -> z[node]
    waiting.add( -> waiting.append(
A node passes on its gradient before all of its children have contributed, or passes it on again at
each visit. Visit the nodes in reverse topological order, each one once.
    max( -> min(
    or
    , {output} -> , [output]
    waiting.add( -> waiting.append(
    or
    , {output} -> , [output]; seen = {output}
    max(waiting, key=lambda each: each.born) -> waiting.pop() || waiting.pop(0)
    waiting.remove(node) -> pass
    in zip(node.parents, node.partials, strict=True): -> in zip(node.parents, node.partials): ||
        in [*zip(node.parents, node.partials)][::-1]:
    waiting.add(parent) -> waiting.append(parent) ||
        waiting += [parent] * (parent not in seen); seen.add(parent)
A node may use a parent twice, as in w · w. Both local derivatives count.
    zip(node.parents, node.partials, strict=True): ->
        dict(zip(node.parents, node.partials)).items():
The nodes are visited from the inputs on. In the backward pass each is after its children.
    def gradients(output):
        z = dict.fromkeys(ordered(output), 0.0) | {output: 1.0}
        for node in ordered(output):
            for parent, partial in zip(node.parents, node.partials):
                z[parent] += z[node] * partial
        return z
The output's gradient is not 1, the derivative of the output with respect to itself.
    {output: 1.0} -> {output: output.value} || {output: 0.0}
The local derivative is missing. Each contribution is the node's gradient times that of the step.
    z[node] * partial -> z[node] || partial
The values of the nodes are not their local derivatives, which are in `partials`.
    z[node] * partial -> z[node] * parent.value || z[node] * node.value
The slots `grad` still hold the gradients of an earlier pass. Add up in the dictionary alone.
    z[parent] = z.get(parent, 0.0) + z[node] * partial ->
        parent.grad += z[node] * partial; z[parent] = parent.grad
""",
    result=_of_all,
    names=("The gradients, in the order of creation",),
    autograd=False,
    note="This is the backward pass of every deep-learning library, up to its operations.",
)
