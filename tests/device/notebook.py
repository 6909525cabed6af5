"""Run a notebook on the CPU and on a device (the pretended one), with its trainings cut short.

    python -m tests.device.notebook chapters/08-attention.md
    python -m tests.device.notebook --record chapters/08-attention.md    after its checks changed

Both runs take two steps of each training, so that they must compute the same numbers: every value
that an `expect` or `identity` displays is compared, unless both are as expected. What the text says
of a fully trained model is left to the ordinary tests. Both are without the pretrained weights on
real English (``LMCOURSE_REAL=off``): so it is also shown that every notebook runs whole without
them, while the ordinary tests have them. Each run has a process of its own, as packages keep what
they have computed: forked by a server without threads (a fork of the test's own process waits
forever for a lock that one of its threads holds), or new where there is a GPU: once PyTorch has
looked for it, a fork can use neither the GPU nor an optimizer.
"""

import ast
import json
import multiprocessing
import os
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

from coursekit.notebooks.sources import read_notebook
from lmcourse import checks, devices
from lmcourse.training.fit import History
from tests.device.pretend import DEVICE, NAMES, PRETENDED, entered

RECORDED = Path(__file__).with_name("on_the_cpu.json")
STEPS, EPOCHS = 2, 4
LIMIT = 500  # seconds for a notebook; the slowest took 155, with two others beside it on two cores
# What these train differs: it starts from weights that are drawn on the device; Adam divides
# gradients that have all but vanished by their own size; dropout draws other numbers.
DRAWN = {
    "03-lstm-and-gru.md",
    "11-fine-tuning-and-features.md",
    "11-lab-fine-tuning-and-features.md",
    "17-distilbert.md",
}
LARGE = 200_000  # numbers in a matrix; the course trains smaller ones
_SERVER = multiprocessing.get_context("spawn" if len(NAMES) > 1 else "forkserver")
_SERVER.set_forkserver_preload([__name__, "tests.device.warm"])
Values = list[tuple[str, str, float, bool]]  # each check's kind, name, value, whether it holds


class _Shorten(ast.NodeTransformer):
    """Two rounds of each loop that trains, and two losses for each `fit`.

    Of a loop over epochs with a `fit`, four rounds with one loss each: models are evaluated at most
    at every fourth epoch.
    """

    steps = STEPS

    def visit_For(self, node: ast.For) -> ast.AST:
        before, epochs = self.steps, isinstance(node.target, ast.Name) and node.target.id == "epoch"
        if epochs:
            self.steps = 1
        self.generic_visit(node)
        self.steps = before
        called = {ast.unparse(it.func) for it in ast.walk(node) if isinstance(it, ast.Call)}
        if any(name.endswith((".backward", "optimizer.step")) for name in called):
            node.iter = _first(node.iter)
        elif epochs and any(name.endswith(".prolonged") for name in called):
            node.iter = _first(node.iter, EPOCHS)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "fit":
            node.args[1] = _first(node.args[1], self.steps)
            return _call("__import__('tests.device.notebook').device.notebook.prolonged", node)
        return node


def _first(iterable: ast.expr, steps: int = STEPS) -> ast.expr:
    return _call("__import__('itertools').islice", iterable, ast.Constant(steps))


def _call(function: str, *arguments: ast.expr) -> ast.expr:
    call = ast.Call(ast.parse(function, mode="eval").body, list(arguments), [])
    return ast.fix_missing_locations(ast.copy_location(call, arguments[0]))


def prolonged(history: History) -> History:
    """A history of a few steps as one of many, so that what smooths its curves finds enough."""
    for values in (history.losses, history.gradient_norms):
        values += values[-1:] * 500
    return history


_trunc_normal = nn.init.trunc_normal_


def _drawn_if_small(tensor: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
    """Zeros for the matrices of published sizes, which have values on the pretended device."""
    if tensor.numel() > LARGE:
        return nn.init.zeros_(tensor)
    return _trunc_normal(tensor, *arguments, **options)


def _run(path: Path, name: str, results: Connection) -> None:
    """Run every code cell; send the values of the checks, or the error and where it was."""
    values: Values = []
    checks._report = lambda check: values.append(
        (check.kind, check.name, check.value, check.passed)
    )
    checks.SLACK[DEVICE.type] = 1.0
    os.environ.pop("LMCOURSE_STRICT", None)
    os.environ["LMCOURSE_REAL"] = "off"
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    shell = InteractiveShell.instance()
    shell.ast_transformers.append(_Shorten())
    os.chdir(path.parent)
    nn.init.trunc_normal_ = _drawn_if_small
    with entered(name) as where:
        devices.device = lambda: where
        for number, cell in enumerate(read_notebook(path).cells):
            if cell.cell_type != "code":
                continue
            torch.manual_seed(number)  # dropout on a device draws other random numbers
            done = shell.run_cell(cell.source, store_history=True)
            error = done.error_before_exec or done.error_in_exec
            if error is not None:
                shown = "".join(traceback.format_exception(error)[-6:])
                results.send((values, f"cell {number}: {cell.source.splitlines()[0]}\n{shown}"))
                return
    results.send((values, None))


def run(path: Path, device: str) -> tuple[Values, str | None]:
    """Run a notebook in a process of its own; the checks' values, and what failed."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = _SERVER.Process(target=_run, args=(path, device, there))
    process.start()
    there.close()
    found: tuple[Values, str | None] = [], f"it has not ended after {LIMIT} s"
    try:
        if here.poll(LIMIT):
            found = here.recv()
    except EOFError:
        found = [], "its process died"
    process.kill()
    process.join()
    return found


def differences(
    one: Values, other: Values, tolerance: float = 1e-4, drawn: bool = False
) -> list[str]:
    """The checks whose values differ between two runs, relative to their size.

    Values that both hold may differ: random numbers are not the same on every device. If what is
    trained differs (``drawn``), so may all that is measured: after two steps of training it says
    nothing.
    """
    if [name for _, name, *_ in one] != [name for _, name, *_ in other]:
        return [f"the checks are not the same: {one}, {other}"]
    return [
        f"{name}: {a:.6g} on the CPU, {b:.6g} on the device"
        for (kind, name, a, holds), (_, _, b, also) in zip(one, other, strict=True)
        if not (abs(a - b) <= tolerance * max(1, abs(a)) or (a != a and b != b) or (holds and also))
        and not (drawn and kind == "measured")
    ]


def recorded(name: str) -> dict[str, float]:
    """The values of a notebook's checks that did not hold on a CPU after two steps of training."""
    return json.loads(RECORDED.read_text(encoding="utf-8")).get(name, {})


def unrecorded(values: Values, known: dict[str, float], drawn: bool = False) -> bool:
    """Whether a value, unless it is as expected, is not the one that is recorded."""
    now = [(kind, name, value, False) for kind, name, value, holds in values if not holds]
    if any(name not in known for _, name, *_ in now):
        return True
    then = [(kind, name, known[name], False) for kind, name, *_ in now]
    return bool(differences(then, now, drawn=drawn))


def record(paths: list[Path]) -> None:
    """Run notebooks on the CPU, and write which values do not hold there.

    A run on the device with these values needs no run on the CPU beside it. What is outdated or
    missing costs that run, and nothing else.
    """
    for path in paths:
        values, error = run(path, "cpu")
        if error:
            print(f"{path.name}: {error}")
            continue
        known = json.loads(RECORDED.read_text(encoding="utf-8"))
        known[path.name] = {name: float(f"{v:.7g}") for _, name, v, holds in values if not holds}
        text = json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False)
        RECORDED.write_text(text + "\n", encoding="utf-8")
        print(f"{path.name}: {len(known[path.name])} of {len(values)} values do not hold.")


def main() -> None:
    """Run one notebook both ways, and print what differs; or record notebooks (`record`)."""
    if sys.argv[1] == "--record":
        record([Path(name).resolve() for name in sys.argv[2:]])
        return
    path = Path(sys.argv[1]).resolve()
    runs: list[Any] = [run(path, device) for device in ("cpu", PRETENDED)]
    print(json.dumps([len(values) for values, _ in runs]))
    for name, (_, error) in zip(("CPU", "device"), runs, strict=True):
        if error:
            print(f"On the {name}, {error}")
    print("\n".join(differences(runs[0][0], runs[1][0], drawn=path.name in DRAWN)))


if __name__ == "__main__":
    main()
