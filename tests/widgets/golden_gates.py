"""What torch and NumPy say about gates: the reference for the JavaScript of Gates.

`python -m tests.widgets.golden_gates` writes `web/test/gates.golden.json`; a test computes it anew
and compares.
"""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from lmcourse.widgets import Gates

PATH = Path(__file__).parents[2] / "web" / "test" / "gates.golden.json"
TIME, UNITS = 9, 7
TOKENS = [f"t{place}" for place in range(TIME)]
PLURAL = [0, 0, 1, 1, 1, 1, 0, 0, 0]


def read(kind: str, seed: int, back: bool) -> dict[str, np.ndarray]:
    """A cell of torch's reads random inputs from a random state; its gates from its own weights."""
    torch.manual_seed(seed)
    cell = nn.LSTMCell(3, UNITS) if kind == "LSTM" else nn.GRUCell(3, UNITS)
    for weight in cell.parameters():
        nn.init.normal_(weight, std=1.5)
    x, h, c = torch.randn(TIME, 3), torch.randn(UNITS).tanh(), torch.randn(UNITS)
    before = (c if kind == "LSTM" else h).clone()
    steps: list[Any] = [None] * TIME
    for t in range(TIME)[:: -1 if back else 1]:
        drive = (cell.weight_ih @ x[t] + cell.bias_ih).chunk(4 if kind == "LSTM" else 3)
        push = (cell.weight_hh @ h + cell.bias_hh).chunk(4 if kind == "LSTM" else 3)
        if kind == "LSTM":
            i, f, g, o = (a + b for a, b in zip(drive, push, strict=True))
            h, c = cell(x[t], (h, c))
            steps[t] = [f.sigmoid(), i.sigmoid(), o.sigmoid(), g.tanh(), c, h]
        else:
            r, z = (drive[0] + push[0]).sigmoid(), (drive[1] + push[1]).sigmoid()
            n = (drive[2] + r * push[2]).tanh()
            h = cell(x[t], h)
            steps[t] = [z, r, n, h]
    names = "fiogch" if kind == "LSTM" else "zrnh"
    stacked = torch.stack([torch.stack(step) for step in steps], 1).detach().numpy()
    return {**dict(zip(names, stacked, strict=True)), "before": before.detach().numpy()}


def measure(kind: str, a: dict[str, np.ndarray], back: bool, pin: int | None) -> dict[str, Any]:
    """What the picture says of one direction, by plain loops in float64."""
    a = {name: it.astype(np.float64) for name, it in a.items()}
    keep, state = (a["f"], a["c"]) if kind == "LSTM" else (a["z"], a["h"])
    reading = [*range(TIME)][:: -1 if back else 1]
    first = reading[0] if pin is None else pin
    shares: list[Any] = [None] * TIME
    share, going = np.ones(UNITS), False
    for t in reading:
        share = share * keep[t] if going else share
        going |= t == first
        shares[t] = share.tolist() if going else None
    earlier = dict(zip(reading[1:], reading, strict=False))
    was = [state[earlier[t]] if t in earlier else a["before"] for t in range(TIME)]
    left = np.array([it or [0.0] * UNITS for it in shares])
    numbers = {
        "number": -np.arange(UNITS),
        "keep": keep.mean(0),
        "variance": state.var(0),
        "memory": left.sum(0),
        "plural": np.abs([np.corrcoef(state[:, u], PLURAL)[0, 1] for u in range(UNITS)]),
    }
    gates = "fio" if kind == "LSTM" else "zr"
    said = {
        "orders": {k: np.argsort(-v, kind="stable").tolist() for k, v in numbers.items()},
        "left": shares,
        "was": np.array(was).tolist(),
        "kept": (keep * was).tolist(),
        "now": state.tolist(),
        "follows": [np.corrcoef(state[:, u], PLURAL)[0, 1] for u in range(UNITS)],
        "low": {gate: (a[gate] < 0.1).mean(0).tolist() for gate in gates},
        "high": {gate: (a[gate] > 0.9).mean(0).tolist() for gate in gates},
    }
    return rounded(said)


def rounded(value: Any) -> Any:
    """The same with seven digits behind the point: a smaller file."""
    if isinstance(value, dict):
        return {name: rounded(it) for name, it in value.items()}
    if isinstance(value, list):
        return [rounded(it) for it in value]
    return round(float(value), 7) if isinstance(value, float) else value


def golden() -> dict[str, Any]:
    """Both kinds, both directions, with and without a pin."""
    cases = []
    for seed, kind in enumerate(("LSTM", "GRU")):
        runs = {back: read(kind, 2 * seed + back, back) for back in (False, True)}
        widget = Gates(TOKENS, **runs[False], backward=runs[True], series={"plural": PLURAL})
        model = {name: getattr(widget, name) for name in ("kind", "tokens", "series", "orders")}
        arrays = {"arrays": base64.b64encode(widget.arrays).decode(), "index": widget.index}
        wanted = [
            {"direction": "backward" if back else "forward", "pin": pin}
            | measure(kind, runs[back], back, pin)
            for back in (False, True)
            for pin in (None, 3)
        ]
        cases.append(model | arrays | {"wanted": wanted})
    return {"cases": cases}


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
