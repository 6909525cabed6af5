"""The rows that chapters read, `lmcourse.findings.language_models`, from the results."""

from lmcourse.findings.language_models import LanguageModels, Row
from research.brown.entries import LEARNERS, NGRAMS, Learner, NGram, Setting
from research.brown.results import Record, best_of, found_of, long
from research.brown.text import MERGED


def table(record: Record) -> LanguageModels:
    """The table as far as it is done, of the models that read from left to right."""
    counts = {name: f"{count:,.0f}" for name, count in record.counts.items()}
    text = (
        f"Brown corpus: {counts['training']} words for training, {counts['validation']} for "
        f"validation, {counts['test']} for the test; {counts['vocabulary']} different words, those "
        f"that occur at most {MERGED} times merged into one"
    )
    causal = [entry for entry in LEARNERS if not entry.both_sides]
    entries: list[NGram | Learner] = [*NGRAMS, *causal]
    rows = [row(entry, record) for entry in entries if found_of(entry, record)]
    return LanguageModels(text=text, rows=rows)


def row(entry: NGram | Learner, record: Record) -> Row:
    """What was found of a model, which has at least one result."""
    found = found_of(entry, record)
    return Row(
        name=entry.name,
        about=entry.about,
        parameters=found[0].parameters,
        epochs=found[0].epochs,
        setting=setting_said(found[0].setting),
        tuned=isinstance(entry, NGram) or best_of(long(entry, record), record) is not None,
        seeds=[result.seed for result in found],
        validation=[result.validation for result in found],
        test=[result.test for result in found],
        mixed=[result.mixed.test for result in found if result.mixed is not None],
        minutes=sum(result.cpu_seconds for result in found) / 60 / len(found),
    )


def setting_said(setting: Setting) -> str:
    """What was tuned, in words: "learning rate 0.006, dropout 0.1, tied output weights"."""
    return ", ".join(_value_said(name.replace("_", " "), it) for name, it in setting.items())


def _value_said(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{'tied' if value else 'untied'} output weights"
    return "modified discounts" if value is None else f"{name} {value:g}"
