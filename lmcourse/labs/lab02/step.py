"""02.2 One step of the recurrence, for a batch whose states are rows."""

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

# batch, input, hidden. All equal first: a forgotten transpose then runs, and can be told.
_SHAPES = ((3, 3, 3), (2, 5, 4), (1, 2, 6))


def judge(answer: Answer) -> str:
    for seed, (batch, width, hidden) in enumerate(_SHAPES):
        probe = _probe(seed, batch, width, hidden)
        value = tensor(answer(*probe), (batch, hidden))
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            raise Wrong(
                "The numbers differ from the equation's. Take its terms one at a time: set `W` "
                "and `b` to zero and compare with tanh(U x_t) by hand, then add the next term."
            )
    return "The same U, W and b serve every step: a longer text needs no more parameters."


def _probe(seed: int, batch: int, width: int, hidden: int) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    shapes = ((batch, width), (batch, hidden), (hidden, width), (hidden, hidden), (hidden,))
    return tuple(torch.randn(shape, generator=generator) * 0.7 for shape in shapes)


def _right(x: Tensor, h: Tensor, U: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(x @ U.T + h @ W.T + b)


# Each takes (x, h, U, W, b).
MISTAKES = (
    Mistake(
        "`W` is not transposed. The equation has a column h; states are rows here, and (W h)ᵀ = "
        "hᵀ Wᵀ.",
        lambda x, h, U, W, b: torch.tanh(x @ U.T + h @ W + b),
    ),
    Mistake(
        "`U` is not transposed. The equation has a column x; inputs are rows here, and (U x)ᵀ = "
        "xᵀ Uᵀ.",
        lambda x, h, U, W, b: torch.tanh(x @ U + h @ W.T + b),
    ),
    Mistake(
        "Neither `U` nor `W` is transposed. The equation has columns, a batch has rows: (A v)ᵀ = "
        "vᵀ Aᵀ.",
        lambda x, h, U, W, b: torch.tanh(x @ U + h @ W + b),
    ),
    Mistake(
        "The matrices multiply from the left, so that columns are mixed where the batch has "
        "rows: put the states first, `h @ …`, and look at the shapes.",
        lambda x, h, U, W, b: torch.tanh(U @ x + W @ h + b),
    ),
    Mistake(
        "The result is transposed: it has a column for each sequence, and rows are asked for, "
        "[batch, hidden].",
        lambda x, h, U, W, b: torch.tanh(x @ U.T + h @ W.T + b).T,
    ),
    Mistake("The bias is missing.", lambda x, h, U, W, b: torch.tanh(x @ U.T + h @ W.T)),
    Mistake(
        "The bias is added twice (PyTorch keeps two biases; here is one).",
        lambda x, h, U, W, b: torch.tanh(x @ U.T + h @ W.T + 2 * b),
    ),
    Mistake(
        "The bias is added after the tanh: it belongs inside, so that the state stays between −1 "
        "and 1.",
        lambda x, h, U, W, b: torch.tanh(x @ U.T + h @ W.T) + b,
    ),
    Mistake(
        "The bias is spread over the batch, one number for each row: it has one number for each "
        "hidden unit.",
        lambda x, h, U, W, b: torch.tanh(x @ U.T + h @ W.T + b[:, None]),
    ),
    Mistake(
        "The tanh is missing: without it, many steps are one linear map.",
        lambda x, h, U, W, b: x @ U.T + h @ W.T + b,
    ),
    Mistake(
        "The tanh is taken of each term, and then they are added: add first, one tanh around all.",
        lambda x, h, U, W, b: torch.tanh(x @ U.T) + torch.tanh(h @ W.T + b),
    ),
    Mistake(
        "The tanh is taken twice.",
        lambda x, h, U, W, b: torch.tanh(torch.tanh(x @ U.T + h @ W.T + b)),
    ),
    Mistake(
        "The nonlinearity is a sigmoid, and the equation says tanh.",
        lambda x, h, U, W, b: torch.sigmoid(x @ U.T + h @ W.T + b),
    ),
    Mistake(
        "The nonlinearity is a ReLU, and the equation says tanh.",
        lambda x, h, U, W, b: torch.relu(x @ U.T + h @ W.T + b),
    ),
    Mistake(
        "The state before is not used: this layer has no memory yet.",
        lambda x, h, U, W, b: torch.tanh(x @ U.T + b),
    ),
    Mistake(
        "The input is not used: the network never sees its text.",
        lambda x, h, U, W, b: torch.tanh(h @ W.T + b),
    ),
    Mistake(
        "The input is used twice: `W` multiplies the state before, not x_t.",
        lambda x, h, U, W, b: torch.tanh(x @ U.T + x @ W.T + b),
    ),
    Mistake(
        "`U` and `W` have changed places: `U` reads the input, `W` the state before.",
        lambda x, h, U, W, b: torch.tanh(h @ U.T + x @ W.T + b),
    ),
    Mistake(
        "`*` multiplies entry by entry; a matrix product is `@`.",
        lambda x, h, U, W, b: torch.tanh(x * U + h * W + b),
    ),
)
