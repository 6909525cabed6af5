"""DeBERTa's speed beside the library's, and its attention's memory: `python -m benchmarks.deberta`.

The speed is measured as BERT's is (`benchmarks.bert`); the library computes this attention step by
step. For the memory, three ways to the same scores: *naive*, with a vector of the distance for
each pair, (query × key × d); *looked up*, with the products with all 2k distances and each pair's
picked (algorithm 1); *viewed*, where each pair's number is a view of these products. The table goes
to `benchmarks/deberta.md`.
"""

from benchmarks import peak, side_by_side, tables
from benchmarks.side_by_side import Size
from lmcourse.models.deberta import DebertaForMaskedLM

RELATIVE = {
    "relative_attention": True,
    "pos_att_type": "c2p|p2c",
    "position_biased_input": False,
}
SIZES = tuple(
    Size("DeBERTa base", batch, time, RELATIVE, DebertaForMaskedLM)
    for batch, time in ((8, 128), (1, 512))
)
ATTENTION = """
from lmcourse.models import disentangled_attention
from lmcourse.models.disentangled_attention import DisentangledAttention, clipped_distances
def naive(content, table, *, mirrored=False, gather=False):
    pairs = clipped_distances(content.shape[-2], table.shape[-2] // 2, content)
    vectors = table[:, pairs.mT if mirrored else pairs]
    return (vectors @ content[0, :, :, :, None])[..., 0][None]
if way == "naive":
    disentangled_attention.relative_scores = naive
attention = DisentangledAttention(64, 1)
def once(length):
    with torch.set_grad_enabled(gradient):
        x, positions = torch.randn(1, length, 64), torch.randn(1024, 64)
        found, _ = attention(x, positions, need_weights=way != "viewed")
        if gradient:
            found.sum().backward()
"""


def memories() -> list[str]:
    what = (
        "Memory of one head of disentangled attention, 64 numbers wide and k = 512, over one "
        "sequence. Naive: a vector for each pair, (query × key × d); looked up: all products with "
        "the 2k distances, and each pair's picked (algorithm 1); viewed: picked by a view, and "
        "the fused attention. Above k, where distances are clipped, the view is a look-up too"
    )
    return peak.table(what, ATTENTION, ("naive", "looked up", "viewed"))


if __name__ == "__main__":
    title = "DeBERTa's speed, and its attention's memory"
    tables.run(lambda: side_by_side.main(__file__, title, SIZES, "eager", memories))
