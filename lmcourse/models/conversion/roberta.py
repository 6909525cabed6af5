"""RoBERTa as the `transformers` library has it, and back: BERT's body, under another name."""

from functools import partial

from lmcourse.models.conversion import SAME, Conversion
from lmcourse.models.conversion.bert import (
    BERT,
    CLASSIFIER,
    FIXED,
    LEAST,
    OLD,
    SETTINGS,
    SPANS,
)
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear

BASE = BERT.under("bert.", "roberta.")
PREDICTIONS = Renaming(
    (
        *linear("predictions.dense", "lm_head.dense"),
        *linear("predictions.norm", "lm_head.layer_norm"),
        Rule("predictions.bias", "lm_head.bias"),
    ),
    (
        Tied("lm_head.decoder.weight", "roberta.embeddings.word_embeddings.weight"),
        Tied("lm_head.decoder.bias", "lm_head.bias"),
    ),
)
SEQUENCES = Renaming(
    (
        *linear("classifier.first", "classifier.dense"),
        *linear("classifier.dense", "classifier.out_proj"),
    )
)
ANSWERS = Renaming(linear("qa_outputs", "qa_outputs"))

roberta = partial(Conversion, config="RobertaConfig", old=OLD, same=SAME, least=LEAST)
head = partial(roberta, settings=SETTINGS, fixed=FIXED)
CONVERSIONS = {
    "Roberta": roberta(
        "RobertaModel",
        BERT,
        settings=SETTINGS,
        fixed=FIXED,
        parts={"add_pooling_layer": ("pooler", "add_pooling_layer")},
    ),
    "RobertaForMaskedLM": head(
        "RobertaForMaskedLM", BASE + PREDICTIONS, fixed=FIXED | {"tie_word_embeddings": True}
    ),
    "RobertaForSequenceClassification": head("RobertaForSequenceClassification", BASE + SEQUENCES),
    "RobertaForQuestionAnswering": head(
        "RobertaForQuestionAnswering",
        BASE + ANSWERS,
        fixed=FIXED | SPANS,
    ),
    "RobertaForTokenClassification": head("RobertaForTokenClassification", BASE + CLASSIFIER),
    "RobertaForMultipleChoice": head("RobertaForMultipleChoice", BASE + CLASSIFIER),
}
