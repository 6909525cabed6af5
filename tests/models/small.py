"""BERT and GPT in small, for the tests that need no other sizes."""

from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForPreTraining,
)
from lmcourse.models.bert_tasks import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.gpt import GPTConfig

BERT = BertConfig(23, 12, 2, 3, 20, max_position_embeddings=9, num_labels=3)
GPT = GPTConfig(23, 12, 2, 3, 20, max_position_embeddings=9)
HEADS = (
    BertForPreTraining,
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForSequenceClassification,
    BertForQuestionAnswering,
    BertForTokenClassification,
    BertForMultipleChoice,
)
