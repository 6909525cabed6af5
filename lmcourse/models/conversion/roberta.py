"""RoBERTa as the `transformers` library has it, and back: BERT's body, under another name."""

from dataclasses import replace

from lmcourse.models.conversion.bert import ANSWERS, BERT, BODY, CLASSIFIER
from lmcourse.models.conversion.electra import SEQUENCES
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear
from lmcourse.models.conversion.rules import heads

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
ROBERTA = replace(BODY, architecture="RobertaModel", config="RobertaConfig")
HEADS = {
    "ForMaskedLM": PREDICTIONS,
    "ForSequenceClassification": SEQUENCES,
    "ForQuestionAnswering": ANSWERS,
    "ForTokenClassification": CLASSIFIER,
}
CONVERSIONS = {"Roberta": ROBERTA} | heads("Roberta", ROBERTA, BASE, HEADS)
