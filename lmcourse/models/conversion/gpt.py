"""GPT and GPT-2 as the `transformers` library has them, and back.

The library stores a layer's matrices transposed, and those of queries, keys and values stacked.
"""

from dataclasses import replace
from typing import Any

from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear
from lmcourse.models.conversion.rules import SAME, TIED, Conversion

QKV = ("attention.query", "attention.key", "attention.value")
LAYER = Renaming(
    (
        Rule(tuple(f"{part}.weight" for part in QKV), "attn.c_attn.weight", transposed=True),
        Rule(tuple(f"{part}.bias" for part in QKV), "attn.c_attn.bias"),
        *linear("attention.output", "attn.c_proj", transposed=True),
        *linear("attention_residual.norm", "ln_1"),
        *linear("feed_forward.intermediate", "mlp.c_fc", transposed=True),
        *linear("feed_forward.output", "mlp.c_proj", transposed=True),
        *linear("feed_forward_residual.norm", "ln_2"),
    )
).under("encoder.layers.{layer}.", "h.{layer}.")
GPT2 = LAYER + Renaming(
    (
        Rule("embeddings.word.weight", "wte.weight"),
        Rule("embeddings.position.weight", "wpe.weight"),
        *linear("encoder.norm", "ln_f"),
    )
)
FIRST = LAYER + Renaming(
    (
        Rule("embeddings.word.weight", "tokens_embed.weight"),
        Rule("embeddings.position.weight", "positions_embed.weight"),
    )
)
SETTINGS = {
    "vocab_size": "vocab_size",
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "embd_pdrop": "embd_pdrop",
    "hidden_dropout_prob": "resid_pdrop",
    "attention_probs_dropout_prob": "attn_pdrop",
    "max_position_embeddings": "n_positions",
    "initializer_range": "initializer_range",
    "layer_norm_eps": "layer_norm_epsilon",
}
GPT2_SETTINGS = SETTINGS | {"intermediate_size": "n_inner", "hidden_act": "activation_function"}
GPT2_FIXED = {
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}
FIRST_FIXED = {"afn": "gelu"}  # which there is the approximation by tanh
FIRST_OURS = {"norm_first": False, "hidden_act": "gelu_new", "intermediate_size": None}


def _usual(config: Any) -> Any:
    """Replace an intermediate size of 4 · width by None, its default."""
    written = config.intermediate_size == 4 * config.hidden_size
    return replace(config, intermediate_size=None) if written else config


def _with_head(renaming: Renaming, words: str) -> Renaming:
    under = renaming.under("gpt.", "transformer.")
    return under + Renaming((), (Tied("lm_head.weight", f"transformer.{words}.weight"),))


def _gpt2(architecture: str, renaming: Renaming, fixed: dict[str, Any]) -> Conversion:
    settings, ours = GPT2_SETTINGS, {"norm_first": True}
    theirs = GPT2_FIXED | fixed
    return Conversion(architecture, renaming, "GPT2Config", settings, theirs, same=SAME, ours=ours)


def _first(architecture: str, renaming: Renaming, fixed: dict[str, Any]) -> Conversion:
    given = FIRST_FIXED | fixed
    return Conversion(
        architecture,
        renaming,
        "OpenAIGPTConfig",
        SETTINGS,
        given,
        ours=FIRST_OURS,
        usual=_usual,
    )


CONVERSIONS = {
    "GPT": (_gpt2("GPT2Model", GPT2, {}), _first("OpenAIGPTModel", FIRST, {})),
    "GPTForCausalLM": (
        _gpt2("GPT2LMHeadModel", _with_head(GPT2, "wte"), TIED),
        _first("OpenAIGPTLMHeadModel", _with_head(FIRST, "tokens_embed"), TIED),
    ),
}
