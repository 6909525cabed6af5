"""Everything that is compared, in the order of the chapters."""

from tests.parity import (
    albert,
    bert,
    deberta,
    distilbert,
    distillation,
    electra,
    elmo,
    gensim_training,
    gpt,
    kbert,
    recurrent,
    roberta,
    seq2seq,
    spanbert,
    transformer,
    word_vectors,
)
from tests.parity.comparing import Architecture

ARCHITECTURES: tuple[Architecture, ...] = (
    *recurrent.ARCHITECTURES,
    *seq2seq.ARCHITECTURES,
    *word_vectors.ARCHITECTURES,
    *gensim_training.ARCHITECTURES,
    *elmo.ARCHITECTURES,
    *transformer.ARCHITECTURES,
    *gpt.ARCHITECTURES,
    *bert.ARCHITECTURES,
    *roberta.ARCHITECTURES,
    *spanbert.ARCHITECTURES,
    *kbert.ARCHITECTURES,
    *albert.ARCHITECTURES,
    *deberta.ARCHITECTURES,
    *distilbert.ARCHITECTURES,
    *distillation.ARCHITECTURES,
    *electra.ARCHITECTURES,
)
LEFT_OUT: dict[str, str] = gensim_training.LEFT_OUT
"""What cannot be compared here, by its name, and why."""
