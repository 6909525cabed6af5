"""What torch says about expressions' gradients, and Python's parser about what is none.

They are the references for the widget's JavaScript. `python -m tests.widgets.golden_graph` writes
`web/test/graph.golden.json`; a test computes it anew and compares.
"""

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import torch

from lmcourse.widgets.expression import Mistake, parse
from lmcourse.widgets.graph_words import LEXICON

PATH = Path(__file__).parents[2] / "web" / "test" / "graph.golden.json"
HOW_MANY = 320
NAMES = ("a", "b", "c", "w1", "x", "η")


def _of(function: Any) -> Any:
    return lambda *inputs: function(*(torch.as_tensor(it, dtype=torch.float64) for it in inputs))


TORCH = {
    name: _of(getattr(torch, name))
    for name in ("tanh", "sigmoid", "relu", "exp", "log", "sin", "cos", "sqrt")
} | {"max": _of(torch.maximum)}

BY_HAND: list[tuple[str, dict[str, float]]] = [
    ("(x + y)*x*y**2", {"x": 1.0, "y": 2.0}),  # value 12, ∂/∂x = 16
    ("x + x**2 + y*x", {"x": 42.0, "y": 3.0}),
    ("relu(a)", {"a": 0.0}),
    ("max(a, b)", {"a": 2.0, "b": 2.0}),
    ("-a**2 + 2**-a", {"a": 3.0}),
    ("a**b**c", {"a": 1.5, "b": 2.0, "c": 0.5}),
    ("a/b/c - (b - c) - a", {"a": 1.0, "b": 3.0, "c": -2.0}),
    ("h = tanh(w*x + b); k = h*h; (k - h)**2 + k", {"w": 0.3, "x": 2.0, "b": -0.1}),
    ("h = a*a; h = a", {"a": 1.0}),  # refused: see `verdict`
    ("h = a*a; h*h*h*h", {"a": 1.1}),
    ("sqrt(a)", {"a": 0.0}),  # an infinite slope
    ("a**0", {"a": 0.0}),
    ("sigmoid(a)", {"a": -700.0}),
    ("log(sigmoid(a))", {"a": -40.0}),  # 1 - 1/(1 + exp(a)) would be 0
    ("a**b", {"a": 0.0, "b": 0.0}),
    ("a", {"a": 5.0}),
]
BAD = [
    *("", " ", "2a", "a b", "a 2", "2(a)", "(a)(b)", "a(b)", "a.b", "a[0]", "a.", "1..2*a"),
    *("a,b", "__import__('os')", "__import__(os)", "lambda a: a", "a if b else c", "a == b"),
    *("a = b = c", "a +", "+ a", "* a", "a * / b", "(a", "a)", "()", "(a + b", "((a) + b))"),
    *("tanh", "tanh a", "tanh()", "tanh(a, b)", "max(a)", "max(a, b, c)", "max(a b)", "2 + 3"),
    *("max(1, 2)", "a ^", "^", "h = a*b", "h = a; b", "a; b", "a;", ";", ";;a"),
    *("h = a*b; c = h; c*d", "h = h*2", "= a", "a =", "h = ;", "tanh = a", "a*b; h = 3"),
    *("h = a; h*b; h*2",),
    *("n = 2; a**n", "a = 2; a*b", "a*b + L", "x′", "a'b", 'a"b', "a\\b", "a#b", "a × b"),
    *("a·b", "a − b", "a²", "α*β + γ", "ä*b", "変数", "ａ*b", "𝑎*b", "a\u200bb", "\u202ea*b"),
    *("שלום", "a 👩‍💻", "a\tb", "a\n*b", "a\x00", "1_000*a", "0x10*a", "1e5*a", "1j*a", "a!"),
    *("a % b", "a @ b", "a // b", "a*" * 200, "(" * 40 + "a" + ")" * 40, "(" * 190),
    *("-" * 60 + "a", "a" + "+a" * 45, "a+b+c+d+e+f+g+h+i", "abcdefghijklm*2"),
    *("abcdefghijkl*2", "1" * 199 + "a", "a*" + "9" * 198, "</script><img src=x>"),
    *("a<b>bold</b>", "%s{0}*a", "{0}", "toString", "constructor*__proto__", "-(2)*a", "--2*a"),
    *("2**-3*a", "(2)(3)a"),
    *("0.1234567*a", "1000000*a", "a*123456789012345678901234", "a + 1/.0000001", "a*-0"),
    *("100000000000000000000*a", "1000000000000000000000*a", "1.50*a"),
    *("1e-3*a", "1e5a", "1.5e-7*a", "1E+21*a", ".5e2*a", "2**1e1*a", "2e*a", "1e100*a", "e2*a"),
    *("12345678.25*a", ".000001*a", "-0.5 + a"),
]  # fmt: skip


def draw(random: Random, depth: int = 0) -> str:
    """Draw an expression that Python reads as we do."""
    kind = random.random()
    if depth > 3 or kind < 0.12 + 0.1 * depth:
        return random.choice([*NAMES, *NAMES, "2", "0.5", "1.", ".25", "3"])
    if kind < 0.68:
        left, right = draw(random, depth + 1), draw(random, depth + 1)
        if random.random() < 0.3:
            left = f"({left})"
        if random.random() < 0.3:
            right = f"({right})"
        sign = random.choice(["+", "-", "*", "*", "/", " + ", " - ", " * "])
        return f"{left}{sign}{right}"
    if kind < 0.76:
        return f"({draw(random, depth + 1)})**{random.choice(['2', '3', '-1', '(0.5)', '-2', 'a'])}"
    if kind < 0.82:
        return f"-{draw(random, depth + 1)}"
    if kind < 0.87:
        return f"max({draw(random, depth + 1)}, {draw(random, depth + 1)})"
    name = random.choice([it for it in TORCH if it != "max"])
    return f"{name}({draw(random, depth + 1)})"


def by_torch(text: str, given: dict[str, float]) -> tuple[float, dict[str, float]]:
    """Value and gradients: Python reads the expression, torch computes it."""
    leaves = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in given.items()
    }
    scope: dict[str, Any] = {**TORCH, **leaves}
    *definitions, last = text.split(";")
    for part in definitions:
        name, _, right = part.partition("=")
        scope[name.strip()] = eval(right.strip(), {}, scope)
    output = eval(last.strip(), {}, scope)
    found = torch.autograd.grad(output, list(leaves.values()), allow_unused=True)
    return output.item(), {
        name: 0.0 if it is None else it.item() for name, it in zip(leaves, found, strict=True)
    }


def verdict(text: str) -> dict[str, Any]:
    """What Python's parser makes of a text."""
    try:
        nodes = parse(text)
    except Mistake as mistake:
        return {"text": text, "at": mistake.at, "wrong": mistake.words}
    return {"text": text, "nodes": [[it.op, it.args, it.name] for it in nodes]}


def mangled(random: Random) -> str:
    """Draw what is almost an expression."""
    text = list(draw(random))
    for _ in range(random.choice([0, 1, 1, 2])):
        at = random.randrange(len(text) + 1)
        strange = random.choice(
            [*"ab2.()+-*/^,;= \t", "**", "tanh", "max(", "h = ", "h=a;", "é", "×"]
        )
        text[at : at + random.randint(0, 2)] = [strange]
    return "".join(text)[:190]


def golden() -> dict[str, Any]:
    """The lexicon; cases for torch; verdicts on good, bad and mangled texts."""
    random = Random(3)
    cases: list[dict[str, Any]] = []
    candidates = iter([it for it in BY_HAND if "nodes" in verdict(it[0])])
    while len(cases) < HOW_MANY:
        text, given = next(candidates, ("", {}))
        if not text:
            text = draw(random)
            used = [it.name for it in parse(text) if it.op == "variable"] if _fits(text) else []
            given = {name: random.choice([random.uniform(-3, 3), 1.0, -2.0]) for name in used}
        if not given:
            continue
        value, gradients = by_torch(text, given)
        numbers = [value, *gradients.values()]
        if text != "sqrt(a)" and not all(math.isfinite(it) and abs(it) < 1e9 for it in numbers):
            continue
        slopes = {name: it if math.isfinite(it) else "Infinity" for name, it in gradients.items()}
        cases.append({"text": text, "given": given, "value": value, "gradients": slopes})
    texts = [*BAD, *(text for text, _ in BY_HAND), *(mangled(random) for _ in range(300))]
    return {"lexicon": LEXICON, "cases": cases, "verdicts": [verdict(it) for it in texts]}


def _fits(text: str) -> bool:
    return "nodes" in verdict(text)


if __name__ == "__main__":
    text = json.dumps(golden(), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    PATH.write_text(text + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
