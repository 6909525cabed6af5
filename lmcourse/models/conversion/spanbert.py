"""SpanBERT as the `transformers` library has it: its BERT, which lacks the span-boundary head.

The settings of that head are written into the library's configuration beside its own, which keeps
what it does not know, also in a file; where they are missing, they are SpanBERT's defaults.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lmcourse.models.conversion import Conversion, bert
from lmcourse.models.spanbert import SpanBertConfig

NAMES = ("", "ForSequenceClassification", "ForQuestionAnswering", "ForTokenClassification")
Form = tuple[Callable[[Any], Any], Callable[[Any], Any]]
OWN = ("max_span_length", "span_position_size")


def _form(name: str) -> Form:
    usual = getattr(SpanBertConfig, name)
    return lambda value: usual if value is None else value, lambda value: value


def _with_own(conversion: Conversion) -> Conversion:
    settings = conversion.settings | {name: name for name in OWN}
    return replace(conversion, settings=settings, forms={name: _form(name) for name in OWN})


CONVERSIONS = {f"SpanBert{name}": _with_own(bert.CONVERSIONS[f"Bert{name}"]) for name in NAMES}
