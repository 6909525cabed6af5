"""One run: trained, measured, and kept by the digest of all that decides it.

Its folder holds the trained model (``model.safetensors``) and its scores (``result.json``), which
are written at once. A run that is there is not trained again: what a claim measures besides is
measured on the model that is kept. One that was killed goes on from its last checkpoint. One that
was done elsewhere, and which a finding of the course records, has its scores, but no model here.
"""

import shutil
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import torch

from lmcourse import checkout, files
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.errors import CourseError
from lmcourse.findings import kept
from lmcourse.models.checkpoint import Model
from research.claims.claim import Run
from research.claims.learners import GivenRecipe
from research.claims.measures import MEASURES, Measured, parameters
from research.pretrain.clock import Seconds
from research.pretrain.recipe import Recipe
from research.pretrain.records import Machine
from research.runs import Checkpoints

EVERY = timedelta(seconds=30)  # a kill undoes no more than this
MODEL, RESULT, CHECKPOINTS = "model.safetensors", "result.json", "checkpoints"
FEW = 100  # fewer reviews than this to measure with: a run that is only tried out


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a run.

    Attributes:
        config: all that decides it (`Run.config`).
        world: BookWorld's digest.
        machine: where it was trained.
        steps, parameters: how many; the parameters are those of the model that is kept.
        wall_seconds, cpu_seconds: of the training, over all its parts.
        scores: "measure/score".
        measured_seconds: how long each measure took.
    """

    config: dict[str, Any]
    world: str
    machine: Machine
    steps: int
    parameters: int
    wall_seconds: float
    cpu_seconds: float
    scores: dict[str, float] = {}
    measured_seconds: dict[str, float] = {}

    @property
    def minutes(self) -> float:
        """How long it took in all."""
        return (self.wall_seconds + sum(self.measured_seconds.values())) / 60

    def lacks(self, measures: Iterable[str]) -> list[str]:
        """Which of these are not measured yet."""
        return sorted(set(measures) - self.measured_seconds.keys())


RECORDED = tuple(field for field in Result.__struct_fields__ if field != "config")


def home() -> Path:
    """Where runs are kept: ``_build/claims``."""
    return checkout.products() / "claims"


def result_of(run: Run, folder: Path, world: str) -> Result | None:
    """What came of a run, here or by a finding that the course keeps; None if it was not done."""
    path = folder / run.digest(world) / RESULT
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Result)
    except FileNotFoundError:
        return _recorded(run, world)
    except (OSError, msgspec.DecodeError) as error:
        raise CourseError(
            f"The result {path} cannot be read: {error}.",
            f"Delete the folder {path.parent}, and the run is done again.",
        ) from error
    if found.config != run.config:
        raise CourseError(
            f"The result {path} is of another run.", f"Delete the folder {path.parent}."
        )
    return found


def _recorded(run: Run, world: str) -> Result | None:
    record = runs_of().get(run.digest(world))
    if record is None:
        return None
    content = {name: record[name] for name in RECORDED} | {"config": run.config}
    return msgspec.convert(content, type=Result)


def runs_of(folder: Path | None = None) -> Mapping[str, Any]:
    """All runs that the findings rest on, by their digests.

    Raises:
        CourseError: a finding cannot be read.
    """
    paths = sorted((folder or kept.shelf()).glob("*.json"))
    return _runs_of(tuple((path, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=1)
def _runs_of(paths: tuple[tuple[Path, int], ...]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for path, _ in paths:
        for digest, run in kept.finding(path.stem, path.parent).runs.items():
            one = found.setdefault(digest, run)
            for name in ("scores", "measured_seconds"):  # each claim has measured its own
                one = one | {name: run[name] | one[name]}
            found[digest] = one
    return found


def is_here(run: Run, folder: Path, world: str) -> bool:
    """Whether its model is there, which others may start from."""
    return (folder / run.digest(world) / MODEL).is_file()


def perform(run: Run, measures: Iterable[str], folder: Path, world: BookWorld) -> Result:
    """Train a run if it was not, and measure what was not measured yet.

    Raises:
        CourseError: its source was not done before; the folder holds another run.
    """
    own = folder / run.digest(world.digest)
    source = None if run.source is None else _model(run.source, folder, world)
    found = result_of(run, folder, world.digest)
    if found is None or not is_here(run, folder, world.digest):
        found = _trained(run, source, own, world)
        _write(found, own)
        shutil.rmtree(own / CHECKPOINTS, ignore_errors=True)
    lacking = found.lacks(measures)
    if not lacking:
        return found
    short = (run.plan.recipe.budget.measured or FEW) < FEW
    given = Measured(_model(run, folder, world), world, source, short, run.seed)
    for name in lacking:
        start = Seconds.now()
        scores = {f"{name}/{key}": float(it) for key, it in MEASURES[name](given).items()}
        seconds = (Seconds.now() - start).wall
        found = msgspec.structs.replace(
            found,
            scores=found.scores | scores,
            measured_seconds=found.measured_seconds | {name: seconds},
        )
        _write(found, own)
    return found


def _trained(run: Run, source: Model | None, own: Path, world: BookWorld) -> Result:
    recipe = _with(run.plan.recipe, source)
    kept = Checkpoints(own / CHECKPOINTS, every=EVERY, config=run.config)
    trained = recipe.train(world, run.seed, torch.device("cpu"), kept, "nothing")
    trained.model.save(own / MODEL)
    return Result(
        config=run.config,
        world=world.digest,
        machine=Machine.here(torch.device("cpu")),
        steps=len(trained.history.losses),
        parameters=parameters(trained.model),
        wall_seconds=trained.seconds.wall,
        cpu_seconds=trained.seconds.cpu,
    )


def _with(recipe: Recipe, source: Model | None) -> Recipe:
    if isinstance(recipe, GivenRecipe):
        assert source is not None, f"{recipe.name} has a source in its plan"
        return recipe.with_given(source)
    return recipe


def _model(run: Run, folder: Path, world: BookWorld) -> Model:
    """The model of a run that was trained."""
    path = folder / run.digest(world.digest) / MODEL
    if not is_here(run, folder, world.digest):
        raise CourseError(
            f"The run {run.plan.recipe.name}, seed {run.seed}, was not done yet.",
            "Do it first: others start from it.",
        )
    source = None if run.source is None else _model(run.source, folder, world)
    recipe = _with(run.plan.recipe, source)
    kind = type(recipe.kept(recipe.built(world)))
    return kind.load(path).eval()


def _write(result: Result, own: Path) -> None:
    path = own / RESULT
    try:
        with files.replacing(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    except OSError as error:
        raise files.trouble(error, path, "Make room, and give the command again.") from error
