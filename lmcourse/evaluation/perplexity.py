"""Perplexity of language models on held-out text.

    nats per token = −(1/N) Σ log p(w_t | w_1 … w_{t−1})        perplexity = exp(nats per token)

A text is read from left to right by a model of the next token: n-gram model, recurrent network, or
Transformer with a causal mask. They differ on long texts: a recurrent network carries its state
from window to window; a Transformer cannot attend to tokens before its window, so its windows
overlap. Each starts ``stride`` tokens after the previous one, and only its new tokens are
predicted, each from at least window − stride + 1 tokens. A stride of 1 gives each token the longest
possible context, at the cost of one forward pass per token.

Perplexity per token depends on the tokenizer: models with different tokenizers are compared per
word or per byte of the text.
"""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.evaluation.logits import (
    FORWARD,
    NOISE,
    PROBE,
    check_module,
    device_of,
    effect,
    logits_of,
    token_logits,
)
from lmcourse.models.inputs import check_range
from lmcourse.models.ngram import NGramModel
from lmcourse.models.sampling import evaluating

WINDOW = 1024  # tokens, for a model without a limit
AT_ONCE = 2048  # tokens in a batch: the logits of a vocabulary of 50,000 take 0.4 GB


def perplexity(probabilities: Float[Tensor, " predicted"] | Sequence[float]) -> float:
    """Return the inverse probability of a text, normalized by its length: exp of the mean −log p.

    Args:
        probabilities: that of each token of the text, in [0, 1]. Zero gives infinity.

    Raises:
        CourseError: there is none, or a number is not a probability.
    """
    p = torch.as_tensor(probabilities).double().flatten()
    wrong = p[~((p >= 0) & (p <= 1 + 1e-6))]  # (NaN is neither; float32 may round up)
    if len(wrong) or not len(p):
        raise CourseError(
            f"{wrong[0]:.6g} is not a probability." if len(wrong) else "There is no probability.",
            "Pass numbers from 0 to 1: log_p.exp() of log-probabilities, the softmax of logits.",
        )
    return torch.exp(-p.log().mean()).item()


def token_probabilities(
    model: NGramModel | nn.Module,
    ids: Int[Tensor, " tokens"],
    window: int | None = None,
    stride: int | None = None,
) -> Float[Tensor, " predicted"]:
    """Return p of every token of a text but the first, given those before it.

    Args:
        model, window, stride: as in `log_probabilities`.
        ids: one text.

    Returns:
        Probabilities on the CPU, (tokens − 1).
    """
    return log_probabilities(model, [ids], window=window, stride=stride)[0].exp()


@torch.no_grad()
def log_probabilities(
    model: NGramModel | nn.Module,
    documents: Sequence[Any],
    *,
    start: int | None = None,
    window: int | None = None,
    stride: int | None = None,
    at_once: int = AT_ONCE,
) -> list[Float[Tensor, " predicted"]]:
    """Return log p of the tokens of each document, in nats, given the earlier tokens in it.

    Documents are independent. They are read in batches, padded on the right, which a causal model
    does not attend to.

    Args:
        model: n-gram, counted on ids; or one of ours that, called with ``input_ids`` (batch,
            time), returns ``logits`` of the next token, or ``forward_logits`` (ELMo's). If it
            takes and returns a ``state``, this is carried from window to window.
        documents: ids, one list or tensor per document.
        start: an id that is read before each document, such as [CLS], <s>, or the end mark of the
            previous document. None: the first token is read and not predicted.
        window: the number of tokens read at a time; None: the model's positions, or 1,024.
        stride: the number of new tokens per window; None: half the window. With a state, the whole
            window is new.
        at_once: the number of tokens in a batch; no result depends on it.

    Returns:
        For each document a float32 tensor on the CPU, (predicted).

    Raises:
        CourseError: there is no token to predict; an id is not in the vocabulary; the model attends
            to later tokens, or returns no logits; window or stride do not fit.
    """
    rows = documents_of(documents, start)
    if isinstance(model, NGramModel):
        for row in rows:
            check_range(row, model.vocabulary_size, "A document")
        return [model.probabilities(row.tolist()).log().float() for row in rows]
    check_module(model)
    carried = "state" in inspect.signature(model.forward).parameters
    window, stride = _sizes(model, window, stride, carried)
    found: list[Tensor] = [torch.empty(0)] * len(rows)
    with evaluating(model):
        vocabulary = _check_causal(model, max(rows, key=len)[: min(PROBE, max(window, 2))])
        check_range(torch.cat(rows), vocabulary, "A document")  # −100 would count as no target
        for batch in _batches(rows, window, at_once):
            read = _read(model, [rows[i] for i in batch], window, stride, carried)
            for i, row in zip(batch, read, strict=True):
                found[i] = row
    return found


def _read(
    model: nn.Module, rows: list[Tensor], window: int, stride: int, carried: bool
) -> list[Tensor]:
    """log p of one batch, the longest row first, window by window."""
    count = torch.tensor([len(row) - 1 for row in rows])  # of predictions
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device_of(model))
    found = torch.zeros(len(rows), int(count[0]))
    extra: dict[str, Any] = {}
    begin = known = 0  # the start of the window, and the number of predicted tokens
    while known < count[0]:
        end = min(begin + window, int(count[0]))
        there = int((count > known).sum())  # rows that have not ended
        if "state" in extra:
            extra["state"] = _first(extra["state"], there)
        result = model(input_ids=ids[:there, begin:end], **extra)
        logits = token_logits(result, FORWARD)[:, known - begin :]
        targets = ids[:there, known + 1 : end + 1]
        nats = functional.cross_entropy(logits.float().mT, targets, reduction="none")
        found[:there, known:end] = -nats.cpu()
        if carried:
            extra["state"] = result.state
        begin, known = begin + stride, end
    return [row[:n] for row, n in zip(found, count.tolist(), strict=True)]


def _first(state: Any, rows: int) -> Any:
    """The state of the first rows: h, or an LSTM's (h, c), (layer, batch, hidden)."""
    return tuple(it[:, :rows] for it in state) if isinstance(state, tuple) else state[:, :rows]


def _batches(rows: list[Tensor], window: int, at_once: int) -> Iterator[list[int]]:
    """Indices of rows of similar length, the longest first."""
    order = sorted((i for i, row in enumerate(rows) if len(row) > 1), key=lambda i: -len(rows[i]))
    while order:
        width = min(len(rows[order[0]]) - 1, window)
        size = max(1, at_once // width)
        yield order[:size]
        order = order[size:]


def documents_of(
    documents: Sequence[Any], start: int | None = None
) -> list[Int[Tensor, " tokens"]]:
    """Return each document's ids as a tensor, after the ``start`` id.

    Args:
        start: read before each document; None: nothing.
    """
    before = [] if start is None else [start]
    rows = [_ids(document, before) for document in documents]
    if not rows:
        raise CourseError("There is no text.", "Pass one document or more, each a list of ids.")
    if not any(len(row) > 1 for row in rows):
        needed = "one token" if before else "two tokens"
        raise CourseError("These texts have no token to predict.", f"Pass at least {needed}.")
    return rows


def _ids(document: Any, before: list[int]) -> Int[Tensor, " tokens"]:
    ids = document.tolist() if isinstance(document, Tensor) else list(document)
    return torch.tensor([*before, *ids], dtype=torch.long)


def _sizes(
    model: nn.Module, window: int | None, stride: int | None, carried: bool
) -> tuple[int, int]:
    """The length of windows, and the offset between them."""
    limit = _positions(model)
    window = limit or WINDOW if window is None else window
    if not 1 <= window <= (limit or window):
        raise CourseError(
            f"A window of {window} tokens cannot be read.",
            f"Give 1 to {limit}, the model's positions." if limit else "Give at least 1.",
        )
    if stride is None:
        stride = window if carried else max(1, window // 2)
    if not 1 <= stride <= window or (carried and stride != window):
        raise CourseError(
            f"Windows of {window} tokens cannot have a stride of {stride}.",
            "Leave out stride: the state carries the earlier tokens."
            if carried
            else f"Give a stride from 1 to {window}; a larger one leaves tokens out.",
        )
    return window, stride


def _check_causal(model: nn.Module, ids: Int[Tensor, " tokens"]) -> int:
    """Check that the last token changes no earlier prediction; return the vocabulary's size."""
    logits = logits_of(model, FORWARD)
    if _positions(model) != 1:
        before, _ = effect(logits, ids, len(ids) - 1)
        if before > NOISE:
            raise CourseError(
                f"{type(model).__name__} attends to later tokens: another token at position "
                f"{len(ids) - 1} changes earlier predictions, so it has access to its targets.",
                "Use a causal mask (causal=True); a masked model has no perplexity.",
            )
    return logits(ids[None, :1]).shape[-1]


def _positions(model: nn.Module) -> int | None:
    """The number of positions of a model; None: unlimited."""
    limit = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    return limit if isinstance(limit, int) else None
