"""`pretrain`: train a model by its recipe, measure it, and put it among those of the course."""

import copy
from datetime import timedelta
from pathlib import Path

import torch

from lmcourse import checkout, devices, files
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.errors import CourseError
from lmcourse.hub import checkpoints as shelf
from lmcourse.models.checkpoint import Model
from lmcourse.training.watching import Watch
from research.pretrain import shipping
from research.pretrain.recipe import Trainable, Trained
from research.pretrain.recipes import recipe
from research.pretrain.records import Machine, Record, digest, thinned
from research.pretrain.spread import noted, same
from research.pretrain.tables import check_floor
from research.runs import Checkpoints

EVERY = timedelta(seconds=60)  # a kill undoes no more than this
RECORD = "record.json"


def pretrain(
    name: str,
    *,
    seed: int = 0,
    device: str | torch.device | None = None,
    folder: str | Path | None = None,
    ship: bool | Path = True,
    steps: int | None = None,
    watch: Watch = "log",
) -> Record:
    """Train a model from nothing, measure it against BookWorld's floor, and ship it.

    However it is interrupted, the same call goes on from the last minute's checkpoint, and gives
    the same model. Its folder then has the model, its tokenizer and its record, too:
    ``hub.load(folder)``.

    Args:
        name: of the recipe.
        seed: of the first weights, of the order of the reviews, and of the masks.
        device: where it is trained; None: the best there is.
        folder: where it is kept on the way; None: ``_build/pretrain/NAME-SEED``.
        ship: into ``data/checkpoints``, or into another folder; or not at all.
        steps: so few instead of the recipe's, to try it out. Such a model is not shipped into
            ``data/checkpoints``.

    Raises:
        CourseError: there is no such recipe or device; a folder cannot be written, or has another
            run; what came out lies below the floor, so it is wrong; or what training itself
            refuses.
    """
    chosen = recipe(name) if steps is None else recipe(name).shortened(steps)
    where = _device(device)
    folder = default_folder(name, seed, steps) if folder is None else Path(folder)
    files.require_writable(folder / RECORD, "Name another folder with `--folder`.")
    home = ship if isinstance(ship, Path) else _home() if ship and steps is None else None
    if home is not None:
        files.require_writable(
            home / shelf.INDEX, "Train with `--no-ship`, or in a checkout of your own."
        )
    world = BookWorld()
    config = {"recipe": chosen.config, "seed": seed, "world": world.digest}
    kept = Checkpoints(folder / "checkpoints", every=EVERY, config=config)
    machine = Machine.here(where)
    trained = chosen.train(world, seed, where, kept, watch)
    trained.model.cpu().eval().half().float()  # what is measured is what is shipped
    path = folder / "model.safetensors"
    in_half(trained.model).save(path)
    if trained.tokenizer is not None:
        trained.tokenizer.save(str(folder / "tokenizer.json"))
    record = _record(chosen, seed, machine, trained, world, path.stat().st_size)
    record.write(folder / RECORD)
    check_floor([record])
    return record if home is None else _ship(record, trained, home)


def again(
    name: str,
    *,
    seed: int,
    device: str | torch.device | None = None,
    folder: str | Path | None = None,
    watch: Watch = "log",
) -> tuple[Record, Record]:
    """Train a model that is shipped once more, and note in its record what came of it.

    So it is known how far a checkpoint may be from the next one of its recipe. The shipped model
    stays as it is.

    Args:
        name, seed, device, folder, watch: see `pretrain`.

    Returns:
        What this seed gave, and the record of the shipped model, which has it now. The shipped
        model's own seed is not noted twice.

    Raises:
        CourseError: no such model is shipped, or its recipe or BookWorld was another one; or what
            `pretrain` refuses.
    """
    config = dict(recipe(name).config)
    path = _home() / f"{name}.json"
    shipped = Record.read(path)
    files.require_writable(path, "Work in a checkout of your own.")
    if (shipped.recipe, shipped.world) != (config, BookWorld().digest):
        raise CourseError(
            f"The {name} that is shipped was trained by another recipe, or on another BookWorld.",
            f"Train that one anew first: lmcourse pretrain {name}",
        )
    found = pretrain(name, seed=seed, device=device, folder=folder, ship=False, watch=watch)
    shipped = noted(Record.read(path), found)  # read anew: others may have trained meanwhile
    shipped.write(path)
    return found, shipped


def default_folder(name: str, seed: int, steps: int | None = None) -> Path:
    """Where a run is kept."""
    short = "" if steps is None else f"-{steps}-steps"
    return checkout.products() / "pretrain" / f"{name}-{seed}{short}"


def _record(
    recipe: Trainable, seed: int, machine: Machine, trained: Trained, world: BookWorld, size: int
) -> Record:
    steps = len(trained.history.losses)
    few = recipe.shortened(1).scores(trained, world).table
    rows = {} if few is None else few.row().models
    return Record(
        name=recipe.name,
        about=recipe.about,
        architecture=type(trained.model).__name__,
        parameters=sum(parameter.numel() for parameter in trained.model.parameters()),
        bytes=size,
        digest=digest(trained.model),
        recipe=dict(recipe.config),
        seed=seed,
        steps=steps,
        world=world.digest,
        machine=machine,
        wall_seconds=trained.seconds.wall,
        cpu_seconds=trained.seconds.cpu,
        tokens=trained.tokens,
        loss=thinned(trained.history.losses),
        held_out=[(int(step), float(loss)) for step, loss in trained.held_out],
        best_step=steps if trained.best_step is None else trained.best_step,
        scores=recipe.scores(trained, world),
        few={name: one.loss.value for name, one in rows.items() if one.loss.value is not None},
    )


def _ship(record: Record, trained: Trained, home: Path) -> Record:
    """Put model, tokenizer and record into the folder of the course's models."""
    path = home / f"{record.name}.json"
    record = _with_earlier(record, path)
    shipping.ship(record.name, in_half(trained.model), trained.tokenizer, record.about, home)
    record.write(path)
    return record


def in_half(model: Model) -> Model:
    """A copy in half precision: half the bytes. Loaded, it is in single precision again."""
    return copy.deepcopy(model).half()


def _with_earlier(record: Record, path: Path) -> Record:
    """The record with the other seeds of the one that it replaces."""
    try:
        earlier = Record.read(path)
    except CourseError:
        return record
    if not same(earlier, record):
        return record
    return noted(record, *earlier.again, earlier)


def _home() -> Path:
    home = shelf.home()
    if home is None:
        raise CourseError(
            "There is no checkout of the course to put the model into.",
            "Give ship=False, or set LMCOURSE_ROOT to the checkout.",
        )
    return home


def _device(device: str | torch.device | None) -> torch.device:
    """Where to train.

    Raises:
        CourseError: the device is none, or is not there.
    """
    if device is None:
        return devices.device()
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise CourseError(f"{device!r} is no device.", 'Give "cpu", "cuda" or "mps".') from error
    if found.type not in devices.available():
        raise CourseError(
            f"There is no device {found.type!r} here.",
            f"Give one of {', '.join(devices.available())}, or none.",
        )
    return found
