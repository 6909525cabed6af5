"""SpanBERT as the `transformers` library has it: its BERT, which lacks the span-boundary head."""

from lmcourse.models.conversion import bert

NAMES = ("", "ForSequenceClassification", "ForQuestionAnswering", "ForTokenClassification")
CONVERSIONS = {f"SpanBert{name}": bert.CONVERSIONS[f"Bert{name}"] for name in NAMES}
