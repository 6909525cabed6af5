"""Wrong answers to lab 09, as students write them, each with words that only its hint has.

Each is a right answer with a line or two written otherwise: (name, words of its hint, old, new, …).
"""

import math

import numpy as np
import torch
from torch import nn

from tests.labs.kit import WrongAnswer

WRONG: list[WrongAnswer] = []


def wrong(exercise: str, right: str, *answers: tuple[str, ...]) -> None:
    """Add the answers that differ from a right one as the pairs (old, new) say."""
    for name, phrase, *pairs in answers:
        source = right
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            assert old in source, f"{name}: {old}"
            source = source.replace(old, new)
        names = {"math": math, "np": np, "torch": torch, "nn": nn}
        exec(compile(source, f"<{name}>", "exec"), names)
        WRONG.append(WrongAnswer(exercise, name, names["answer"], phrase))


# ------------------------------------------------------------------ 09.1 the schedule

wrong(
    "09.1",
    """
def answer(step, width, warmup):
    rise = step * warmup ** -1.5
    fall = step ** -0.5
    return width ** -0.5 * min(rise, fall)
""",
    ("schedule_max", "with `max` the rate starts high", "min(", "max("),
    ("schedule_without_width", "the width is missing", "width ** -0.5 * ", ""),
    ("schedule_width_upside_down", "the factor is d^(1/2)", "width ** -0.5", "width ** 0.5"),
    ("schedule_width_without_root", "the factor is 1/d", "width ** -0.5", "1 / width"),
    ("schedule_warmup_half", "exponent of the warm-up is −1/2", "warmup ** -1.5", "warmup ** -0.5"),
    ("schedule_rises_to_one", "the rise is s / w", "step * warmup ** -1.5", "step / warmup"),
    ("schedule_no_warmup", "there is no warm-up", "min(rise, fall)", "fall"),
    ("schedule_never_falls", "the rate never falls", "min(rise, fall)", "rise"),
    ("schedule_counts_from_zero", "one too many", "    rise", "    step = step + 1\n    rise"),
    ("schedule_exchanged", "have changed places", "(step, width, warmup)", "(step, warmup, width)"),
    (
        "schedule_one_too_few",
        "the paper counts steps from 1",
        "    rise",
        "    step = step - 1\n    rise",
    ),
    ("schedule_as_a_percentage", "every rate is 100 times", "return ", "return 100 * "),
    (
        "schedule_exponent_two",
        "compute both arguments of the minimum",
        "warmup ** -1.5",
        "warmup ** -2",
    ),
)

# ------------------------------------------------------------------ 09.2 positions

wrong(
    "09.2",
    """
def answer(places, width):
    p = torch.arange(places, dtype=torch.float64)[:, None]
    i = torch.arange(width // 2, dtype=torch.float64)
    angles = p / 10000 ** (2 * i / width)
    table = torch.zeros(places, width, dtype=torch.float64)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table
""",
    (
        "positions_halves",
        "all sines stand first",
        "return table",
        "return torch.cat([angles.sin(), angles.cos()], 1)",
    ),
    (
        "positions_entry_by_entry",
        "each entry has a frequency of its own",
        "width // 2, dtype",
        "width, dtype",
        "2 * i / width",
        "i / width",
        "torch.sin(angles)",
        "torch.sin(angles)[:, 0::2]",
        "torch.cos(angles)",
        "torch.cos(angles)[:, 1::2]",
    ),
    (
        "positions_twice_too_fast",
        "the frequencies fall twice too fast",
        "width // 2, dtype",
        "width, dtype",
        "torch.sin(angles)",
        "torch.sin(angles)[:, 0::2]",
        "torch.cos(angles)",
        "torch.cos(angles)[:, 1::2]",
    ),
    ("positions_half_as_fast", "fall half as fast", "2 * i / width", "i / width"),
    ("positions_grow", "the frequencies grow", "p / 10000", "p * 10000"),
    (
        "positions_cosine_first",
        "the cosine stands first",
        "torch.sin(angles)",
        "torch.tan(angles)",
        "torch.cos(angles)",
        "torch.sin(angles)",
        "torch.tan(angles)",
        "torch.cos(angles)",
    ),
    ("positions_sines_only", "every entry is a sine", "torch.cos", "torch.sin"),
    (
        "positions_from_one",
        "places are counted from 0",
        "torch.arange(places, dtype",
        "torch.arange(1, places + 1, dtype",
    ),
    ("positions_base", "the base is 1,000", "10000", "1000"),
    (
        "positions_transposed",
        "the table is transposed",
        "return table",
        "return table.T",
    ),
    (
        "positions_angles",
        "these are the angles",
        "torch.sin(angles)",
        "angles",
        "torch.cos(angles)",
        "angles",
    ),
    (
        "positions_half_a_table",
        "half of the entries are missing",
        "return table",
        "return angles.sin()",
    ),
    (
        "positions_twice_as_wide",
        "twice as wide as it should be",
        "return table",
        "return torch.cat([table, table], 1)",
    ),
    (
        "positions_odd_entries_empty",
        "is each entry written?",
        "    table[:, 1::2] = torch.cos(angles)\n",
        "",
    ),
    ("positions_floor", "is the first that is not", "p / 10000", "p // 10000"),
    ("positions_in_degrees", "already entry 0 is wrong", "p / 10000", "p / 57.29578 / 10000"),
)

# ------------------------------------------------------------------ 09.3 heads

HEADS = """
def answer(query, key, value, heads, visible):
    size = query.shape[-1] // heads
    def split(x):
        return x.view(x.shape[0], x.shape[1], heads, size).transpose(1, 2)
    q, k, v = split(query), split(key), split(value)
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
    ("heads_one", "there is one head", "    size =", "    heads = 1\n    size ="),
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
        "heads_first_value",
        "right for one head, wrong for two",
        "weights @ v)",
        "weights @ v[:, :1])",
    ),
    (
        "heads_not_three",
        "wrong for other sizes",
        "return found.reshape(query.shape)",
        "return found.reshape(query.shape) * (1 if heads < 3 else 2)",
    ),
)

# ------------------------------------------------------------------ 09.4 a layer

wrong(
    "09.4",
    """
def answer(x, attention, feed_forward, norms, norm_first):
    norm1, norm2 = norms
    if norm_first:
        y = x + attention(norm1(x))
        return y + feed_forward(norm2(y))
    y = norm1(x + attention(x))
    return norm2(y + feed_forward(y))
""",
    ("layer_exchanged", "pre- and post-norm have changed", "if norm_first", "if not norm_first"),
    ("layer_always_post", "both forms are post-norm", "if norm_first", "if False"),
    ("layer_always_pre", "both forms are pre-norm", "if norm_first", "if True"),
    (
        "layer_without_residual",
        "the residual connection is missing",
        "x + attention",
        "attention",
        "y + feed_forward",
        "feed_forward",
    ),
    (
        "layer_norm_of_the_change",
        "the norm is taken of the change alone",
        "norm1(x + attention(x))",
        "x + norm1(attention(x))",
        "norm2(y + feed_forward(y))",
        "y + norm2(feed_forward(y))",
    ),
    (
        "layer_adds_the_normed",
        "the normed x is added",
        "x + attention(norm1(x))",
        "norm1(x) + attention(norm1(x))",
        "y + feed_forward(norm2(y))",
        "norm2(y) + feed_forward(norm2(y))",
    ),
    (
        "layer_norm_twice",
        "a second norm stands behind",
        "x + attention(norm1(x))",
        "norm1(x + attention(norm1(x)))",
        "y + feed_forward(norm2(y))",
        "norm2(y + feed_forward(norm2(y)))",
    ),
    (
        "layer_no_norm",
        "there is no norm at all",
        "norm1, norm2 = norms",
        "norm1 = norm2 = lambda x: x",
    ),
    (
        "layer_norms_exchanged",
        "the two norms have changed places",
        "norm1, norm2 = norms",
        "norm2, norm1 = norms",
    ),
    (
        "layer_one_norm",
        "one norm serves both",
        "norm1, norm2 = norms",
        "norm1 = norm2 = norms[0]",
    ),
    (
        "layer_network_first",
        "the feed-forward network comes first",
        "    norm1",
        "    attention, feed_forward = feed_forward, attention\n    norm1",
    ),
    (
        "layer_parallel",
        "both sublayers read the x that came in",
        "feed_forward(norm2(y))",
        "feed_forward(norm2(x))",
        "feed_forward(y)",
        "feed_forward(x)",
    ),
    (
        "layer_adds_the_first_x",
        "adds the x that came into the layer",
        "y + feed_forward",
        "x + feed_forward",
    ),
    (
        "layer_attention_only",
        "only attention is there",
        "return y + feed_forward(norm2(y))",
        "return y",
        "return norm2(y + feed_forward(y))",
        "return y",
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
def answer(log_p, k, longest, end):
    beam = [((), 0.0)]
    for _ in range(longest):
        candidates = []
        for target, total in beam:
            if target and target[-1] == end:
                candidates.append((target, total))
                continue
            for token, step in enumerate(log_p(target)):
                candidates.append((target + (token,), total + step))
        candidates.sort(key=lambda it: it[1], reverse=True)
        beam = candidates[:k]
    return beam[0][0]
"""
ENDED = """            if target and target[-1] == end:
                candidates.append((target, total))
                continue
"""
wrong(
    "09.5",
    BEAM,
    ("beam_greedy", "this is greedy decoding", "candidates[:k]", "candidates[:1]"),
    ("beam_not_pruned", "nothing is pruned", "candidates[:k]", "candidates"),
    ("beam_sorted_upward", "the worst are kept", ", reverse=True", ""),
    ("beam_last_token", "ranked by their last token", "total + step", "step"),
    (
        "beam_adds_probabilities",
        "probabilities are added up",
        "total + step",
        "total + math.exp(step)",
    ),
    (
        "beam_multiplies_logs",
        "log-probabilities are multiplied",
        "((), 0.0)",
        "((), 1.0)",
        "total + step",
        "total * step",
    ),
    (
        "beam_one_child_each",
        "each beginning keeps its own best",
        "            for token, step in enumerate(log_p(target)):\n"
        "                candidates.append((target + (token,), total + step))\n",
        "            steps = sorted(enumerate(log_p(target)), key=lambda it: it[1], reverse=True)\n"
        "            for token, step in steps[: 1 if target else k]:\n"
        "                candidates.append((target + (token,), total + step))\n",
    ),
    ("beam_goes_on", "what has ended is continued: a beginning", ENDED, ""),
    (
        "beam_cut_afterward",
        "and cut off at its end afterward",
        ENDED,
        "",
        "return beam[0][0]",
        "best = beam[0][0]\n    return best[: best.index(end) + 1] if end in best else best",
    ),
    (
        "beam_continues_the_ended_behind",
        "a beginning that has ended behind it",
        ENDED,
        "",
        "        beam = candidates[:k]\n",
        "        beam = candidates[:k]\n        if beam[0][0][-1] == end:\n            break\n",
    ),
    (
        "beam_loses_the_ended",
        "what has ended gets lost",
        "                candidates.append((target, total))\n                continue\n",
        "                continue\n",
        "        beam = candidates[:k]",
        "        beam = candidates[:k] or beam",
    ),
    (
        "beam_stops_at_the_first_end",
        "stops as soon as one beginning has ended",
        "        beam = candidates[:k]\n",
        "        beam = candidates[:k]\n"
        "        if any(y[-1] == end for y, _ in beam):\n            break\n",
    ),
    (
        "beam_per_token",
        "divided by the number of tokens",
        "return beam[0][0]",
        "return max(beam, key=lambda it: it[1] / len(it[0]))[0]",
    ),
    ("beam_returns_the_last", "the last of the beam is returned", "beam[0][0]", "beam[-1][0]"),
    (
        "beam_without_end",
        "the end is missing",
        "return beam[0][0]",
        "return tuple(token for token in beam[0][0] if token != end)",
    ),
    ("beam_one_round_less", "one round too few", "range(longest)", "range(longest - 1)"),
    ("beam_returns_all", "returns more than one target", "beam[0][0]", "beam"),
    (
        "beam_returns_score",
        "the target with its score",
        "beam[0][0]",
        "beam[0]",
    ),
    ("beam_returns_only_the_score", "one number: return the target", "beam[0][0]", "beam[0][1]"),
    (
        "beam_with_a_start",
        "is there a start token in it",
        "return beam[0][0]",
        "return (9,) * longest + beam[0][0]",
    ),
    (
        "beam_returns_log_p",
        "numbers that are no tokens",
        "return beam[0][0]",
        "return log_p(beam[0][0])",
    ),
    ("beam_last_token_only", "wrong already for k = 1", "beam[0][0]", "beam[0][0][-1:]"),
    (
        "beam_of_two_at_most",
        "right for k = 1, and for",
        "candidates[:k]",
        "candidates[: min(k, 2)]",
    ),
    ("beam_asks_with_a_token", "`log_p` takes a beginning", "log_p(target)", "log_p(len(target))"),
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
        "the table holds losses",
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
