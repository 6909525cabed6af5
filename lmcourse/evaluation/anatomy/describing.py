"""The words of a drawing: for each kind of module and function its color, label and equation."""

import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from lmcourse import models
from lmcourse.evaluation.anatomy.calls import Call
from lmcourse.evaluation.anatomy.folding import Part
from lmcourse.evaluation.anatomy.tracing import LOSSES, PRODUCTS


class Words(NamedTuple):
    """How a block is shown. A label of "" is the module's name in the model."""

    kind: str
    label: str
    equation: str


LSTM = (
    "i, f, o = σ(U x_t + W h_{t−1} + b), g = tanh(…); "
    "c_t = f ⊙ c_{t−1} + i ⊙ g; h_t = o ⊙ tanh(c_t)"
)
GRU = "r, z = σ(U x_t + W h_{t−1} + b), n = tanh(…); h_t = (1 − z) ⊙ n + z ⊙ h_{t−1}"
MODULES = {
    "MultiHeadAttention": Words(
        "attention",
        "Multi-head attention",
        "headₖ = softmax(Qₖ Kₖᵀ / √d) Vₖ; y = W [head₁; …; head_H] + b",
    ),
    "DisentangledAttention": Words(
        "attention",
        "Disentangled attention",
        "score_ij = (qᵢ·kⱼ + qᵢ·k^P_δ(i,j) + kⱼ·q^P_δ(j,i)) / √(3d); y = softmax(score) V",
    ),
    "AdditiveAttention": Words(
        "attention", "Additive attention", "s(q, k) = vᵀ tanh(W q + U k); y = Σⱼ softmaxⱼ(s) kⱼ"
    ),
    "DotAttention": Words(
        "attention", "Dot-product attention", "s(q, k) = qᵀ k; y = Σⱼ softmaxⱼ(s) kⱼ"
    ),
    "FeedForward": Words("feed-forward", "Feed-forward", "y = W₂ φ(W₁ x + b₁) + b₂"),
    "LayerNorm": Words("norm", "LayerNorm", "y = γ ⊙ (x − μ) / √(σ² + ε) + β"),
    "Linear": Words("linear", "", "y = W x + b"),
    "Conv1d": Words("linear", "Convolution", "y_i = W · x_{i … i+k} + b"),
    "Embedding": Words("embedding", "", "y = E[id], one row of the table"),
    "RNN": Words("state", "RNN", "h_t = φ(U x_t + W h_{t−1} + b)"),
    "LSTM": Words("state", "LSTM", LSTM),
    "GRU": Words("state", "GRU", GRU),
    "Bidirectional": Words("state", "Bidirectional", "h_t = [→h_t; ←h_t]"),
    "BiLM": Words("plain", "BiLM", "→h and ←h from the same tokens, without shared weights"),
    "Direction": Words("plain", "", "h_j = LSTM_j(h_{j−1}) + h_{j−1}"),
    "ElmoModel": Words("plain", "ELMo", ""),
    "Highway": Words("gate", "Highway", "T = σ(W_T x + b_T); y = T ⊙ relu(W x + b) + (1 − T) ⊙ x"),
    "CharacterCNN": Words("embedding", "Character CNN", "y_f = maxᵢ g(F_f · C[i : i + w] + b_f)"),
    "Pooler": Words("plain", "Pooler", "y = tanh(W h_[CLS] + b)"),
    "EncoderLayer": Words("plain", "Encoder layer", "a = x + attention(x); y = a + FFN(a)"),
}
FUNCTIONS = {
    "add": Words("plain", "+", "y = a + b"),
    "sub": Words("plain", "−", "y = a − b"),
    "mul": Words("plain", "×", "y = a ⊙ b"),
    "scale": Words("plain", "scale", "y = a x"),
    "matmul": Words("attention", "matmul", "y_ij = Σₖ a_ik b_kj"),
    "linear": Words("linear", "linear", "y = W x + b"),
    "masked_fill": Words("plain", "mask", "y = −∞ where a position is hidden, else x"),
    "softmax": Words("attention", "softmax", "yⱼ = exp(xⱼ) / Σₖ exp(xₖ)"),
    "sigmoid": Words("gate", "σ", "y = 1 / (1 + exp(−x))"),
    "tanh": Words("state", "tanh", "y = tanh(x)"),
    "relu": Words("plain", "ReLU", "y = max(0, x)"),
    "gelu": Words("plain", "GELU", "y = x Φ(x)"),
    "cat": Words("plain", "concat", "y = [a; b]"),
    "flip": Words("plain", "reverse", "y_t = x_{T+1−t}"),
    "amax": Words("plain", "max", "y = maxᵢ xᵢ"),
    "clamp": Words("plain", "clip", "y = min(max(x, −c), c)"),
    "scaled_dot_product_attention": Words(
        "attention", "attention", "y = softmax(Q Kᵀ / √d) V, in one kernel"
    ),
}
NAMES = {"add": "+", "mul": "×", "sub": "−"}


def words_of(part: Part) -> Words:
    """Return a part's color, label and equation."""
    call = part.call
    if part.group:
        return Words("plain", "Layer", "")
    if call.kind == "input":
        return Words("token", call.name.replace("_", " "), "")
    if call.kind == "constant":
        return Words("embedding", call.name, "known before any input")
    if call.kind == "function":
        return _function(call, any(it.in_time for it in part.lineage))
    if call.kind == "step":
        cell = MODULES.get(type(call.module).__name__, Words("state", "", ""))
        return Words("plain", f"{cell.label} step", cell.equation)
    found = next((MODULES[it] for it in _classes(call.module) if it in MODULES), None)
    name = call.name.rpartition(".")[2]
    if found is None:
        kind = "embedding" if "Embedding" in type(call.module).__name__ else "plain"
        return Words(kind, _spaced(type(call.module).__name__), "")
    if found.kind == "attention" and call.inputs.get("causal"):
        found = found._replace(label="Masked self-attention")
    elif found.kind == "attention" and "context" in call.inputs:
        found = found._replace(label="Cross-attention")
    return found if found.label else found._replace(label=name.replace("_", " "))


def _function(call: Call, in_time: bool) -> Words:
    first = next(iter(call.sources), "").strip()
    name = call.name
    if call.parameters and name in PRODUCTS:
        own = [it.rpartition(".")[2] for it in call.parameters]
        if len(own[0]) > 2:
            return FUNCTIONS["linear"]
        given = next(iter(call.inputs)).strip()
        product = f"{own[0]} {given if len(given) == 1 and given.isalpha() else 'x'}"
        return Words("linear", " + ".join([product, *own[1:]]), "y = W x + b")
    if name in ("mul", "div", "truediv") and len(call.sources) == 1:
        numbers = [it for it in call.inputs.values() if isinstance(it, int | float)]
        if numbers:
            sign = "×" if name == "mul" else "÷"
            return FUNCTIONS["scale"]._replace(label=f"{sign} {numbers[0]:.3g}")
    if name == "rsub":
        number = next((it for it in call.inputs.values() if isinstance(it, int | float)), "")
        return Words("plain", f"{number} −", f"y = {number} − x")
    if name in LOSSES:
        return Words("loss", name.replace("_", " "), "L = −Σ log p(label)")
    known = FUNCTIONS.get(name, Words("plain", name.replace("_", " "), ""))
    if (
        name in ("sigmoid", "tanh")
        and in_time
        and len(first) == 1
        and first.isalpha()
        and first != "c"
    ):
        return known._replace(label=f"{first} = {known.label}")
    outermost = rf"(\w) = (?:torch\.{name}\(.*|\([^()]*\)\.{name}\(\))$"
    assigned = re.match(outermost, call.place.text()[0].strip()) if call.place else None
    if in_time and assigned:
        return known._replace(label=f"{assigned[1]} = {known.label}")
    return known


def _classes(module: Any) -> list[str]:
    return [it.__name__ for it in type(module).__mro__]


def _spaced(name: str) -> str:
    """Return ``Encoder layer`` for ``EncoderLayer``, and ``DistilBERT`` for ``DistilBert``."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])(?!Bert$)", " ", name).replace("Bert", "BERT")
    first, *rest = spaced.split(" ")
    return " ".join([first, *(it if it.isupper() else it.lower() for it in rest)])


class Sources:
    """The code of the blocks, each piece once."""

    def __init__(self) -> None:
        self.pieces: dict[tuple[str, int, str], int] = {}

    def of(self, part: Part) -> tuple[int, ...]:
        """Return the indices of a part's definition and of the expression that calls it."""
        call, found = part.call, []
        if part.group:
            return ()
        own = call.kind in ("module", "step") and call.module is not None
        if own and not type(call.module).__module__.startswith("torch."):
            kind: Any = type(call.module)
            found.append(self._definition(kind.step if call.kind == "step" else kind.forward))
        if call.place is not None:
            lines = call.place.text()
            found.append(self._piece(call.place.file, call.place.first, lines))
        return tuple(found)

    def _definition(self, function: Any) -> int:
        function = inspect.unwrap(function)
        lines, first = inspect.getsourcelines(function)
        code = "".join(lines)
        body = re.sub(r'\n\s*"""(?:.|\n)*?"""', "", code, count=1)
        return self._piece(inspect.getsourcefile(function) or "", first, body.splitlines()[:60])

    def _piece(self, file: str, first: int, lines: list[str]) -> int:
        root = Path(models.__file__).parents[2]
        path = Path(file)
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        indent = min((len(it) - len(it.lstrip()) for it in lines if it.strip()), default=0)
        text = "\n".join(it[indent:].rstrip() for it in lines)
        return self.pieces.setdefault((name, first, text), len(self.pieces))


def path_of(part: Part) -> str:
    """Return the name of a part's module in the model, or of its function."""
    if part.group:
        return f"{part.parent.call.name if part.parent else ''}.layer".strip(".")
    return part.call.name


def what_of(part: Part) -> str:
    """Return the class or the function."""
    module = part.call.module
    return "Layer" if part.group else part.call.name if module is None else type(module).__name__


def is_closed(part: Part, kind: str) -> bool:
    """Whether a view of what is around it shows the part as one box."""
    module = part.call.module
    if kind == "embedding" and type(module).__name__ in MODULES:
        return True
    return kind in ("attention", "feed-forward", "state", "gate") or (
        part.call.kind == "step" or isinstance(module, nn.RNNBase)
    )
