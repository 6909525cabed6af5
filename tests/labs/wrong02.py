"""Wrong answers to lab 02, as students write them, each with words that only its hint has."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F


class WrongAnswer(NamedTuple):
    exercise: str
    name: str
    function: Callable[..., Any]
    phrase: str


WRONG: list[WrongAnswer] = []


def wrong(exercise: str, phrase: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        WRONG.append(WrongAnswer(exercise, function.__name__, function, phrase))
        return function

    return add


# ------------------------------------------------------------------ 02.1 perplexity


@wrong("02.1", "the sum is where the mean should be")
def perplexity_sums(log_probabilities):
    return torch.exp(-log_probabilities.sum())


@wrong("02.1", "the base is 2")
def perplexity_base_2(log_probabilities):
    return 2 ** (-log_probabilities.mean())


@wrong("02.1", "the base is 10")
def perplexity_base_10(log_probabilities):
    return 10 ** float(-log_probabilities.mean())


@wrong("02.1", "the sign is missing")
def perplexity_without_sign(log_probabilities):
    return float(log_probabilities.mean().exp())


@wrong("02.1", "probability of the whole text")
def perplexity_is_probability(log_probabilities):
    return math.exp(sum(log_probabilities.tolist()))


@wrong("02.1", "arithmetic mean")
def perplexity_arithmetic_mean(log_probabilities):
    probabilities = log_probabilities.exp()
    return 1 / (probabilities.sum() / len(probabilities))


@wrong("02.1", "over inverse probabilities")
def perplexity_mean_of_inverses(log_probabilities):
    return np.mean([1 / math.exp(p) for p in log_probabilities])


@wrong("02.1", "from nats to a perplexity")
def perplexity_stops_at_nats(log_probabilities):
    return -log_probabilities.mean()


@wrong("02.1", "mean per token, then exponentiate")
def perplexity_total_nats(log_probabilities):
    total = 0
    for p in log_probabilities:
        total -= p
    return total


@wrong("02.1", "bits per token")
def perplexity_in_bits(log_probabilities):
    return -torch.log2(log_probabilities.exp()).mean()


@wrong("02.1", "divided by n − 1")
def perplexity_one_too_few(log_probabilities):
    return torch.exp(-log_probabilities.sum() / (len(log_probabilities) - 1))


@wrong("02.1", "so it becomes 0")
def perplexity_underflows(log_probabilities):
    probability = math.prod(math.exp(p) for p in log_probabilities)
    return probability ** (-1 / len(log_probabilities))


@wrong("02.1", "a perplexity below 1")
def perplexity_square_root(log_probabilities):
    return torch.exp(log_probabilities.mean() / 2)


@wrong("02.1", "already holds logarithms")
def perplexity_takes_the_log_again(log_probabilities):
    return torch.exp(-log_probabilities.log().mean())


@wrong("02.1", "divided by 5")
def perplexity_divides_by_five(log_probabilities):
    return torch.exp(-log_probabilities.sum() / 5)


@wrong("02.1", "(`none`), and it printed something")
def perplexity_prints(log_probabilities):
    print(torch.exp(-log_probabilities.mean()))


# ------------------------------------------------------------------ 02.2 one step


@wrong("02.2", "`w` is not transposed")
def step_forgets_transpose_of_W(x, h, U, W, b):
    return torch.tanh(x @ U.T + h @ W + b)


@wrong("02.2", "`u` is not transposed")
def step_forgets_transpose_of_U(x, h, U, W, b):
    return torch.tanh(x @ U + h @ W.T + b)


@wrong("02.2", "neither `u` nor `w`")
def step_forgets_both_transposes(x, h, U, W, b):
    return torch.tanh(torch.matmul(x, U) + torch.matmul(h, W) + b)


@wrong("02.2", "multiply from the left")
def step_writes_the_equation_down(x, h, U, W, b):
    return torch.tanh(U @ x + W @ h + b)


@wrong("02.2", "the result is transposed")
def step_returns_columns(x, h, U, W, b):
    return torch.tanh(U @ x.T + W @ h.T + b[:, None])


@wrong("02.2", "the bias is missing")
def step_without_bias(x, h, U, W, b):
    return torch.tanh(F.linear(x, U) + F.linear(h, W))


@wrong("02.2", "the bias is added twice")
def step_with_two_biases(x, h, U, W, b):
    return torch.tanh(F.linear(x, U, b) + F.linear(h, W, b))


@wrong("02.2", "after the tanh")
def step_bias_outside(x, h, U, W, b):
    return torch.tanh(x @ U.T + h @ W.T) + b


@wrong("02.2", "spread over the batch")
def step_bias_along_batch(x, h, U, W, b):
    return torch.tanh(x @ U.T + h @ W.T + b.unsqueeze(1))


@wrong("02.2", "the tanh is missing")
def step_is_linear(x, h, U, W, b):
    return x @ U.T + h @ W.T + b


@wrong("02.2", "taken of each term")
def step_tanh_of_each(x, h, U, W, b):
    return torch.tanh(x @ U.T) + torch.tanh(h @ W.T + b)


@wrong("02.2", "the tanh is taken twice")
def step_tanh_twice(x, h, U, W, b):
    h = torch.tanh(x @ U.T + h @ W.T + b)
    return torch.tanh(h)


@wrong("02.2", "sigmoid")
def step_sigmoid(x, h, U, W, b):
    return torch.sigmoid(x @ U.T + h @ W.T + b)


@wrong("02.2", "relu")
def step_relu(x, h, U, W, b):
    return F.relu(x @ U.T + h @ W.T + b)


@wrong("02.2", "no memory yet")
def step_forgets_the_state(x, h, U, W, b):
    h = x @ U.T + b
    return torch.tanh(h)


@wrong("02.2", "never sees its text")
def step_forgets_the_input(x, h, U, W, b):
    return torch.tanh(h @ W.T + b)


@wrong("02.2", "the input is used twice")
def step_uses_x_twice(x, h, U, W, b):
    return torch.tanh(x @ U.T + x @ W.T + b)


@wrong("02.2", "changed places")
def step_swaps_matrices(x, h, U, W, b):
    return torch.tanh(h @ U.T + x @ W.T + b)


@wrong("02.2", "entry by entry")
def step_multiplies_entries(x, h, U, W, b):
    return torch.tanh(x * U + h * W + b)


@wrong("02.2", "take its terms one at a time")
def step_subtracts_the_bias(x, h, U, W, b):
    return torch.tanh(x @ U.T + h @ W.T - b)


# ------------------------------------------------------------------ 02.3 BPTT


def forward(W, U, inputs, initial_state):
    states = [initial_state]
    for x in inputs:
        states.append(torch.tanh(W @ states[-1] + U @ x))
    return states


@wrong("02.3", "flows back from later steps is missing")
def bptt_own_step_only(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    gradient = torch.zeros_like(W)
    for t in range(1, len(inputs) + 1):
        da = (states[t] - targets[t - 1]) * (1 - states[t] ** 2)
        gradient += torch.outer(da, states[t - 1])
    return gradient


@wrong("02.3", "reaches back one step only")
def bptt_two_steps(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    gradient = torch.zeros_like(W)
    carried = torch.zeros_like(initial_state)
    for t in reversed(range(1, len(states))):
        immediate = states[t] - targets[t - 1]
        gradient += torch.outer((immediate + carried) * (1 - states[t] ** 2), states[t - 1])
        carried = W.T @ (immediate * (1 - states[t] ** 2))
    return gradient


@wrong("02.3", "does the function return inside the loop")
def bptt_returns_in_the_loop(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        da = (states[t] - targets[t - 1] + dh) * (1 - states[t] ** 2)
        dW += torch.outer(da, states[t - 1])
        dh = W.T @ da
        return dW


@wrong("02.3", "overwritten in the loop")
def bptt_overwrites(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    dh = torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        dh = dh + states[t] - targets[t - 1]
        da = (1 - states[t] ** 2) * dh
        gradient = torch.outer(da, states[t - 1])
        dh = W.T @ da
    return gradient


@wrong("02.3", "the share of step t = 1 is missing")
def bptt_stops_early(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    gradient, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 1, -1):
        da = (1 - states[t] ** 2) * (dh + states[t] - targets[t - 1])
        gradient += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return gradient


@wrong("02.3", "the share of step t = t is missing")
def bptt_starts_early(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    last = len(inputs)
    gradient = torch.zeros_like(W)
    dh = W.T @ ((1 - states[last] ** 2) * (states[last] - targets[last - 1]))
    for t in range(last - 1, 0, -1):
        da = (1 - states[t] ** 2) * (dh + states[t] - targets[t - 1])
        gradient += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return gradient


@wrong("02.3", "one step off")
def bptt_counts_from_zero(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    dW, dh = 0, 0
    for t in range(len(inputs) - 1, -1, -1):
        dh = states[t] - targets[t] + dh
        da = dh * (1 - states[t] ** 2)
        dW = dW + torch.outer(da, states[t - 1])
        dh = W.T @ da
    return dW


@wrong("02.3", "only the loss of the last step is differentiated")
def bptt_final_loss_only(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    gradient, dh = torch.zeros_like(W), states[-1] - targets[-1]
    for t in range(len(inputs), 0, -1):
        da = (1 - states[t] ** 2) * dh
        gradient += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return gradient


def reverse(W, U, inputs, initial_state, targets, back, slope, share):
    """The loop that several students share, with the place where each goes wrong left open."""
    states = forward(W, U, inputs, initial_state)
    gradient, carried = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        dh = states[t] - targets[t - 1] + carried
        s = slope(states, t)
        gradient += share(s, dh, states, t)
        carried = back(s, dh)
    return gradient


def usual_slope(states, t):
    return 1 - states[t] ** 2


def usual_share(s, dh, states, t):
    return torch.outer(s * dh, states[t - 1])


@wrong("02.3", "should be the transpose of w")
def bptt_W_for_its_transpose(W, U, inputs, initial_state, targets):
    def back(s, dh):
        return W @ (s * dh)

    return reverse(W, U, inputs, initial_state, targets, back, usual_slope, usual_share)


@wrong("02.3", "is taken at h_{t-1}")
def bptt_slope_before(W, U, inputs, initial_state, targets):
    def slope(states, t):
        return 1 - states[t - 1] ** 2

    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: W.T @ (s * dh), slope, usual_share
    )


@wrong("02.3", "h_t is tanh already")
def bptt_tanh_twice(W, U, inputs, initial_state, targets):
    def slope(states, t):
        return 1 - torch.tanh(states[t]) ** 2

    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: W.T @ (s * dh), slope, usual_share
    )


@wrong("02.3", "h_t where it should have h_t²")
def bptt_forgets_the_square(W, U, inputs, initial_state, targets):
    def slope(states, t):
        return 1 - states[t]

    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: W.T @ (s * dh), slope, usual_share
    )


@wrong("02.3", "is missing, everywhere")
def bptt_no_slope(W, U, inputs, initial_state, targets):
    def slope(states, t):
        return torch.ones_like(states[t])

    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: W.T @ (s * dh), slope, usual_share
    )


@wrong("02.3", "missing on the way from h_t back")
def bptt_no_slope_in_time(W, U, inputs, initial_state, targets):
    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: W.T @ dh, usual_slope, usual_share
    )


@wrong("02.3", "missing in the shares")
def bptt_no_slope_in_shares(W, U, inputs, initial_state, targets):
    def share(s, dh, states, t):
        return torch.outer(dh, states[t - 1])

    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: W.T @ (s * dh), usual_slope, share
    )


@wrong("02.3", "the outer product has h_t")
def bptt_state_after(W, U, inputs, initial_state, targets):
    def share(s, dh, states, t):
        return torch.outer(s * dh, states[t])

    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: W.T @ (s * dh), usual_slope, share
    )


@wrong("02.3", "the result is the transpose")
def bptt_outer_the_wrong_way(W, U, inputs, initial_state, targets):
    def share(s, dh, states, t):
        return torch.outer(states[t - 1], s * dh)

    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: W.T @ (s * dh), usual_slope, share
    )


def by_autograd(W, U, inputs, initial_state, targets, loss=lambda h, y: 0.5 * ((h - y) ** 2).sum()):
    W = W.clone().requires_grad_()
    h, total = initial_state, 0
    for x, y in zip(inputs, targets, strict=True):
        h = torch.tanh(W @ h + U @ x)
        total = total + loss(h, y)
    total.backward()
    return W.grad


@wrong("02.3", "the sign is turned")
def bptt_sign(*arguments):
    return -by_autograd(*arguments)


@wrong("02.3", "exactly twice the gradient")
def bptt_forgets_the_half(*arguments):
    return by_autograd(*arguments, loss=lambda h, y: ((h - y) ** 2).sum())


@wrong("02.3", "divided by t")
def bptt_mean_loss(W, U, inputs, initial_state, targets):
    return by_autograd(W, U, inputs, initial_state, targets) / len(inputs)


@wrong("02.3", "right to some digits only")
def bptt_in_float32(*arguments):
    return by_autograd(*(each.float() for each in arguments))


@wrong("02.3", "forward pass uses the transpose")
def bptt_forward_transposed(W, U, inputs, initial_state, targets):
    W = W.clone().requires_grad_()
    h, total = initial_state, 0
    for x, y in zip(inputs, targets, strict=True):
        h = torch.tanh(h @ W + U @ x)
        total = total + 0.5 * ((h - y) ** 2).sum()
    return torch.autograd.grad(total, W)[0].T


@wrong("02.3", "forward pass leaves out the inputs")
def bptt_without_inputs(W, U, inputs, initial_state, targets):
    return by_autograd(W, torch.zeros_like(U), inputs, initial_state, targets)


@wrong("02.3", "right for 1 step, wrong from 2 on")
def bptt_adds_identity(W, U, inputs, initial_state, targets):
    def back(s, dh):
        return W.T @ (s * dh) + dh

    return reverse(W, U, inputs, initial_state, targets, back, usual_slope, usual_share)


@wrong("02.3", "wrong already for a sequence of one step")
def bptt_wrong_loss(*arguments):
    return by_autograd(*arguments, loss=lambda h, y: (h - y).abs().sum())


@wrong("02.3", "does its loop run at all")
def bptt_loop_never_runs(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 0):
        da = (states[t] - targets[t - 1] + dh) * (1 - states[t] ** 2)
        dW += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return dW


@wrong("02.3", "the last step is left out")
def bptt_loop_leaves_out_the_last(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs) - 1, 0, -1):
        da = (states[t] - targets[t - 1] + dh) * (1 - states[t] ** 2)
        dW += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return dW


@wrong("02.3", "begin with zeros")
def bptt_ignores_the_initial_state(W, U, inputs, initial_state, targets):
    states = [torch.zeros(len(W), dtype=W.dtype)]
    for x in inputs:
        states.append(torch.tanh(W @ states[-1] + U @ x))
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        da = (states[t] - targets[t - 1] + dh) * (1 - states[t] ** 2)
        dW += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return dW


@wrong("02.3", "forward pass lacks the tanh")
def bptt_forward_without_tanh(W, U, inputs, initial_state, targets):
    states = [initial_state]
    for x in inputs:
        states.append(U @ x + W @ states[-1])
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        da = (states[t] - targets[t - 1] + dh) * (1 - states[t] ** 2)
        dW += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return dW


@wrong("02.3", "one and the same tensor")
def bptt_states_are_one_tensor(W, U, inputs, initial_state, targets):
    h = initial_state.clone()
    states = [h]
    for x in inputs:
        h[:] = torch.tanh(U @ x + W @ h)
        states.append(h)
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        da = (states[t] - targets[t - 1] + dh) * (1 - states[t] ** 2)
        dW += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return dW


@wrong("02.3", "goes forward in time")
def bptt_loops_forward(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(1, len(inputs) + 1):
        da = (states[t] - targets[t - 1] + dh) * (1 - states[t] ** 2)
        dW += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return dW


@wrong("02.3", "multiplies the immediate part only")
def bptt_slope_of_the_immediate_part_only(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        da = (states[t] - targets[t - 1]) * (1 - states[t] ** 2) + dh
        dW += torch.outer(da, states[t - 1])
        dh = W.T @ da
    return dW


@wrong("02.3", "but not through w")
def bptt_hands_back_without_W(W, U, inputs, initial_state, targets):
    return reverse(
        W, U, inputs, initial_state, targets, lambda s, dh: s * dh, usual_slope, usual_share
    )


@wrong("02.3", "as it is, without w")
def bptt_hands_back_g(W, U, inputs, initial_state, targets):
    return reverse(W, U, inputs, initial_state, targets, lambda s, dh: dh, usual_slope, usual_share)


@wrong("02.3", "all rows of your result are equal")
def bptt_multiplies_entries(W, U, inputs, initial_state, targets):
    states = forward(W, U, inputs, initial_state)
    dW, dh = torch.zeros_like(W), torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        delta = (states[t] - targets[t - 1] + dh) * (1 - states[t] ** 2)
        dW += delta * states[t - 1]
        dh = W.T @ delta
    return dW


@wrong("02.3", "now write the recursion by hand")
def bptt_lets_autograd_do_it(*arguments):
    return by_autograd(*arguments)


# ------------------------------------------------------------------ 02.4 truncation


def chunked(W, U, inputs, initial_state, targets, chunk, between):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h = between(h)
        loss = 0
        for x, y in zip(inputs[start : start + chunk], targets[start : start + chunk], strict=True):
            h = torch.tanh(W @ h + U @ x)
            loss = loss + 0.5 * ((h - y) ** 2).sum()
        loss.backward()
    return W.grad


def run(W, U, inputs, initial_state, targets, cut):
    """One loss per step; ``cut(t)`` says whether the state is detached on its way into step t."""
    h, losses = initial_state, []
    for t in range(len(inputs)):
        h = torch.tanh(W @ (h.detach() if cut(t) else h) + U @ inputs[t])
        losses.append(0.5 * ((h - targets[t]) ** 2).sum())
    return losses


@wrong("02.4", "this is the full gradient")
def truncation_never_cuts(W, U, inputs, initial_state, targets, chunk):
    return by_autograd(W, U, inputs, initial_state, targets)


@wrong("02.4", "the state is reset to zero")
def truncation_resets_to_zero(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h, loss = initial_state, 0
    for t, (x, y) in enumerate(zip(inputs, targets, strict=True)):
        if t > 0 and t % chunk == 0:
            h = torch.zeros_like(h)
        h = torch.tanh(W @ h + U @ x)
        loss = loss + 0.5 * ((h - y) ** 2).sum()
    loss.backward()
    return W.grad


@wrong("02.4", "starts from the initial state again")
def truncation_restarts(W, U, inputs, initial_state, targets, chunk):
    return chunked(W, U, inputs, initial_state, targets, chunk, lambda h: initial_state)


@wrong("02.4", "cut at every step")
def truncation_detaches_every_step(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    sum(run(W, U, inputs, initial_state, targets, lambda t: True)).backward()
    return W.grad


@wrong("02.4", "one step too early")
def truncation_cuts_early(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    sum(run(W, U, inputs, initial_state, targets, lambda t: (t + 1) % chunk == 0)).backward()
    return W.grad


@wrong("02.4", "one step too late")
def truncation_cuts_late(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    sum(run(W, U, inputs, initial_state, targets, lambda t: t % chunk == 1)).backward()
    return W.grad


@wrong("02.4", "the last chunk's loss only")
def truncation_zeroes_the_gradient(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        W.grad = None
        h, loss = h.detach(), 0
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(W @ h + U @ inputs[t])
            loss = loss + 0.5 * ((h - targets[t]) ** 2).sum()
        loss.backward()
    return W.grad


@wrong("02.4", "the first chunk's loss only")
def truncation_returns_in_the_loop(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        loss = 0
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(W @ h + U @ inputs[t])
            loss = loss + 0.5 * ((h - targets[t]) ** 2).sum()
        loss.backward()
        return W.grad


@wrong("02.4", "after the last full chunk are left out")
def truncation_drops_the_rest(W, U, inputs, initial_state, targets, chunk):
    steps = len(inputs) // chunk * chunk
    return chunked(W, U, inputs[:steps], initial_state, targets[:steps], chunk, torch.Tensor.detach)


@wrong("02.4", "only the last step of each chunk")
def truncation_last_losses(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h = h.detach()
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(W @ h + U @ inputs[t])
        (0.5 * ((h - targets[t]) ** 2).sum()).backward()
    return W.grad


@wrong("02.4", "a mean inside each chunk")
def truncation_chunk_means(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h, losses = h.detach(), []
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(W @ h + U @ inputs[t])
            losses.append(0.5 * ((h - targets[t]) ** 2).sum())
        torch.stack(losses).mean().backward()
    return W.grad


@wrong("02.4", "a sliding window")
def truncation_slides(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    for end in range(len(inputs)):
        losses = run(W, U, inputs, initial_state, targets, lambda t, e=end: t == e - chunk + 1)
        losses[end].backward()
    return W.grad


@wrong("02.4", "divided by t")
def truncation_mean_over_time(W, U, inputs, initial_state, targets, chunk):
    gradient = chunked(W, U, inputs, initial_state, targets, chunk, torch.Tensor.detach)
    return gradient / len(inputs)


@wrong("02.4", "the state that you carry over still hangs on that graph")
def truncation_forgets_to_detach(W, U, inputs, initial_state, targets, chunk):
    return chunked(W, U, inputs, initial_state, targets, chunk, lambda h: h)


@wrong("02.4", "nothing to differentiate")
def truncation_forgets_requires_grad(W, U, inputs, initial_state, targets, chunk):
    loss = sum(run(W, U, inputs, initial_state, targets, lambda t: t % chunk == 0))
    loss.backward()
    return W.grad


@wrong("02.4", "past the end of the sequence")
def truncation_runs_past_the_end(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h, loss = h.detach(), 0
        for t in range(chunk):
            h = torch.tanh(W @ h + U @ inputs[start + t])
            loss = loss + 0.5 * ((h - targets[start + t]) ** 2).sum()
        loss.backward()
    return W.grad


@wrong("02.4", "neither the full gradient nor the truncated one")
def truncation_halves_the_state(W, U, inputs, initial_state, targets, chunk):
    return chunked(W, U, inputs, initial_state, targets, chunk, lambda h: h.detach() / 2)


@wrong("02.4", "the loss still hangs on that graph")
def truncation_loss_before_the_loop(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h, loss = initial_state, 0
    for start in range(0, len(inputs), chunk):
        h = h.detach()
        for x, y in zip(inputs[start : start + chunk], targets[start : start + chunk], strict=True):
            h = torch.tanh(U @ x + W @ h)
            loss = loss + 0.5 * ((h - y) ** 2).sum()
        loss.backward()
    return W.grad


@wrong("02.4", "the loss is carried over")
def truncation_loss_before_the_loop_retained(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h, loss = initial_state, 0
    for start in range(0, len(inputs), chunk):
        h = h.detach()
        for x, y in zip(inputs[start : start + chunk], targets[start : start + chunk], strict=True):
            h = torch.tanh(U @ x + W @ h)
            loss = loss + 0.5 * ((h - y) ** 2).sum()
        loss.backward(retain_graph=True)
    return W.grad


@wrong("02.4", "is it indented too far")
def truncation_backward_in_the_inner_loop(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h, loss = h.detach(), 0
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(U @ inputs[t] + W @ h)
            loss = loss + 0.5 * ((h - targets[t]) ** 2).sum()
            loss.backward()
    return W.grad


@wrong("02.4", "both the state and the loss")
def truncation_cuts_neither(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h, loss = initial_state, 0
    for t in range(len(inputs)):
        h = torch.tanh(U @ inputs[t] + W @ h)
        loss = loss + 0.5 * ((h - targets[t]) ** 2).sum()
        if (t + 1) % chunk == 0 or t == len(inputs) - 1:
            loss.backward()
    return W.grad


@wrong("02.4", "`grad` adds up by itself")
def truncation_adds_up_twice(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    total = torch.zeros_like(W)
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h, loss = h.detach(), 0
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(U @ inputs[t] + W @ h)
            loss = loss + 0.5 * ((h - targets[t]) ** 2).sum()
        loss.backward()
        total = total + W.grad
    return total.detach()


@wrong("02.4", "`torch.no_grad()`")
def truncation_without_gradients(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        loss = 0
        for t in range(start, min(start + chunk, len(inputs))):
            with torch.no_grad():
                h = torch.tanh(U @ inputs[t] + W @ h)
            loss = loss + 0.5 * ((h - targets[t]) ** 2).sum()
        loss.backward()
    return W.grad


@wrong("02.4", "first `clone()`, then `requires_grad_()`")
def truncation_clones_after_requiring(W, U, inputs, initial_state, targets, chunk):
    W = W.requires_grad_().clone()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h, loss = h.detach(), 0
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(U @ inputs[t] + W @ h)
            loss = loss + 0.5 * ((h - targets[t]) ** 2).sum()
        loss.backward()
    return W.grad


@wrong("02.4", "cut off its history")
def truncation_loss_without_history(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h, loss = h.detach(), 0.0
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(U @ inputs[t] + W @ h)
            loss += 0.5 * ((h - targets[t]) ** 2).sum().item()
        torch.tensor(loss, requires_grad=True).backward()
    return W.grad


@wrong("02.4", "(`none`), and it printed something")
def truncation_prints_and_forgets_to_return(W, U, inputs, initial_state, targets, chunk):
    gradient = chunked(W, U, inputs, initial_state, targets, chunk, torch.Tensor.detach)
    print("shape", gradient.shape)


@wrong("02.4", "exactly twice the gradient")
def truncation_forgets_the_half(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h, loss = h.detach(), 0
        for t in range(start, min(start + chunk, len(inputs))):
            h = torch.tanh(U @ inputs[t] + W @ h)
            loss = loss + ((h - targets[t]) ** 2).sum()
        loss.backward()
    return W.grad


@wrong("02.4", "this is `w` itself")
def truncation_returns_W(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    sum(run(W, U, inputs, initial_state, targets, lambda t: t % chunk == 0)).backward()
    return W


@wrong("02.4", "the tanh is missing")
def truncation_without_tanh(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h, loss = h.detach(), 0
        for t in range(start, min(start + chunk, len(inputs))):
            h = U @ inputs[t] + W @ h
            loss = loss + 0.5 * ((h - targets[t]) ** 2).sum()
        loss.backward()
    return W.grad


@wrong("02.4", "is the number of steps in a chunk, not of chunks")
def truncation_counts_chunks(W, U, inputs, initial_state, targets, chunk):
    W = W.clone().requires_grad_()
    h = initial_state
    for xs, ys in zip(inputs.chunk(chunk), targets.chunk(chunk), strict=True):
        h, loss = h.detach(), 0
        for x, y in zip(xs, ys, strict=True):
            h = torch.tanh(U @ x + W @ h)
            loss = loss + 0.5 * ((h - y) ** 2).sum()
        loss.backward()
    return W.grad


@wrong("02.4", "`chunk` has become the number of chunks")
def truncation_divides_by_chunk(W, U, inputs, initial_state, targets, chunk):
    size = max(len(inputs) // chunk, 1)
    return chunked(W, U, inputs, initial_state, targets, size, torch.Tensor.detach)


# ------------------------------------------------------------------ 02.5 clipping


@wrong("02.5", "nothing is clipped")
def clip_does_nothing(gradients, max_norm):
    return [g.clone() for g in gradients]


@wrong("02.5", "clipped by its own norm")
def clip_each_tensor(gradients, max_norm):
    return [g * min(1, max_norm / g.norm()) for g in gradients]


@wrong("02.5", "each entry is clipped")
def clip_by_value(gradients, max_norm):
    return [torch.clamp(g, -max_norm, max_norm) for g in gradients]


@wrong("02.5", "small gradients are scaled up")
def clip_always_scales(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * max_norm / norm for g in gradients]


@wrong("02.5", "scaled down to norm 1")
def clip_to_unit_norm(gradients, max_norm):
    norm = sum(g.pow(2).sum() for g in gradients) ** 0.5
    return [g / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "lacks its square root")
def clip_squared_norm(gradients, max_norm):
    norm = sum((g**2).sum() for g in gradients)
    return [g * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "norms add as squares")
def clip_sum_of_norms(gradients, max_norm):
    norm = sum(g.norm() for g in gradients)
    return [g * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "the largest of the tensors' norms")
def clip_largest_norm(gradients, max_norm):
    norm = max(g.norm() for g in gradients)
    return [g * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "the largest entry")
def clip_largest_entry(gradients, max_norm):
    norm = max(g.abs().max() for g in gradients)
    return [g * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "sum of absolute values")
def clip_l1_norm(gradients, max_norm):
    norm = sum(g.abs().sum() for g in gradients)
    return [g * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "mean of the squares")
def clip_root_mean_square(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).square().mean().sqrt()
    return [g * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "multiplied by `max_norm`")
def clip_forgets_to_divide(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * max_norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "is set to zero")
def clip_drops_large_ones(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [torch.zeros_like(g) if norm > max_norm else g for g in gradients]


@wrong("02.5", "changes its argument `gradients` in place")
def clip_in_place(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    if norm > max_norm:
        for g in gradients:
            g *= max_norm / norm
    return gradients


@wrong("02.5", "for gradients that are all zero")
def clip_zero_by_zero(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    factor = torch.clamp(max_norm / norm, max=1.0)
    factor = (max_norm * norm / norm**2).clamp(max=1.0) if norm == 0 else factor
    return [g * factor for g in gradients]


@wrong("02.5", "holds 2 things,")
def clip_returns_the_norm_too(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    factor = min(1.0, max_norm / float(norm))
    return [g * factor for g in gradients], norm


@wrong("02.5", "return a list of tensors")
def clip_one_long_vector(gradients, max_norm):
    vector = torch.cat([g.flatten() for g in gradients])
    return vector * min(1.0, max_norm / float(vector.norm()))


@wrong("02.5", "the clipped gradients together have norm")
def clip_half_way(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * 0.5 * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "a tensor whose own norm is below")
def clip_decides_for_each_tensor(gradients, max_norm):
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * max_norm / norm if g.norm() > max_norm else g for g in gradients]


@wrong("02.5", "whether to clip is decided by the largest")
def clip_decides_by_the_largest(gradients, max_norm):
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    if max(g.norm() for g in gradients) > max_norm:
        return [g * max_norm / norm for g in gradients]
    return list(gradients)


@wrong("02.5", "the last tensor's norm")
def clip_overwrites_the_total(gradients, max_norm):
    for g in gradients:
        total = (g**2).sum()
    norm = total.sqrt()
    return [g * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "the first tensor's norm")
def clip_takes_the_first(gradients, max_norm):
    norm = gradients[0].norm()
    return [g * max_norm / norm if norm > max_norm else g for g in gradients]


@wrong("02.5", "in round brackets")
def clip_generator_expression(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    f = min(1.0, max_norm / float(norm))
    return (g * f for g in gradients)


@wrong("02.5", "divides by their norm")
def clip_divides_by_zero(gradients, max_norm):
    norm = math.sqrt(sum((g**2).sum().item() for g in gradients))
    factor = min(1.0, max_norm / norm)
    return [g * factor for g in gradients]


@wrong("02.5", "holds 1 thing,")
def clip_returns_in_the_loop(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    clipped = []
    for g in gradients:
        clipped.append(g * max_norm / norm if norm > max_norm else g)
        return clipped


@wrong("02.5", "the first tensor of your list has shape")
def clip_reversed(gradients, max_norm):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    clipped = []
    for g in gradients:
        clipped.insert(0, g * max_norm / norm if norm > max_norm else g)
    return clipped


# ------------------------------------------------------------------ 02.6 the recall experiment


def measured(train, draw, settings, distances, accuracy):
    table = torch.zeros(len(settings), len(distances))
    for i, setting in enumerate(settings):
        for j, distance in enumerate(distances):
            model, last_batch = train(setting, distance)
            table[i, j] = accuracy(model, draw(distance), last_batch)
    return table


def right_share(model, batch, step=-1):
    model.eval()
    return (model(batch[0])[:, step].argmax(-1) == batch[1]).float().mean().item()


@wrong("02.6", "still in training mode")
def recall_training_mode(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        ids, targets = fresh
        return (model(ids)[:, -1].argmax(dim=1) == targets).float().mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "on the batch that the model was trained on")
def recall_on_training_batch(train, draw, settings, distances):
    return measured(
        train, draw, settings, distances, lambda model, fresh, last: right_share(model, last)
    )


@wrong("02.6", "second to last step")
def recall_one_step_early(train, draw, settings, distances):
    return measured(
        train, draw, settings, distances, lambda model, fresh, last: right_share(model, fresh, -2)
    )


@wrong("02.6", "at the first step")
def recall_first_step(train, draw, settings, distances):
    return measured(
        train, draw, settings, distances, lambda model, fresh, last: right_share(model, fresh, 0)
    )


@wrong("02.6", "averaged over all time steps")
def recall_all_positions(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        ids, targets = fresh
        predicted = model(ids).argmax(-1)
        return (predicted == targets.unsqueeze(1).expand_as(predicted)).float().mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "percentages")
def recall_percent(train, draw, settings, distances):
    return measured(
        train, draw, settings, distances, lambda model, fresh, last: 100 * right_share(model, fresh)
    )


@wrong("02.6", "divide by the number of sequences")
def recall_counts(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        return right_share(model, fresh) * len(fresh[1])

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "share of wrong answers")
def recall_errors(train, draw, settings, distances):
    return measured(
        train, draw, settings, distances, lambda model, fresh, last: 1 - right_share(model, fresh)
    )


@wrong("02.6", "mean probability of the right symbol")
def recall_probability(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        ids, targets = fresh
        return model(ids)[:, -1].softmax(-1)[torch.arange(len(ids)), targets].mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "the table holds losses")
def recall_losses(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        return F.cross_entropy(model(fresh[0])[:, -1], fresh[1])

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "the one trained for the first")
def recall_one_model(train, draw, settings, distances):
    rows = []
    for setting in settings:
        model, _ = train(setting, distances[0])
        rows.append([right_share(model, draw(distance)) for distance in distances])
    return rows


@wrong("02.6", "the one trained for the last")
def recall_last_model(train, draw, settings, distances):
    rows = []
    for setting in settings:
        for distance in distances:
            model, _ = train(setting, distance)
        rows.append([right_share(model, draw(distance)) for distance in distances])
    return rows


@wrong("02.6", "all are measured at the first")
def recall_one_test_batch(train, draw, settings, distances):
    test = draw(distances[0])
    return measured(
        train, draw, settings, distances, lambda model, fresh, last: right_share(model, test)
    )


@wrong("02.6", "both rows hold the first setting")
def recall_one_setting(train, draw, settings, distances):
    return [[right_share(train(settings[0], d)[0], draw(d)) for d in distances] for _ in settings]


@wrong("02.6", "one list used for all rows")
def recall_shared_list(train, draw, settings, distances):
    table = [[0.0] * len(distances)] * len(settings)
    for i, setting in enumerate(settings):
        for j, distance in enumerate(distances):
            model, _ = train(setting, distance)
            table[i][j] = right_share(model, draw(distance))
    return table


@wrong("02.6", "the table is transposed")
def recall_transposed(train, draw, settings, distances):
    return [[right_share(train(s, d)[0], draw(d)) for s in settings] for d in distances]


@wrong("02.6", "your table differs")
def recall_argmin(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        return (model(fresh[0])[:, -1].argmin(-1) == fresh[1]).float().mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "stay at 0")
def recall_returns_after_the_first_row(train, draw, settings, distances):
    table = torch.zeros(len(settings), len(distances))
    for i, setting in enumerate(settings):
        for j, distance in enumerate(distances):
            model, _ = train(setting, distance)
            table[i, j] = right_share(model, draw(distance))
        return table


@wrong("02.6", "rows are missing")
def recall_returns_after_the_first_list(train, draw, settings, distances):
    rows = []
    for setting in settings:
        rows.append([right_share(train(setting, d)[0], draw(d)) for d in distances])
        return rows


@wrong("02.6", "two different batches")
def recall_draws_twice(train, draw, settings, distances):
    table = torch.zeros(len(settings), len(distances))
    for i, setting in enumerate(settings):
        for j, distance in enumerate(distances):
            model, _ = train(setting, distance)
            model.eval()
            predicted = model(draw(distance)[0])[:, -1].argmax(-1)
            table[i, j] = (predicted == draw(distance)[1]).float().mean()
    return table


@wrong("02.6", "0.4 times")
def recall_divides_by_500(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        return (model(fresh[0])[:, -1].argmax(-1) == fresh[1]).sum() / 500

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "all are measured at the last")
def recall_last_test_batch(train, draw, settings, distances):
    rows = []
    for setting in settings:
        models = [train(setting, distance)[0] for distance in distances]
        for distance in distances:
            test = draw(distance)
        rows.append([right_share(model, test) for model in models])
    return rows


@wrong("02.6", "logits are averaged over time")
def recall_mean_over_time(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        return (model(fresh[0]).mean(1).argmax(-1) == fresh[1]).float().mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "no prediction equals its target")
def recall_max_values(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        return (model(fresh[0])[:, -1].max(-1).values == fresh[1]).float().mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "whole numbers")
def recall_integer_table(train, draw, settings, distances):
    table = torch.zeros(len(settings), len(distances), dtype=torch.long)
    for i, setting in enumerate(settings):
        for j, distance in enumerate(distances):
            model, _ = train(setting, distance)
            table[i, j] = right_share(model, draw(distance))
    return table


@wrong("02.6", "`train` returns two things")
def recall_keeps_the_pair(train, draw, settings, distances):
    table = torch.zeros(len(settings), len(distances))
    for i, setting in enumerate(settings):
        for j, distance in enumerate(distances):
            model = train(setting, distance)
            model.eval()
            input_ids, targets = draw(distance)
            table[i, j] = (model(input_ids)[:, -1].argmax(-1) == targets).float().mean()
    return table


@wrong("02.6", "`draw` returns two things")
def recall_feeds_the_batch(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        return (model(fresh)[:, -1].argmax(-1) == fresh[1]).float().mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "of all sequences is `[:, -1]`")
def recall_last_sequence(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        predicted = model(fresh[0])[-1].argmax(-1)
        return (predicted == fresh[1]).float().mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "of all sequences is `[:, -1]`")
def recall_every_step(train, draw, settings, distances):
    def accuracy(model, fresh, last):
        model.eval()
        best = model(fresh[0]).argmax(-1)
        return (best == fresh[1]).float().mean()

    return measured(train, draw, settings, distances, accuracy)


@wrong("02.6", "('small', 1), and 1 is none of the distances")
def recall_passes_the_index(train, draw, settings, distances):
    table = torch.zeros(len(settings), len(distances))
    for i, setting in enumerate(settings):
        for j in range(len(distances)):
            model, _ = train(setting, j + 1)
            table[i, j] = right_share(model, draw(j + 1))
    return table
