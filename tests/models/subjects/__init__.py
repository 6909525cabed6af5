"""The models that the property kit examines, and the broken ones that it must catch."""

from tests.models.broken import Broken
from tests.models.subject import Subject
from tests.models.subjects import (
    albert,
    bert,
    deberta,
    distilbert,
    distillation,
    electra,
    elmo,
    enhanced_mask_decoder,
    gpt,
    kbert,
    recurrent,
    roberta,
    seq2seq,
    sift,
    spanbert,
    tinybert,
    transformer,
    word_vectors,
)

MODULES = (
    bert,
    deberta,
    distilbert,
    distillation,
    elmo,
    enhanced_mask_decoder,
    gpt,
    kbert,
    recurrent,
    roberta,
    seq2seq,
    sift,
    spanbert,
    tinybert,
    transformer,
    word_vectors,
    albert,
    electra,
)
SUBJECTS: tuple[Subject, ...] = tuple(s for module in MODULES for s in module.SUBJECTS)
BROKEN: tuple[Broken, ...] = tuple(b for module in MODULES for b in module.BROKEN)
