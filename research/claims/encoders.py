"""Claims about encoders: what context is worth, both sides of it, shared layers."""

from lmcourse.models.albert import AlbertForMaskedLM
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.deberta import DebertaForMaskedLM
from lmcourse.models.elmo import ElmoForPreTraining
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.word2vec import SkipGram
from research.claims.claim import Claim, Column, Contrast, Plan, Variant
from research.claims.learners import StartedBiLMRecipe, StartedCausalRecipe, StartedRecipe
from research.claims.left_to_right import LeftToRightLM
from research.claims.scale import (
    BERT,
    BILM_SIZES,
    BUDGET,
    LONGER,
    RELATIVE_SIZES,
    SIZES,
    TWICE,
)
from research.claims.span_questions import ANSWERS, COLUMNS, tuned
from research.pretrain.causal import AS_BERT
from research.pretrain.encoders import ENCODER, MaskedRecipe
from research.pretrain.vectors import SkipGramRecipe

SENSE = Column("word sense by the nearest neighbor, accuracy", "more", "sense/exact")
GAP = Column("gap, nats a masked token", "less", 0.0)
PARAMETERS = Column("parameters, thousands", "less", digits=0)
GAP_AND_SIZE = {"gap": "masked/gap", "parameters": "size/parameters"}

_CAUSAL = {name: it for name, it in SIZES.items() if name not in ENCODER} | AS_BERT

VECTORS = Plan(SkipGramRecipe("skip-gram", "static vectors", SkipGram, {"hidden_size": 64}, BUDGET))
_FROM = ", from skip-gram"  # without it, senses are not separated after so few steps
STARTED, STARTED_RELATIVE, STARTED_CAUSAL, STARTED_LEFT, STARTED_BILM = (
    Plan(kind(f"{name}{_FROM}", "", model, settings, BUDGET), VECTORS)
    for kind, name, model, settings in (
        (StartedRecipe, "bert", BertForMaskedLM, SIZES),
        (StartedRecipe, "relative positions", DebertaForMaskedLM, RELATIVE_SIZES),
        (StartedCausalRecipe, "causal", GPTForCausalLM, _CAUSAL),
        (StartedCausalRecipe, "left side", LeftToRightLM, RELATIVE_SIZES),
        (StartedBiLMRecipe, "biLM", ElmoForPreTraining, BILM_SIZES),
    )
)


def _sharing(name: str, about: str, embedding: int) -> Variant:
    settings = SIZES | {"embedding_size": embedding, "classifier_dropout": 0.0}
    recipe = MaskedRecipe(name, about, AlbertForMaskedLM, settings, TWICE)
    return Variant(name, about, (Plan(recipe),), GAP_AND_SIZE)


BEST_LAYER = {"sense": "sense/best layer"}

CONTEXTUAL = Claim(
    "contextual-vectors",
    "Contextual vectors of a word distinguish its senses; a single vector per word cannot",
    "peters2018",
    "section 5.3, table 5",
    "07",
    (
        Variant(
            "biLM", "ELMo's biLM, over words, on skip-gram's vectors", (STARTED_BILM,), BEST_LAYER
        ),
        Variant(
            "masked encoder",
            "relative positions, on skip-gram's vectors",
            (STARTED_RELATIVE,),
            BEST_LAYER,
        ),
        Variant("BERT", "absolute positions, on skip-gram's vectors", (STARTED,), BEST_LAYER),
        Variant("BERT from nothing", "", (BERT,), BEST_LAYER),
        Variant("skip-gram", "one vector per word", (VECTORS,), {"sense": "static sense/static"}),
        Variant(
            "averaged context",
            "the mean of the other words' skip-gram vectors",
            (VECTORS,),
            {"sense": "static sense/averaged context"},
        ),
        Variant(
            "untrained Transformer",
            "random layers over skip-gram vectors",
            (VECTORS,),
            {"sense": "static sense/untrained"},
        ),
        Variant(
            "untrained biLM",
            "the biLM with random LSTMs, over skip-gram vectors",
            (VECTORS,),
            {"sense": "untrained biLM/best layer"},
        ),
    ),
    {"sense": SENSE},
    (
        Contrast("biLM", "skip-gram", "sense", 0.05),
        Contrast("biLM", "averaged context", "sense", 0.05),
        Contrast("biLM", "untrained Transformer", "sense", 0.05),
        Contrast("biLM", "untrained biLM", "sense", 0.05),
        Contrast("masked encoder", "skip-gram", "sense", 0.05),
        Contrast("masked encoder", "averaged context", "sense", 0.05),
        Contrast("masked encoder", "untrained Transformer", "sense", 0.05),
        Contrast("BERT", "averaged context", "sense", 0.05),
    ),
    "The paper's model is a biLM; later encoders are added. The layer of each model is selected "
    "on one half of the texts and scored on the other. The averaged context and the untrained "
    "networks are controls. The networks start from skip-gram's vectors: with random vectors, an "
    "encoder learns no senses in so few steps.",
)

BIDIRECTIONAL = Claim(
    "bidirectional",
    "An encoder that sees both sides of a word is better than one that sees the left side alone",
    "devlin2019",
    "section 5.1, table 5",
    "10",
    (
        Variant("both sides", "relative positions", (STARTED_RELATIVE,), BEST_LAYER),
        Variant("left side", "the same network", (STARTED_LEFT,), BEST_LAYER),
        Variant("both sides, fine-tuned", "", (tuned(STARTED_RELATIVE),), ANSWERS),
        Variant("left side, fine-tuned", "", (tuned(STARTED_LEFT),), ANSWERS),
        Variant("both sides, absolute", "BERT: absolute positions", (STARTED,), BEST_LAYER),
        Variant("left side, absolute", "GPT", (STARTED_CAUSAL,), BEST_LAYER),
    ),
    {"sense": SENSE, **COLUMNS},
    (
        Contrast("both sides", "left side", "sense", 0.05),
        Contrast("both sides, fine-tuned", "left side, fine-tuned", "F1", 0.03),
        Contrast("both sides, absolute", "left side, absolute", "sense", 0.05),
    ),
    "All have the same sizes, reviews and steps, and start from skip-gram's vectors. The left- "
    "to-right models learn from every token, the others from 30 %. Both are fine-tuned on 4,000 "
    "span questions.",
)

SHARING = Claim(
    "parameter-sharing",
    "Sharing one layer costs little, and so do narrow embeddings",
    "lan2020",
    "section 4.4 and 4.5, tables 3 and 4",
    "13",
    (
        Variant("BERT", "separate layers", (Plan(LONGER),), GAP_AND_SIZE),
        _sharing("shared layers", "one layer, embeddings of 64", 64),
        _sharing("shared layers, narrow embeddings", "one layer, embeddings of 32", 32),
    ),
    {"gap": GAP, "parameters": PARAMETERS},
    (
        Contrast("shared layers", "BERT", "gap", 0.1, claimed="no worse"),
        Contrast(
            "shared layers, narrow embeddings", "shared layers", "gap", 0.1, claimed="no worse"
        ),
        Contrast("shared layers", "BERT", "parameters", 1.0),
    ),
    "With two layers, sharing saves only one; the paper has 12 and 24. All are trained for 8,000 "
    "steps.",
)

CLAIMS = (CONTEXTUAL, BIDIRECTIONAL, SHARING)
