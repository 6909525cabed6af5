"""Everything that is compared, in the order of the chapters."""

from lmcourse.models.parity import transformer
from lmcourse.models.parity.comparing import Architecture

ARCHITECTURES: tuple[Architecture, ...] = (*transformer.ARCHITECTURES,)
