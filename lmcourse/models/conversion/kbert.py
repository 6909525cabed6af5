"""K-BERT as the `transformers` library has it: its BERT, called with other positions and masks."""

from lmcourse.models.conversion import bert

NAMES = ("", "ForSequenceClassification", "ForTokenClassification")
CONVERSIONS = {f"KBert{name}": bert.CONVERSIONS[f"Bert{name}"] for name in NAMES}
