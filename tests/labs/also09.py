"""Other ways into mistakes that `wrong09` has once: each must get the hint of that mistake."""

from tests.labs.kit import WrongAnswer
from tests.labs.wrong09 import BEAM, BEST, HEADS, LAYER, LP, wrong

ALSO: list[WrongAnswer] = []

wrong(
    "09.2",
    """
def answer(first, second):
    s1, c1 = first.chunk(2, 1)
    s2, c2 = second.chunk(2, 1)
    return torch.stack([s2 * c1 - c2 * s1, c1 * c2 + s1 * s2], -1).flatten(1)
""",
    ("distance_halves_side_by_side", "first half of the entries is taken for the sines"),
    into=ALSO,
)
wrong(
    "09.3",
    HEADS,
    (
        "heads_one_softmax_scaled_by_a_head",
        "one softmax serves all heads",
        "    def split",
        "    key, value = key.repeat(1, 1, heads), value.repeat(1, 1, heads)\n"
        "    heads = 1\n    def split",
        "heads, size)",
        "heads, -1)",
    ),
    (
        "heads_softmax_over_heads_of_large_numbers",
        "the softmax runs over the heads",
        *("-math.inf", "-1e9", "scores.softmax(-1)", "scores.softmax(1)"),
    ),
    into=ALSO,
)
wrong(
    "09.4",
    LAYER,
    (
        "layer_cross_first_with_the_norms_in_their_order",
        "in yours cross-attention comes first",
        *("x + attention(norm1(x))", "x + cross_attention(norm1(x), memory)"),
        *("y + cross_attention(norm2(y), memory)", "y + attention(norm2(y))"),
        *("norm1(x + attention(x))", "norm1(x + cross_attention(x, memory))"),
        *("norm2(y + cross_attention(y, memory))", "norm2(y + attention(y))"),
    ),
    (
        "layer_network_second_with_the_norms_in_their_order",
        "comes before cross-attention",
        *("y + cross_attention(norm2(y), memory)", "y + feed_forward(norm2(y))"),
        *("z + feed_forward(norm3(z))", "z + cross_attention(norm3(z), memory)"),
        *("norm2(y + cross_attention(y, memory))", "norm2(y + feed_forward(y))"),
        *("norm3(z + feed_forward(z))", "norm3(z + cross_attention(z, memory))"),
    ),
    (
        "layer_summed",
        "all three sublayers read the x",
        *("y = x + attention(norm1(x))", "y = x"),
        *("z = y + cross_attention(norm2(y), memory)", "z = y"),
        "return z + feed_forward(norm3(z))",
        "return x + attention(norm1(x)) + cross_attention(norm2(x), memory)"
        " + feed_forward(norm3(x))",
        *("y = norm1(x + attention(x))", "y = x"),
        *("z = norm2(y + cross_attention(y, memory))", "z = y"),
        "return norm3(z + feed_forward(z))",
        "return norm3(x + attention(x) + cross_attention(x, memory) + feed_forward(x))",
    ),
    (
        "layer_normed_by_the_first_at_the_end",
        "a norm is taken of what leaves the layer",
        *("return z + feed_forward(norm3(z))", "return norm1(z + feed_forward(norm3(z)))"),
    ),
    into=ALSO,
)
wrong(
    "09.5",
    BEAM,
    ("beam_alpha_on_the_6", "`alpha` does not act", LP, "((5 + len(it[0])) / 6 ** alpha)"),
    (
        "beam_start_token_counted",
        "n is larger by one",
        *(
            "[((), 0.0)]",
            "[((end,), 0.0)]",
            "if target and target",
            "if len(target) > 1 and target",
        ),
        *("log_p(target)", "log_p(target[1:])", BEST, f"{BEST}[1:]"),
    ),
    (
        "beam_round_for_n",
        "the number of the round is the same",
        *("key=score, reverse", "key=lambda it: it[1] / ((6 + r) / 6) ** alpha, reverse"),
        *("for _ in", "for r in", BEST, "beam[0][0]"),
    ),
    (
        "beam_multiplies_from_1",
        "log-probabilities are multiplied,",
        *("total + step", "total * step", "[((), 0.0)]", "[((), 1.0)]"),
    ),
    (
        "beam_multiplies_without_the_first",
        "log-probabilities are multiplied,",
        *("total + step", "(total or 1.0) * step"),
    ),
    (
        "beam_multiplies_with_a_sign",
        "log-probabilities are multiplied,",
        *("total + step", "(total or -1.0) * step"),
    ),
    ("beam_end_of_the_chapter", "the same token ends every target", "[-1] == end", "[-1] == 2"),
    ("beam_sorted_upward_once", "the worst are kept", ", reverse=True", ""),
    (
        "beam_keeps_scores",
        "scores are handed on",
        *("total + step)", "(total + step) / ((6 + len(target)) / 6) ** alpha)"),
        *("key=score", "key=lambda it: it[1]"),
    ),
    (
        "beam_keeps_scores_and_divides_at_the_end",
        "scores are handed on",
        *("total + step)", "(total + step) / ((6 + len(target)) / 6) ** alpha)"),
        *("sort(key=score", "sort(key=lambda it: it[1]"),
    ),
    (
        "beam_divides_the_ended_again",
        "scores are handed on",
        *("(target, total))", "(target, score((target, total))))"),
        *("total + step)", "(total + step) / ((6 + len(target)) / 6) ** alpha)"),
        *("key=score", "key=lambda it: it[1]"),
    ),
    into=ALSO,
)
