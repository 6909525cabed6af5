"""Perplexity: how many tokens a language model hesitates between, on held-out text.

    nats a token = −(1/N) Σ log p(w_t | w_1 … w_{t−1})        perplexity = exp(nats a token)

A text is read from left to right by whatever predicts the next token: n-gram model, recurrent
network, Transformer with a causal mask. What a long text is given differs: a recurrent network
carries its state from window to window; a Transformer sees nothing before its window. So its
windows overlap. Each starts ``stride`` tokens behind the one before, and only the tokens that are
new in it are predicted: each then has at least window − stride + 1 tokens before it. A stride of 1
gives each token all that the model can see, at the price of a pass a token.

A token's perplexity depends on what a token is. Models with different tokenizers are compared on
what they both read, the text: by nats a word, or by bits a byte (`TextScore`).
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
    asking,
    check_module,
    device_of,
    effect,
    token_logits,
)
from lmcourse.evaluation.text_score import TextScore, documents_of, scored_text
from lmcourse.models.inputs import check_range, whole_number
from lmcourse.models.ngram import NGramModel
from lmcourse.models.sampling import evaluating

WINDOW = 1024  # tokens, for a model that sets no limit
_READ = "this reading"
AT_ONCE = 2048  # tokens in a batch: the logits of a vocabulary of 50,000 take 0.4 GB


def perplexity(probabilities: Float[Tensor, " predicted"] | Sequence[float]) -> float:
    """The inverse probability of a text, normalized by its length: exp of the mean −log p.

    Args:
        probabilities: what the model gave each token of the text, in (0, 1]. Zero gives infinity.

    Raises:
        CourseError: there is none, or a number is no probability.
    """
    try:
        p = torch.as_tensor(probabilities).double().flatten()
    except (TypeError, ValueError, RuntimeError):
        raise CourseError(
            f"The probabilities {probabilities!r:.60} are no numbers.", "Pass a tensor or a list."
        ) from None
    if not len(p):
        raise CourseError("There is no probability.", "Pass those of one token or more.")
    wrong = p[~((p >= 0) & (p <= 1 + 1e-6))]  # (NaN is neither; float32 may round up)
    if len(wrong):
        raise CourseError(
            f"{wrong[0]:.6g} is no probability.",
            "Pass numbers of 0 to 1: of log-probabilities, log_p.exp(); of logits, their softmax.",
        )
    return torch.exp(-p.log().mean()).item()


def token_probabilities(
    model: NGramModel | nn.Module,
    ids: Int[Tensor, " tokens"],
    window: int | None = None,
    stride: int | None = None,
) -> Float[Tensor, " predicted"]:
    """p of every token of a text but the first, each given those before it.

    Args:
        model, window, stride: as in `log_probabilities`.
        ids: one text. The result is on the CPU, wherever the model is.

    Raises:
        CourseError: there is no second token to predict; the rest as in `log_probabilities`.
    """
    return log_probabilities(model, [ids], window=window, stride=stride)[0].exp()


def text_score(
    model: NGramModel | nn.Module,
    documents: Sequence[Any],
    *,
    texts: Sequence[str] | None = None,
    start: int | None = None,
    window: int | None = None,
    stride: int | None = None,
) -> TextScore:
    """Perplexity over documents, with standard errors; per word and byte if there is their text.

        text_score(model, [review.ids for review in reviews], start=end_id).perplexity

    Args:
        model, documents, start, window, stride: as in `log_probabilities`.
        texts: what the ids stand for, one string a document. With it, ``start`` is needed: the
            bytes of a first token that is not predicted would cost nothing.

    Raises:
        CourseError: as in `log_probabilities`; there are not as many texts as documents.
    """
    if texts is not None and start is None:
        raise CourseError(
            "The first token of each text is not predicted, and its bytes would cost nothing.",
            "Say what stands before a text: start=….",
        )
    found = log_probabilities(model, documents, start=start, window=window, stride=stride)
    return scored_text(found, texts)


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
    """log p of the tokens of each document, in nats, given those before them in that document.

    Nothing passes from one document to the next. Documents are read side by side, the shorter ones
    padded behind their end, where a model that does not look ahead cannot see it.

    Args:
        model: n-gram, counted on ids; or one of ours that, called with ``input_ids`` (batch,
            time), returns ``logits`` of the token after each, or ``forward_logits`` (ELMo's). If
            it takes a ``state`` and returns one, this is carried from window to window.
        documents: ids, one list or tensor a document.
        start: an id that is read before each document, such as [CLS], <s>, or the mark that ends
            the document before. None: the first token is read and not predicted.
        window: how many tokens are read at a time; None: as many as the model has positions for,
            or 1,024.
        stride: how many of these are new, at most ``window``; None: half the window. With a state
            that is carried, all are.
        at_once: how many tokens make a batch, for the memory's sake; no number depends on it.

    Returns:
        Of each document one number a predicted token, float32 on the CPU.

    Raises:
        CourseError: no token is to be predicted; an id is none of the model's; the model looks
            ahead, or gives no logits; a number does not fit.
    """
    start = None if start is None else whole_number(start, "start", "the documents", least=0)
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
    """One batch, the longest row first: its windows one after the other."""
    count = torch.tensor([len(row) - 1 for row in rows])  # of predictions in each row
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device_of(model))
    found = torch.zeros(len(rows), int(count[0]))
    extra: dict[str, Any] = {}
    begin = known = 0  # where the window begins, and how many tokens of it are predicted already
    while known < count[0]:
        end = min(begin + window, int(count[0]))
        there = int((count > known).sum())  # the shorter rows have come to their end
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
    """Which rows are read side by side: those of about one length, the longest first."""
    order = sorted((i for i, row in enumerate(rows) if len(row) > 1), key=lambda i: -len(rows[i]))
    while order:
        width = min(len(rows[order[0]]) - 1, window)
        size = max(1, at_once // width)
        yield order[:size]
        order = order[size:]


def _sizes(
    model: nn.Module, window: int | None, stride: int | None, carried: bool
) -> tuple[int, int]:
    """How far a window reaches, and how far one begins behind the other."""
    limit = _positions(model)
    window = limit or WINDOW if window is None else whole_number(window, "window", _READ, 0)
    stride = None if stride is None else whole_number(stride, "stride", _READ, 0)
    if window < 1 or (limit is not None and window > limit):
        raise CourseError(
            f"A window of {window} tokens cannot be read.",
            f"Give 1 to {limit}, the model's positions." if limit else "Give at least 1.",
        )
    if carried:
        if stride not in (None, window):
            raise CourseError(
                f"A state is carried over a window of {window} tokens, not over {stride}.",
                "Leave out stride: what stands before a window is in its state.",
            )
        return window, window
    stride = stride if stride is not None else max(1, window // 2)
    if not 1 <= stride <= window:
        raise CourseError(
            f"With a stride of {stride}, windows of {window} tokens "
            + ("leave tokens out." if stride > window else "stay where they are."),
            f"Give a stride of 1 to {window}.",
        )
    return window, stride


def _check_causal(model: nn.Module, ids: Int[Tensor, " tokens"]) -> int:
    """See that the last token changes no earlier prediction: else the answers can be copied.

    Returns:
        How many tokens the model predicts.
    """
    ask = asking(model, FORWARD)
    if _positions(model) == 1:  # nothing is ahead
        return ask(ids[None, :1]).shape[-1]
    before, _ = effect(ask, ids, len(ids) - 1)
    if before > NOISE:
        raise CourseError(
            f"{type(model).__name__} looks ahead: another token at place {len(ids)} changes what "
            "it says before. It sees the tokens that it is to predict.",
            "Of a masked model ask pseudo_text_score; of others, mask what comes (causal=True).",
        )
    return ask(ids[None, :1]).shape[-1]


def _positions(model: nn.Module) -> int | None:
    """How many tokens a model can read at once; None: any number."""
    limit = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    return limit if isinstance(limit, int) else None
