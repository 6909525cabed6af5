"""How fast RoBERTa, ALBERT, ELECTRA and DistilBERT are: `python -m benchmarks.variants`.

As `benchmarks.bert` measures BERT: beside the library's model with the same weights and batch. A
training step is that of the masked words; ELECTRA's is its discriminator's, at every place. The
table goes to `benchmarks/variants.md`.
"""

from benchmarks import side_by_side, tables
from benchmarks.side_by_side import COURSE, Size
from lmcourse.models.albert import AlbertForMaskedLM
from lmcourse.models.distilbert import DistilBertForMaskedLM
from lmcourse.models.electra import ElectraForPreTraining
from lmcourse.models.roberta import RobertaForMaskedLM

ALBERT_BASE = {
    "hidden_size": 768,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
}
COURSE_DISTILBERT = {"vocab_size": 2000, "dim": 128, "n_layers": 2, "n_heads": 4, "hidden_dim": 512}
SIZES = (
    Size("RoBERTa base", 8, 128, {}, RobertaForMaskedLM),
    Size("ALBERT base", 8, 128, ALBERT_BASE, AlbertForMaskedLM),
    Size("ELECTRA small", 8, 128, {}, ElectraForPreTraining),
    Size("DistilBERT base", 8, 128, {}, DistilBertForMaskedLM),
    Size("RoBERTa, the course's", 64, 64, COURSE, RobertaForMaskedLM),
    Size("ALBERT, the course's", 64, 64, COURSE | {"embedding_size": 32}, AlbertForMaskedLM),
    Size("ELECTRA, the course's", 64, 64, COURSE | {"embedding_size": 32}, ElectraForPreTraining),
    Size("DistilBERT, the course's", 64, 64, COURSE_DISTILBERT, DistilBertForMaskedLM),
)


if __name__ == "__main__":
    title = "The speed of BERT's variants"
    tables.run(lambda: side_by_side.main(__file__, title, SIZES))
