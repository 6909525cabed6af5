"""Everything that is compared, in the order of the chapters."""

from lmcourse.models.parity import bert, gpt, recurrent, seq2seq, transformer
from lmcourse.models.parity.comparing import Architecture

ARCHITECTURES: tuple[Architecture, ...] = (
    *recurrent.ARCHITECTURES,
    *seq2seq.ARCHITECTURES,
    *transformer.ARCHITECTURES,
    *gpt.ARCHITECTURES,
    *bert.ARCHITECTURES,
)
