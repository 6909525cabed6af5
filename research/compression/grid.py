"""The grid: each encoder, each task and each seed, fine-tuned, compressed, and scored.

    fine-tune            two learning rates from the first seed; the better one on validation
    compress, recover    the same updates for all methods; two rates, likewise
    compress further     methods that need no updates

Each result is recorded as soon as it is there, so an interrupted grid goes on where it stopped.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import nn

from lmcourse.compression.size import bytes_on_disk, size_of
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.models.checkpoint import Model
from lmcourse.tokenizers import words
from lmcourse.training import BatchLosses, fit
from lmcourse.training.examples import padded
from lmcourse.training.objectives import Labelled
from lmcourse.training.schedules import linear, scheduled
from research.compression.encoders import Encoder
from research.compression.methods import METHODS, Method
from research.compression.tasks import Amounts, Data
from research.pretrain.clock import Seconds
from research.recorded import digest_of

SEEDS = (0, 1, 2)
TUNING, RECOVERY = (5e-4, 1.5e-3), (3e-4, 1e-3)  # learning rates that are tried
WARM_UP = 0.1
SIZES = ("stored", "sparse", "gzip", "parameters")
TUNED = "fine-tuned"  # in place of a method: before any


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A model and its scores.

    Attributes:
        encoder, task, method, seed, rate: which one; the rate is that of its last updates.
        validation, test: in the task's metric.
        stored, sparse, gzip: bytes of its file, see `lmcourse.compression.size`; those of the first
            trial, since seeds and rates change gzip's by less than a percent and the others not.
        parameters: their number.
        cpu_seconds: of all of it.
    """

    encoder: str
    task: str
    method: str
    seed: int
    rate: float
    validation: float
    test: float
    stored: int
    sparse: int
    gzip: int
    parameters: int
    cpu_seconds: float


@dataclass
class Grid:
    """What runs need, and where results and fine-tuned models are kept.

    Attributes:
        world: BookWorld.
        data: by tasks.
        amounts: of examples and updates.
        folder: of fine-tuned models, between two runs of the command.
        results: by digests; `done` adds to them.
        record: called after each new result.
        say: called with each line of progress.
    """

    world: BookWorld
    data: Mapping[str, Data]
    amounts: Amounts
    folder: Path
    results: dict[str, Result]
    record: Callable[[], None]
    say: Callable[[str], None]

    def run(self, encoder: Encoder, task: str, seed: int) -> None:
        """Do one encoder, one task, one seed, with all methods."""
        if self.is_done(encoder, task, (seed,)):
            return
        pretrained = encoder.load(self.world)
        tuned = self._tuned(encoder, pretrained, task, seed)
        done: dict[str, nn.Module] = {}
        needed = {method.of for method in METHODS if not self.has(encoder, task, method.name, seed)}
        for method in METHODS:
            if method.of is not None:
                self._further(encoder, task, seed, method, done)
            elif method.name in needed or not self.has(encoder, task, method.name, seed):
                done[method.name] = self._recovered(encoder, task, seed, method, tuned)

    def is_done(self, encoder: Encoder, task: str, seeds: Sequence[int] = SEEDS) -> bool:
        """Whether all results of these seeds are there."""
        return all(
            self.has(encoder, task, method.name, seed) for method in METHODS for seed in seeds
        )

    def has(self, encoder: Encoder, task: str, method: str, seed: int) -> bool:
        """Whether that result is there."""
        return self.chosen(encoder, task, method, seed) is not None

    def chosen(self, encoder: Encoder, task: str, method: str, seed: int) -> Result | None:
        """The result with the rate that is best on the first seed's validation."""
        rates = TUNING if method == TUNED else RECOVERY
        of = next((it.of for it in METHODS if it.name == method), None)
        decides = method if of is None else of
        tried = [self.get(encoder, task, decides, SEEDS[0], rate) for rate in rates]
        if not all(tried):
            return None
        best = max((it for it in tried if it), key=lambda it: it.validation)
        return self.get(encoder, task, method, seed, best.rate)

    def get(
        self, encoder: Encoder, task: str, method: str, seed: int, rate: float
    ) -> Result | None:
        """That result, if it is there."""
        return self.results.get(self._digest(encoder, task, method, seed, rate))

    def _digest(self, encoder: Encoder, task: str, method: str, seed: int, rate: float) -> str:
        decides = [encoder.name, task, method, seed, rate, asdict(self.amounts)]
        return digest_of([self.world.digest, *decides, TUNING, RECOVERY])

    def _tuned(self, encoder: Encoder, pretrained: Model, task: str, seed: int) -> Model:
        """The fine-tuned model: from its file, or now."""
        best = self.chosen(encoder, task, TUNED, SEEDS[0])
        for rate in TUNING if best is None else (best.rate,):
            path = self._path(encoder, task, seed, rate)
            if path.exists() and self.get(encoder, task, TUNED, seed, rate):
                continue
            start = Seconds.now()
            torch.manual_seed(seed)
            model = self.data[task].head_on(pretrained)
            self._learn(model, task, self.amounts.tune[task], rate, seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            model.eval().save(path)
            self._score(model, encoder, task, TUNED, seed, rate, start)
        best = self.chosen(encoder, task, TUNED, SEEDS[0])
        assert best is not None
        kind = type(self.data[task].head_on(pretrained))
        return kind.load(self._path(encoder, task, seed, best.rate))

    def _others(self, encoder: Encoder, task: str, method: str) -> Iterator[Result]:
        """The results of this model that are there, from other seeds and rates."""
        for seed, rate in product(SEEDS, TUNING if method == TUNED else RECOVERY):
            found = self.get(encoder, task, method, seed, rate)
            if found is not None:
                yield found

    def _path(self, encoder: Encoder, task: str, seed: int, rate: float) -> Path:
        digest = self._digest(encoder, task, TUNED, seed, rate)
        return self.folder / f"{encoder.name}-{digest}.safetensors"

    def _recovered(
        self, encoder: Encoder, task: str, seed: int, method: Method, tuned: Model
    ) -> nn.Module:
        """The compressed model after its updates, with the rate that is chosen."""
        best = self.chosen(encoder, task, method.name, SEEDS[0])
        models = {}
        for rate in RECOVERY if best is None else (best.rate,):
            start = Seconds.now()
            torch.manual_seed(100 + seed)
            size, count = self.amounts.batch_size, self.amounts.calibrate
            train = self.data[task].train
            batches = [padded(train[i : i + size], words.PAD) for i in range(0, count, size)]
            model = method.before(tuned, batches)
            self._learn(model, task, self.amounts.recover[task], rate, 100 + seed)
            models[rate] = method.after(model.eval()).eval()
            if self.get(encoder, task, method.name, seed, rate) is None:
                self._score(models[rate], encoder, task, method.name, seed, rate, start)
        best = self.chosen(encoder, task, method.name, SEEDS[0])
        assert best is not None
        return models[best.rate]

    def _further(
        self,
        encoder: Encoder,
        task: str,
        seed: int,
        method: Method,
        done: Mapping[str, nn.Module],
    ) -> None:
        """Compress what another method left."""
        assert method.of is not None
        of = self.chosen(encoder, task, method.of, seed)
        if of is None or self.has(encoder, task, method.name, seed):
            return
        start = Seconds.now()
        model = method.after(copy.deepcopy(done[method.of])).eval()
        self._score(model, encoder, task, method.name, seed, of.rate, start)

    def _learn(self, model: nn.Module, task: str, steps: int, rate: float, seed: int) -> None:
        """Take these updates; all weights learn."""
        size = self.amounts.batch_size
        losses = BatchLosses(
            Labelled(model), self.data[task].train, steps=steps, batch_size=size, seed=seed
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        curve = linear(round(WARM_UP * steps), steps)
        fit(
            model,
            losses,
            optimizer=optimizer,
            scheduler=scheduled(optimizer, curve),
            watch="nothing",
        )

    def _score(
        self,
        model: nn.Module,
        encoder: Encoder,
        task: str,
        method: str,
        seed: int,
        rate: float,
        start: Seconds,
    ) -> None:
        """Score a model, weigh it, and record both."""
        data = self.data[task]
        numbers: dict[str, Any] = {"validation": data.validation(model), "test": data.test(model)}
        first = next(iter(self._others(encoder, task, method)), None)
        if first is None:
            numbers |= weighed(model, method)
        else:
            numbers |= {name: getattr(first, name) for name in SIZES}
        result = Result(
            encoder=encoder.name,
            task=task,
            method=method,
            seed=seed,
            rate=rate,
            cpu_seconds=(Seconds.now() - start).cpu,
            **numbers,
        )
        self.results[self._digest(encoder, task, method, seed, rate)] = result
        self.record()
        self.say(
            f"{encoder.name}, {task}, {method}, seed {seed}, rate {rate:g}: "
            f"{result.test:.3f}, {result.stored:,} bytes, {result.cpu_seconds:.1f} s"
        )


def weighed(model: nn.Module, method: str = "") -> dict[str, int]:
    """Return the bytes of a model's file in three forms, and the number of its parameters."""
    stored = copy.deepcopy(model).half() if method == "float16 file" else model
    return {
        "stored": bytes_on_disk(stored),
        "sparse": bytes_on_disk(stored, "sparse"),
        "gzip": bytes_on_disk(stored, "gzip"),
        "parameters": size_of(model).parameters,
    }
