"""SpanBERT as the `transformers` library has it: its BERT, which lacks the span-boundary head.

The library's configuration keeps settings that it does not know, so the head's own are saved in it.
Where they are missing, they are SpanBERT's defaults.
"""

from dataclasses import replace

from lmcourse.models.conversion import bert

NAMES = ("", "ForSequenceClassification", "ForQuestionAnswering", "ForTokenClassification")
SETTINGS = bert.SETTINGS | {name: name for name in ("max_span_length", "span_position_size")}
CONVERSIONS = {
    f"SpanBert{name}": replace(bert.CONVERSIONS[f"Bert{name}"], settings=SETTINGS) for name in NAMES
}
