"""A slip table is its own test: each slip is refused with its own hint, right answers pass."""

import inspect
import math
import zlib
from collections.abc import Iterable
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from lmcourse import engine
from lmcourse.engine import Value
from lmcourse.labs import exercises
from lmcourse.labs.answer import Answer
from lmcourse.labs.check import Exercise
from lmcourse.labs.kit import Slip, Task, compiled
from lmcourse.labs.results import Result, unchanged
from tests.labs import master

EXERCISES = {each.slug: each for number in master.NUMBERS for each in exercises(number)}
TASKS = {name: master.task(each) for name, each in EXERCISES.items()}
of_each = pytest.mark.parametrize("name", TASKS)


def misjudged(exercise: Exercise, slips: Iterable[Slip]) -> list[str]:
    """Each form of a slip that is not refused with its own hint, and what the check says of it."""
    found = []
    for slip in slips:
        for index, form in enumerate(slip.forms):
            verdict = exercise.verdict(form)
            raised = verdict.message.startswith("Your function raised")
            end = f"A likely cause: {slip.hint}" if raised else slip.hint
            if verdict.state != "wrong" or not verdict.message.endswith(end):
                found.append(f"form {index} of {slip.hint!r}: {verdict.state}: {verdict}")
    return found


@of_each
def test_each_slip_is_refused_with_its_own_hint(name: str) -> None:
    """All forms in one test: there are some 3,000."""
    found = misjudged(EXERCISES[name], TASKS[name].known)
    assert not found, f"{len(found)} slips of {name}:\n" + "\n".join(found)


def twice(x: float) -> float:
    return 2 * x


OF_TWO_SLIPS = Task(
    twice,
    examples=[(3.0,), (5.0,)],
    slips="""
A power.
    2 * x -> x**2 || x + x
Nothing.
    2 * x -> [][0]
""",
    note="",
)


def test_each_form_that_is_misjudged_is_reported() -> None:
    exercise = Exercise("99.1", "99-twice", "Twice", 1, 1, f"{__name__}:OF_TWO_SLIPS")
    assert len(misjudged(exercise, OF_TWO_SLIPS.known)) == 1  # x + x is right
    power, nothing = OF_TWO_SLIPS.known
    (accepted,) = misjudged(exercise, [power])
    assert accepted.startswith("form 1 of 'A power.': right: ✔ Right: 99.1")
    others = misjudged(exercise, [Slip("Another.", (*power.forms, *nothing.forms))])
    assert [each.split(":")[1] for each in others] == [" wrong", " right", " wrong"]


def gives_numbers(task: Task) -> bool:
    """Whether the reference does on every example: an answer with its fault would be accepted."""
    outcomes = [task._give(each) for each in (*task.examples, *task.edge_cases.values())]
    return all(
        isinstance(outcome, Result) and not any(part.isnan().any() for part in outcome.parts)
        for outcome in outcomes
    )


@of_each
def test_the_reference_gives_numbers(name: str) -> None:
    assert gives_numbers(TASKS[name])


@pytest.mark.parametrize("faulty", [lambda x: 2j * x, lambda x: math.nan * x])
def test_a_reference_that_gives_none_is_found(faulty: Any) -> None:
    task = Task(faulty, examples=[(3.0,)], slips="", note="")
    assert task(Answer(faulty)) == ""  # it is accepted
    assert not gives_numbers(task)


@of_each
def test_a_table_has_five_to_twelve_slips_with_a_hint_each(name: str) -> None:
    hints = [slip.hint for slip in TASKS[name].known]
    assert len(set(hints)) == len(hints) and 5 <= len(hints) <= 12


@of_each
def test_the_reference_and_the_masters_solution_pass(name: str) -> None:
    assert EXERCISES[name].verdict(TASKS[name].reference).passed
    number = name[:2]
    solutions = master.solutions(number)
    (check,) = (key for key, each in master.checks(number).items() if each.slug == name)
    verdict = EXERCISES[name].verdict(solutions[check])
    assert verdict.passed, verdict


RIGHT = [
    answer
    for number in master.NUMBERS
    for answer in import_module(f"tests.labs.right{number}").RIGHT
]


@pytest.mark.parametrize("answer", RIGHT, ids=lambda answer: answer.name)
def test_another_right_answer_passes(answer: Any) -> None:
    verdict = EXERCISES[answer.exercise].verdict(answer.function)
    assert verdict.passed, verdict


def overwrites_visible_words(predict, ids, mask_id):  # type: ignore[no-untyped-def]
    """Fills rightly, and first replaces the visible word that the model is most certain of."""
    mask, ids = mask_id, ids.clone()
    while (ids == mask).any():
        largest, word = predict(ids).max(-1)
        for skipped in (ids == mask, ids != mask):
            position = largest.masked_fill(skipped, -1.0).argmax()
            ids[position] = word[position]
    return ids


def changes_input_ids(model, input_ids, answers, count):  # type: ignore[no-untyped-def]
    model.eval()
    order = model(input_ids, None)[1].argsort(-1, descending=True)
    return model(input_ids.scatter(1, order[:, :1], 0), None)


def on_the_argument(W, U, inputs, initial_state, targets, chunk):  # type: ignore[no-untyped-def]
    """Right once; a second call with the same W would return the double."""
    W.requires_grad_()
    h = initial_state
    for xs, ys in zip(inputs.split(chunk), targets.split(chunk), strict=True):
        h, loss = h.detach(), torch.zeros(())
        for x, y in zip(xs, ys, strict=True):
            h = torch.tanh(U @ x + W @ h)
            loss = loss + 0.5 * (h - y).square().sum()
        loss.backward()
    return W.grad


def in_float32(*problem):  # type: ignore[no-untyped-def]
    return TASKS["02-bptt"].reference(*(each.float() for each in problem))


def agreement_with_itself(model, input_ids, answers, count):  # type: ignore[no-untyped-def]
    """Compares with what the model predicts when everything is visible."""
    answers = model.eval()(input_ids, None)[0].argmax(-1)
    return TASKS["08-knockout"].reference(model, input_ids, answers, count)


def masks_with_a_small_number(query, key, value, heads, visible):  # type: ignore[no-untyped-def]
    """Hides a key only if the visible scores are far above −20."""
    q = query.unflatten(-1, (heads, -1)).transpose(1, 2)
    scores = q @ key[:, None].mT / key.shape[-1] ** 0.5
    found = scores.masked_fill(~visible[:, None], -20.0).softmax(-1) @ value[:, None]
    return found.transpose(1, 2).flatten(2)


def counts_pieces(selected, words):  # type: ignore[no-untyped-def]
    return ((words[:, None] == words) & selected).sum(1)


def the_largest(chance, maskable, rate):  # type: ignore[no-untyped-def]
    return TASKS["10-exactly"].reference(1 - chance, maskable, rate)


def parents_that_are_numbers(a, b):  # type: ignore[no-untyped-def]
    right = TASKS["01-operation"].reference(a, b)
    return Value(right.value, (a.value, b.value), right.partials)


def composed_of_operations(a, b):  # type: ignore[no-untyped-def]
    """Right, and needs no local derivative of one's own."""
    shift = max(a.value, b.value)
    return engine.log(engine.exp(a - shift) + engine.exp(b - shift)) + shift


def takes_names_out(parents):  # type: ignore[no-untyped-def]
    order = []
    while parents:
        order += [node for node in parents if not set(parents[node]) & parents.keys()]
        for node in parents.keys() & {*order}:
            del parents[node]
    return order


def counts_a_parent_once(parents):  # type: ignore[no-untyped-def]
    """Kahn's method, in which a parent that is used twice is subtracted once."""
    left = {node: len(above) for node, above in parents.items()}
    order = [node for node in parents if not left[node]]
    for node in order:
        for child in parents:
            left[child] -= node in parents[child]
            order += [child] * (node in parents[child] and not left[child])
    return order


def by_the_engine(output):  # type: ignore[no-untyped-def]
    engine.backward(output)
    return {node: node.grad for node in engine.ordered(output)}


def in_post_order(output):  # type: ignore[no-untyped-def]
    """As proposed in an issue of micrograd: a node pushes when the walk leaves it."""
    z, seen = {output: 1.0}, set()

    def visit(node):  # type: ignore[no-untyped-def]
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            for parent, partial in zip(node.parents, node.partials, strict=True):
                z[parent] = z.get(parent, 0.0) + z.get(node, 0.0) * partial

    visit(output)
    return z


def with_half_the_step(f, gradient, point, h):  # type: ignore[no-untyped-def]
    return TASKS["01-error"].reference(f, gradient, point, h / 2)


def takes_a_tag_for_a_byte(tokens):  # type: ignore[no-untyped-def]
    byte = [f"<0x{int(it[3:5], 16):02X}>" if it.startswith("<") else it for it in tokens]
    return TASKS["06-stream"].reference(byte)


def shows_stray_bytes_once(tokens):  # type: ignore[no-untyped-def]
    shown = TASKS["06-stream"].reference(tokens)
    return ["" if text == "�" == "".join(shown[:i])[-1:] else text for i, text in enumerate(shown)]


def joins_no_letter(text):  # type: ignore[no-untyped-def]
    return TASKS["06-symbols"].reference(text.replace("a\u200d", "ab"))


def counts_different_windows(word, width, max_characters):  # type: ignore[no-untyped-def]
    spelled = ["^", *word.encode()[: max_characters - 2], "$"]
    starts = range(max(len(spelled) - width + 1, 0))
    return len({tuple(spelled[i : i + width]) for i in starts})


def highway(x, W_H, b_H, W_T, b_T):  # type: ignore[no-untyped-def]
    T = torch.sigmoid(W_T @ x + b_T)
    return T * torch.relu(W_H @ x + b_H) + (1 - T) * x


def by_forward_mode(x, *parameters):  # type: ignore[no-untyped-def]
    return torch.func.jacfwd(highway)(x, *parameters)


def by_finite_differences(x, *parameters):  # type: ignore[no-untyped-def]
    columns = [
        (highway(x + step, *parameters) - highway(x - step, *parameters)) / 2e-6
        for step in 1e-6 * torch.eye(len(x), dtype=x.dtype)
    ]
    return torch.stack(columns, 1)


def masks_by_the_hash_of_a_text(maskable, examples, epochs, rate):  # type: ignore[no-untyped-def]
    """Right today."""
    seeds = [hash(f"{e},{k}") % 2**40 for e, k in zip(examples, epochs, strict=True)]
    return TASKS["12-masks"].reference(maskable, seeds, [0] * len(seeds), rate)


def masks_by_the_hash_of_numbers(maskable, examples, epochs, rate):  # type: ignore[no-untyped-def]
    seeds = [hash(pair) % 2**40 for pair in zip(examples, epochs, strict=True)]
    return TASKS["12-masks"].reference(maskable, seeds, [0] * len(seeds), rate)


def nan_for_a_still_unit(states, values, split):  # type: ignore[no-untyped-def]
    unit, before, after = TASKS["03-unit"].reference(states, values, split)
    still = bool((states[split:, unit] == states[split, unit]).all())
    return unit, before, math.nan if still else after


def changes_values(output):  # type: ignore[no-untyped-def]
    found = TASKS["01-gradients"].reference(output)
    for node in found:
        node.value = 0.0
    return found


def changes_parents(a, b):  # type: ignore[no-untyped-def]
    right = TASKS["01-operation"].reference(a, b)
    a.parents, a.partials = (), ()
    return right


def leaves_gradients(model, *others):  # type: ignore[no-untyped-def]
    ids, mask, _ = others[0][0]
    model(ids, mask).sum().backward()
    return TASKS["11-fine_tuning"].reference(model, *others)


def two_mistakes(*batch):  # type: ignore[no-untyped-def]
    """Each has a hint of its own, and no slip makes both."""
    soft, masked, cosine = TASKS["17-losses"].reference(*batch)
    return soft / batch[-1], masked, 1 - cosine


def masks_by_a_small_hash(maskable, examples, epochs, rate):  # type: ignore[no-untyped-def]
    """One of a million seeds for each text and epoch."""
    seeds = [zlib.crc32(f"{pair}".encode()) % 10**6 for pair in zip(examples, epochs, strict=True)]
    return TASKS["12-masks"].reference(maskable, seeds, [0] * len(seeds), rate)


def keeps_the_graphs(w, own, counts, token_losses):  # type: ignore[no-untyped-def]
    w, total = w.clone().requires_grad_(), 0
    for batch in own:
        loss = token_losses(w, batch).sum() * len(counts) / counts.sum().clamp(min=1)
        loss.backward(retain_graph=True)
        total = total + loss
    return w.grad, total.detach()


def compares_documents(documents, length, sep):  # type: ignore[no-untyped-def]
    """Takes a document that equals the one before for the same document."""
    joined = [documents[:1]] if documents else []
    for one, other in pairwise(documents):
        joined = [*joined[:-1], [*joined[-1], other]] if one == other else [*joined, [other]]
    merged = [[sentence for document in each for sentence in document] for each in joined]
    return TASKS["12-packing"].reference(merged, length, sep)


def verdict_by_signs(a, b, t):  # type: ignore[no-untyped-def]
    """All runs agree."""
    *errors, _ = TASKS["12-compare"].reference(a, b, t)
    signs = (b - a).mean(1).sign().unique()
    return (*errors, int(signs) if len(signs) == 1 else 0)


def two_wrong_numbers(factor, lr, beta2, steps, warmup, power):  # type: ignore[no-untyped-def]
    return lr * factor, beta2, round(steps / factor), round(warmup / factor)


heads, layer = (TASKS[name].reference for name in ("09-heads", "09-layer"))


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("01-operation", parents_that_are_numbers, "`parents` are nodes"),
        ("01-operation", composed_of_operations, "Write one, with the parents `a` and `b`"),
        ("01-order", takes_names_out, "changes its argument `parents`"),
        ("01-order", counts_a_parent_once, "wrong if a node uses a parent twice"),
        ("01-gradients", by_the_engine, "or the engine's `ordered`"),
        ("01-gradients", in_post_order, "visited from the inputs on"),
        ("01-error", with_half_the_step, "expected"),
        ("06-wordpiece", lambda text, vocab, most: (text.split(), []), "it should return numbers"),
        ("06-stream", takes_a_tag_for_a_byte, "raised `ValueError`"),
        ("06-stream", shows_stray_bytes_once, "is ''; expected: '�'"),
        ("06-symbols", joins_no_letter, "Your result: [1, 1, 2, 2, 1, 1, 1]; expected"),
        ("07-windows", counts_different_windows, "`word = 'lalala'`"),
        ("07-highway", by_forward_mode, "Autograd computes the gradient here"),
        ("07-highway", by_finite_differences, "where an argument of the ReLU is 0"),
        ("02-bptt", in_float32, "Correct to a few digits only"),
        ("02-truncation", on_the_argument, "leaves a gradient in its argument `W`"),
        (
            "09-steps",
            lambda *given: (10 * given[0], 1),
            "The step on the way up: 0.007; expected: 126.7",
        ),
        ("09-heads", lambda *given: given[0], "Wrong even for one head without a mask"),
        (
            "09-heads",
            lambda *given: heads(*given) * given[4].all(),
            "one head without a mask, wrong with",
        ),
        ("09-heads", lambda *given: heads(*given) * (given[3] < 2), "one head, wrong for 3 heads"),
        ("09-layer", lambda *given: given[0], "Post-norm (`norm_first=False`) is wrong"),
        ("09-layer", lambda *given: layer(*given) * (1 + given[-1]), "Post-norm is right"),
        ("10-fill", overwrites_visible_words, "Yours is|words are written"),
        ("08-knockout", changes_input_ids, "other `input_ids` than those of the check"),
        ("08-knockout", agreement_with_itself, "Your result at position [0, 0]: 1; expected"),
        ("09-heads", masks_with_a_small_number, "one head without a mask, wrong with"),
        ("10-words", counts_pieces, "Your result: [0, 2, 2"),
        ("12-batch", two_wrong_numbers, "The learning rate: The learning rate is not multiplied"),
        ("12-masks", masks_by_the_hash_of_a_text, "changes with every start of Python"),
        ("03-unit", nan_for_a_still_unit, "NaN|0/0"),
        ("01-gradients", changes_values, "changes its argument `output`"),
        ("01-operation", changes_parents, "changes its argument `a`"),
        ("11-fine_tuning", leaves_gradients, "leaves a gradient in its argument `model`"),
        ("12-masks", masks_by_a_small_hash, "some have the same mask and seed"),
        ("12-accumulate", keeps_the_graphs, "All micro-batches are in memory at once"),
        ("12-packing", compares_documents, "wrong where two documents are equal"),
        ("12-compare", verdict_by_signs, "nor equal signs"),
        ("10-exactly", the_largest, "not those with the smallest `chance`"),
        (
            "17-temperature",
            lambda p, *T: TASKS["17-temperature"].reference(p.clamp(min=1e-7), *T),
            "A class of probability 0 stays at 0",
        ),
        ("17-losses", two_mistakes, "L_d: The distillation loss has another power of T"),
        ("17-losses", lambda *given: TASKS["17-losses"].reference(*given)[0], "Return 3 values"),
    ],
)
def test_an_answer_that_was_accepted_or_misunderstood(name: str, answer: Any, words: str) -> None:
    verdict = EXERCISES[name].verdict(answer)
    assert verdict.state == "wrong"
    assert any(each in verdict.message for each in words.split("|")), verdict


@of_each
def test_a_call_may_take_as_long_as_the_lab_states(name: str) -> None:
    number = name[:2]
    text = master.source(number).read_text("utf-8")
    assert f"stops a call after {EXERCISES[name].seconds:g} seconds" in text
    assert EXERCISES[name].seconds >= 10


def test_the_hash_of_numbers_is_a_seed() -> None:
    assert EXERCISES["12-masks"].verdict(masks_by_the_hash_of_numbers).passed


# Arguments that are the same in every example, and why.
CONSTANT = {("12-spans", "byte_of"): "GPT-2 has one table of bytes"}


def is_plain(value: Any) -> bool:
    """Whether an answer could contain it: not a function, a model, or what holds one."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return isinstance(value, (bool, int, float, str, bytes, dict, torch.Tensor, np.ndarray))


def constant_arguments(task: Task) -> list[str]:
    """The names of the plain arguments that are equal in all examples."""
    columns = zip(*task.examples, strict=True)
    names = inspect.signature(task.reference).parameters
    return [
        name
        for name, column in zip(names, columns, strict=False)
        if is_plain(column[0]) and all(unchanged(column[0], each) for each in column)
    ]


@of_each
def test_every_argument_varies_over_the_examples(name: str) -> None:
    """Else an answer with the number in it is accepted."""
    found = constant_arguments(TASKS[name])
    assert found == [argument for exercise, argument in CONSTANT if exercise == name]


def test_a_constant_argument_is_found() -> None:
    task = Task(lambda a, b, f: a, [(1, [2], len), (3, [2], len)], "", "")
    assert constant_arguments(task) == ["b"]


@of_each
def test_fixed_results_do_not_pass(name: str) -> None:
    """Whoever returns the first example's result is refused at the second."""
    task = TASKS[name]
    fixed = task.reference(*task.examples[0])
    assert not EXERCISES[name].verdict(lambda *_: fixed).passed


@of_each
def test_a_result_that_cannot_be_read_is_the_answers_fault(name: str) -> None:
    for huge in (10**400, [10**400] * 2, range(10**9)):
        verdict = EXERCISES[name].verdict(lambda *_, huge=huge: huge)
        assert verdict.state == "wrong", verdict


@of_each
def test_hints_do_not_contain_the_solution(name: str) -> None:
    number = name[:2]
    for cell, check in master.exercise_cells(master.notebook(number).cells):
        if master.checks(number)[master.call_in(check)[0]].slug == name:
            body = cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
    lines = [line.split("  #")[0].strip() for line in body.splitlines()]
    long = [line.removeprefix("return ") for line in lines if len(line) > 25]
    assert long
    hints = [slip.hint for slip in TASKS[name].known]
    assert not [(line, hint) for line in long for hint in hints if line in hint]


def test_checks_leave_the_random_state_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    for name, task in TASKS.items():
        EXERCISES[name].verdict(task.reference)
    assert torch.equal(before, torch.get_rng_state())


def double(x: int) -> int:
    y = x + x
    return y


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("A hint.\n    z -> y\n", "found 0 times"),
        ("A hint.\n    x -> y\n", "found 3 times"),
        ("A hint.\n    x + x\n", "no replacement"),
        ("    x + x -> x\n", "has no hint"),
    ],
)
def test_a_faulty_table_is_an_error(table: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compiled(table, double)


def test_a_slip_that_is_no_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        compiled("A hint.\n    x + x -> x +\n", double)


def test_a_table_with_all_that_it_may_have() -> None:
    table = """
One.
    x + x -> x + 1 || x + 2
    return y -> return -y
    or
    def double(x):
        return 7
Two, in
two lines.
    x + x ->
        x + 3
"""
    one, two = compiled(table, double)
    assert [form(1) for form in one.forms] == [-2, -3, 7]
    assert (two.hint, [form(1) for form in two.forms]) == ("Two, in two lines.", [4])
