"""A check survives whatever an answer does, and says in a sentence what it was.

The exercise is a toy: double a tensor, or a number.
"""

import contextlib
import functools
import gc
import math
import os
import random
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lmcourse.engine import Value
from lmcourse.labs import guards, limits, progress, verdict
from lmcourse.labs.answer import Answer
from lmcourse.labs.check import Exercise
from lmcourse.labs.kit import Task
from lmcourse.labs.results import read, same
from lmcourse.labs.verdict import CheckFailed, Verdict, Wrong


def double(x: Any) -> Any:
    return 2 * x


DOUBLING = Task(
    double,
    examples=[(torch.arange(1.0, size + 1),) for size in (3, 4)],
    slips="You have squared it.\n    2 * x -> x**2\n",
    note="Twice as much.",
)
OF_A_NUMBER = Task(double, examples=[(3.0,)], slips="", note="Six it is.")


def judge_broken(answer: Answer) -> str:
    raise KeyError("a fault of ours")


def exercise(judge: str, seconds: float = 30) -> Exercise:
    return Exercise("99.1", "99-doubling", "Doubling", 1, 1, f"{__name__}:{judge}", seconds)


DOUBLE, NUMBER = exercise("DOUBLING"), exercise("OF_A_NUMBER")
IMPATIENT = exercise("DOUBLING", seconds=0.5)  # for answers that never return


def call(function: Any, *arguments: Any) -> Any:
    """What the function returns, called as a check does."""
    return Answer(function).call(arguments, lambda value, copies: value)


def hint(answer: Any, of: Exercise = DOUBLE) -> str:
    verdict = of.verdict(answer)
    assert verdict.state == "wrong", verdict
    return verdict.message


# ------------------------------------------------------------------ right answers, in many types


class Callme:
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def use_deterministic(x: torch.Tensor) -> torch.Tensor:
    torch.use_deterministic_algorithms(True)  # replaces torch.manual_seed, once
    return 2 * x


def import_transformers(x: torch.Tensor) -> torch.Tensor:
    import transformers

    assert transformers.BertModel
    return 2 * x


RIGHT: dict[str, Callable[..., Any]] = {
    "tensor": lambda x: 2 * x,
    "integers": lambda x: (2 * x).int(),
    "parameter": lambda x: torch.nn.Parameter(2 * x),
    "not contiguous": lambda x: torch.stack([2 * x, x], 1)[:, 0],
    "sparse": lambda x: (2 * x).to_sparse(),
    "array": lambda x: 2 * x.numpy(),
    "list": lambda x: [2 * float(each) for each in x],
    "list of tensors": lambda x: [2 * each for each in x],
    "partial": functools.partial(torch.mul, 2),
    "object": Callme(),
    "bfloat": lambda x: (2.004 * x).bfloat16(),
    "float16": lambda x: (2 * x * (1 + 1e-3)).half(),
    "range": lambda x: range(2, 2 * len(x) + 1, 2),
    "float32 rounding": lambda x: 2 * x * (1 + 3e-6),
    "a library's own replacements": use_deterministic,
    "another library": import_transformers,
    "prints errors": lambda x: print("debugging", x, file=sys.stderr) or 2 * x,
    "prints on its way": lambda x: print("debugging", x) or 2 * x,
    "warns": lambda x: warnings.warn("careful", stacklevel=1) or 2 * x,
}


@pytest.mark.filterwarnings("ignore:careful")
def test_right_answers_of_any_type(capfd: pytest.CaptureFixture) -> None:
    for name, answer in RIGHT.items():
        verdict = DOUBLE.verdict(answer)
        assert (verdict.state, verdict.message) == ("right", "Twice as much."), f"{name}: {verdict}"
        assert capfd.readouterr() == ("", ""), name  # what it prints is kept apart


def test_a_number_in_any_type() -> None:
    numbers = (6, Fraction(6), Decimal(6), np.float32(6), np.array([6]), torch.tensor([6.0]))
    for six in numbers:
        assert NUMBER.verdict(lambda x, six=six: six).passed, repr(six)


# ------------------------------------------------------------------ wrong types


class Sly:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("cannot be read")


WRONG_TYPES = {
    "None": (lambda x: None, "returns nothing"),
    "printed": (
        lambda x: print(2 * x),
        "it printed something: if that was the result, `return` it",
    ),
    "None with a warning": (
        lambda x: warnings.warn("careful", stacklevel=1),
        "does it end in `return ...`",
    ),
    "text": (lambda x: "2 * x", "a string (`str`)"),
    "dict": (lambda x: {"x": x}, "a `dict`"),
    "function": (lambda x: lambda: 2 * x, "a `function`"),
    "tuple of two": (lambda x: (2 * x, x), "shape [2, 3]; expected: [3]"),
    "complex": (lambda x: 2 * x + 0j, "complex"),
    "NaN": (lambda x: x * math.nan, "NaN"),
    "inf": (lambda x: x / 0, "infinite"),
    "shape": (lambda x: (2 * x)[:2], "[2, 4]; expected: [2, 4, 6]"),
    "scalar": (lambda x: 6.0, "shape []; expected: [3]"),
    "empty": (lambda x: [], "Your result: []; expected"),
    "ragged": (lambda x: [[1.0], [1.0, 2.0]], "cannot be read"),
    "meta": (lambda x: torch.empty(3, device="meta"), "cannot be read"),
    "own class": (lambda x: Sly(), "cannot be read"),
    "huge": (lambda x: [10**400] * 3, "too large to be read as a tensor"),
    "huge objects": (lambda x: np.array([10**400, 1, 2], dtype=object), "too large"),
    "text among objects": (
        lambda x: np.array([1, "2 * x"], dtype=object),
        "a string (`str`); it should return a tensor",
    ),
    "texts": (lambda x: np.array(["2", "4", "6"]), "cannot be read as a tensor"),
    "generator": (lambda x: (yield x), "`yield`"),
    "generator expression": (lambda x: (2 * each for each in x), "in round brackets"),
    "squared": (lambda x: x * x, "You have squared it."),
    "otherwise": (
        lambda x: x + 1,
        "For `x = [1, 2, 3]`: Your result: [2, 3, 4]; expected: [2, 4, 6].",
    ),
    "booleans": (lambda x: x > 1, "True or False"),
    "range": (lambda x: range(10**8), "100,000,000 numbers, too many"),
    "expanded": (lambda x: torch.zeros(1).expand(10**12), "too many"),
    "None within": (lambda x: [1.0, None, 3.0], "cannot be read|`NoneType`"),
}


def test_wrong_types() -> None:
    for name, (function, words) in WRONG_TYPES.items():
        said = hint(function)
        assert any(each in said for each in words.split("|")), f"{name}: {said}"


def test_wrong_types_of_a_number() -> None:
    for value, words in (
        (True, "True or False"),
        ([6.0], "a `list` of shape [1]"),
        (torch.ones(2, 3), "a `Tensor` of shape [2, 3]"),
        ("6", "a string"),
        (6 + 0j, "complex"),
        (float("nan"), "NaN"),
        (Fraction(10**400), "a `Fraction` too large"),
    ):
        assert words in hint(lambda x, value=value: value, NUMBER)


async def coroutine(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def test_not_the_function_asked_for() -> None:
    for answer, words in (
        (coroutine, "`async`"),
        (6.0, "without parentheses"),
        (np.ones(3), "an `ndarray`"),
        (None, "a `NoneType`"),
        (lambda: 1, "1 argument, which `<lambda>()`"),
        (lambda x, y: 1, "If it is the right function"),
        (lambda *, x: 1, "keep its `def` line"),
    ):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            assert words in hint(answer)
            gc.collect()
        assert warned == []  # as a coroutine that nobody closed would


# ------------------------------------------------------------------ exceptions

unix = pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="signals to threads are Unix's"
)


def test_their_exception_with_their_line() -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        y = x.reshape(2, 5)
        return 2 * y

    message = hint(answer)
    assert "`RuntimeError` in this line of yours: `y = x.reshape(2, 5)`" in message
    assert "shape '[2, 5]' is invalid" in message


def test_the_line_is_theirs_also_when_a_library_raises() -> None:
    def answer(x: torch.Tensor) -> Any:
        return torch.nn.functional.cross_entropy(x, "nonsense")

    assert "`return torch.nn.functional.cross_entropy" in hint(answer)


class Nasty(Exception):
    def __init__(self, text: Callable[[], Any]) -> None:
        self.text = text

    def __str__(self) -> str:
        return str(self.text())


def raises(error: BaseException) -> Callable[[Any], Any]:
    def answer(x: Any) -> Any:
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Nasty(lambda: 1 / 0), "raised `Nasty`"),
        (Nasty(sys.exit), "raised `Nasty`"),
        pytest.param(Nasty(lambda: spin(0)), "raised `Nasty`", marks=unix),
        (KeyError("x" * 9999), "raised `KeyError`"),
        (SystemExit(3), "end the program (`SystemExit`)"),
        (KeyboardInterrupt(), "end the program (`KeyboardInterrupt`)"),
        (MemoryError(), "out of memory"),
        (GeneratorExit(), "raised `GeneratorExit`"),
        (Wrong("a message of mine"), "raised `Wrong`"),
        (NotImplementedError("by a library"), "Not written yet"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_is_raised(error: BaseException, words: str) -> None:
    if isinstance(error, NotImplementedError):  # `raise error`: not the stub's line
        words = "raised `NotImplementedError`"
    message = hint(raises(error))
    assert words in message and len(message) < 600


def test_a_name_that_is_not_defined_is_explained() -> None:
    """As after a restart of the kernel, when the cell with the imports was not run again."""
    namespace: dict[str, Any] = {}
    exec("def double(x):\n    return torch.add(x, x)", namespace)
    message = hint(namespace["double"])
    assert "`NameError`" in message and "name 'torch' is not defined" in message
    assert "After a restart of the kernel, first run the cell with the imports." in message


def test_an_exit_as_the_shell_offers_it() -> None:
    assert "`return` to leave" in hint(lambda x: exit())


def test_endless_recursion() -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        return answer(x)

    assert "calls itself without end" in hint(answer)


def test_the_stub_is_not_an_error() -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("write this function, then run the check below")

    verdict = DOUBLE.verdict(answer)
    assert (verdict.state, verdict.passed) == ("unwritten", False)
    assert str(verdict).startswith("○ Not written yet: 99.1 Doubling. Write your answer")


def test_a_fault_of_ours_is_not_blamed_on_the_student() -> None:
    verdict = exercise("judge_broken").verdict(lambda x: x)
    assert verdict.state == "broken" and "may well be right" in verdict.message


# ------------------------------------------------------------------ time


def spin(x: Any) -> Any:
    while True:
        pass


def sleep_and_swallow(x: Any) -> Any:
    while True:
        try:  # noqa: SIM105
            time.sleep(0.01)
        except:  # noqa: E722
            pass


def swallow_exceptions(x: Any) -> Any:
    while True:
        with contextlib.suppress(Exception):
            math.sqrt(2)


def list_of(count: int) -> list[int]:
    return [0] * count


def wait_for_a_lock(x: Any) -> Any:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second of computing may take minutes where the tests of others run."""
    monkeypatch.setattr(limits, "_WALL", 1000)


@unix
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("answer", [spin, swallow_exceptions])
def test_computes_without_end(answer: Callable[[Any], Any]) -> None:
    handler = signal.getsignal(signal.SIGINT)
    assert "still running after 0.5 seconds of computing," in hint(answer, IMPATIENT)
    assert signal.getsignal(signal.SIGINT) is handler


@unix
@pytest.mark.parametrize("answer", [sleep_and_swallow, wait_for_a_lock])
def test_waits_without_end(answer: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_WALL", 2)
    handler = signal.getsignal(signal.SIGINT)
    assert "still running after 1 seconds, most of which it waited," in hint(answer, IMPATIENT)
    assert signal.getsignal(signal.SIGINT) is handler


@unix
def test_a_busy_machine_does_not_count() -> None:
    """An answer that gets little of the processor is right as it is on a machine of its own."""

    def kept_waiting(x: Any) -> Any:
        time.sleep(0.8)
        return 2 * x

    assert IMPATIENT.verdict(kept_waiting).passed


def test_without_a_clock_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS and Windows: the process's own time, and no more than has passed."""
    monkeypatch.delattr(time, "pthread_getcpuclockid", raising=False)
    computed = limits._stopwatch()
    compute(0.2)
    seen = computed()
    assert 0.2 <= seen < 20
    time.sleep(0.2)
    assert computed() < seen + 0.1
    monkeypatch.setattr(time, "process_time", lambda: 1e9 * time.monotonic())  # of many threads
    computed = limits._stopwatch()
    assert computed() < 1


@unix
def test_a_debugger_goes_on_tracing() -> None:
    def trace(*_: Any) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert "still running" in hint(sleep_and_swallow, IMPATIENT)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def compute(seconds: float) -> None:
    begin = time.thread_time()
    while time.thread_time() < begin + seconds:
        pass


@unix
@pytest.mark.usefixtures("patient")
def test_the_time_limit_is_for_one_call() -> None:
    def slow(x: Any) -> Any:
        compute(0.4)
        return 2 * x

    assert IMPATIENT.verdict(slow).passed  # two calls of 0.4 seconds


@unix
@pytest.mark.usefixtures("patient")
def test_a_compiled_function_has_time_to_compile() -> None:
    def compiles(x: torch.Tensor) -> torch.Tensor:
        compute(0.8)
        return 2 * x

    assert "still running after 0.5 seconds" in hint(compiles, IMPATIENT)
    name = next(iter(vars(torch.compile(double)).keys() & {"_torchdynamo_orig_callable"}))
    setattr(compiles, name, double)
    assert IMPATIENT.verdict(compiles).passed


class Reads:
    """A result that runs code when it is read."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.read = read

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.read()

    def __float__(self) -> float:
        return float(self.read())


@unix
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("of", [IMPATIENT, exercise("OF_A_NUMBER", 0.5)], ids=["tensor", "number"])
def test_a_result_is_read_within_the_limits(of: Exercise) -> None:
    assert "still running after 0.5 seconds" in hint(lambda x: Reads(lambda: spin(x)), of)
    assert "end the program (`SystemExit`)" in hint(lambda x: Reads(sys.exit), of)
    assert "cannot be read" in hint(lambda x: Reads(lambda: 1 / 0), of)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited on Linux only")
@pytest.mark.parametrize("allocate", [list_of, torch.empty], ids=lambda it: it.__name__)
def test_memory_is_limited_and_the_limit_restored(allocate: Callable[[int], Any]) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    assert "ran out of memory" in hint(lambda x: len(allocate(10**10)) * x)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert DOUBLE.verdict(lambda x: 2 * x).passed


def test_without_signals_to_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "pthread_kill")  # Windows
    assert "still running" in hint(spin, IMPATIENT)
    assert DOUBLE.verdict(lambda x: 2 * x).passed


def test_in_another_thread_there_is_no_limit() -> None:
    found: list[Verdict] = []
    thread = threading.Thread(target=lambda: found.append(DOUBLE.verdict(lambda x: 2 * x)))
    thread.start()
    thread.join(30)
    assert found[0].passed


# ------------------------------------------------------------------ the reader's own Ctrl-C


@unix
@pytest.mark.parametrize("swallow", [False, True])
def test_the_readers_interrupt_goes_through(swallow: bool) -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        except KeyboardInterrupt:
            if not swallow:
                raise
        return 2 * x

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        DOUBLE.verdict(answer)
    assert signal.getsignal(signal.SIGINT) is handler


# ------------------------------------------------------------------ side effects


def double_in_place(x: torch.Tensor) -> torch.Tensor:
    x *= 2
    return x


def test_a_changed_argument_is_named() -> None:
    assert "changes its argument `x` in place" in hint(double_in_place)


def test_what_to_do_instead_fits_what_was_changed() -> None:
    def change(given: Any) -> int:
        if isinstance(given, list) and isinstance(given[0], float):
            given.pop()
        else:
            given[0] *= 2
        return 1

    for argument, advice in (
        ([1.0, 2.0], "`given = list(given)`"),
        (torch.ones(2), "`given = given.clone()`"),
        (np.ones(2), "`given = given.copy()`"),
        ([torch.ones(2), torch.ones(1)], "`given = [each.clone() for each in given]`"),
        ({0: 1.0}, "`given = copy.deepcopy(given)`"),
    ):
        with pytest.raises(Wrong) as told:
            call(change, argument)
        assert advice in str(told.value)


class Sneaky:
    """What an answer may put into an argument: it runs code when it is compared or measured."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act

    def __eq__(self, other: object) -> bool:
        return bool(self.act())

    def __len__(self) -> int:
        return int(self.act())


@unix
@pytest.mark.parametrize(
    "act",
    [lambda: spin(0), sys.exit, lambda: 1 / 0, lambda: True],
    ids=["loops", "exits", "raises", "lies"],
)
@pytest.mark.parametrize("argument", [[1.0], [[1.0]], np.array([1.0], object)], ids=type)
def test_what_is_put_into_an_argument_is_compared_within_the_limits(
    argument: Any, act: Callable[[], Any]
) -> None:
    def put(given: Any) -> int:
        given[0] = Sneaky(act)
        return 1

    with pytest.raises(Wrong, match=r"changes its argument `given`|still running|end the program"):
        Answer(put, 0.5).call((argument,), lambda value, copies: value)
    assert call(lambda given: 1, argument) == 1


def test_an_argument_that_can_no_longer_be_compared_is_changed() -> None:
    def put(given: Any) -> int:
        given[0] = np.ones(2)  # its comparison with a number is no truth value
        return 1

    with pytest.raises(Wrong, match="changes its argument `given`"):
        call(put, [1.0])


def set_value(node: Value) -> None:
    node.parents[0].value = 7.0


def set_parents(node: Value) -> None:
    node.parents = (node.parents[1], node.parents[0])


def set_partials(node: Value) -> None:
    node.partials = [1.0, *node.partials[1:]]  # type: ignore[assignment]


@pytest.mark.parametrize("change", [set_value, set_parents, set_partials])
def test_a_graph_of_the_engine_is_kept(change: Callable[[Value], None]) -> None:
    a, b = Value(2.0), Value(3.0)

    def answer(node: Value) -> int:
        change(node)
        return 1

    with pytest.raises(Wrong, match="changes its argument `node`"):
        call(answer, a * b)

    def backward(node: Value) -> int:
        node.parents[0].grad += 1.0  # as a backward pass does
        return 1

    assert call(backward, a * b) == 1


def test_a_gradient_left_in_a_module_is_a_change() -> None:
    def answer(model: torch.nn.Module) -> int:
        model(torch.ones(1)).sum().backward()
        return 1

    with pytest.raises(Wrong, match=r"leaves a gradient in its argument `model`.*deepcopy\(model"):
        call(answer, torch.nn.Linear(1, 1))


def test_a_changed_argument_without_a_name_is_counted() -> None:
    def answer(first: Any, *rest: Any) -> int:
        rest[1].append(3.0)
        return 1

    with pytest.raises(Wrong, match="changes its argument number 3 in place"):
        call(answer, [1.0], [1.0], [1.0])


@pytest.mark.parametrize(
    "argument",
    [
        [1.0, 2.0],
        {"a": [1.0]},
        np.ones(2),
        [torch.ones(2), torch.ones(1)],
        torch.nn.Linear(1, 1),
        torch.ones(2, requires_grad=True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arguments_are_copies_and_changes_are_seen(argument: Any) -> None:
    def change(given: Any) -> int:
        with torch.no_grad():
            if isinstance(given, torch.nn.Module):
                given.weight += 1
            elif isinstance(given, dict):
                given["a"].append(2.0)
            elif isinstance(given, list) and isinstance(given[0], float):
                given.sort(reverse=True)
            else:
                given[0] *= 5
        return 1

    def look(given: Any) -> int:
        if isinstance(given, torch.nn.Module):
            given.eval()
        if isinstance(given, torch.Tensor):
            given.detach().clone().requires_grad_().sum().backward()
        return 1

    assert call(look, argument) == 1
    with pytest.raises(Wrong, match="changes its argument `given`"):
        call(change, argument)
    assert call(look, argument) == 1  # the original is as it was


def test_a_gradient_left_in_an_argument_is_a_change() -> None:
    """Else a second call with the same argument would return the sum of two gradients."""

    def answer(x: torch.Tensor) -> torch.Tensor:
        x.requires_grad_().square().sum().backward()
        assert x.grad is not None
        return x.grad

    assert "leaves a gradient in its argument `x`" in hint(answer)


def test_random_states_are_restored() -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        random.seed(1), np.random.seed(1), torch.manual_seed(1)
        random.random(), np.random.rand(), torch.rand(1)
        return 2 * x

    before = random.getstate(), np.random.get_state()[1].copy(), torch.get_rng_state()
    assert DOUBLE.verdict(answer).passed
    assert random.getstate() == before[0]
    assert np.array_equal(np.random.get_state()[1], before[1])
    assert torch.equal(torch.get_rng_state(), before[2])


def test_a_random_answer_gets_the_same_verdict_each_time() -> None:
    drawn: list[tuple[float, ...]] = []

    def answer(x: torch.Tensor) -> torch.Tensor:
        drawn.append((random.random(), np.random.rand(), torch.rand(()).item()))
        return 3 * x

    for seed in range(3):
        random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)
        DOUBLE.verdict(answer)
    assert len(drawn) == 6 and len(set(drawn)) == 1  # of two calls each


def test_modes_are_restored_and_usual_within() -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        assert torch.is_grad_enabled() and torch.get_default_dtype() is torch.float32
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float16)
        torch.set_default_device("meta")
        torch.set_num_threads(1)
        np.seterr(all="ignore")
        sys.setrecursionlimit(50_000)
        warnings.simplefilter("ignore")
        return 2 * x

    def state() -> tuple[Any, ...]:
        return (
            torch.is_grad_enabled(),
            torch.get_default_dtype(),
            torch.get_default_device(),
            torch.get_num_threads(),
            np.geterr(),
            sys.getrecursionlimit(),
            list(warnings.filters),
            sys.stdout,
            sys.gettrace(),
        )

    before = state()
    assert DOUBLE.verdict(answer).passed
    assert state() == before
    # The CPU as an explicit default is another mode: there as_tensor moves what lies elsewhere.
    assert torch.as_tensor(torch.empty(1, device="meta")).is_meta
    with torch.no_grad():  # the notebook's own mode must not decide
        torch.set_default_dtype(torch.float64)
        try:
            assert DOUBLE.verdict(answer).passed
            assert not torch.is_grad_enabled() and torch.get_default_dtype() is torch.float64
        finally:
            torch.set_default_dtype(torch.float32)


def test_the_folder_and_the_environment_are_restored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        os.chdir(tmp_path.parent)
        del os.environ["LMCOURSE_WORKBOOK"]
        os.environ |= {"LMCOURSE_ROOT": "elsewhere", "LMCOURSE_NEW": "new"}
        return 2 * x

    def clear(x: torch.Tensor) -> torch.Tensor:
        os.environ.clear()
        return 2 * x

    def fail(x: torch.Tensor) -> torch.Tensor:
        answer(x)
        raise ValueError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LMCOURSE_WORKBOOK", str(tmp_path))
    monkeypatch.setenv("LMCOURSE_ROOT", "here")
    monkeypatch.delenv("LMCOURSE_NEW", raising=False)
    environment, before = os.environ, dict(os.environ)
    for change, state in ((answer, "right"), (clear, "right"), (fail, "wrong")):
        assert DOUBLE.verdict(change).state == state
        assert Path.cwd() == tmp_path
        assert os.environ is environment and dict(os.environ) == before
        assert os.getenv("LMCOURSE_ROOT") == "here"


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the folder that a program stands in")
def test_a_folder_that_is_gone_is_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    monkeypatch.chdir(tmp_path)  # put back afterwards
    gone.mkdir()
    os.chdir(gone)
    assert DOUBLE.verdict(lambda x: shutil.rmtree(gone, True) or 2 * x).passed  # meanwhile
    assert DOUBLE.verdict(lambda x: 2 * x).passed  # before
    assert DOUBLE.verdict(lambda x: os.chdir(tmp_path) or 2 * x).passed


@pytest.mark.parametrize(
    ("owner", "name", "words"),
    [
        (torch.Tensor, "mean", "`torch.Tensor.mean`"),
        (math, "exp", "`math.exp`"),
        (guards.results, "same", "same`"),
    ],
)
def test_monkeypatches_are_undone_and_told(owner: Any, name: str, words: str) -> None:
    original = getattr(owner, name)

    def answer(x: torch.Tensor) -> torch.Tensor:
        setattr(owner, name, lambda *_: True)
        return 2 * x

    message = hint(answer)
    assert "replaces" in message and words in message
    assert getattr(owner, name) is original
    assert DOUBLE.verdict(lambda x: 2 * x).passed


def test_what_is_printed_is_kept_and_bounded() -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        for _ in range(10_000):
            print("<script>alert(1)</script>")
        print("x" * 1_000_000)
        return x

    verdict = DOUBLE.verdict(answer)
    assert verdict.printed.startswith("<script>") and len(verdict.printed) < 2100
    assert "<script>" not in verdict._repr_mimebundle_()["text/html"]
    assert len(DOUBLE.verdict(lambda x: print("x" * 1_000_000) or x).printed) < 2100


# ------------------------------------------------------------------ comparing


def test_same() -> None:
    half = torch.tensor([1.004], dtype=torch.float16)
    for value, wanted, equal in (
        ([1.0, 2.0], torch.tensor([1.0, 2.0]), True),
        (1e-9, 0.0, True),
        (0.1, 0.0, False),
        ([[1.0]], torch.ones(1), False),
        (math.nan, 1.0, False),
        (1e6 + 1, 1e6, True),
        (1e6 + 1000, 1e6, False),
        (([1], [2]), ([1], [3]), False),
        (((1, 2), 3), ((1, 2), 3), True),
        (((1, 2), 3), ((1, 4), 3), False),
        ((half, 1.0), (torch.ones(1), 1.0), True),
        ((half, 1.004), (torch.ones(1), 1.0), False),  # the other part is as exact as ever
        (((half, 1.004), half), ((torch.ones(1), 1.0), torch.ones(1)), False),
    ):
        assert same(read(value, wanted), read(wanted, wanted), 1e-4) is equal, value


def test_a_tuple_is_read_value_by_value() -> None:
    with pytest.raises(Wrong, match=r"Return 2 values, with a comma between them.* returns 3"):
        read((1, 2, 3), (1, 2))
    with pytest.raises(Wrong, match="returns a `dict`"):
        read({}, (1, 2))
    with pytest.raises(Wrong, match=r"Value 2 of 2: Your function returns a `Tensor` of shape"):
        read((1, torch.ones(3)), (1, 2))


def test_parts_of_a_value_are_numbered() -> None:
    task = Task(lambda x: ((x, 2 * x), 3), [(1.0,)], "", "", names=("the pair", "three"))
    with pytest.raises(Wrong, match="Part 2: 5; expected: 2"):
        task(Answer(lambda x: ((x, 5.0), 3)))


def test_a_multiple_is_named() -> None:
    task = Task(double, examples=[(torch.ones(2, 3),)], slips="", note="")
    with pytest.raises(Wrong, match=r"Your result: 1\.5 times what is expected"):
        task(Answer(lambda x: 3 * x))


def test_autograd_is_refused_where_the_formula_is_the_exercise() -> None:
    task = Task(double, examples=[(torch.ones(3),)], slips="", note="Yes.", autograd=False)
    with pytest.raises(Wrong, match="Autograd computes the gradient here") as refused:
        task(
            Answer(
                lambda x: torch.autograd.grad((y := x.clone().requires_grad_()).square().sum(), y)
            )
        )
    assert refused.value.kind == "autograd"
    assert task(Answer(lambda x: 2 * x)) == "Yes."
    assert torch.autograd.grad((y := torch.ones(())).requires_grad_().square(), y)[0] == 2


def test_a_mistake_in_an_edge_case_is_named_as_such() -> None:
    task = Task(
        double,
        examples=[(1.0,), (2.0,)],
        edge_cases={"for a negative number": (-1.0,)},
        slips="The absolute value.\n    2 * x -> 2 * abs(x)\n",
        note="",
    )
    with pytest.raises(Wrong, match="The absolute value"):
        task(Answer(lambda x: abs(2 * x)))
    for zero in (lambda: 0, lambda: [][0]):
        with pytest.raises(Wrong, match="right for ordinary arguments, and wrong for a negative"):
            task(Answer(lambda x, zero=zero: 2 * x if x > 0 else zero()))


def test_a_slip_that_raises_is_a_likely_cause() -> None:
    task = Task(double, [([1.0],)], "A wrong index.\n    2 * x -> x[1]\n", "")
    with pytest.raises(Wrong, match=r"raised `IndexError`(.|\n)*A likely cause: A wrong index"):
        task(Answer(lambda x: x[5]))
    with pytest.raises(Wrong, match="raised `KeyError`") as raised:
        task(Answer(lambda x: {}[5]))
    assert "cause" not in str(raised.value) and raised.value.kind == "raised"


# ------------------------------------------------------------------ the function, found by its name


@pytest.mark.usefixtures("nowhere")
def test_a_check_finds_the_function_by_its_name(capsys: pytest.CaptureFixture) -> None:
    namespace: dict[str, Any] = {"DOUBLE": DOUBLE}
    exec("DOUBLE()", namespace)
    assert "There is no `double` in this notebook yet. Run the cell" in capsys.readouterr().out
    exec("def double(x): return x + x\nDOUBLE()", namespace)
    assert capsys.readouterr().out.startswith("✔ Right")
    exec("DOUBLE(lambda x: x)", namespace)
    assert capsys.readouterr().out.startswith("✎ Not yet")


# ------------------------------------------------------------------ what the student sees


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    """No workbook around: nothing is recorded."""
    monkeypatch.delenv("LMCOURSE_WORKBOOK", raising=False)
    monkeypatch.delenv("LMCOURSE_STRICT", raising=False)
    monkeypatch.chdir(tmp_path)
    assert progress.folder() is None
    yield


def test_a_title_that_asks_keeps_its_own_mark() -> None:
    said = [str(Verdict("99.1", title, "right", "So.")) for title in ("Doubling", "How far?")]
    assert said == ["✔ Right: 99.1 Doubling. So.", "✔ Right: 99.1 How far? So."]


@pytest.mark.usefixtures("nowhere")
def test_outside_a_notebook_the_verdict_is_printed(capsys: pytest.CaptureFixture) -> None:
    DOUBLE(lambda x: 2 * x)
    assert capsys.readouterr().out == "✔ Right: 99.1 Doubling. Twice as much.\n"
    DOUBLE(lambda x: print("working") or x)
    assert capsys.readouterr().out == (
        "✎ Not yet: 99.1 Doubling. For `x = [1, 2, 3]`: Your result: 0.5 times "
        "what is expected.\nYour function printed:\nworking\n"
    )


def test_warnings_are_shown_with_what_was_printed() -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        print("one")
        warnings.warn("careful", stacklevel=1)
        return x

    assert DOUBLE.verdict(answer).printed == "one\nUserWarning: careful"


@pytest.mark.usefixtures("nowhere")
def test_an_answer_that_runs_long_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(verdict, "_PATIENCE", 0.1)

    def slow(x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.3)
        return 2 * x

    DOUBLE(slow)
    first, second = capsys.readouterr().out.splitlines()
    assert first == "… Your function is running. A call may compute for 30 seconds."
    assert second.startswith("✔ Right")
    DOUBLE(lambda x: 2 * x)
    time.sleep(0.3)
    assert capsys.readouterr().out.splitlines() == [second]


def test_a_display_that_fails_does_not_hide_the_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise KeyError("no display")

    monkeypatch.setattr("lmcourse.labs.verdict.in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", fail)
    Verdict("02.1", "Perplexity", "wrong", "The sign.").show()
    assert capsys.readouterr().out == "✎ Not yet: 02.1 Perplexity. The sign.\n"


@pytest.mark.usefixtures("nowhere")
def test_strict_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMCOURSE_STRICT", "1")
    DOUBLE(lambda x: 2 * x)
    with pytest.raises(CheckFailed, match="You have squared it"):
        DOUBLE(lambda x: x * x)
    with pytest.raises(CheckFailed) as caught:
        DOUBLE(raises(NotImplementedError()))
    assert isinstance(caught.value, AssertionError)
    assert caught.value._render_traceback_()[0].startswith("CheckFailed: ")


def test_the_bundle_for_notebooks() -> None:
    verdict = Verdict("02.1", "A & B", "wrong", "Use `a < b`:\nnot <b>")
    bundle = verdict._repr_mimebundle_()
    assert bundle["application/vnd.lmcourse.check+json"] == {
        "exercise": "02.1",
        "passed": False,
        "hint": "Use `a < b`:\nnot <b>",
    }
    assert "A &amp; B" in bundle["text/html"]
    assert "<code>a &lt; b</code>:<br>not &lt;b&gt;" in bundle["text/html"]
    assert "✎ Not yet: 02.1 A & B." in bundle["text/plain"]
