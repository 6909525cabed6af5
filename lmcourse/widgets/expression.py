"""The parser of expressions for the Graph widget.

``web/widgets/graph/parse.js`` has the same grammar and the same messages, which a test compares.
Expressions are never executed as code.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.graph_words import (
    CHARACTERS,
    END,
    FUNCTIONS,
    LETTERS,
    LEVELS,
    MEANT,
    MISTAKES,
    NAME,
    NODES,
    TOKEN,
    VARIABLES,
)

_TOKEN = re.compile(TOKEN)
_LEVEL = {"+": 1, "-": 1, "*": 2, "/": 2}


@dataclass
class Node:
    """One step of a computation: its operation, and the nodes of its arguments."""

    op: str  # "variable", "number", or an operation
    args: list[int] = field(default_factory=list)  # indices of earlier nodes
    name: str = ""
    number: float = 0.0  # the value of a number, or a constant exponent


class Mistake(CourseError):
    """An error in an expression, with its position and message."""

    def __init__(self, text: str, at: int, words: str) -> None:
        first, _, remedy = words.partition(". ")
        super().__init__(f"{first.rstrip('.')}.{_pointed(text, at)}", remedy or "Change it there.")
        self.at = at
        self.words = words

    def __reduce__(self) -> tuple[type[CourseError], tuple[str, str]]:
        """Return from another process as a CourseError."""
        return CourseError, (self.cause, self.remedy)


def _pointed(text: str, at: int) -> str:
    """Return the text around an error, with a caret below it."""
    start = max(0, at - 30)
    around = "".join(c if c.isprintable() else "?" for c in text[start : at + 20])
    return f"\n    {around}\n    {' ' * (at - start)}^\n" if text.strip() else ""


def _as_in_a_browser(number: float) -> str:
    """Return the number as JavaScript formats it: 1000000, 0.1234567, 1e+21."""
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        return np.format_float_positional(number + 0.0, trim="-")
    return np.format_float_scientific(number, trim="-", exp_digits=1)


def is_name(text: str) -> bool:
    """Return whether this is a valid name of a variable."""
    fits = len(text) <= LETTERS and re.fullmatch(NAME, text) is not None
    return fits and text not in FUNCTIONS


def parse(text: str) -> list[Node]:
    """Return the graph of an expression such as ``"h = tanh(w*x); (h - y)**2"``.

    Returns:
        Its nodes in the order of the forward pass, the output last.

    Raises:
        Mistake: the expression is invalid; the message says where, and why.
    """
    return _Parser(text).program()


@dataclass(frozen=True)
class _Token:
    text: str
    at: int
    kind: str = "sign"  # "number", "name", "sign" or "end"


class _Parser:
    """A recursive-descent parser: each method parses a part and adds its nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.nodes: list[Node] = []
        self.named: dict[str, int] = {}  # the node of each name
        self.defined: dict[int, int] = {}  # the position of each definition
        self.index = self.depth = self.free = 0
        if (length := len(text)) > CHARACTERS:
            self.fail("characters", CHARACTERS, length, CHARACTERS)
        self.tokens = [self.token_of(it) for it in _TOKEN.finditer(text)]
        self.tokens.append(_Token("", len(text), "end"))

    def token_of(self, found: re.Match[str]) -> _Token:
        it = found[0]
        if found[3]:
            key = "meant" if it in MEANT else "strange"
            shown = f"“{it}”" if "!" <= it <= "~" or it in MEANT else f"U+{ord(it):x}"
            self.fail(key, found.start(), shown, MEANT.get(it))
        if found[2] and len(it) > LETTERS:
            self.fail("long", found.start(), it, LETTERS)
        kind = {1: "number", 2: "name"}.get(found.lastindex or 0, "sign")
        return _Token(it, found.start(), kind)

    @property
    def token(self) -> _Token:
        return self.tokens[self.index]

    def fail(self, key: str, at: int | None = None, *given: object) -> NoReturn:
        words = MISTAKES[key].format(*given)
        raise Mistake(self.text, self.token.at if at is None else at, words)

    def here(self, *signs: str) -> bool:
        return self.token.text in signs

    def quoted(self) -> str:
        return f"“{self.token.text}”" if self.token.text else END

    def add(self, op: str, args: list[int], name: str = "", number: float = 0.0) -> int:
        if len(self.nodes) == NODES:
            self.fail("nodes", None, NODES)
        self.nodes.append(Node(op, args, name, number))
        return len(self.nodes) - 1

    def take(self, sign: str) -> None:
        """Take a sign, or fail."""
        token = self.token
        if token.text == sign:
            self.index += 1
            return
        if token.kind in ("number", "name") or token.text == "(":
            self.fail("operator", token.at, self.tokens[self.index - 1].text, token.text)
        if sign:
            self.fail("missing", token.at, sign, self.quoted())
        self.fail(token.text)

    def sum(self, level: int = 1) -> int:
        operand: Callable[[], int] = self.unary if level > 1 else lambda: self.sum(2)
        left = operand()
        while _LEVEL.get(self.token.text) == level:
            op = self.token.text
            self.index += 1
            left = self.add(op, [left, operand()])
        return left

    def unary(self) -> int:
        self.depth += 1
        if self.depth > LEVELS:
            self.fail("levels", None, LEVELS)
        if self.here("-"):
            self.index += 1
            it = self.unary()
            if self.tokens[self.index - 1].kind == "number" and self.nodes[it].op == "number":
                self.nodes[it].number *= -1
            else:
                it = self.add("neg", [it])
        else:
            it = self.power()
        self.depth -= 1
        return it

    def power(self) -> int:
        base = self.atom()
        if not self.here("**", "^"):
            return base
        self.index += 1
        exponent = self.unary()
        node = self.nodes[exponent]
        if node.op != "number" or node.name:
            return self.add("**", [base, exponent])
        self.nodes.pop()  # a constant exponent is not a node
        return self.add("**", [base], number=node.number)

    def atom(self) -> int:
        token = self.token
        if token.kind not in ("number", "name") and token.text != "(":
            self.fail("operand", token.at, self.quoted())
        self.index += 1
        if token.kind == "number":
            return self.add("number", [], number=float(token.text))
        if token.kind == "name":
            return self.call(token.text) if token.text in FUNCTIONS else self.variable(token)
        it = self.sum()
        self.take(")")
        return it

    def variable(self, token: _Token) -> int:
        name = token.text
        if self.here("("):
            self.fail("function", token.at, name, ", ".join(FUNCTIONS))
        if name not in self.named:
            self.free += 1
            if self.free > VARIABLES:
                self.fail("variables", token.at, name, VARIABLES)
            self.named[name] = self.add("variable", [], name)
        return self.named[name]

    def call(self, op: str) -> int:
        if not self.here("("):
            self.fail("bracket", None, op)
        self.index += 1
        args = [self.sum()]
        if op == "max":
            self.take(",")
            args.append(self.sum())
        elif self.here(","):
            self.fail("one", None, op)
        self.take(")")
        return self.add(op, args)

    def statement(self) -> bool:
        """Parse one part between semicolons; return whether it defines a name."""
        token = self.token
        name = token.text
        defines = token.kind == "name" and self.tokens[self.index + 1].text == "="
        self.index += 2 * defines
        it = self.sum()
        if defines:
            if name in self.named or name in FUNCTIONS:
                self.fail("again", token.at, name)
            self.named[name] = it
            self.defined.setdefault(it, token.at)
            self.nodes[it].name = self.nodes[it].name or name
        return defines

    def program(self) -> list[Node]:
        while True:
            start = self.token.at
            defines = self.statement()
            if not self.here("", ";"):
                self.take("")
            if self.here(""):
                break
            if not defines:
                self.index += 1
                self.fail("nameless", start)
            self.index += 1
        if not self.free:
            self.fail("fixed", 0)
        used = {it for node in self.nodes for it in node.args}
        for i in range(len(self.nodes) - 1):
            if i not in used:
                self.fail("unused", self.defined[i], self.nodes[i].name)
        self.name_the_rest()
        return self.nodes

    def name_the_rest(self) -> None:
        """Name the unnamed nodes, by names that cannot be typed."""
        if not self.nodes[-1].name:
            self.nodes[-1].name = "L′" if any(it.name == "L" for it in self.nodes) else "L"
        digits = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
        count = 0
        for node in self.nodes:
            if node.op == "number":
                node.name = node.name or _as_in_a_browser(node.number)
            if not node.name:
                count += 1
                node.name = "v" + str(count).translate(digits)
