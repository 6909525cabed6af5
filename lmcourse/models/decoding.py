"""An encoder–decoder writes its target: the likeliest token, step by step (chapter 09).

    y_t = argmax_v p(v | y_1 … y_{t-1}, x)

What is chosen is not taken back, so this need not be the likeliest target of all.
"""

import torch
from jaxtyping import Bool, Int
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
    if not 0 <= end_token_id < config.vocab_size:
        raise CourseError(
            f"end_token_id is {end_token_id}; the model knows {config.vocab_size} tokens.",
            "Give the id of the token that ended the targets in training.",
        )
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
