"""The texts of the Graph widget, for Python and for the page, which receives them as data."""

from typing import Any

CHARACTERS, NODES, VARIABLES, LETTERS, LEVELS = 200, 40, 8, 12, 30  # limits
NAME = "[A-Za-zΑ-Ωα-ω_][A-Za-zΑ-Ωα-ω_0-9]*"
NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?"  # without overflow
# A number, a name, a sign, or something else; the same regular expression in a browser.
TOKEN = rf"({NUMBER})|({NAME})|\*\*|[-+*/^(),;=]|([^ \t\r\n])"
FUNCTIONS = ["tanh", "sigmoid", "relu", "exp", "log", "sin", "cos", "sqrt", "max"]
MEANT = {"×": "*", "·": "*", "÷": "/", "−": "-", "²": "**2", "³": "**3"}
END = "the end"

# The cause and, after the first full stop, the remedy.
MISTAKES = {
    "strange": "{0} is not part of an expression. It has numbers, names, + - * / ** ( ) , ; and =.",
    "meant": "{0} is not part of an expression. Write {1} instead.",
    "operator": "Between “{0}” and “{1}” an operator is missing. Write products with *.",
    "operand": "A number, a name or “(” is needed before {0}.",
    "missing": "“{0}” is missing before {1}.",
    "bracket": "“(” is missing after {0}. Write {0}(...).",
    "one": "{0} takes one argument. Only max takes two.",
    ")": "“)” has no opening bracket. Delete it, or write “(” before.",
    ",": "“,” is out of place. It separates the two arguments of max(a, b) only.",
    "=": "“=” is out of place. It defines one name, as in h = a*b.",
    "function": "“{0}” is not a function. The functions are {1}; write a product as {0}*(.",
    "long": "“{0}” is longer than {1} letters. Choose a shorter name.",
    "characters": "The expression has {0} characters. At most {1} are allowed.",
    "nodes": "There are more than {0} nodes. Write a shorter expression.",
    "levels": "More than {0} levels are nested here. Name a part, h = ...; and go on with h.",
    "variables": "“{0}” is one variable too many. At most {1} are allowed.",
    "fixed": "There is no variable. Write at least one name, such as x.",
    "nameless": "Only the last part may be unnamed. Write h = before this, and use h later.",
    "again": "“{0}” is already defined. Choose another name.",
    "unused": "“{0}” is never used. Use it in the last part, or delete it.",
}

# The notation of an operation, its sign in the figure, and its local derivatives; V is its value.
OPERATIONS = {
    "+": ["A + B", "+", "1", "1"],
    "-": ["A − B", "−", "1", "−1"],
    "*": ["A · B", "×", "B", "A"],
    "/": ["A / B", "÷", "1/B", "−A/B**2"],
    "neg": ["−A", "−", "−1"],
    "**": ["A**B", "**", "B · A**(B−1)", "V · log(A)"],
    "tanh": ["tanh(A)", "tanh", "1 − V**2"],
    "sigmoid": ["sigmoid(A)", "σ", "V · (1 − V)"],
    "relu": ["relu(A)", "relu", "(1 if A > 0, else 0)"],
    "exp": ["exp(A)", "exp", "V"],
    "log": ["log(A)", "log", "1/A"],
    "sin": ["sin(A)", "sin", "cos(A)"],
    "cos": ["cos(A)", "cos", "−sin(A)"],
    "sqrt": ["sqrt(A)", "sqrt", "1/(2 · V)"],
    "max": ["max(A, B)", "max", "(1 if A > B, else 0)", "(1 if B > A, else 0)"],
}

# Why a node has no value, by its operation, or another irregularity.
ODD = {
    "/": "division by zero, or too large a quotient",
    "**": "0 to a negative power, a negative number to a non-integer power, or overflow",
    "log": "log is defined only above 0",
    "sqrt": "sqrt is defined only from 0 on",
    "overflow": "overflow, beyond the 1.8·10³⁰⁸ that float64 holds",
    "steep": "the derivative is infinite here, or does not exist",
    "kink": "a kink, with derivative 0 on its left and 1 on its right; 0 is used, as in PyTorch",
    "tie": "a tie, where each argument gets half, as in PyTorch",
}

SAID = {
    "given": "The variables have their values; each node’s value follows from those before it.",
    "value": "Forward, {0} of {1}: {2} = {3} = {4}.",
    "seed": "The backward pass begins: ∂{0}/∂{0} = 1, and every other gradient is 0.",
    "pass": "Backward, {0} of {1}: {2} passes on its gradient {3}, times each local derivative.",
    "push": "∂{0}/∂{1} {2}= ∂{0}/∂{3} · ∂{3}/∂{1} = {4} · {5} = {6}",
    "after": ", now {0}",
    "gone": ", replacing {0}",
    "rule": ", where ∂{0}/∂{1} = {2}",
    "result": "{0} = {1}.",
    "most": " {1} changes fastest with {0}: there |∂| is {2}.",
    "twice": " Used more than once, so contributions add up: {0}.",
    "same": " No node is used twice here, so overwriting changes nothing.",
    "lost": " Overwriting keeps only the last contribution to {0}: see the finite differences.",
    "odd": " {0}: {1}.",
    "slope": "∂{0}/∂{1} = {2}",
    "via": "  {0} · {1} = {2} by way of {3}",
    "constant": "{0} depends on no variable and needs no gradient",
    "few": "Paths from {0} to {1}: {2}. ∂{1}/∂{0} is the sum of the products along them:",
    "many": "Paths from {0} to {1}: {2}. Going backward adds up all of them, and takes each of the "
    "{3} edges once.",
    "sum": "  Sum: {0}",
    "nobox": "No box is called {0}, so no paths are marked.",
    "check": "∂ {0}, finite difference {1}",
    "right": " ✓",
    "differs": " ✗ differs",
    "unsure": ", too small to tell",
    "size": "A number from −1,000,000 to 1,000,000 is needed; {0} stays.",
    "positive": "A number above 0, and up to 1,000,000, is needed; {0} stays.",
    "kept": "{0} The picture shows the last valid state.",
    "alt": "Computation graph of {0}, step {1} of {2}. {3} Nodes: {4}. {5}.",
    "nograd": "{0} would leave the allowed range. Move the variables, or choose a smaller η.",
    "moved": "{0} was {1} and is {2}.",
}

ABOUT = [
    "Computation graph",
    "How does each number get its gradient?",
    "Press Play: values go forward, gradients ∂ back. Then type an expression, or click a box.",
]

# Names, expressions, and the variables' values.
EXAMPLES: list[tuple[str, str, dict[str, float]]] = [
    ("Examples …", "", {}),
    ("Neuron", "tanh(w1*x1 + w2*x2 + b)", {"w1": 2, "x1": 0.5, "w2": -1, "x2": 0.3, "b": 0.1}),
    ("Used twice", "(x + y)*x*y**2", {"x": 1, "y": 2}),
    ("Squared loss", "h = tanh(w*x + b); (h - y)**2", {"w": 0.5, "x": 1.5, "b": 0, "y": -0.8}),
    (
        "Two layers",
        "h = tanh(w*x + b); p = v*h + c; (p - y)**2",
        {"w": 0.5, "x": 1.5, "b": 0.2, "v": -1.2, "c": 0.3, "y": 0.8},
    ),
    (
        "Logistic loss",
        "-log(sigmoid(y*(w1*x1 + w2*x2 + b)))",
        {"w1": 2, "x1": 0.5, "w2": -1, "x2": 0.3, "b": 0.1, "y": -1},
    ),
    ("A kink", "relu(a - 0.5) + max(a, b)", {"a": 0.5, "b": 0.5}),
]

# A style sheet; an export writes computed styles out, not attributes.
LOOK = """.lm { --grad: light-dark(#a84300, #ff9e64) }
.lm svg { & :is(.back, .soon) { fill: var(--grad) } & :is(.back, .fore) { font-weight: 650 }
@media print { min-width: 0 !important } }"""

LEXICON: dict[str, Any] = {
    "about": ABOUT,
    "look": LOOK,
    "characters": CHARACTERS,
    "nodes": NODES,
    "variables": VARIABLES,
    "letters": LETTERS,
    "levels": LEVELS,
    "token": TOKEN,
    "functions": FUNCTIONS,
    "meant": MEANT,
    "end": END,
    "nothing": "no value",
    "acting": ["value ▶", "◀ gradient"],
    "operations": OPERATIONS,
    "odd": ODD,
    "said": MISTAKES | SAID,
    "overwrite": ["Overwriting: off", "Overwriting: on"],
    "rate": "Learning rate η",
    "downhill": "Step downhill",
    "inputs": "Variables",
    "cells": "Nodes in the order of the forward pass",
    "head": ["Node", "Value", "Gradient", "Local derivatives"],
    "examples": [list(it) for it in EXAMPLES],
}
