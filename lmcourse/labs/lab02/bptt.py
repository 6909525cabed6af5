"""02.3 Backpropagation through time by hand. The right answer is autograd's."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.guards import watched_autograd
from lmcourse.labs.lab02.elman import Problem, explain_factor, gradient, problem
from lmcourse.labs.values import Mistake, explain, same, tensor
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
            if not value.any():
                raise Wrong(
                    "Your result is zero everywhere. Look at the way back: does its loop "
                    "run at all, and does what it finds get into the result?"
                )
            explain(value, MISTAKES, given, tolerance=1e-9)
            explain_factor(value, gradient(given), time)
            raise Wrong(_where(answer))
    with watched_autograd() as seen:
        answer(*given)
    if seen:
        raise Wrong(
            "The numbers are right, and autograd computed them. You know now what has to come out: "
            "now write the recursion by hand, without `backward()` or `grad`."
        )
    return (
        "Equal to autograd to 1e-10. This loop is all that `loss.backward()` does for a recurrent "
        "network."
    )


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
            "Write down ∂ℓ_1/∂h_1, then tanh′, then the derivative of W h_0 by W, and compare one "
            "by one."
        )
    return (
        f"Right for {time - 1} step{'s'[: time > 2]}, wrong from {time} on: look at what step t+1 "
        "hands back to step t, and at what step t adds to it."
    )


class Step(NamedTuple):
    """What the reverse recursion has in hand at step t."""

    W: Tensor
    h: Tensor  # h_t
    before: Tensor  # h_{t-1}
    own: Tensor  # h_t − y_t, from the step's own loss
    later: Tensor  # what step t+1 handed back
    slope: Tensor  # tanh′

    @property
    def g(self) -> Tensor:
        return self.own + self.later

    @property
    def delta(self) -> Tensor:
        return self.slope * self.g


def _states(given: Problem, nonlinear: Callable[[Tensor], Tensor] = torch.tanh) -> list[Tensor]:
    states = [given.initial_state]
    for x in given.inputs:
        states.append(nonlinear(given.W @ states[-1] + given.U @ x))
    return states


def _reverse(
    given: Problem,
    states: Callable[[Problem], list[Tensor]] = _states,
    immediate: Callable[[int, int], bool] = lambda t, last: True,
    slope: Callable[[Tensor, Tensor], Tensor] = lambda h, before: 1 - h * h,
    back: Callable[[Step], Tensor] = lambda s: s.W.T @ s.delta,
    share: Callable[[Step], Tensor] = lambda s: torch.outer(s.delta, s.before),
    keep: Callable[[list[Tensor]], Tensor] = lambda shares: torch.stack(shares).sum(0),
    order: Callable[[range], Iterable[int]] = reversed,
) -> Tensor:
    """The reverse recursion, with one piece changed: so does each mistake."""
    h, last = states(given), len(given.inputs)
    from_later, shares = torch.zeros_like(given.initial_state), []
    for t in order(range(1, last + 1)):
        own = (h[t] - given.targets[t - 1]) * float(immediate(t, last))
        step = Step(given.W, h[t], h[t - 1], own, from_later, slope(h[t], h[t - 1]))
        shares.append(share(step))
        from_later = back(step)
    return keep(shares)  # from t = T down to t = 1


def _shifted(given: Problem) -> Tensor:
    """Loops over 0 … T-1 with states that begin with h_0, so that all is one step off."""
    states = _states(given)
    total, from_later = torch.zeros_like(given.W), torch.zeros_like(given.initial_state)
    for t in range(len(given.inputs) - 1, -1, -1):
        delta = (1 - states[t] ** 2) * (states[t] - given.targets[t] + from_later)
        total += torch.outer(delta, states[t - 1])
        from_later = given.W.T @ delta
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
        lambda given: _reverse(given, back=lambda s: torch.zeros_like(s.g)),
    ),
    Mistake(
        "Each loss reaches back one step only: hand back all of ∂L/∂h_t, what arrived from later "
        "steps included, not only the immediate part.",
        lambda given: _reverse(given, back=lambda s: s.W.T @ (s.slope * s.own)),
    ),
    Mistake(
        "Only the last step's share of ∂L/∂W is there: the same W works at every step, so the "
        "shares add up. Does the function return inside the loop?",
        lambda given: _reverse(given, keep=lambda shares: shares[0]),
    ),
    Mistake(
        "Only the first step's share of ∂L/∂W is left: is the gradient overwritten in the loop, "
        "where it should be accumulated (`+=`)?",
        lambda given: _reverse(given, keep=lambda shares: shares[-1]),
    ),
    Mistake(
        "The share of step t = 1 is missing: h_0 is an input of the network, but W multiplies it "
        "too.",
        lambda given: _reverse(given, keep=lambda shares: torch.stack(shares[:-1]).sum(0)),
    ),
    Mistake(
        "The share of step t = T is missing: does the loop backwards start one step too early?",
        lambda given: _reverse(given, keep=lambda shares: torch.stack(shares[1:]).sum(0)),
    ),
    Mistake(
        "Only the loss of the last step is differentiated: every step has a loss ℓ_t, whose "
        "immediate derivative h_t − y_t is added on the way back.",
        lambda given: _reverse(given, immediate=lambda t, last: t == last),
    ),
    Mistake(
        "`W` carries the gradient back, where it should be the transpose of W: forward W maps "
        "h_{t-1} to step t, backward its transpose maps the other way.",
        lambda given: _reverse(given, back=lambda s: s.W @ s.delta),
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
        lambda given: _reverse(given, back=lambda s: s.W.T @ s.g),
    ),
    Mistake(
        "The derivative of tanh is missing in the shares of ∂L/∂W (it is there on the way back "
        "in time).",
        lambda given: _reverse(given, share=lambda s: torch.outer(s.g, s.before)),
    ),
    Mistake(
        "The outer product has h_t where it should have h_{t-1}: W multiplies the state *before* "
        "the step.",
        lambda given: _reverse(given, share=lambda s: torch.outer(s.delta, s.h)),
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
    Mistake(
        "The forward pass lacks the tanh (the derivative on the way back has it): h_t = tanh(…).",
        lambda given: _reverse(given, lambda given: _states(given, lambda a: a)),
    ),
    Mistake(
        "The states begin with zeros: h_0 is `initial_state`.",
        lambda given: gradient(given._replace(initial_state=torch.zeros_like(given.initial_state))),
    ),
    Mistake(
        "The states in your list are one and the same tensor, changed in place, so all of them "
        "are the last: make a new one at each step.",
        lambda given: _reverse(given, lambda given: _states(given)[-1:] * (len(given.inputs) + 1)),
    ),
    Mistake(
        "The last step is left out, its loss too: the loop backwards begins at t = T, which "
        "`range(T, 0, -1)` does and `range(T - 1, 0, -1)` does not.",
        lambda given: gradient(
            given._replace(inputs=given.inputs[:-1], targets=given.targets[:-1])
        ),
    ),
    Mistake(
        "The second loop goes forward in time: what flows back comes from later steps, so it has "
        "to begin at t = T.",
        lambda given: _reverse(given, order=list),
    ),
    Mistake(
        "The derivative of tanh multiplies the immediate part only: what step t+1 hands back goes "
        "through the tanh of step t too. Add first, then multiply.",
        lambda given: _reverse(
            given,
            back=lambda s: s.W.T @ (s.slope * s.own + s.later),
            share=lambda s: torch.outer(s.slope * s.own + s.later, s.before),
        ),
    ),
    Mistake(
        "What is handed back has gone through the tanh, but not through W: on its way from h_{t-1} "
        "to step t the state met W, and on the way back it meets the transpose.",
        lambda given: _reverse(given, back=lambda s: s.delta),
    ),
    Mistake(
        "∂L/∂h_t is handed back as it is, without W and without the derivative of tanh, which "
        "stand between h_{t-1} and h_t.",
        lambda given: _reverse(given, back=lambda s: s.g),
    ),
    Mistake(
        "All rows of your result are equal: `*` multiplies two vectors entry by entry. Entry "
        "[i, j] is entry i of the one times entry j of the other: an outer product.",
        lambda given: _reverse(given, share=lambda s: (s.delta * s.before).expand_as(s.W)),
    ),
)
