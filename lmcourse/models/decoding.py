"""An encoder–decoder writes its target, token by token (chapter 09).

Greedily, the likeliest token each time:

    y_t = argmax_v p(v | y_1 … y_{t-1}, x)

What is chosen is not taken back, so this need not be the likeliest target of all. A beam keeps the
k best beginnings in place of one, by their score (Wu et al. 2016, "Google's neural machine
translation system", section 7, without the coverage penalty; Vaswani et al. 2017 have k = 4 and
α = 0.6):

    s(y) = log p(y | x) / lp(|y|)        lp(n) = ((5 + n) / 6)^α
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.encoder_decoder import Transformer
from lmcourse.models.inputs import whole_number
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
    """The target that comes of taking the likeliest token each time.

    Args:
        model: one that writes a target; the source is read once.
        input_ids, attention_mask: the source.
        end_token_id: what ends a target; behind it there is padding.
        max_new_tokens: after how many tokens to stop in any case.

    Returns:
        The targets without the start token, as long as the longest of them; with the token that
        ends them, where it came.

    Raises:
        CourseError: an input does not fit.
    """
    whole_number(max_new_tokens, "max_new_tokens", "greedy decoding")
    config = model.config
    _check_end(end_token_id, config.vocab_size)
    with evaluating(model):
        encoded = model.encode(input_ids, attention_mask)
        start = config.decoder_start_token_id
        read = input_ids.new_full((len(input_ids), 1), start)
        ended = torch.zeros_like(read[:, 0], dtype=torch.bool)
        while read.shape[1] <= max_new_tokens and not bool(ended.all()):
            logits = model(
                attention_mask=attention_mask, decoder_input_ids=read, encoder_outputs=encoded
            ).logits
            token = logits[:, -1].argmax(-1).masked_fill(ended, config.pad_token_id)
            read = torch.cat([read, token.unsqueeze(1)], dim=1)
            ended |= token == end_token_id
    return read[:, 1:]


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
    """The target of the best score among those that a beam finds.

    Args:
        model, input_ids, attention_mask, end_token_id, max_new_tokens: as in `greedy`.
        num_beams: k; 1 is greedy decoding.
        alpha: α; 0 compares the targets' probabilities, more favors longer targets.

    Returns:
        As `greedy`.

    Raises:
        CourseError: an input does not fit.
    """
    for name, value in (("max_new_tokens", max_new_tokens), ("num_beams", num_beams)):
        whole_number(value, name, "beam search")
    if alpha < 0:
        raise CourseError(f"alpha is {alpha}.", "Give 0 or more; 0.6 is the Transformer's.")
    vocab, padding = model.config.vocab_size, model.config.pad_token_id
    _check_end(end_token_id, vocab)
    with evaluating(model):
        ids = input_ids.repeat_interleave(num_beams, 0)
        mask = None if attention_mask is None else attention_mask.repeat_interleave(num_beams, 0)
        encoded = model.encode(ids, mask)
        beam = _Beam.begun(len(input_ids), num_beams, model.config.decoder_start_token_id, ids)
        for _ in range(max_new_tokens):
            logits = model(
                attention_mask=mask,
                decoder_input_ids=beam.read.flatten(0, 1),
                encoder_outputs=encoded,
            ).logits[:, -1]
            log_p = logits.log_softmax(-1).view(-1, num_beams, vocab)
            beam = beam.extended(log_p, end_token_id, padding, alpha)
            if beam.is_settled(max_new_tokens, alpha):
                break
    best = beam.score(alpha).argmax(1, keepdim=True)
    length = int(beam.length.take_along_dim(best, 1).max())
    return beam.read.take_along_dim(best.unsqueeze(-1), 1)[:, 0, 1 : length + 1]


@dataclass(frozen=True)
class _Beam:
    """For each source its k beginnings of a target, the best ones first."""

    read: Int[Tensor, "batch beam time"]
    log_p: Float[Tensor, "batch beam"]
    length: Int[Tensor, "batch beam"]  # up to its end, without the start token
    ended: Bool[Tensor, "batch beam"]

    @classmethod
    def begun(cls, batch: int, beams: int, start: int, like: Tensor) -> "_Beam":
        """Nothing is written yet. All k are the same, so only one counts."""
        read = like.new_full((batch, beams, 1), start)
        log_p = torch.zeros(batch, beams, device=like.device)
        log_p[:, 1:] = -torch.inf
        length = torch.zeros_like(read[..., 0])
        return cls(read, log_p, length, torch.zeros_like(length, dtype=torch.bool))

    def extended(
        self, log_p: Float[Tensor, "batch beam vocab"], end: int, padding: int, alpha: float
    ) -> "_Beam":
        """The k best of all continuations by one token; what has ended stays as it is."""
        beams, vocab = log_p.shape[1:]
        only_padding = torch.full_like(log_p[0, 0], -torch.inf)
        only_padding[padding] = 0.0
        log_p = torch.where(self.ended.unsqueeze(-1), only_padding, log_p)
        total = self.log_p.unsqueeze(-1) + log_p
        length = self.length + (~self.ended).long()
        score = total / _penalty(length, alpha).unsqueeze(-1)
        best = score.flatten(1).topk(beams).indices
        parent, token = best // vocab, best % vocab
        read = self.read.take_along_dim(parent.unsqueeze(-1), 1)
        return _Beam(
            torch.cat([read, token.unsqueeze(-1)], -1),
            total.flatten(1).take_along_dim(best, 1),
            length.take_along_dim(parent, 1),
            self.ended.take_along_dim(parent, 1) | (token == end),
        )

    def score(self, alpha: float) -> Float[Tensor, "batch beam"]:
        """s of each."""
        return self.log_p / _penalty(self.length, alpha)

    def is_settled(self, longest: int, alpha: float) -> bool:
        """Whether nothing that goes on can overtake what has ended: log p only falls."""
        in_reach = self.log_p / _penalty(torch.full_like(self.length, longest), alpha)
        going = in_reach.masked_fill(self.ended, -torch.inf).amax(1)
        done = self.score(alpha).masked_fill(~self.ended, -torch.inf).amax(1)
        return bool((done >= going).all())


def _penalty(length: Int[Tensor, "batch beam"], alpha: float) -> Float[Tensor, "batch beam"]:
    return ((5 + length) / 6) ** alpha


def _check_end(end_token_id: int, vocab_size: int) -> None:
    if not 0 <= end_token_id < vocab_size:
        raise CourseError(
            f"end_token_id is {end_token_id}; the model knows {vocab_size} tokens.",
            "Give the id of the token that ended the targets in training.",
        )
