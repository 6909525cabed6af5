"""Pseudo-perplexity: what a *masked* language model makes of a text.

A masked model has no p(w_t | w_1 … w_{t−1}). But each token can be masked in turn, and predicted
from all the others (Salazar et al. 2020, "Masked language model scoring", section 2):

    PLL(text) = Σ_t log p(w_t | all w but w_t)        pseudo-perplexity = exp(−PLL / N)

N counts the tokens of all texts. What this is *not*: a probability. The factors come from N
different questions, and no chain rule makes their product one distribution over texts. It is far
below a left-to-right model's perplexity, because each token is told what comes after it, so the two
are never compared. Nor are masked models with different tokenizers: a piece of a word is all but
given by the word's other pieces, so a vocabulary that cuts more looks better (Kauf and Ivanova
2023, "A better way to do masked language model scoring").
"""

import operator
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.evaluation.logits import (
    MASKED,
    PROBE,
    asking,
    check_looks_ahead,
    check_module,
    device_of,
)
from lmcourse.evaluation.perplexity import AT_ONCE
from lmcourse.evaluation.text_score import TextScore, documents_of, scored_text
from lmcourse.models.inputs import whole_number
from lmcourse.models.sampling import evaluating


def pseudo_text_score(
    model: nn.Module,
    documents: Sequence[Any],
    *,
    mask: int,
    before: Sequence[int] = (),
    after: Sequence[int] = (),
    texts: Sequence[str] | None = None,
) -> TextScore:
    """Pseudo-perplexity over documents, with its standard error.

    Args:
        model, documents, mask, before, after: as in `pseudo_log_probabilities`.
        texts: as in `lmcourse.evaluation.perplexity.text_score`.

    Raises:
        CourseError: as there.
    """
    found = pseudo_log_probabilities(model, documents, mask=mask, before=before, after=after)
    return scored_text(found, texts, pseudo=True)


@torch.no_grad()
def pseudo_log_probabilities(
    model: nn.Module,
    documents: Sequence[Any],
    *,
    mask: int,
    before: Sequence[int] = (),
    after: Sequence[int] = (),
    at_once: int = AT_ONCE,
) -> list[Float[Tensor, " token"]]:
    """log p of each token of each document, in nats, given all others: one pass a token.

    Args:
        model: one of ours that, called with ``input_ids`` (batch, time), returns ``logits`` or
            ``prediction_logits`` of the token at each place.
        documents: ids, one list or tensor a document, without special tokens.
        mask: the id of [MASK].
        before, after: what a document is framed by, such as [CLS] and [SEP]. It is seen and never
            masked.
        at_once: how many tokens make a batch; no number depends on it.

    Returns:
        Of each document one number a token, float32 on the CPU.

    Raises:
        CourseError: there is no token; an id is none of the model's; a document is longer than the
            model's positions; the model predicts no tokens, or looks to the left alone.
    """
    check_module(model)
    mask = whole_number(mask, "mask", "these documents", least=0)
    before, after = (_frame(*it) for it in (("before", before), ("after", after)))
    rows = documents_of(documents, least=1)
    longest = max(rows, key=len)
    probe = torch.tensor([*before, *longest.tolist(), *after])[:PROBE]
    with evaluating(model):
        check_looks_ahead(model, probe if len(probe) > 1 else probe.repeat(2))
        return [_of_document(model, row, mask, before, after, at_once) for row in rows]


def _frame(name: str, ids: Any) -> list[int]:
    try:
        return [operator.index(id_) for id_ in ids]
    except TypeError:
        raise CourseError(
            f"{name} is {ids!r:.40}.", f"Give a list of ids: {name}=[tokenizer.token_to_id(…)]."
        ) from None


def _of_document(
    model: nn.Module,
    row: Int[Tensor, " token"],
    mask: int,
    before: Sequence[int],
    after: Sequence[int],
    at_once: int,
) -> Float[Tensor, " token"]:
    if not len(row):
        return torch.empty(0)
    ask, device = asking(model, MASKED), device_of(model)
    framed = torch.tensor([*before, *row.tolist(), *after], device=device)
    masked = torch.arange(len(row), device=device) + len(before)
    parts = []
    for places in masked.split(max(1, at_once // len(framed))):
        each = torch.arange(len(places), device=device)
        copies = framed.repeat(len(places), 1)
        copies[each, places] = mask
        logits = ask(copies)[each, places].float()
        parts.append(logits.log_softmax(-1)[each, framed[places]].cpu())
    return torch.cat(parts)
