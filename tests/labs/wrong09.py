"""Wrong answers to lab 09, as students write them, each with words that only its hint has.

Each is a right answer with a line or two written otherwise: (name, words of its hint, old, new, …).
"""

import math

import numpy as np
import torch
from torch import nn

from tests.labs.kit import WrongAnswer

WRONG: list[WrongAnswer] = []


def wrong(
    exercise: str, right: str, *answers: tuple[str, ...], into: list[WrongAnswer] = WRONG
) -> None:
    """Add the answers that differ from a right one as the pairs (old, new) say."""
    for name, phrase, *pairs in answers:
        source = right
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            assert old in source, f"{name}: {old}"
            source = source.replace(old, new)
        names = {"math": math, "np": np, "torch": torch, "nn": nn}
        exec(compile(source, f"<{name}>", "exec"), names)
        into.append(WrongAnswer(exercise, name, names["answer"], phrase))


# ------------------------------------------------------------------ 09.1 the schedule, backward

wrong(
    "09.1",
    """
def answer(rate, width, warmup):
    up = rate * width ** 0.5 * warmup ** 1.5
    down = 1 / (rate ** 2 * width)
    return up, down
""",
    ("schedule_exchanged", "the two have changed places", "return up, down", "return down, up"),
    (
        "schedule_without_width",
        "the width is missing",
        " * width ** 0.5",
        "",
        "(rate ** 2 * width)",
        "rate ** 2",
    ),
    (
        "schedule_width_upside_down",
        "the width acts the wrong way",
        "width ** 0.5",
        "width ** -0.5",
        "1 / (rate ** 2 * width)",
        "width / rate ** 2",
    ),
    (
        "schedule_not_squared",
        "the rate is not squared",
        "(rate ** 2 * width)",
        "(rate * width ** 0.5)",
    ),
    (
        "schedule_root",
        "the root is taken",
        "1 / (rate ** 2 * width)",
        "(rate * width ** 0.5) ** -0.5",
    ),
    ("schedule_power_kept", "w^(−3/2) stays as it is", "warmup ** 1.5", "warmup ** -1.5"),
    ("schedule_power_half", "the power of w is 1/2", "warmup ** 1.5", "warmup ** 0.5"),
    ("schedule_up_twice", "both are the step on the way up", "up, down\n", "up, up\n"),
    ("schedule_down_twice", "both are the step on the way down", "up, down\n", "down, down\n"),
    (
        "schedule_from_the_peak",
        "counted from the end of the warm-up",
        "up, down\n",
        "up, warmup + down\n",
    ),
    (
        "schedule_share_of_the_peak",
        "a share of the peak",
        "return up, down",
        "return rate * warmup, warmup / rate ** 2",
    ),
    (
        "schedule_rounded",
        "the steps are rounded",
        "return up, down",
        "return round(up), round(down)",
    ),
    ("schedule_one_step", "passes this value twice", "return up, down", "return up"),
    ("schedule_times_ten", "each step of the rise is 10 times", "return up", "return 10 * up"),
    (
        "schedule_up_right",
        "the step on the way up is right",
        "rate ** 2 * width",
        "rate ** 3 * width",
    ),
    ("schedule_down_right", "that on the way up is not", "warmup ** 1.5", "warmup ** 2"),
    (
        "schedule_neither",
        "neither step is right",
        "warmup ** 1.5",
        "warmup ** 2",
        "rate ** 2 * width",
        "rate ** 3 * width",
    ),
)

# ------------------------------------------------------------------ 09.2 how far apart

wrong(
    "09.2",
    """
def answer(first, second):
    s1, c1 = first[:, 0::2], first[:, 1::2]
    s2, c2 = second[:, 0::2], second[:, 1::2]
    table = torch.zeros_like(first)
    table[:, 0::2] = s2 * c1 - c2 * s1
    table[:, 1::2] = c1 * c2 + s1 * s2
    return table
""",
    (
        "distance_turned_around",
        "the sign of the sines is turned around",
        "s2 * c1 - c2 * s1",
        "c2 * s1 - s2 * c1",
    ),
    (
        "distance_sum",
        "the encoding of the sum",
        "s2 * c1 - c2 * s1",
        "s2 * c1 + c2 * s1",
        "c1 * c2 + s1 * s2",
        "c1 * c2 - s1 * s2",
    ),
    (
        "distance_subtracts",
        "the encodings are subtracted",
        "return table",
        "return second - first",
    ),
    ("distance_product", "multiplied entry by entry", "return table", "return first * second"),
    (
        "distance_halves",
        "all sines stand first",
        "return table",
        "return torch.cat([table[:, 0::2], table[:, 1::2]], 1)",
    ),
    (
        "distance_cosine_first",
        "the cosine stands first",
        "return table",
        "return table.unflatten(1, (-1, 2)).flip(-1).flatten(1)",
    ),
    (
        "distance_sine_of_the_sum",
        "two products of the sine are added",
        "s2 * c1 - c2 * s1",
        "s2 * c1 + c2 * s1",
    ),
    (
        "distance_cosine_of_the_sum",
        "two products of the cosine are subtracted",
        "c1 * c2 + s1 * s2",
        "c1 * c2 - s1 * s2",
    ),
    (
        "distance_without_sign",
        "the sine is without its sign",
        "s2 * c1 - c2 * s1",
        "(1 - (c1 * c2 + s1 * s2) ** 2).clamp(min=0).sqrt()",
    ),
    (
        "distance_angles",
        "yours are the angles",
        "s2 * c1 - c2 * s1",
        "torch.atan2(s2, c2) - torch.atan2(s1, c1)",
        "c1 * c2 + s1 * s2",
        "torch.atan2(s2, c2) - torch.atan2(s1, c1)",
    ),
    ("distance_cosines", "the cosines alone", "s2 * c1 - c2 * s1", "c1 * c2 + s1 * s2"),
    (
        "distance_half_a_table",
        "half of the entries are missing",
        "return table",
        "return table[:, 0::2]",
    ),
    (
        "distance_one_number",
        "one number for each pair",
        "return table",
        "return (first * second).sum(1)",
    ),
    (
        "distance_sines_right",
        "are right; the cosines are not",
        "c1 * c2 + s1 * s2",
        "c2 - c1",
    ),
    (
        "distance_cosine_without_sign",
        "the cosine is without its sign",
        "c1 * c2 + s1 * s2",
        "(1 - (s2 * c1 - c2 * s1) ** 2).clamp(min=0).sqrt()",
    ),
    (
        "distance_pairs_as_halves",
        "first half of the entries is taken for the sines",
        *("first[:, 0::2], first[:, 1::2]", "first.chunk(2, 1)"),
        *("second[:, 0::2], second[:, 1::2]", "second.chunk(2, 1)"),
        "return table",
        "return torch.cat([table[:, 0::2], table[:, 1::2]], 1)",
    ),
    *(
        (
            f"distance_by_{inverse}",
            f"the angles come from {told}",
            "s2 * c1 - c2 * s1",
            f"torch.sin(torch.{inverse}({of}2) - torch.{inverse}({of}1))",
            "c1 * c2 + s1 * s2",
            f"torch.cos(torch.{inverse}({of}2) - torch.{inverse}({of}1))",
        )
        for inverse, of, told in (("asin", "s", "`asin`"), ("acos", "c", "`acos`"))
    ),
    (
        "distance_by_atan",
        "from the quotient of sine and cosine",
        "s2 * c1 - c2 * s1",
        "torch.sin(torch.atan(s2 / c2) - torch.atan(s1 / c1))",
        "c1 * c2 + s1 * s2",
        "torch.cos(torch.atan(s2 / c2) - torch.atan(s1 / c1))",
    ),
    (
        "distance_written_into_the_second",
        "is written into `second`",
        *(
            "s2, c2 = second[:, 0::2], second[:, 1::2]",
            "s2, c2 = second.clone().T.unflatten(0, (-1, 2)).unbind(1)\n    s2, c2 = s2.T, c2.T",
        ),
        "torch.zeros_like(first)",
        "second",
    ),
    ("distance_cosines_right", "are right; the sines are not", "s2 * c1 - c2 * s1", "s2 - s1"),
    ("distance_first", "take one hand", "return table", "return first"),
)

# ------------------------------------------------------------------ 09.3 heads

HEADS = """
def answer(query, key, value, heads, visible):
    size = query.shape[-1] // heads
    def split(x):
        return x.view(x.shape[0], x.shape[1], heads, size).transpose(1, 2)
    q, k, v = split(query), key[:, None], value[:, None]
    scores = q @ k.transpose(2, 3) / size ** 0.5
    scores = scores.masked_fill(~visible[:, None], -math.inf)
    weights = scores.softmax(-1)
    found = (weights @ v).transpose(1, 2)
    return found.reshape(query.shape)
"""
CUT = "x.reshape(x.shape[0], heads, x.shape[1], size)"
wrong(
    "09.3",
    HEADS,
    ("heads_whole_width", "the root of the whole width", "size ** 0.5", "query.shape[-1] ** 0.5"),
    ("heads_no_scale", "the scores are not scaled", " / size ** 0.5", ""),
    ("heads_no_root", "its root is asked for", "size ** 0.5", "size"),
    ("heads_root_of_heads", "root of the number of heads", "size ** 0.5", "heads ** 0.5"),
    (
        "heads_softmax_over_queries",
        "the softmax runs over the queries",
        "scores.softmax(-1)",
        "scores.softmax(2)",
    ),
    (
        "heads_softmax_over_heads",
        "the softmax runs over the heads",
        "scores.softmax(-1)",
        "scores.softmax(1)",
    ),
    ("heads_root_of_keys", "root of the number of keys", "size ** 0.5", "key.shape[1] ** 0.5"),
    (
        "heads_root_of_queries",
        "root of the number of queries",
        "size ** 0.5",
        "query.shape[1] ** 0.5",
    ),
    ("heads_multiplied", "multiplied by the root of a head's width", "/ size", "* size"),
    (
        "heads_key_without_axis",
        "in yours the key lacks an axis",
        *("key[:, None]", "key", "k.transpose(2, 3)", "k.mT"),
    ),
    ("heads_value_without_axis", "in yours the value lacks an axis", "value[:, None]", "value"),
    (
        "heads_key_and_value_without_axis",
        "key and value lack an axis",
        *("key[:, None], value[:, None]", "key, value", "k.transpose(2, 3)", "k.mT"),
    ),
    (
        "heads_nothing_with_axis",
        "key, value and mask lack an axis",
        *("key[:, None], value[:, None]", "key, value", "k.transpose(2, 3)", "k.mT"),
        *("visible[:, None]", "visible"),
    ),
    (
        "heads_joined_like_cards",
        "results stand in turn",
        "(weights @ v).transpose(1, 2)",
        "(weights @ v).permute(0, 2, 3, 1)",
    ),
    (
        "heads_batch_for_heads",
        "is one axis taken for the other",
        "weights @ v)",
        "weights.transpose(0, 1) @ v)",
    ),
    ("heads_mask_turned_around", "the mask is turned around", "~visible", "visible"),
    ("heads_mask_zero", "is still a weight", "-math.inf", "0.0"),
    (
        "heads_mask_after",
        "hidden after the softmax",
        "    scores = scores.masked_fill(~visible[:, None], -math.inf)\n",
        "",
        "scores.softmax(-1)",
        "scores.softmax(-1) * visible[:, None]",
    ),
    (
        "heads_no_mask",
        "the mask is not used",
        "    scores = scores.masked_fill(~visible[:, None], -math.inf)\n",
        "",
    ),
    (
        "heads_one_softmax",
        "one softmax serves all heads",
        "    size =",
        "    key, value = key.repeat(1, 1, heads), value.repeat(1, 1, heads)\n"
        "    heads = 1\n    size =",
    ),
    (
        "heads_like_cards",
        "like cards",
        "x.view(x.shape[0], x.shape[1], heads, size).transpose(1, 2)",
        "x.view(x.shape[0], x.shape[1], size, heads).permute(0, 3, 1, 2)",
        "(weights @ v).transpose(1, 2)",
        "(weights @ v).permute(0, 2, 3, 1)",
    ),
    (
        "heads_cut_across",
        "and joined in the same way",
        "x.view(x.shape[0], x.shape[1], heads, size).transpose(1, 2)",
        CUT,
        "(weights @ v).transpose(1, 2)",
        "weights @ v",
    ),
    (
        "heads_cut_across_once",
        "cuts across the tokens: first make the axes",
        "x.view(x.shape[0], x.shape[1], heads, size).transpose(1, 2)",
        CUT,
    ),
    (
        "heads_not_moved_back",
        "still stands in that order",
        "(weights @ v).transpose(1, 2)",
        "weights @ v",
    ),
    (
        "heads_backward",
        "in the opposite order",
        "(weights @ v).transpose(1, 2)",
        "(weights @ v).flip(1).transpose(1, 2)",
    ),
    ("heads_mask_without_axis", "lacks an axis for the heads", "visible[:, None]", "visible"),
    (
        "heads_mask_by_index",
        "which axes meet which",
        "scores = scores.masked_fill(~visible[:, None], -math.inf)",
        "scores[~visible] = -math.inf",
    ),
    ("heads_view_behind_transpose", "behind a transpose", "found.reshape(", "found.view("),
    ("heads_tanh", "wrong already for one head", "weights @ v", "weights @ v.tanh()"),
    (
        "heads_mask_of_the_first",
        "right for one head without a mask, wrong with one",
        "~visible[:, None]",
        "~visible[:1, None, :1]",
        "-math.inf",
        "-1e4",
    ),
    (
        "heads_of_one_mind",
        "right for one head, wrong for two",
        "weights @ v)",
        "weights[:, :1].expand_as(weights) @ v)",
    ),
    (
        "heads_not_three",
        "wrong for other sizes",
        "return found.reshape(query.shape)",
        "return found.reshape(query.shape) * (1 if heads < 3 else 2)",
    ),
)

# ------------------------------------------------------------------ 09.4 a decoder's layer

LAYER = """
def answer(x, memory, attention, cross_attention, feed_forward, norms, norm_first):
    norm1, norm2, norm3 = norms
    if norm_first:
        y = x + attention(norm1(x))
        z = y + cross_attention(norm2(y), memory)
        return z + feed_forward(norm3(z))
    y = norm1(x + attention(x))
    z = norm2(y + cross_attention(y, memory))
    return norm3(z + feed_forward(z))
"""
wrong(
    "09.4",
    LAYER,
    ("layer_exchanged", "pre- and post-norm have changed", "if norm_first", "if not norm_first"),
    ("layer_always_post", "both forms are post-norm", "if norm_first", "if False"),
    ("layer_always_pre", "both forms are pre-norm", "if norm_first", "if True"),
    (
        "layer_without_residual",
        "the residual connection is missing",
        *("x + attention", "attention", "y + cross", "cross", "z + feed_forward", "feed_forward"),
    ),
    (
        "layer_norm_of_the_change",
        "pre-norm is right, post-norm (`norm_first=false`) is not. in yours the norm is taken",
        *("norm1(x + attention(x))", "x + norm1(attention(x))"),
        *("norm2(y + cross_attention(y, memory))", "y + norm2(cross_attention(y, memory))"),
        *("norm3(z + feed_forward(z))", "z + norm3(feed_forward(z))"),
    ),
    (
        "layer_norm_of_the_change_in_pre",
        "post-norm is right, pre-norm (`norm_first=true`) is not. in yours the norm is taken",
        *("x + attention(norm1(x))", "x + norm1(attention(x))"),
        *("y + cross_attention(norm2(y), memory)", "y + norm2(cross_attention(y, memory))"),
        *("z + feed_forward(norm3(z))", "z + norm3(feed_forward(z))"),
    ),
    (
        "layer_norm_of_the_change_in_both",
        "in yours the norm is taken of the change alone",
        *("x + attention(norm1(x))", "x + norm1(attention(x))"),
        *("y + cross_attention(norm2(y), memory)", "y + norm2(cross_attention(y, memory))"),
        *("z + feed_forward(norm3(z))", "z + norm3(feed_forward(z))"),
        *("norm1(x + attention(x))", "x + norm1(attention(x))"),
        *("norm2(y + cross_attention(y, memory))", "y + norm2(cross_attention(y, memory))"),
        *("norm3(z + feed_forward(z))", "z + norm3(feed_forward(z))"),
    ),
    (
        "layer_norm_at_the_end",
        "a norm is taken of what leaves the layer",
        "return z + feed_forward(norm3(z))",
        "return norm3(z + feed_forward(norm3(z)))",
    ),
    (
        "layer_adds_the_normed",
        "the normed x is added",
        *("x + attention(norm1(x))", "norm1(x) + attention(norm1(x))"),
        *("y + cross_attention(norm2(y)", "norm2(y) + cross_attention(norm2(y)"),
        *("z + feed_forward(norm3(z))", "norm3(z) + feed_forward(norm3(z))"),
    ),
    (
        "layer_norm_twice",
        "a second norm stands around each sum",
        *("x + attention(norm1(x))", "norm1(x + attention(norm1(x)))"),
        *("y + cross_attention(norm2(y), memory)", "norm2(y + cross_attention(norm2(y), memory))"),
        *("z + feed_forward(norm3(z))", "norm3(z + feed_forward(norm3(z)))"),
    ),
    (
        "layer_no_norm",
        "there is no norm at all",
        "norm1, norm2, norm3 = norms",
        "norm1 = norm2 = norm3 = lambda x: x",
    ),
    (
        "layer_norms_backward",
        "the norms belong to other sublayers",
        "norm1, norm2, norm3 = norms",
        "norm3, norm2, norm1 = norms",
    ),
    (
        "layer_one_norm",
        "one norm serves all",
        "norm1, norm2, norm3 = norms",
        "norm1 = norm2 = norm3 = norms[0]",
    ),
    (
        "layer_cross_first",
        "cross-attention comes first",
        *("x + attention(norm1(x))", "x + cross_attention(norm2(x), memory)"),
        *("y + cross_attention(norm2(y), memory)", "y + attention(norm1(y))"),
        *("norm1(x + attention(x))", "norm2(x + cross_attention(x, memory))"),
        *("norm2(y + cross_attention(y, memory))", "norm1(y + attention(y))"),
    ),
    (
        "layer_network_second",
        "comes before cross-attention",
        *("y + cross_attention(norm2(y), memory)", "y + feed_forward(norm3(y))"),
        *("z + feed_forward(norm3(z))", "z + cross_attention(norm2(z), memory)"),
        *("norm2(y + cross_attention(y, memory))", "norm3(y + feed_forward(y))"),
        *("norm3(z + feed_forward(z))", "norm2(z + cross_attention(z, memory))"),
    ),
    (
        "layer_of_the_encoder",
        "cross-attention is missing",
        *("z = y + cross_attention(norm2(y), memory)", "z = y"),
        *("z = norm2(y + cross_attention(y, memory))", "z = y"),
    ),
    (
        "layer_without_network",
        "the feed-forward network is missing",
        *("return z + feed_forward(norm3(z))", "return z"),
        *("return norm3(z + feed_forward(z))", "return z"),
    ),
    (
        "layer_source_asks",
        "the source asks",
        *("(norm2(y), memory)", "(memory, norm2(y))", "(y, memory)", "(memory, y)"),
    ),
    (
        "layer_no_memory",
        "not at `memory`",
        *("(norm2(y), memory)", "(norm2(y), norm2(y))", "(y, memory)", "(y, y)"),
    ),
    (
        "layer_norms_the_memory_always",
        "the memory is normed once more",
        *("(norm2(y), memory)", "(norm2(y), norm2(memory))"),
        *("(y, memory)", "(y, norm2(memory))"),
    ),
    (
        "layer_norms_the_memory",
        "pre-norm norms the memory",
        "(norm2(y), memory)",
        "(norm2(y), norm2(memory))",
    ),
    (
        "layer_cross_asks_with_the_first",
        "cross-attention asks with the x",
        *("cross_attention(norm2(y)", "cross_attention(norm2(x)"),
        *("cross_attention(y", "cross_attention(x"),
    ),
    (
        "layer_parallel",
        "all three sublayers read the x",
        *("cross_attention(norm2(y)", "cross_attention(norm2(x)"),
        *("feed_forward(norm3(z))", "feed_forward(norm3(x))"),
        *("cross_attention(y", "cross_attention(x", "feed_forward(z)", "feed_forward(x)"),
    ),
    (
        "layer_adds_the_first_x",
        "adds the x that came into the layer",
        *("y + cross", "x + cross", "z + feed", "x + feed"),
    ),
    (
        "layer_cross_of_one",
        "takes two tensors",
        *("(norm2(y), memory)", "(norm2(y))", "(y, memory)", "(y)"),
    ),
    (
        "layer_pre_wrong",
        "post-norm is right, pre-norm",
        "x + attention(norm1(x))",
        "x - attention(norm1(x))",
    ),
    (
        "layer_post_wrong",
        "pre-norm is right, post-norm",
        "norm1(x + attention(x))",
        "norm1(x - attention(x))",
    ),
    ("layer_both_wrong", "neither form is right yet", "return ", "return 2 * "),
)

# ------------------------------------------------------------------ 09.5 beam search

BEAM = """
def answer(log_p, beams, alpha, longest, end):
    def score(it):
        return it[1] / ((5 + len(it[0])) / 6) ** alpha
    beam = [((), 0.0)]
    for _ in range(longest):
        candidates = []
        for target, total in beam:
            if target and target[-1] == end:
                candidates.append((target, total))
                continue
            for token, step in enumerate(log_p(target)):
                candidates.append((target + (token,), total + step))
        candidates.sort(key=score, reverse=True)
        beam = candidates[:beams]
    return max(beam, key=score)[0]
"""
ENDED = """            if target and target[-1] == end:
                candidates.append((target, total))
                continue
"""
LP = "((5 + len(it[0])) / 6) ** alpha"
BEST = "max(beam, key=score)[0]"
PICK = "        beam = candidates[:beams]\n"
wrong(
    "09.5",
    BEAM,
    ("beam_greedy", "this is greedy decoding", "candidates[:beams]", "candidates[:1]"),
    ("beam_not_pruned", "nothing is pruned", "candidates[:beams]", "candidates"),
    ("beam_sorted_upward", "the worst are kept", ", reverse=True", "", "max(", "min("),
    ("beam_no_penalty", "the penalty changes nothing", f" / {LP}", ""),
    (
        "beam_penalty_at_the_end",
        "at the very end alone",
        "sort(key=score",
        "sort(key=lambda it: it[1]",
    ),
    (
        "beam_penalty_forgotten",
        "is forgotten at the end",
        BEST,
        "max(beam, key=lambda it: it[1])[0]",
    ),
    ("beam_multiplies", "multiplied by the penalty", "/ ((5", "* ((5"),
    ("beam_penalty_of_n", "the penalty is n^α", LP, "max(1, len(it[0])) ** alpha"),
    ("beam_without_alpha", "`alpha` does not act", " ** alpha", ""),
    ("beam_per_token", "divided by the number of tokens", LP, "max(1, len(it[0]))"),
    ("beam_precedence", "only n is divided by 6", LP, "(5 + len(it[0]) / 6) ** alpha"),
    ("beam_n_too_large", "n is larger by one", "5 + len(it[0])", "5 + len(it[0]) + 1"),
    ("beam_n_too_small", "n is smaller by one", "5 + len(it[0])", "5 + len(it[0]) - 1"),
    (
        "beam_length_without_end",
        "n leaves the end out",
        LP,
        "((5 + sum(token != end for token in it[0])) / 6) ** alpha",
    ),
    (
        "beam_hands_scores_on",
        "scores are handed on",
        "beam = candidates[:beams]",
        "beam = [(it[0], score(it)) for it in candidates[:beams]]",
    ),
    ("beam_last_token", "ranked by their last token", "total + step", "step"),
    (
        "beam_adds_probabilities",
        "probabilities are added up",
        "total + step",
        "total + math.exp(step)",
    ),
    (
        "beam_one_child_each",
        "each beginning keeps its own best",
        "            for token, step in enumerate(log_p(target)):\n"
        "                candidates.append((target + (token,), total + step))\n",
        "            steps = sorted(enumerate(log_p(target)), key=lambda it: it[1], reverse=True)\n"
        "            for token, step in steps[: 1 if len(beam) > 1 else None]:\n"
        "                candidates.append((target + (token,), total + step))\n",
    ),
    ("beam_goes_on", "what has ended is continued: a beginning", ENDED, ""),
    (
        "beam_cut_afterward",
        "and cut off at its end afterward",
        ENDED,
        "",
        f"return {BEST}",
        f"best = {BEST}\n    return best[: best.index(end) + 1] if end in best else best",
    ),
    (
        "beam_loses_the_ended",
        "what has ended gets lost",
        "                candidates.append((target, total))\n                continue\n",
        "                continue\n",
        "candidates[:beams]",
        "candidates[:beams] or beam",
    ),
    (
        "beam_stops_at_the_first_end",
        "stops as soon as one beginning has ended",
        PICK,
        PICK + "        if any(y[-1] == end for y, _ in beam):\n            break\n",
    ),
    (
        "beam_stops_when_the_best_has_ended",
        "its score may rise",
        PICK,
        PICK + "        if beam[0][0][-1] == end:\n            break\n",
    ),
    (
        "beam_returns_the_first_end",
        "the first target that ends is returned",
        PICK,
        PICK
        + "        for y, _ in beam:\n            if y[-1] == end:\n                return y\n",
    ),
    (
        "beam_best_of_the_ended",
        "only targets that have ended are compared",
        f"return {BEST}",
        "return max([it for it in beam if it[0][-1] == end] or beam, key=score)[0]",
    ),
    ("beam_multiplies_steps", "log-probabilities are multiplied,", "total + step", "total * step"),
    (
        "beam_in_front",
        "in front of the beginning",
        "target + (token,)",
        "(token,) + target",
    ),
    ("beam_end_is_0", "the same token ends every target", "[-1] == end", "[-1] == 0"),
    (
        "beam_starts_with_the_end",
        "the search ends before it has begun",
        "[((), 0.0)]",
        "[((end,), 0.0)]",
    ),
    ("beam_returns_the_last", "the last of the beam is returned", BEST, "min(beam, key=score)[0]"),
    (
        "beam_without_end",
        "the end is missing",
        BEST,
        f"tuple(token for token in {BEST} if token != end)",
    ),
    ("beam_one_round_less", "one round too few", "range(longest)", "range(longest - 1)"),
    ("beam_returns_all", "returns more than one target", BEST, "beam"),
    ("beam_returns_score", "the target with its score", BEST, "max(beam, key=score)"),
    ("beam_returns_only_the_score", "one number: return the target", BEST, "beam[0][1]"),
    ("beam_with_a_start", "is there a start token in it", BEST, f"(9,) * longest + {BEST}"),
    ("beam_returns_log_p", "numbers that are no tokens", BEST, f"log_p({BEST})[:longest]"),
    ("beam_last_token_only", "wrong already for one beam", BEST, f"{BEST}[-1:]"),
    (
        "beam_of_two_at_most",
        "already without a penalty",
        "candidates[:beams]",
        "candidates[: min(beams, 2)]",
    ),
    (
        "beam_penalty_upside_down",
        "right without a penalty, wrong with one",
        LP,
        "(6 / (5 + len(it[0]))) ** (alpha / 2)",
    ),
    ("beam_asks_with_a_token", "`log_p` takes a beginning", "log_p(target)", "log_p(len(target))"),
)

COLLECTS = """
def answer(log_p, beams, alpha, longest, end):
    score = lambda it: it[1] / ((5 + len(it[0])) / 6) ** alpha
    beam, ended = [((), 0.0)], []
    for _ in range(longest):
        grown = [((*y, v), s + step) for y, s in beam for v, step in enumerate(log_p(y))]
        grown.sort(key=score, reverse=True)
        ended += [it for it in grown if it[0][-1] == end]
        beam = [it for it in grown if it[0][-1] != end][:beams]
    return max(ended + beam, key=score)[0]
"""
wrong(
    "09.5",
    COLLECTS,
    ("beam_collects_all_ends", "from all candidates", "lambda it:", "lambda it:"),
    (
        "beam_collects_the_best_ends",
        "as soon as it is among the best",
        "in grown if it[0][-1] == end",
        "in grown[:beams] if it[0][-1] == end",
    ),
    (
        "beam_leaves_places_open",
        "from the next round on all places",
        *("        ended +=", "        grown = grown[:beams]\n        ended +="),
    ),
    (
        "beam_keeps_the_ended_for_good",
        "keeps its place for good",
        *("        ended +=", "        grown = grown[: beams - len(ended)]\n        ended +="),
    ),
)

# ------------------------------------------------------------------ 09.6 beyond the trained length

TABLE = """
def answer(train, draw, settings, lengths):
    table = torch.zeros(len(settings), len(lengths))
    for row, setting in enumerate(settings):
        model, last = train(setting)
        model.eval()
        for column, length in enumerate(lengths):
            input_ids, targets = draw(length)
            right = model(input_ids).argmax(-1) == targets
            table[row, column] = right[targets != -100].float().mean()
    return table
"""
wrong(
    "09.6",
    TABLE,
    ("lengths_in_training", "still in training mode", "        model.eval()\n", ""),
    ("lengths_ignored_count", "places that have no target", "right[targets != -100]", "right"),
    (
        "lengths_two_at_once",
        "two things at once",
        "        model.eval()\n",
        "",
        "right[targets != -100]",
        "right",
    ),
    (
        "lengths_on_the_training_batch",
        "every accuracy is 1",
        "input_ids, targets = draw(length)",
        "input_ids, targets = last",
    ),
    (
        "lengths_from_the_fourth",
        "the first three places are left out",
        "right[targets != -100]",
        "right[:, 3:]",
    ),
    (
        "lengths_on_the_training_batch_at_its_length",
        "in yours one column is measured",
        "input_ids, targets = draw(length)",
        "input_ids, targets = last if length == last[0].shape[1] else draw(length)",
    ),
    (
        "lengths_training_again",
        "in training mode again",
        ".float().mean()\n",
        ".float().mean()\n            model.train()\n",
    ),
    (
        "lengths_as_a_dict",
        "return a list of lists, or a tensor",
        "    return table",
        "    return dict(zip(settings, table.tolist(), strict=True))",
    ),
    (
        "lengths_last_place",
        "only the last place is looked at",
        "right[targets != -100]",
        "right[:, -1]",
    ),
    (
        "lengths_whole_sequences",
        "sequences without any mistake",
        "right[targets != -100]",
        "(right | (targets == -100)).all(1)",
    ),
    ("lengths_percentages", "holds percentages", "    return table", "    return 100 * table"),
    ("lengths_counts", "how many answers were right", ".float().mean()", ".float().sum()"),
    ("lengths_errors", "the share of wrong answers", "    return table", "    return 1 - table"),
    (
        "lengths_losses",
        "your table holds losses",
        "right[targets != -100].float().mean()",
        "nn.functional.cross_entropy(model(input_ids).flatten(0, 1), targets.flatten())",
    ),
    (
        "lengths_probabilities",
        "the mean probability of the right symbol",
        "right[targets != -100].float().mean()",
        "model(input_ids).softmax(-1).gather(-1, targets.clamp(min=0)[..., None])"
        "[..., 0][targets != -100].mean()",
    ),
    ("lengths_first_length", "measured at the first length", "draw(length)", "draw(lengths[0])"),
    ("lengths_first_setting", "both rows hold the first", "train(setting)", "train(settings[0])"),
    ("lengths_last_setting", "both rows hold the last", "table[row, column]", "table[:, column]"),
    (
        "lengths_two_batches",
        "two different batches",
        "input_ids, targets = draw(length)",
        "input_ids, targets = draw(length)[0], draw(length)[1]",
    ),
    (
        "lengths_trains_each_time",
        "train in the outer loop",
        "            input_ids, targets = draw(length)",
        "            model, last = train(setting)\n            model.eval()\n"
        "            input_ids, targets = draw(length)",
    ),
    ("lengths_transposed", "the table is transposed", "    return table", "    return table.T"),
    (
        "lengths_model_and_batch",
        "take them apart",
        "model, last = train(setting)",
        "model = train(setting)",
    ),
    (
        "lengths_one_row",
        "does the function return inside the loop",
        "    return table",
        "        return table[:1]",
    ),
    ("lengths_halved", "every share is 0.5 times", "    return table", "    return table / 2"),
    (
        "lengths_smallest_logit",
        "your table differs",
        "argmax(-1) == targets",
        "argmin(-1) == targets",
    ),
)
