"""GPT-2 and the first GPT beside the `transformers` library's, with random settings and batches."""

from functools import partial
from random import Random
from typing import Any

import torch
from torch import Tensor

from lmcourse.models.gpt import GPT, GPTForCausalLM
from lmcourse.models.inputs import IGNORED
from tests.parity.bert import compare, some
from tests.parity.comparing import Architecture, Comparison, padded_batch, shaken


def settings(draw: Random) -> dict[str, Any]:
    """What both architectures' settings have in common."""
    heads = draw.choice([1, 2, 3, 4])
    return {
        "vocab_size": draw.randint(11, 40),
        "n_embd": heads * draw.choice([8, 10] if heads == 1 else [4, 5, 8]),
        "n_layer": draw.randint(1, 3),
        "n_head": heads,
        "embd_pdrop": draw.choice([0.0, 0.1]),
        "resid_pdrop": draw.choice([0.0, 0.1, 0.5]),
        "attn_pdrop": draw.choice([0.0, 0.1, 0.5]),
        "n_positions": draw.randint(12, 20),
        "layer_norm_epsilon": draw.choice([1e-12, 1e-5, 1e-2]),
        "attn_implementation": "eager",
        "bos_token_id": None,  # by default beyond so small a vocabulary, with a warning
        "eos_token_id": None,
    }


def of_gpt2(draw: Random) -> dict[str, Any]:
    """What only GPT-2 has."""
    return {
        "n_inner": draw.choice([None, 3, 7, 32]),
        "activation_function": draw.choice(["gelu_new", "gelu_new", "gelu", "relu"]),
        "use_cache": False,
    }


def model(architecture: str, draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """One random configuration and batch, padded on the right or on the left."""
    import transformers

    second = architecture.startswith("GPT2")
    kind = getattr(transformers, "GPT2Config" if second else "OpenAIGPTConfig")
    config = kind(**settings(draw), **(of_gpt2(draw) if second else {}))
    reference = shaken(getattr(transformers, architecture)(config))
    rows, time = draw.randint(2, 4), draw.randint(3, 12)
    ids, mask = padded_batch(draw, config.vocab_size, rows, time, left=draw.random() < 0.4)
    given = {"input_ids": ids, "attention_mask": mask}
    if draw.random() < 0.5:
        given["position_ids"] = torch.randint(config.n_positions, (rows, time))
    with_head = architecture.endswith("LMHeadModel")
    if with_head:
        given["labels"] = next_labels(some(torch.randint(config.vocab_size, ids.shape)), mask)
    compare(comparison, GPTForCausalLM if with_head else GPT, reference, given, dtype)


def next_labels(labels: Tensor, mask: Tensor) -> Tensor:
    """The labels that are predicted from a token, and not from padding before the first one."""
    from_token = torch.cat([torch.zeros_like(mask[:, :1]), mask[:, :-1]], 1)
    labels = labels.masked_fill((mask & from_token) == 0, IGNORED)
    labels[0, 1] = 0  # of the first sequence, which is full: so there is one at least
    return labels


ARCHITECTURES = tuple(
    Architecture(name, f"transformers.{architecture}", partial(model, architecture))
    for name, architecture in (
        ("GPT-2", "GPT2Model"),
        ("GPT-2 for causal LM", "GPT2LMHeadModel"),
        ("first GPT", "OpenAIGPTModel"),
        ("first GPT for causal LM", "OpenAIGPTLMHeadModel"),
    )
)
