"""Do a run: count or train, score, and keep what mixtures need."""

import shutil
from datetime import timedelta
from pathlib import Path

import torch
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.files import replacing
from research.brown.entries import NGRAMS, Learner, NGram
from research.brown.evaluation import best_weight, mixed, of_network, of_ngram, perplexity
from research.brown.kneser_ney import KneserNey
from research.brown.results import Mixed, Record, Result, Run, discounts_of, found_of
from research.brown.text import Text
from research.brown.training import trained
from research.pretrain.clock import Seconds
from research.pretrain.records import Machine
from research.runs import Checkpoints

EVERY = timedelta(seconds=60)  # a kill undoes no more than this
SCORES, CHECKPOINTS = "log_p.safetensors", "checkpoints"
Scored = dict[str, Tensor]
"""log p of each word of "validation" and of "test"."""


def counted(entry: NGram, text: Text, folder: Path) -> dict[str, Result]:
    """Count an n-gram model and score it with each discount; results by their digests."""
    start = Seconds.now()
    model = KneserNey(text.split("train").tolist(), entry.context, len(text.vocabulary))
    spent = Seconds.now() - start
    found = {}
    for run in discounts_of(entry):
        model.discount(run.setting["discount"])
        begin = Seconds.now()
        scored = {
            name: of_ngram(model, text.ids, *text.splits[name]) for name in ("validation", "test")
        }
        result = _result(run, scored, model.entries, spent, Seconds.now() - begin)
        _keep(scored, folder / run.digest(text.digest))
        found[run.digest(text.digest)] = result
    return found


def learned(run: Run, text: Text, folder: Path, record: Record) -> Result:
    """Train a network, or continue where it was killed; score it, also mixed with the best n-grams.

    Raises:
        CourseError: the n-gram models were not counted before.
    """
    assert isinstance(run.entry, Learner)
    rival = None if run.entry.both_sides else best_ngram(text, folder, record)
    own = folder / run.digest(text.digest)
    torch.manual_seed(run.seed)  # of the first weights, and of dropout
    network, budget = run.entry.built(len(text.vocabulary), run.setting)
    checkpoints = Checkpoints(
        own / CHECKPOINTS, every=EVERY, config={"run": run.config, "text": text.digest}
    )
    spent = trained(network, text.split("train"), budget, run.seed, checkpoints, run.epochs)
    begin = Seconds.now()
    scored = {
        name: of_network(network, text.ids, *text.splits[name]) for name in ("validation", "test")
    }
    scoring = Seconds.now() - begin
    parameters = sum(parameter.numel() for parameter in network.parameters())
    result = _result(run, scored, parameters, spent, scoring, _mixed(scored, rival))
    _keep(scored, own)
    return result


def clean(digest: str, folder: Path) -> None:
    """Delete the checkpoints of a run whose result is recorded."""
    shutil.rmtree(folder / digest / CHECKPOINTS, ignore_errors=True)


def best_ngram(text: Text, folder: Path, record: Record) -> Scored:
    """log p from the n-gram model that is best on validation; counted again if it is not here.

    Raises:
        CourseError: no n-gram model is recorded.
    """
    rows = [(result, entry) for entry in NGRAMS for result in found_of(entry, record)]
    if not rows:
        raise CourseError(
            "Networks are mixed with the best n-gram model, and none was counted yet.",
            f"Count them first: lmcourse brown {' '.join(entry.name for entry in NGRAMS)}",
        )
    best, entry = min(rows, key=lambda row: row[0].validation)
    own = folder / Run(entry, best.setting).digest(text.digest)
    if not (own / SCORES).is_file():
        counted(entry, text, folder)
    return kept(own / SCORES)


def kept(path: Path) -> Scored:
    """What `_keep` wrote."""
    from safetensors.torch import load

    found: Scored = load(path.read_bytes())
    return found


def _keep(scored: Scored, own: Path) -> None:
    from safetensors.torch import save

    with replacing(own / SCORES) as file:
        file.write(save({name: values.float().contiguous() for name, values in scored.items()}))


def _mixed(scored: Scored, rival: Scored | None) -> Mixed | None:
    if rival is None:
        return None
    weight = best_weight(scored["validation"], rival["validation"])
    return Mixed(
        weight, *(perplexity(mixed(scored[it], rival[it], weight)) for it in ("validation", "test"))
    )


def _result(
    run: Run,
    scored: Scored,
    parameters: int,
    spent: Seconds,
    scoring: Seconds,
    mixture: Mixed | None = None,
) -> Result:
    return Result(
        name=run.entry.name,
        config=run.config,
        setting=dict(run.setting),
        epochs=run.epochs,
        seed=run.seed,
        parameters=parameters,
        validation=perplexity(scored["validation"]),
        test=perplexity(scored["test"]),
        mixed=mixture,
        cpu_seconds=spent.cpu,
        wall_seconds=spent.wall,
        scoring_seconds=scoring.cpu,
        machine=Machine.here(torch.device("cpu")),
    )
