"""Wrong answers to lab 08, as students write them, each with words that only its hint has."""

import math

import torch

from tests.labs.kit import WrongAnswer, wrongs

WRONG: list[WrongAnswer] = []
wrong = wrongs(WRONG)


# ------------------------------------------------------------------ 08.1 one entry more


@wrong("08.1", "on top of the old answer")
def entry_on_top(answer, total, similarity, value):
    return answer + similarity * value


@wrong("08.1", "must give up as much")
def entry_keeps_the_old_whole(answer, total, similarity, value):
    return answer + value * similarity / (total + similarity)


@wrong("08.1", "like one entry of similarity 1")
def entry_counts_the_old_as_one(answer, total, similarity, value):
    return (answer + similarity * value) / (1 + similarity)


@wrong("08.1", "half each")
def entry_halves(answer, total, similarity, value):
    return torch.stack([answer, value]).mean(0)


@wrong("08.1", "it is not divided yet")
def entry_adds_up(answer, total, similarity, value):
    return answer * total + value * similarity


@wrong("08.1", "by the old total")
def entry_divides_by_the_old_total(answer, total, similarity, value):
    return (answer * total + value * similarity) / total


@wrong("08.1", "two weights have changed places")
def entry_swaps(answer, total, similarity, value):
    share = total / (total + similarity)
    return share * value + (1 - share) * answer


@wrong("08.1", "whatever its similarity")
def entry_counts_one(answer, total, similarity, value):
    return (total * answer + value) / (total + 1)


@wrong("08.1", "no exponential")
def entry_exponential(answer, total, similarity, value):
    phi = math.exp(similarity)
    return (total * answer + phi * value) / (total + phi)


@wrong("08.1", "the wrong size")
def entry_doubles(answer, total, similarity, value):
    return 2 * (total * answer + similarity * value) / (total + similarity)


@wrong("08.1", "not the mean over all")
def entry_squares(answer, total, similarity, value):
    phi = similarity**2
    return (total * answer + phi * value) / (total + phi)


@wrong("08.1", "a share of the *old* total")
def entry_share_of_the_old_total(answer, total, similarity, value):
    w = similarity / total
    return (1 - w) * answer + w * value


@wrong("08.1", "changes its argument `answer` in place")
def entry_in_place(answer, total, similarity, value):
    answer *= total
    answer += similarity * value
    return answer / (total + similarity)


@wrong("08.1", "the shape asked for is [3]")
def entry_returns_both(answer, total, similarity, value):
    return torch.stack([total * answer, similarity * value]) / (total + similarity)


# ------------------------------------------------------------------ 08.2 a softmax in two parts


def rescaled(first, second):
    m = torch.maximum(first[0], second[0])
    return first[1] * (first[0] - m).exp(), second[1] * (second[0] - m).exp()


def joined(m, a, b, o1, o2):
    return m, a + b, (a * o1 + b * o2) / (a + b)


@wrong("08.2", "the two sums are added as they are")
def join_adds_sums(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    return joined(torch.maximum(m1, m2), z1, z2, o1, o2)


@wrong("08.2", "the factors are turned round")
def join_turned(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    return joined(m, z1 * (m - m1).exp(), z2 * (m - m2).exp(), o1, o2)


@wrong("08.2", "the two answers count half each")
def join_averages(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    return m, z1 * (m1 - m).exp() + z2 * (m2 - m).exp(), (o1 + o2) / 2


@wrong("08.2", "blocks' largest scores alone")
def join_weighs_by_largest(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    a, b = (m1 - m).exp(), (m2 - m).exp()
    return m, a * z1 + b * z2, (a * o1 + b * o2) / (a + b)


@wrong("08.2", "not divided by the new z")
def join_does_not_divide(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    a, b = z1 * (m1 - m).exp(), z2 * (m2 - m).exp()
    return m, a + b, a * o1 + b * o2


@wrong("08.2", "still weighted by the old sums")
def join_weighs_by_old_sums(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    z = z1 * (m1 - m).exp() + z2 * (m2 - m).exp()
    return m, z, (z1 * o1 + z2 * o2) / (z1 + z2)


@wrong("08.2", "in yours z is σ e^s")
def join_absolute(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    a, b = z1 * m1.exp(), z2 * m2.exp()
    return joined(torch.maximum(m1, m2), a, b, o1, o2)


@wrong("08.2", "the second block may hold")
def join_trusts_the_first(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    return joined(m1, z1, z2 * (m2 - m1).exp(), o1, o2)


@wrong("08.2", "two answers' weights have changed")
def join_swaps(first, second):
    (m1, _z1, o1), (m2, _z2, o2) = first, second
    m, z, o = joined(torch.maximum(m1, m2), *rescaled(first, second), o2, o1)
    return m, z, o


@wrong("08.2", "e⁵⁰⁰⁰")
def join_as_it_stands(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m, a, b = torch.maximum(m1, m2), z1 * m1.exp(), z2 * m2.exp()
    return m, (a + b) * (-m).exp(), (a * o1 + b * o2) / (a + b)


@wrong("08.2", "near −5000")
def join_takes_off_the_larger_if_positive(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    off = m.clamp_min(0)
    a, b = z1 * (m1 - off).exp(), z2 * (m2 - off).exp()
    return m, (a + b) * (off - m).exp(), (a * o1 + b * o2) / (a + b)


@wrong("08.2", "not the smaller")
def join_takes_off_the_smaller(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m, low = torch.maximum(m1, m2), torch.minimum(m1, m2)
    a, b = z1 * (m1 - low).exp(), z2 * (m2 - low).exp()
    return m, (a + b) * (low - m).exp(), (a * o1 + b * o2) / (a + b)


@wrong("08.2", "is something cut off")
def join_clips(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    a, b = z1 * m1.clamp(-80, 80).exp(), z2 * m2.clamp(-80, 80).exp()
    return m, (a + b) * (-m.clamp(-80, 80)).exp(), (a * o1 + b * o2) / (a + b)


@wrong("08.2", "m differs")
def join_adds_the_largest(first, second):
    (m1, _z1, o1), (m2, _z2, o2) = first, second
    torch.maximum(m1, m2)
    return joined(m1 + m2, *rescaled(first, second), o1, o2)


@wrong("08.2", "m is right, z differs")
def join_averages_sums(first, second):
    (m1, _z1, o1), (m2, _z2, o2) = first, second
    a, b = rescaled(first, second)
    return torch.maximum(m1, m2), (a + b) / 2, (a * o1 + b * o2) / (a + b)


@wrong("08.2", "m and z are right, o differs")
def join_takes_the_larger_answer(first, second):
    (m1, _z1, o1), (m2, _z2, o2) = first, second
    a, b = rescaled(first, second)
    return torch.maximum(m1, m2), a + b, o1 if a > b else o2


@wrong("08.2", "return three things")
def join_returns_the_answer_alone(first, second):
    a, b = rescaled(first, second)
    return (a * first[2] + b * second[2]) / (a + b)


# ------------------------------------------------------------------ 08.3 scores by a small network


def sums(Q, K, W, U):
    return (Q @ W.T)[:, None] + (K @ U.T)[None]


@wrong("08.3", "tanh is missing")
def additive_linear(Q, K, V, W, U, r):
    return (sums(Q, K, W, U) @ r).softmax(-1) @ V


@wrong("08.3", "relu")
def additive_relu(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).relu() @ r).softmax(-1) @ V


@wrong("08.3", "the query has no effect")
def additive_two_tanhs(Q, K, V, W, U, r):
    hidden = torch.tanh(Q @ W.T)[:, None] + torch.tanh(K @ U.T)
    return (hidden @ r).softmax(-1) @ V


@wrong("08.3", "tanh comes last")
def additive_tanh_last(Q, K, V, W, U, r):
    return torch.tanh(sums(Q, K, W, U) @ r).softmax(-1) @ V


@wrong("08.3", "are multiplied with each other")
def additive_multiplies(Q, K, V, W, U, r):
    hidden = torch.tanh((Q @ W.T)[:, None] * (K @ U.T))
    return (hidden @ r).softmax(-1) @ V


@wrong("08.3", "`r` is missing")
def additive_without_v(Q, K, V, W, U, r):
    return sums(Q, K, W, U).tanh().sum(-1).softmax(-1) @ V


@wrong("08.3", "no such scale")
def additive_scaled(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).tanh() @ r / len(r) ** 0.5).softmax(-1) @ V


@wrong("08.3", "`w` and `u` have changed")
def additive_swaps_matrices(Q, K, V, W, U, r):
    return (sums(Q, K, U, W).tanh() @ r).softmax(-1) @ V


@wrong("08.3", "matrices are not transposed")
def additive_forgets_transposes(Q, K, V, W, U, r):
    hidden = torch.tanh((Q @ W)[:, None] + K @ U)
    return (hidden @ r).softmax(-1) @ V


@wrong("08.3", "runs over the queries")
def additive_first_axis(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).tanh() @ r).softmax(0) @ V


@wrong("08.3", "over the hidden entries")
def additive_softmax_over_hidden(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).tanh().softmax(-1) @ r) @ V


@wrong("08.3", "is the sum of all values")
def additive_softmax_over_hidden_then_sum(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).tanh() * r).softmax(-1).sum(-1) @ V


@wrong("08.3", "the softmax is missing")
def additive_without_softmax(Q, K, V, W, U, r):
    return sums(Q, K, W, U).tanh() @ r @ V


@wrong("08.3", "these are the weights")
def additive_returns_weights(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).tanh() @ r).softmax(-1)


@wrong("08.3", "keys are compared")
def additive_mixes_keys(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).tanh() @ r).softmax(-1) @ K


@wrong("08.3", "queries and keys have changed places")
def additive_swaps(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).tanh() @ r).T.softmax(-1) @ V


@wrong("08.3", "look at the parts")
def additive_sigmoid(Q, K, V, W, U, r):
    return (sums(Q, K, W, U).sigmoid() @ r).softmax(-1) @ V


@wrong("08.3", "the shape asked for is [3, 3]")
def additive_pairs_up_rows(Q, K, V, W, U, r):
    scores = torch.tanh(Q @ W.T + K @ U.T) @ r
    return scores.softmax(0) @ V


# ------------------------------------------------------------------ 08.4 who may look where


def scored(Q, K):
    return Q @ K.mT / math.sqrt(Q.shape[-1])


def seen(real):
    return real[:, None] & causal(real)


def causal(real):
    return torch.ones(real.shape[1], real.shape[1], dtype=torch.bool).tril()


def hide(scores, visible, number=-math.inf, axis=-1):
    return scores.masked_fill(~visible, number).softmax(axis).nan_to_num()


@wrong("08.4", "the scale is missing")
def mask_without_scale(Q, K, real):
    return hide(Q @ K.mT, seen(real))


@wrong("08.4", "divided by the width")
def mask_divides_by_the_width(Q, K, real):
    return hide(Q @ K.mT / Q.shape[-1], seen(real))


@wrong("08.4", "square root of the time")
def mask_divides_by_the_root_of_time(Q, K, real):
    return hide(Q @ K.mT / math.sqrt(Q.shape[1]), seen(real))


@wrong("08.4", "queries and keys have changed")
def mask_swaps(Q, K, real):
    return hide(scored(K, Q), seen(real))


@wrong("08.4", "the padding is not")
def mask_only_causal(Q, K, real):
    return hide(scored(Q, K), causal(real))


@wrong("08.4", "the future is not")
def mask_only_padding(Q, K, real):
    return hide(scored(Q, K), real[:, None])


@wrong("08.4", "both must hold")
def mask_either(Q, K, real):
    return hide(scored(Q, K), real[:, None] | causal(real))


@wrong("08.4", "hidden from itself")
def mask_strictly_causal(Q, K, real):
    visible = real[:, None] & causal(real).tril(-1)
    return scored(Q, K).masked_fill(~visible, -math.inf).softmax(-1)


@wrong("08.4", "the triangle is the other")
def mask_upper_triangle(Q, K, real):
    return hide(scored(Q, K), real[:, None] & causal(real).T)


@wrong("08.4", "along the queries")
def mask_hides_rows(Q, K, real):
    return hide(scored(Q, K), real[:, :, None] & causal(real))


@wrong("08.4", "only a query that sees no key gets zeros")
def mask_zeros_for_padding_queries(Q, K, real):
    visible = causal(real) & real[:, None, :] & real[:, :, None]
    return hide(scored(Q, K), visible)


@wrong("08.4", "the mask is turned round")
def mask_inverted(Q, K, real):
    return hide(scored(Q, K), ~seen(real))


@wrong("08.4", "`real` is turned round")
def mask_real_inverted(Q, K, real):
    return hide(scored(Q, K), seen(~real))


@wrong("08.4", "from the whole batch")
def mask_for_the_whole_batch(Q, K, real):
    return hide(scored(Q, K), real.all(0) & causal(real))


@wrong("08.4", "after the softmax")
def mask_afterwards(Q, K, real):
    return scored(Q, K).softmax(-1) * seen(real)


@wrong("08.4", "a score of 0 is a score")
def mask_with_zero_scores(Q, K, real):
    return torch.where(seen(real), scored(Q, K), 0.0).softmax(-1)


@wrong("08.4", "added to the scores as 0 and 1")
def mask_added(Q, K, real):
    return (scored(Q, K) + seen(real).float()).softmax(-1)


@wrong("08.4", "nothing is hidden")
def mask_forgotten(Q, K, real):
    return scored(Q, K).softmax(-1)


@wrong("08.4", "runs over the queries")
def mask_first_axis(Q, K, real):
    return hide(scored(Q, K), seen(real), axis=1)


@wrong("08.4", "the rest is not normalized")
def mask_of_exponentials(Q, K, real):
    return scored(Q, K).exp() * seen(real)


@wrong("08.4", "∞ · 0")
def mask_multiplied_by_infinity(Q, K, real):
    return (scored(Q, K) + (~seen(real)) * -math.inf).softmax(-1)


@wrong("08.4", "the softmax of nothing but")
def mask_without_the_empty_rows(Q, K, real):
    return scored(Q, K).masked_fill(~seen(real), -math.inf).softmax(-1)


@wrong("08.4", "even weights on all hidden")
def mask_with_a_large_number(Q, K, real):
    return hide(scored(Q, K), seen(real), -1e9)


@wrong("08.4", "and so looks at what is hidden")
def mask_subtracts_a_large_number(Q, K, real):
    return (scored(Q, K).double() - 1e6 * (~seen(real))).softmax(-1)


@wrong("08.4", "a hidden key with a score of 300")
def mask_renormalizes(Q, K, real):
    weights = scored(Q, K).softmax(-1) * seen(real)
    return weights / weights.sum(-1, keepdim=True).clamp_min(1e-30)


@wrong("08.4", "`exp` comes before the mask")
def mask_of_exponentials_divided(Q, K, real):
    powers = scored(Q, K).exp() * seen(real)
    return powers / powers.sum(-1, keepdim=True).clamp_min(1e-30)


@wrong("08.4", "tiny, and not 0")
def mask_leaks(Q, K, real):
    nowhere = ~seen(real).any(-1, keepdim=True)
    return hide(scored(Q, K), seen(real), -20.0).masked_fill(nowhere, 0.0)


@wrong("08.4", "below *every* score")
def mask_minus_ten_thousand(Q, K, real):
    return hide(scored(Q, K), seen(real), -1e4) * seen(real)


@wrong("08.4", "e¹⁰⁰⁰ is infinite")
def mask_of_exponentials_without_shift(Q, K, real):
    powers = torch.where(seen(real), scored(Q, K).exp(), 0.0)
    return powers / powers.sum(-1, keepdim=True).clamp_min(1e-30)


@wrong("08.4", "should get zeros, and each other")
def mask_gives_up(Q, K, real):
    visible = seen(real)
    if not visible.any(-1).all():
        return torch.zeros(visible.shape)
    return hide(scored(Q, K), visible)


@wrong("08.4", "print your mask for one sequence")
def mask_sees_one_ahead(Q, K, real):
    return hide(scored(Q, K), real[:, None] & torch.ones(Q.shape[1], Q.shape[1]).tril(1).bool())


@wrong("08.4", "the right keys are hidden")
def mask_triples(Q, K, real):
    return hide(3 * scored(Q, K), seen(real))


# ------------------------------------------------------------------ 08.5 the gradient


@wrong("08.5", "one step is left")
def gradient_stops_at_the_weights(a, V, g):
    return V @ g


@wrong("08.5", "only the direct part")
def gradient_direct(a, V, g):
    return a * (V @ g)


@wrong("08.5", "a sigmoid of its own")
def gradient_sigmoid(a, V, g):
    return (a - a**2) * (V @ g)


@wrong("08.5", "the plain one")
def gradient_plain_mean(a, V, g):
    da = V @ g
    return a * (da - da.mean())


@wrong("08.5", "the factor a_j in front")
def gradient_without_factor(a, V, g):
    da = V @ g
    return da - (a * da).sum()


@wrong("08.5", "the sign is turned")
def gradient_turned(a, V, g):
    da = V @ g
    return a * ((a * da).sum() - da)


@wrong("08.5", "*row* j of v")
def gradient_transposed_values(a, V, g):
    da = V.T @ g
    return a * (da - a @ da)


@wrong("08.5", "the sum of all dl/da")
def gradient_plain_sum(a, V, g):
    da = V @ g
    return a * (da - da.sum())


@wrong("08.5", "lacks a sum")
def gradient_squares(a, V, g):
    da = V @ g
    return a * da - a**2 * da.sum()


@wrong("08.5", "`a` stands before the first part alone")
def gradient_factor_of_one_part(a, V, g):
    da = V @ g
    return a * da - a @ da


@wrong("08.5", "added, and has to be taken off")
def gradient_adds_the_mean(a, V, g):
    da = V @ g
    return a * (da + a @ da)


@wrong("08.5", "now write it by hand")
def gradient_by_autograd(a, V, g):
    s = a.log().requires_grad_()
    return torch.autograd.grad(s.softmax(-1) @ V, s, g)[0]


@wrong("08.5", "times what it should be")
def gradient_scaled(a, V, g):
    da = V @ g
    return a * (da - a @ da) / 2


@wrong("08.5", "do not sum to 0")
def gradient_of_a_norm(a, V, g):
    da = V @ g
    return a * (da - (a * da).norm())


@wrong("08.5", "and yet differs")
def gradient_of_another_softmax(a, V, g):
    b = a.softmax(0)
    da = V @ g
    return b * (da - b @ da)


# ------------------------------------------------------------------ 08.6 knocking out


def measured(model, input_ids, answers, *rows):
    found = [[model(input_ids, mask)[0] for mask in row] for row in rows]
    return torch.stack([
        torch.stack([(each.argmax(-1) == answers).double().mean() for each in row])
        for row in found
    ])  # fmt: skip


def hole(weights, places):
    return torch.ones_like(weights, dtype=torch.bool).scatter(-1, places, False)


def orders(model, input_ids):
    model.eval()
    weights = model(input_ids)[1]
    return weights, weights.argsort(-1, descending=True), weights.argsort(-1)


def first(weights, order, count):
    return [hole(weights, order[:, :hidden]) for hidden in range(count + 1)]


def knocked_out(model, input_ids, answers, count):
    weights, most, least = orders(model, input_ids)
    rows = first(weights, most, count), first(weights, least, count)
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "training mode")
def knockout_in_training_mode(model, input_ids, answers, count):
    weights = model(input_ids)[1]
    rows = [first(weights, weights.argsort(-1, descending=turn), count) for turn in (True, False)]
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "before `model.eval()`")
def knockout_orders_in_training_mode(model, input_ids, answers, count):
    weights = model(input_ids)[1]
    model.eval()
    rows = [first(weights, weights.argsort(-1, descending=turn), count) for turn in (True, False)]
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "both rows hide the places with the least")
def knockout_ascending_twice(model, input_ids, answers, count):
    weights, _most, least = orders(model, input_ids)
    rows = first(weights, least, count), first(weights, least, count)
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "both rows hide the places with the most")
def knockout_descending_twice(model, input_ids, answers, count):
    weights, most, _least = orders(model, input_ids)
    rows = first(weights, most, count), first(weights, most, count)
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "taken anew, from a run")
def knockout_sorts_again(model, input_ids, answers, count):
    weights, _most, _least = orders(model, input_ids)
    rows = [[], []]
    for row, descending in enumerate((True, False)):
        visible = torch.ones_like(weights, dtype=torch.bool)
        for hidden in range(count + 1):
            order = model(input_ids, visible)[1].argsort(-1, descending=descending)
            visible = hole(weights, order[:, :hidden])
            rows[row].append(visible)
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "the two rows have changed")
def knockout_swaps(model, input_ids, answers, count):
    return knocked_out(model, input_ids, answers, count).flip(0)


@wrong("08.6", "turned round")
def knockout_mask_inverted(model, input_ids, answers, count):
    weights, most, least = orders(model, input_ids)
    rows = [[~mask for mask in first(weights, order, count)] for order in (most, least)]
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "one place at a time")
def knockout_one_by_one(model, input_ids, answers, count):
    weights, most, least = orders(model, input_ids)
    rows = [
        [None, *(hole(weights, order[:, [k]]) for k in range(count))] for order in (most, least)
    ]
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "places still hidden")
def knockout_keeps_the_holes(model, input_ids, answers, count):
    weights, most, least = orders(model, input_ids)
    rows = first(weights, most, count), first(weights, least, count)
    kept = [mask & rows[0][-1] for mask in rows[1]]
    return measured(model, input_ids, answers, rows[0], kept)


@wrong("08.6", "again and again")
def knockout_looks_again(model, input_ids, answers, count):
    weights, _most, _least = orders(model, input_ids)
    rows = [[], []]
    for row, place in ((0, torch.argmax), (1, torch.argmin)):
        visible = torch.ones_like(weights, dtype=torch.bool)
        for _ in range(count + 1):
            rows[row].append(visible)
            now = model(input_ids, visible)[1]
            visible = visible.scatter(-1, place(now, dim=-1, keepdim=True), False)
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "the model that sees everything")
def knockout_forgets_the_mask(model, input_ids, answers, count):
    model.eval()
    return measured(model, input_ids, answers, [None] * (count + 1), [None] * (count + 1))


@wrong("08.6", "begins at 1")
def knockout_begins_at_one(model, input_ids, answers, count):
    weights, most, least = orders(model, input_ids)
    rows = first(weights, most, count + 1), first(weights, least, count + 1)
    return measured(model, input_ids, answers, rows[0][1:], rows[1][1:])


@wrong("08.6", "from all sequences alike")
def knockout_same_places_for_all(model, input_ids, answers, count):
    weights, _most, _least = orders(model, input_ids)
    order = weights.mean(0, keepdim=True).argsort(-1, descending=True).expand_as(weights)
    return measured(
        model,
        input_ids,
        answers,
        first(weights, order, count),
        first(weights, order.flip(-1), count),
    )


@wrong("08.6", "percentages")
def knockout_percent(model, input_ids, answers, count):
    return 100 * knocked_out(model, input_ids, answers, count)


@wrong("08.6", "these are counts")
def knockout_counts(model, input_ids, answers, count):
    return len(answers) * knocked_out(model, input_ids, answers, count)


@wrong("08.6", "shares of wrong answers")
def knockout_errors(model, input_ids, answers, count):
    return 1 - knocked_out(model, input_ids, answers, count)


@wrong("08.6", "differences from the first")
def knockout_losses(model, input_ids, answers, count):
    shares = knocked_out(model, input_ids, answers, count)
    return torch.cat([shares[:, :1], shares[:, :1] - shares[:, 1:]], 1)


@wrong("08.6", "mean probabilities")
def knockout_probabilities(model, input_ids, answers, count):
    weights, most, least = orders(model, input_ids)
    return [
        [
            model(input_ids, mask)[0].softmax(-1).gather(1, answers[:, None]).mean().item()
            for mask in first(weights, order, count)
        ]
        for order in (most, least)
    ]


@wrong("08.6", "the model takes booleans")
def knockout_mask_of_numbers(model, input_ids, answers, count):
    weights, most, _least = orders(model, input_ids)
    return measured(model, input_ids, answers, [hole(weights, most[:, :1]).float()])


@wrong("08.6", "for each sequence and place")
def knockout_one_mask_for_all(model, input_ids, answers, count):
    weights, most, _least = orders(model, input_ids)
    return measured(model, input_ids, answers, [hole(weights, most[:, :1])[0]])


@wrong("08.6", "numbers outside")
def knockout_doubles(model, input_ids, answers, count):
    return 2 * knocked_out(model, input_ids, answers, count)


@wrong("08.6", "with everything visible, differs")
def knockout_never_sees_all(model, input_ids, answers, count):
    shares = knocked_out(model, input_ids, answers, count)
    shares[:, 0] = shares[:, 1]
    return shares


@wrong("08.6", "the first that differs is row 1")
def knockout_least_of_the_rest(model, input_ids, answers, count):
    weights, most, least = orders(model, input_ids)
    rows = first(weights, most, count), first(weights, least[:, 1:], count)
    return measured(model, input_ids, answers, *rows)


@wrong("08.6", "row 0, with 1 hidden: in each sequence, its own place with the largest")
def knockout_skips_the_first(model, input_ids, answers, count):
    weights, most, least = orders(model, input_ids)
    rows = first(weights, most[:, 1:], count), first(weights, least, count)
    return measured(model, input_ids, answers, *rows)
