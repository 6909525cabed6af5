"""Decoding the target of an encoder–decoder, token by token (chapter 09).

Greedy decoding takes the most likely token each time:

    y_t = argmax_v p(v | y_1 … y_{t-1}, x)

This need not give the most likely target. Beam search extends the k most likely prefixes. Those
that the end token completes leave the beam and are kept (Sutskever et al. 2014, "Sequence to
sequence learning with neural networks", section 3.2); the one with the best score is the result (Wu
et al. 2016, "Google's neural machine translation system", section 7, without the coverage penalty;
Vaswani et al. 2017 use k = 4 and α = 0.6):

    s(y) = log p(y | x) / lp(|y|)        lp(n) = ((5 + n) / 6)^α

The prefixes of a beam have the same length, so the penalty does not affect their order.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from lmcourse.errors import check_sizes
from lmcourse.models.encoder_decoder import Transformer
from lmcourse.models.sampling import evaluating
from lmcourse.models.seq2seq import Seq2Seq


@torch.no_grad()
def greedy(
    model: Transformer | Seq2Seq,
    input_ids: Int[Tensor, "batch source"],
    attention_mask: Bool[Tensor, "batch source"] | Int[Tensor, "batch source"] | None = None,
    *,
    end_token_id: int,
    max_new_tokens: int,
) -> Int[Tensor, "batch target"]:
    """Return the target of greedy decoding.

    Args:
        model: an encoder–decoder; the source is encoded once.
        input_ids, attention_mask: the source.
        end_token_id: the token that ends a target; padding follows it.
        max_new_tokens: maximal length of a target.

    Returns:
        The targets without the start token, with the end token if it was reached.
    """
    check_sizes(max_new_tokens=max_new_tokens)
    config = model.config
    with evaluating(model):
        encoded = model.encode(input_ids, attention_mask)
        start = config.decoder_start_token_id
        target = input_ids.new_full((len(input_ids), 1), start)
        ended = torch.zeros_like(target[:, 0], dtype=torch.bool)
        while target.shape[1] <= max_new_tokens and not bool(ended.all()):
            logits = model(
                attention_mask=attention_mask, decoder_input_ids=target, encoder_outputs=encoded
            ).logits
            token = logits[:, -1].argmax(-1).masked_fill(ended, config.pad_token_id)
            target = torch.cat([target, token.unsqueeze(1)], dim=1)
            ended |= token == end_token_id
    return target[:, 1:]


@torch.no_grad()
def beam_search(
    model: Transformer | Seq2Seq,
    input_ids: Int[Tensor, "batch source"],
    attention_mask: Bool[Tensor, "batch source"] | Int[Tensor, "batch source"] | None = None,
    *,
    end_token_id: int,
    max_new_tokens: int,
    num_beams: int = 4,
    alpha: float = 0.0,
) -> Int[Tensor, "batch target"]:
    """Return the best-scoring target of beam search.

    Args:
        model, input_ids, attention_mask, end_token_id: as in `greedy`.
        max_new_tokens: maximal length of a target; one of this length needs no end token.
        num_beams: k; 1 is greedy decoding.
        alpha: α; 0 compares probabilities, larger values favor longer targets.

    Returns:
        As `greedy`.
    """
    check_sizes(max_new_tokens=max_new_tokens, num_beams=num_beams)
    config = model.config
    with evaluating(model):
        ids = input_ids.repeat_interleave(num_beams, 0)
        mask = None if attention_mask is None else attention_mask.repeat_interleave(num_beams, 0)
        encoded = model.encode(ids, mask)
        ids = input_ids.new_full((len(input_ids), num_beams, 1), config.decoder_start_token_id)
        best = input_ids.new_full((len(input_ids), max_new_tokens), config.pad_token_id)
        search = _Search(ids, best, end_token_id, alpha)
        for _ in range(max_new_tokens):
            logits = model(
                attention_mask=mask,
                decoder_input_ids=search.ids.flatten(0, 1),
                encoder_outputs=encoded,
            ).logits[:, -1]
            search.extend(logits.log_softmax(-1).view(len(best), num_beams, -1))
            if search.is_settled():
                break
    return best[:, : int(search.length.max())]


class _Search:
    """The k most likely open prefixes of each source, and its best complete target.

    Args:
        ids: the start tokens.
        best: padding; the best targets are written into it.
    """

    def __init__(
        self,
        ids: Int[Tensor, "batch beam time"],
        best: Int[Tensor, "batch target"],
        end: int,
        alpha: float,
    ) -> None:
        self.ids, self.best, self.end, self.alpha = ids, best, end, alpha
        self.log_p = torch.zeros(ids.shape[:2], device=ids.device)  # [batch, beam]
        self.log_p[:, 1:] = -torch.inf  # the empty prefixes are equal: one is enough
        self.length = torch.zeros_like(best[:, 0])  # of the best targets
        self.score = torch.full_like(self.log_p[:, 0], -torch.inf)

    def extend(self, step: Float[Tensor, "batch beam vocab"]) -> None:
        """Extend the beam to the k most likely continuations; keep what they complete.

        Args:
            step: log p of each token after each prefix.
        """
        beams, vocab = step.shape[1:]
        self.log_p, found = (self.log_p.unsqueeze(-1) + step).flatten(1).topk(beams)
        parent, token = found // vocab, found % vocab  # [batch, beam]
        ids = self.ids.take_along_dim(parent.unsqueeze(-1), 1)
        self.ids = torch.cat([ids, token.unsqueeze(-1)], -1)
        length, ended = ids.shape[-1], token == self.end
        complete = ended | (length == self.best.shape[1])
        score, index = self._scores(length).masked_fill(~complete, -torch.inf).max(1)
        better = score > self.score
        target = self.ids.take_along_dim(index.view(-1, 1, 1), 1)[:, 0, 1:]  # [batch, length]
        self.best[better, :length] = target[better]
        self.length[better] = length
        self.score = torch.maximum(self.score, score)
        self.log_p = self.log_p.masked_fill(ended, -torch.inf)

    def is_settled(self) -> bool:
        """Whether no open prefix can exceed the best target: log p only decreases."""
        return bool((self.score >= self._scores(self.best.shape[1]).amax(1)).all())

    def _scores(self, length: int) -> Float[Tensor, "batch beam"]:
        """Return the score s that each prefix has at a length."""
        return self.log_p / ((5 + length) / 6) ** self.alpha
