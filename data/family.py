"""Count what the tables of models state, and write their page: `python -m data.family`.

``family.csv`` has a row for each model, ``sizes.csv`` the models' further sizes, ``benchmarks.csv``
published results, ``named.csv`` names without a row, and ``statements.csv`` what five sets of
course notes state. The columns ``counted`` are written here, from the package's models on the meta
device; so is ``family.md``, with every statement beside the count or the source. All other columns
are typed, each with its source.
"""

import csv
import re
import sys
from collections.abc import Callable
from pathlib import Path

from torch import nn

from lmcourse import table_forms
from lmcourse.models.albert import Albert, AlbertConfig
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.deberta import Deberta, DebertaConfig
from lmcourse.models.distilbert import DistilBert, DistilBertConfig
from lmcourse.models.electra import Electra, ElectraConfig
from lmcourse.models.elmo import ElmoConfig, ElmoModel
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.glove import GloVeConfig
from lmcourse.models.gpt import GPT, GPTConfig
from lmcourse.models.kbert import KBert
from lmcourse.models.roberta import Roberta, RobertaConfig
from lmcourse.models.spanbert import SpanBert, SpanBertConfig
from lmcourse.models.tinybert import tinybert_4, tinybert_6
from lmcourse.models.weights import meta_device
from lmcourse.models.word2vec import Word2VecConfig

FOLDER = Path(__file__).parent
PAGE = FOLDER / "family.md"
Row = dict[str, str]

_MEGATRON = {"vocab_size": 51_200, "max_position_embeddings": 1024}  # section 5.1
_GPT3 = {"max_position_embeddings": 2048}  # table 2.1
_CHINESE = 21_128  # tokens of Google's Chinese BERT
MODELS: dict[str, Callable[[], nn.Module]] = {
    "transformer-base": lambda: Transformer(TransformerConfig.base()),
    "transformer-big": lambda: Transformer(TransformerConfig.big()),
    "elmo-small": lambda: ElmoModel(ElmoConfig.small()),
    "elmo-medium": lambda: ElmoModel(ElmoConfig.medium()),
    "elmo-original": lambda: ElmoModel(ElmoConfig.original()),
    "gpt": lambda: GPT(GPTConfig.gpt()),
    "gpt2": lambda: GPT(GPTConfig.gpt2()),
    "gpt2-medium": lambda: GPT(GPTConfig.gpt2_medium()),
    "gpt2-large": lambda: GPT(GPTConfig.gpt2_large()),
    "gpt2-xl": lambda: GPT(GPTConfig.gpt2_xl()),
    "megatron": lambda: GPT(GPTConfig.sized(72, 3072, **_MEGATRON)),
    "gpt3": lambda: GPT(GPTConfig.sized(96, 12_288, **_GPT3)),
    "bert-base": lambda: Bert(BertConfig.base()),
    "bert-large": lambda: Bert(BertConfig.large()),
    "bert-xlarge": lambda: Bert(BertConfig.sized(24, 2048)),
    "roberta-base": lambda: Roberta(RobertaConfig.base()),
    "roberta-large": lambda: Roberta(RobertaConfig.large()),
    "albert-base": lambda: Albert(AlbertConfig.base()),
    "albert-large": lambda: Albert(AlbertConfig.large()),
    "albert-xlarge": lambda: Albert(AlbertConfig.xlarge()),
    "albert-xxlarge": lambda: Albert(AlbertConfig.xxlarge()),
    "spanbert-base": lambda: SpanBert(SpanBertConfig.base()),
    "spanbert-large": lambda: SpanBert(SpanBertConfig.large()),
    "electra-small": lambda: Electra(ElectraConfig.small()),
    "electra-base": lambda: Electra(ElectraConfig.base()),
    "electra-large": lambda: Electra(ElectraConfig.large()),
    "kbert-base": lambda: KBert(BertConfig.base(vocab_size=_CHINESE)),
    "deberta-base": lambda: Deberta(DebertaConfig.base()),
    "deberta-large": lambda: Deberta(DebertaConfig.large()),
    "distilbert": lambda: DistilBert(DistilBertConfig.base()),
    "tinybert-4": lambda: Bert(tinybert_4()),
    "tinybert-6": lambda: Bert(tinybert_6()),
}
VECTORS: dict[
    str, Word2VecConfig | GloVeConfig
] = {  # one vector for each word is published, and no network
    "word2vec": Word2VecConfig.google_news(),
    "glove": GloVeConfig.wikipedia_gigaword(),
}
REFERENCES = {  # course notes whose statements are checked
    "000": "a report on language models for book reviews, 2022",
    "001": "a lecture on language models and their advances, May 2021",
    "002": "slides on ELMo, BERT and BERT's variants",
    "003": "slides on backpropagation, self-attention and text representations",
    "004": "a proposal on pretrained models with low resources, February 2021",
}
UNITS = {"B": 1e9, "M": 1e6, "GB": 1e9 / 4, "%": 0.01, "times": 1.0}  # 4 bytes a parameter


def main() -> int:
    """Write the counts into the tables, and the page."""
    for name in ("family", "sizes"):
        rows = read(name)
        for row in rows:
            key = row["configuration"]
            row["counted"] = str(counted(key)) if key else ""
        with path(name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    PAGE.write_text(page(), encoding="utf-8")
    return 0


def path(name: str) -> Path:
    """Return the path of a table."""
    return FOLDER / f"{name}.csv"


def read(name: str) -> list[Row]:
    """Read the rows of a table: family, sizes, benchmarks, named or statements."""
    with path(name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def counted(key: str) -> int:
    """Count the parameters of a configuration of the package; tied ones once."""
    if key in VECTORS:
        config = VECTORS[key]
        return config.vocab_size * config.hidden_size
    with meta_device():
        return sum(parameter.numel() for parameter in MODELS[key]().parameters())


def answer(statement: Row) -> str:
    """Return what the package counts in place of a statement, else what its source states.

    A configuration is a key, or two keys joined by ``/`` or ``-``.
    """
    if not statement["configuration"]:
        return statement["answer"]
    first, sign, second = re.fullmatch(
        r"(\S+)(?: ([/-]) (\S+))?", statement["configuration"]
    ).groups()  # type: ignore[union-attr]
    value: float = counted(first)
    if sign:
        value = value / counted(second) if sign == "/" else value - counted(second)
    number = value / UNITS[statement["unit"]]
    return (
        f"{number:.3g} {statement['unit']}" if number < 1 else f"{number:,.2f} {statement['unit']}"
    )


def page() -> str:
    """Return the page of all tables."""
    models, named = read("family"), read("named")
    unit = {"": ""} | {row["name"]: row["name"] for row in models}
    sizes = [
        (
            row["name"],
            row["size"],
            millions(row["parameters"]),
            row["parameters_from"],
            millions(row["counted"], 1e6),
        )
        for row in sorted([*models, *read("sizes")], key=lambda row: list(unit).index(row["name"]))
        if row["parameters"] or row["counted"]
    ]
    where = [
        (row["name"], row["date"], row["named_in"] or "–", course(row), row["checked"] or "–")
        for row in models
    ]
    others = [(row["name"], row["named_in"], row["course"], row["why"]) for row in named]
    notes = [
        (row["name"], f"{row['remark']} {row['note']}".strip())
        for row in models
        if row["remark"] or row["note"]
    ]
    said = [
        (row["reference"], row["where"], row["quantity"], row["stated"], answer(row))
        for row in read("statements")
    ]
    apart = [
        row
        for row, each in zip(said, read("statements"), strict=True)
        if each["verdict"] == "disagrees"
    ]
    alike = [
        (*row, each["verdict"])
        for row, each in zip(said, read("statements"), strict=True)
        if each["verdict"] != "disagrees"
    ]
    results = [
        (
            f"{row['benchmark']}, {row['split']}, {row['kind']}",
            row["date"],
            ", ".join(filter(None, (row["model"], row["system"]))),
            row["value"],
            f"{row['source']}, {row['where']}",
            row["checked"],
            f"{row['remark']} {row['note']}".strip(),
        )
        for row in read("benchmarks")
    ]
    scores = ("benchmark, set", "date", "model", "score", "source", "checked", "notes")
    columns = ("notes", "where", "quantity", "stated", "counted, or in the source")
    places = ("model", "first public", "named in", "in the course", "checked")
    return f"""\
# The family of models

The tables of the widget Family and of chapter 19. `python -m data.family` writes this page; the \
counts are those of the package's models on the meta device. The other numbers are copied from \
their sources, which `references.bib` lists. What the papers do not state is empty.

The statements of five sets of course notes are checked against the counts and the sources:

{chr(10).join(f"- {key}: {text}" for key, text in REFERENCES.items())}

## What disagrees

{table_forms.markdown(columns, apart, range(5))}

## What agrees

{table_forms.markdown((*columns, "verdict"), alike, range(6))}

## Sizes, in millions of parameters

The counts are without heads of pretraining. For word2vec and GloVe, the \
published vectors are counted.

{table_forms.markdown(("model", "size", "published", "where", "counted"), sizes, (0, 1, 3))}

## Results on SQuAD (F1) and GLUE

Test and development sets, single models and ensembles are not comparable, nor are GLUE's means \
over eight and nine tasks. A copy is one of the source's text; a chapter has the table in this \
course; the date is that of the result's first publication.

{table_forms.markdown(scores, results, (0, 1, 2, 4, 5, 6))}

## Where each model is in the course

*Checked* lists the columns that were compared with a copy of the source, or with a table of the \
course; everything else is from memory of the paper.

{table_forms.markdown(places, where, range(5))}

Names without a row:

{table_forms.markdown(("name", "named in", "in the course", "what it is"), others, range(4))}

## Notes

{chr(10).join(f"- **{name}**: {text}" for name, text in notes)}
"""


def course(row: Row) -> str:
    """Return where a model is in the course."""
    return f"chapter {row['chapter']}, {row['course']}" if row["chapter"] else row["course"]


def millions(number: str, unit: float = 1.0) -> str:
    """Return a number of parameters in millions, to four digits at most."""
    value = float(number or 0) / unit
    return f"{value:,.{1 if value < 1000 else 0}f}".removesuffix(".0") if number else "–"


if __name__ == "__main__":
    sys.exit(main())
