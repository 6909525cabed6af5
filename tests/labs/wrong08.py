"""Wrong answers to lab 08, as students write them, each with words that only its hint has."""

import math

import torch
import torch.nn.functional as F

from tests.labs.kit import WrongAnswer, wrongs

WRONG: list[WrongAnswer] = []
wrong = wrongs(WRONG)


# ------------------------------------------------------------------ 08.1 a lookup


@wrong("08.1", "used as they are")
def lookup_without_division(similarities, values):
    return (similarities[:, None] * values).sum(0)


@wrong("08.1", "divided by the number of keys")
def lookup_takes_the_mean(similarities, values):
    return (similarities[:, None] * values).mean(0)


@wrong("08.1", "softmax of the similarities")
def lookup_softmax(similarities, values):
    return F.softmax(similarities, dim=0) @ values


@wrong("08.1", "plain mean")
def lookup_ignores_the_query(similarities, values):
    return values.mean(0)


@wrong("08.1", "picks one")
def lookup_picks_the_best(similarities, values):
    return values[similarities.argmax()]


@wrong("08.1", "the largest of them")
def lookup_divides_by_the_largest(similarities, values):
    return (similarities / similarities.max()) @ values


@wrong("08.1", "their norm")
def lookup_divides_by_the_norm(similarities, values):
    return F.normalize(similarities, dim=0) @ values


@wrong("08.1", "columns of `values`")
def lookup_over_columns(similarities, values):
    return values @ (similarities / similarities.sum())


@wrong("08.1", "the wrong size")
def lookup_doubles(similarities, values):
    return 2 * similarities @ values / similarities.sum()


@wrong("08.1", "not the weighted mean")
def lookup_squares(similarities, values):
    return similarities**2 @ values / (similarities**2).sum()


@wrong("08.1", "the shape asked for is [4]")
def lookup_does_not_add_up(similarities, values):
    return (similarities / similarities.sum())[:, None] * values


# ------------------------------------------------------------------ 08.2 softmax


@wrong("08.2", "over the queries")
def softmax_first_axis(scores):
    powers = (scores - scores.max()).exp()
    return powers / powers.sum(0)


@wrong("08.2", "the whole table sums to 1")
def softmax_of_the_table(scores):
    powers = (scores - scores.max()).exp()
    return powers / powers.sum()


@wrong("08.2", "not normalized yet")
def softmax_only_exp(scores):
    return torch.exp(scores)


@wrong("08.2", "the largest entry of each row is 1")
def softmax_shifted_only(scores):
    return torch.exp(scores - scores.max(-1, keepdim=True).values)


@wrong("08.2", "logarithms of the weights")
def softmax_in_logs(scores):
    return F.log_softmax(scores, -1)


@wrong("08.2", "exponentials are missing")
def softmax_without_exp(scores):
    return scores / scores.sum(-1, keepdim=True)


@wrong("08.2", "the sign of the scores")
def softmax_turned(scores):
    return (scores.amin(-1, keepdim=True) - scores).softmax(-1)


@wrong("08.2", "the base is 2")
def softmax_base_2(scores):
    powers = torch.exp2(scores)
    return powers / powers.sum(-1, keepdim=True)


@wrong("08.2", "e⁵⁰⁰")
def softmax_as_it_stands(scores):
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


@wrong("08.2", "near −500")
def softmax_takes_off_the_largest_if_positive(scores):
    powers = (scores - scores.amax(-1, keepdim=True).clamp_min(0)).exp()
    return powers / powers.sum(-1, keepdim=True)


@wrong("08.2", "its own largest score")
def softmax_takes_off_the_largest_of_all(scores):
    powers = (scores - scores.max()).exp()
    return powers / powers.sum(-1, keepdim=True)


@wrong("08.2", "not the mean or the smallest")
def softmax_takes_off_the_mean(scores):
    powers = (scores - scores.mean(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


@wrong("08.2", "not a softmax over the keys")
def softmax_square(scores):
    return scores**2 / (scores**2).sum(-1, keepdim=True)


# ------------------------------------------------------------------ 08.3 attention


@wrong("08.3", "the scale is missing")
def attention_without_scale(Q, K, V):
    return torch.softmax(Q @ K.T, -1) @ V


@wrong("08.3", "divided by d;")
def attention_divides_by_d(Q, K, V):
    return (Q @ K.T / Q.shape[1]).softmax(1) @ V


@wrong("08.3", "multiplied by √d")
def attention_multiplies(Q, K, V):
    return (Q @ K.T * math.sqrt(Q.shape[1])).softmax(1) @ V


@wrong("08.3", "after the softmax")
def attention_scales_late(Q, K, V):
    return (Q @ K.T).softmax(-1) @ V / math.sqrt(Q.shape[1])


@wrong("08.3", "√(number of keys)")
def attention_scales_by_keys(Q, K, V):
    return (Q @ K.T / len(K) ** 0.5).softmax(-1) @ V


@wrong("08.3", "√(number of queries)")
def attention_scales_by_queries(Q, K, V):
    return (Q @ K.T / math.sqrt(len(Q))).softmax(-1) @ V


@wrong("08.3", "√(width of the values)")
def attention_scales_by_values(Q, K, V):
    return (Q @ K.T / math.sqrt(V.shape[1])).softmax(-1) @ V


@wrong("08.3", "runs over the queries")
def attention_first_axis(Q, K, V):
    return (Q @ K.T / math.sqrt(Q.shape[1])).softmax(0) @ V


@wrong("08.3", "the softmax is missing")
def attention_linear(Q, K, V):
    return Q @ K.T @ V / math.sqrt(Q.shape[1])


@wrong("08.3", "inside the softmax")
def attention_as_misprinted(Q, K, V):
    return ((Q @ K.T) @ V / math.sqrt(Q.shape[1])).softmax(-1)


@wrong("08.3", "these are the weights")
def attention_returns_weights(Q, K, V):
    return (Q @ K.T / math.sqrt(Q.shape[1])).softmax(-1)


@wrong("08.3", "keys are compared")
def attention_mixes_keys(Q, K, V):
    return (Q @ K.T / math.sqrt(Q.shape[1])).softmax(-1) @ K


@wrong("08.3", "compared with the values")
def attention_compares_values(Q, K, V):
    return (Q @ V.T / math.sqrt(Q.shape[1])).softmax(-1) @ V


@wrong("08.3", "changed places")
def attention_swaps(Q, K, V):
    return (K @ Q.T / math.sqrt(Q.shape[1])).softmax(-1) @ V


@wrong("08.3", "not transposed")
def attention_forgets_the_transpose(Q, K, V):
    return (Q @ K / math.sqrt(Q.shape[1])).softmax(-1) @ V


@wrong("08.3", "the answer is transposed")
def attention_returns_columns(Q, K, V):
    return V.T @ (K @ Q.T / math.sqrt(Q.shape[1])).softmax(0)


@wrong("08.3", "look at the parts")
def attention_doubles_the_query(Q, K, V):
    return (2 * Q @ K.T / math.sqrt(Q.shape[1])).softmax(-1) @ V


# ------------------------------------------------------------------ 08.4 the mask


@wrong("08.4", "turned round")
def mask_inverted(scores, visible):
    return scores.masked_fill(visible, -math.inf).softmax(-1).nan_to_num()


@wrong("08.4", "after the softmax")
def mask_afterwards(scores, visible):
    return scores.softmax(-1) * visible


@wrong("08.4", "a score of 0 is a score")
def mask_with_zero_scores(scores, visible):
    return torch.where(visible, scores, 0.0).softmax(-1)


@wrong("08.4", "−1 in place of")
def mask_with_minus_one(scores, visible):
    return torch.where(visible, scores, torch.tensor(-1.0)).softmax(-1)


@wrong("08.4", "added to the scores as 0 and 1")
def mask_added(scores, visible):
    return (scores + visible.float()).softmax(-1)


@wrong("08.4", "the mask is not used")
def mask_forgotten(scores, visible):
    return scores.softmax(-1)


@wrong("08.4", "runs over the queries")
def mask_first_axis(scores, visible):
    return scores.masked_fill(~visible, -math.inf).softmax(0).nan_to_num()


@wrong("08.4", "the rest is not normalized")
def mask_of_exponentials(scores, visible):
    return scores.exp() * visible


@wrong("08.4", "from all queries if one")
def mask_for_all_queries(scores, visible):
    return scores.masked_fill(~visible.all(0), -math.inf).softmax(-1).nan_to_num()


@wrong("08.4", "∞ · 0")
def mask_multiplied_by_infinity(scores, visible):
    return (scores + (~visible) * -math.inf).softmax(-1)


@wrong("08.4", "the softmax of nothing but")
def mask_without_the_empty_row(scores, visible):
    return scores.masked_fill(~visible, -math.inf).softmax(-1)


@wrong("08.4", "even weights on all hidden")
def mask_with_a_large_number(scores, visible):
    return scores.masked_fill(~visible, -1e9).softmax(-1)


@wrong("08.4", "and so looks at what is hidden")
def mask_subtracts_a_large_number(scores, visible):
    return (scores.double() - 1e6 * (~visible)).softmax(-1)


@wrong("08.4", "a hidden key with a score of 300")
def mask_renormalizes(scores, visible):
    weights = scores.softmax(-1) * visible
    return weights / weights.sum(-1, keepdim=True).clamp_min(1e-30)


@wrong("08.4", "should get zeros")
def mask_gives_up(scores, visible):
    if not visible.any(-1).all():
        return torch.zeros_like(scores)
    return scores.masked_fill(~visible, -math.inf).softmax(-1)


@wrong("08.4", "of a softmax over them alone")
def mask_halves(scores, visible):
    return (scores / 2).masked_fill(~visible, -math.inf).softmax(-1).nan_to_num()


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


def measured(model, input_ids, answers, *masks):
    found = [model(input_ids, mask)[0] for mask in masks]
    return torch.stack([(each.argmax(-1) == answers).float().mean() for each in found])


def holes(weights, *places):
    visible = torch.ones_like(weights, dtype=torch.bool)
    for place in places:
        visible[torch.arange(len(weights)), place] = False
    return visible


def looked(model, input_ids):
    model.eval()
    weights = model(input_ids)[1]
    return weights, weights.argmax(-1), weights.argmin(-1)


@wrong("08.6", "training mode")
def knockout_in_training_mode(model, input_ids, answers):
    weights = model(input_ids)[1]
    masks = holes(weights, weights.argmax(-1)), holes(weights, weights.argmin(-1))
    return measured(model, input_ids, answers, None, *masks)


@wrong("08.6", "changed places")
def knockout_swaps(model, input_ids, answers):
    weights, most, least = looked(model, input_ids)
    masks = holes(weights, least), holes(weights, most)
    return measured(model, input_ids, answers, None, *masks)


@wrong("08.6", "turned round")
def knockout_mask_inverted(model, input_ids, answers):
    weights, most, least = looked(model, input_ids)
    masks = ~holes(weights, most), ~holes(weights, least)
    return measured(model, input_ids, answers, None, *masks)


@wrong("08.6", "both places hidden")
def knockout_keeps_the_first_hole(model, input_ids, answers):
    weights, most, least = looked(model, input_ids)
    masks = holes(weights, most), holes(weights, most, least)
    return measured(model, input_ids, answers, None, *masks)


@wrong("08.6", "the second again")
def knockout_looks_again(model, input_ids, answers):
    weights, most, _ = looked(model, input_ids)
    again = model(input_ids, holes(weights, most))[1].argmin(-1)
    return measured(model, input_ids, answers, None, holes(weights, most), holes(weights, again))


@wrong("08.6", "the model that sees everything")
def knockout_forgets_the_mask(model, input_ids, answers):
    model.eval()
    return measured(model, input_ids, answers, None, None, None)


def knocked_out(model, input_ids, answers):
    weights, most, least = looked(model, input_ids)
    masks = holes(weights, most), holes(weights, least)
    return measured(model, input_ids, answers, None, *masks)


@wrong("08.6", "percentages")
def knockout_percent(model, input_ids, answers):
    return 100 * knocked_out(model, input_ids, answers)


@wrong("08.6", "these are counts")
def knockout_counts(model, input_ids, answers):
    return len(answers) * knocked_out(model, input_ids, answers)


@wrong("08.6", "shares of wrong answers")
def knockout_errors(model, input_ids, answers):
    return 1 - knocked_out(model, input_ids, answers)


@wrong("08.6", "differences from the first")
def knockout_losses(model, input_ids, answers):
    shares = knocked_out(model, input_ids, answers)
    return [shares[0], shares[0] - shares[1], shares[0] - shares[2]]


@wrong("08.6", "mean probabilities")
def knockout_probabilities(model, input_ids, answers):
    weights, most, least = looked(model, input_ids)
    found = [
        model(input_ids, mask)[0].softmax(-1).gather(1, answers[:, None]).mean()
        for mask in (None, holes(weights, most), holes(weights, least))
    ]
    return torch.stack(found)


@wrong("08.6", "from all sequences alike")
def knockout_same_place_for_all(model, input_ids, answers):
    weights, _, _ = looked(model, input_ids)
    masks = []
    for place in (weights.mean(0).argmax(), weights.mean(0).argmin()):
        masks.append(torch.ones_like(weights, dtype=torch.bool))
        masks[-1][:, place] = False
    return measured(model, input_ids, answers, None, *masks)


@wrong("08.6", "the model takes booleans")
def knockout_mask_of_numbers(model, input_ids, answers):
    weights, most, _ = looked(model, input_ids)
    return measured(model, input_ids, answers, None, holes(weights, most).float())


@wrong("08.6", "for each sequence and place")
def knockout_one_mask_for_all(model, input_ids, answers):
    weights, most, _ = looked(model, input_ids)
    return measured(model, input_ids, answers, None, holes(weights, most)[0])


@wrong("08.6", "the third differs")
def knockout_random_place(model, input_ids, answers):
    weights, most, _ = looked(model, input_ids)
    second = weights.argsort(-1)[:, 2]
    return measured(model, input_ids, answers, None, holes(weights, most), holes(weights, second))


@wrong("08.6", "with the most looked at hidden")
def knockout_second_place(model, input_ids, answers):
    weights, _, least = looked(model, input_ids)
    second = weights.argsort(-1)[:, -2]
    return measured(model, input_ids, answers, None, holes(weights, second), holes(weights, least))
