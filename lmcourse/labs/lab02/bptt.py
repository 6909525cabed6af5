"""02.3 Backpropagation through time by hand. The right answer is autograd's."""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab02.elman import Problem, gradient, problem
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong

_EXACT = 1e-10


def judge(answer: Answer) -> str:
    for seed, time in enumerate((6, 9)):
        given = problem(seed, time)
        value = tensor(answer(*given), given.W.shape)
        if not same(value, gradient(given), _EXACT):
            if same(value, gradient(given), 1e-4):
                raise Wrong(
                    "Right to some digits only, and 1e-10 is asked for: keep float64 all the way, "
                    "and derive instead of taking differences."
                )
            explain(value, MISTAKES, given, tolerance=1e-9)
            _explain_factor(value, given)
            raise Wrong(_where(answer))
    return (
        "Equal to autograd to 1e-10. This loop is all that `loss.backward()` does for a recurrent "
        "network."
    )


def _explain_factor(value: Tensor, given: Problem) -> None:
    factor = multiple(value, gradient(given), 1e-9)
    if factor is None:
        return
    if same(factor, -1.0):
        raise Wrong("The sign is turned: the derivative of ½(h − y)² is h − y, not y − h.")
    if same(factor, 2.0):
        raise Wrong("Exactly twice the gradient: the loss has a factor ½, which cancels the 2.")
    if same(factor * len(given.inputs), 1.0):
        raise Wrong("Divided by T: this loss is the sum over the steps, not their mean.")
    raise Wrong(f"The direction is right, but everything is {factor:.4g} times too large.")


def _where(answer: Answer) -> str:
    """Where a gradient that no known mistake explains begins to go wrong."""
    for time in (1, 2, 3):
        given = problem(seed=10 + time, time=time)
        if not same(tensor(answer(*given), given.W.shape), gradient(given), _EXACT):
            break
    else:
        return (
            "Right up to three steps, and wrong for longer sequences: does a number of steps "
            "stand in the code?"
        )
    if time == 1:
        return (
            "Wrong already for a sequence of one step, where nothing flows back through time. "
            "Write down ∂l_1/∂h_1, then tanh′, then the derivative of W h_0 by W, and compare one "
            "by one."
        )
    return (
        f"Right for {time - 1} step{'s'[: time > 2]}, wrong from {time} on: look at what step t+1 "
        "hands back to step t, and at what step t adds to it."
    )


def _reverse(
    given: Problem,
    immediate: Callable[[int, int], bool] = lambda t, last: True,
    slope: Callable[[Tensor, Tensor], Tensor] = lambda h, before: 1 - h * h,
    back: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = lambda W, s, d, own: W.T @ (s * d),
    term: Callable[..., Tensor] = lambda s, d, h, before: torch.outer(s * d, before),
    keep: Callable[[list[Tensor]], Tensor] = lambda terms: torch.stack(terms).sum(0),
) -> Tensor:
    """The reverse recursion, with one piece changed: so does each mistake."""
    W, U, inputs, initial_state, targets = given
    states = [initial_state]
    for x in inputs:
        states.append(torch.tanh(W @ states[-1] + U @ x))
    last = len(inputs)
    from_later, terms = torch.zeros_like(initial_state), []
    for t in range(last, 0, -1):
        h, before = states[t], states[t - 1]
        own = (h - targets[t - 1]) * float(immediate(t, last))
        d, s = own + from_later, slope(h, before)
        terms.append(term(s, d, h, before))
        from_later = back(W, s, d, own)
    return keep(terms)  # from t = T down to t = 1


def _shifted(given: Problem) -> Tensor:
    """Loops over 0 … T-1 with states that begin with h_0, so that all is one step off."""
    W, U, inputs, initial_state, targets = given
    states = [initial_state]
    for x in inputs:
        states.append(torch.tanh(W @ states[-1] + U @ x))
    total, from_later = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs) - 1, -1, -1):
        back = (1 - states[t] ** 2) * (states[t] - targets[t] + from_later)
        total += torch.outer(back, states[t - 1])
        from_later = W.T @ back
    return total


def _forward(W: Callable[[Tensor], Tensor], U: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda given: gradient(given._replace(W=W(given.W), U=U(given.U)))


MISTAKES = (
    Mistake(
        "States and targets are one step off: in a list that begins with h_0, the state of the "
        "first target is the second entry.",
        _shifted,
    ),
    Mistake(
        "Each step's own share is right, and what flows back from later steps is missing: at t = "
        "T nothing arrives, before it something does. Carry ∂L/∂h_{t+1} back to h_t.",
        lambda given: _reverse(given, back=lambda W, s, d, own: torch.zeros_like(d)),
    ),
    Mistake(
        "Each loss reaches back one step only: hand back all of ∂L/∂h_t, what arrived from later "
        "steps included, not only the immediate part.",
        lambda given: _reverse(given, back=lambda W, s, d, own: W.T @ (s * own)),
    ),
    Mistake(
        "Only the last step's share of ∂L/∂W is there: the same W works at every step, so the "
        "shares add up.",
        lambda given: _reverse(given, keep=lambda terms: terms[0]),
    ),
    Mistake(
        "Only the first step's share of ∂L/∂W is left: is the gradient overwritten in the loop, "
        "where it should be accumulated (`+=`)?",
        lambda given: _reverse(given, keep=lambda terms: terms[-1]),
    ),
    Mistake(
        "The share of step t = 1 is missing: h_0 is an input of the network, but W multiplies it "
        "too.",
        lambda given: _reverse(given, keep=lambda terms: torch.stack(terms[:-1]).sum(0)),
    ),
    Mistake(
        "The share of step t = T is missing: does the loop backwards start one step too early?",
        lambda given: _reverse(given, keep=lambda terms: torch.stack(terms[1:]).sum(0)),
    ),
    Mistake(
        "Only the loss of the last step is differentiated: every step has a loss l_t, whose "
        "immediate derivative h_t − y_t is added on the way back.",
        lambda given: _reverse(given, immediate=lambda t, last: t == last),
    ),
    Mistake(
        "`W` carries the gradient back, where it should be the transpose of W: forward W maps "
        "h_{t-1} to step t, backward its transpose maps the other way.",
        lambda given: _reverse(given, back=lambda W, s, d, own: W @ (s * d)),
    ),
    Mistake(
        "The derivative of tanh is taken at h_{t-1}: step t went through tanh to h_t, so it is 1 "
        "− h_t².",
        lambda given: _reverse(given, slope=lambda h, before: 1 - before * before),
    ),
    Mistake(
        "The derivative of tanh is taken at h_t as if that were its argument; h_t is tanh "
        "already, and the derivative is 1 − h_t².",
        lambda given: _reverse(given, slope=lambda h, before: 1 - torch.tanh(h) ** 2),
    ),
    Mistake(
        "The derivative of tanh has h_t where it should have h_t²: it is 1 − h_t².",
        lambda given: _reverse(given, slope=lambda h, before: 1 - h),
    ),
    Mistake(
        "The derivative of tanh is missing, everywhere: each step back goes through tanh, then "
        "through W.",
        lambda given: _reverse(given, slope=lambda h, before: torch.ones_like(h)),
    ),
    Mistake(
        "The derivative of tanh is missing on the way from h_t back to h_{t-1} (it is there in "
        "∂L/∂W).",
        lambda given: _reverse(given, back=lambda W, s, d, own: W.T @ d),
    ),
    Mistake(
        "The derivative of tanh is missing in the shares of ∂L/∂W (it is there on the way back "
        "in time).",
        lambda given: _reverse(given, term=lambda s, d, h, before: torch.outer(d, before)),
    ),
    Mistake(
        "The outer product has h_t where it should have h_{t-1}: W multiplies the state *before* "
        "the step.",
        lambda given: _reverse(given, term=lambda s, d, h, before: torch.outer(s * d, h)),
    ),
    Mistake(
        "The result is the transpose of the gradient: entry [i, j] belongs to W[i, j], which "
        "takes unit j of h_{t-1} to unit i of h_t.",
        lambda given: gradient(given).T,
    ),
    Mistake(
        "The forward pass uses the transpose of W: for one column h it is `W @ h` (or `h @ W.T`).",
        _forward(lambda W: W.T, lambda U: U),
    ),
    Mistake(
        "The forward pass leaves out the inputs: h_t = tanh(W h_{t-1} + U x_t).",
        _forward(lambda W: W, torch.zeros_like),
    ),
)
