"""BERT's speed beside the library's, and attention's memory: `python -m benchmarks.bert`.

Ours and the `transformers` library's have the same weights and read the same padded batch, turn by
turn, in float32 and one thread; its attention is PyTorch's fused kernel, as is ours. A training
step is forward, loss of the masked words (15 % of them), backward and AdamW, with dropout. The
table goes to `benchmarks/bert.md`.
"""

from benchmarks import peak, side_by_side, tables
from benchmarks.side_by_side import COURSE, Size

SIZES = (Size("BERT base", 8, 128), Size("the course's", 64, 64, COURSE))
ATTENTION = """
from lmcourse.models.attention import attend
def once(length):
    q, k, v = (torch.randn(1, 12, length, 64, requires_grad=gradient) for _ in range(3))
    found, _ = attend(q, k, v, need_weights=way == "full")
    if gradient:
        found.sum().backward()
"""


def memories() -> list[str]:
    what = "Memory of one attention of 12 heads of 64 numbers, one sequence"
    return peak.table(what, ATTENTION, ("full", "fused"))


if __name__ == "__main__":
    title = "BERT's speed, and attention's memory"
    tables.run(lambda: side_by_side.main(__file__, title, SIZES, more=memories))
