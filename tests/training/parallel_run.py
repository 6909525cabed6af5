"""Train in several ways, alone or started by torchrun, and write what came out.

    python -m tests.training.parallel_run FOLDER [WAY …]
    torchrun … -m tests.training.parallel_run FOLDER [WAY …]

Each way is a model and an optimizer; a global batch is read by all processes.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.inputs import IGNORED
from lmcourse.training.batches import BatchLosses
from lmcourse.training.distributed import Processes, here, parallel, unwrapped
from lmcourse.training.loop import train
from lmcourse.training.masking import Masking
from lmcourse.training.objectives import MaskedLM
from research.runs import Checkpoints
from tests.training import every_objective

STEPS = 16
SETTINGS = {
    "vocab_size": 20,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 16,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
CONFIG = BertConfig(**SETTINGS)


class Shares:
    """Losses of this process's share of global batches, of as many predictions as it happens."""

    def __init__(self, model: nn.Module, count: int) -> None:
        self.model, self.count, self.at = model, count, 0
        self.config = {"of": "numbers"}
        self.rank, self.processes = here().rank, here().count

    def __iter__(self):
        while self.at < self.count:
            generator = torch.Generator().manual_seed(self.at)
            ids = torch.randint(5, 20, (5, 7), generator=generator)
            hidden = torch.rand(5, 7, generator=generator) < torch.rand(5, 1, generator=generator)
            hidden[1::2] &= self.at % 5 > 0  # the second process has none, now and then
            hidden[0, 0] = True
            self.at += 1
            share = slice(self.rank, None, self.processes)
            labels = ids.masked_fill(~hidden, IGNORED)[share]
            result = self.model(input_ids=ids.masked_fill(hidden, 3)[share], labels=labels)
            yield result.loss, int((labels != IGNORED).sum())

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def batches(model: nn.Module, steps: int, share: tuple[int, int] | None = None) -> BatchLosses:
    """Losses of the package's own: five masked texts a step, of different lengths."""
    generator = torch.Generator().manual_seed(9)
    lengths = torch.randint(3, 12, (41,), generator=generator).tolist()
    examples = [
        {"input_ids": torch.randint(5, 20, (length,), generator=generator).tolist()}
        for length in lengths
    ]
    objective = MaskedLM(model, Masking(3, 20))
    return BatchLosses(objective, examples, steps=steps, batch_size=5, share=share)


def built() -> nn.Module:
    """A model in float64; each process begins with other parameters."""
    torch.manual_seed(here().rank)
    return parallel(BertForMaskedLM(CONFIG).double())


def trained(model: nn.Module, steps=STEPS, losses_of=Shares, **options):
    """The whole model, the losses and the gradients' norms after so many steps."""
    adam = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = losses_of(model, steps * options.get("accumulate", 1))
    history = train(model, losses, optimizer=adam, clip=0.5, **({"watch": "nothing"} | options))
    state = {name: t.tolist() for name, t in unwrapped(model).state_dict().items()}
    return {"state": state, **vars(history)}


def divided(name: str):
    """Two steps, each of several batches whose shares differ in their numbers of predictions."""
    objective, examples = every_objective.made(name)
    model = objective.model = parallel(objective.model)

    def losses_of(model: nn.Module, count: int):
        if examples:
            return BatchLosses(objective, examples, steps=count, batch_size=3, seed=3)
        batch, share = every_objective.whole_batch(objective, examples), (here().rank, here().count)
        losses = every_objective.Parts(objective, batch, [3], share)
        losses.parts *= 2
        return losses

    return trained(model, 2, losses_of, accumulate=2)


def begun(folder: Path):
    """The first half of a run."""
    return resumed(folder / f"begun by {here().count}", STEPS // 2)


def ended(folder: Path):
    """The second half of a run that another number of processes began."""
    return resumed(folder / f"begun by {3 - here().count}", STEPS)


def resumed(folder: Path, steps: int):
    kept = Checkpoints(folder, every=1000)
    return trained(built(), steps, checkpoints=kept) | {"from": kept.resumed}


def dropout():
    """What a dropout keeps, in each process, where all began with one seed."""
    torch.manual_seed(5)
    parallel(BertForMaskedLM(CONFIG))
    bits = torch.nn.functional.dropout(torch.ones(50, dtype=torch.float64), 0.5) > 0
    kept = bits.double() @ 2.0 ** torch.arange(50, dtype=torch.float64)
    values = [0.0] * here().count
    values[here().rank] = kept.item()
    return Processes(parallel(nn.Linear(1, 1))).summed(values)


def exchanged():
    """The sum of the gradient's sizes, in each process, after a loss that is not last, and one."""
    model = built()
    processes, losses = Processes(model), iter(Shares(model, 2))
    norms = []
    for last in (False, True):
        with processes.together(last):
            next(losses)[0].backward()
        found = [0.0] * processes.count
        found[processes.rank] = sum(
            p.grad.abs().sum().item() for p in model.parameters() if p.grad is not None
        )
        norms.append(processes.summed(found))
    return norms


def apart():
    """What is said where processes would train apart, or read the same; and the steps taken."""
    found = []
    for way in range(2):
        model = built()
        whole = model.module
        losses = (Shares(whole, 3), batches(whole, 3))[way]
        before = torch.cat([p.detach().flatten() for p in model.parameters()])
        try:
            train(model, losses, watch="nothing")
            said = ""
        except CourseError as error:
            said = str(error)
        after = torch.cat([p.detach().flatten() for p in model.parameters()])
        found.append([said, torch.equal(before, after)])
    return found


def not_finite(folder: Path):
    """What is said where one process's share has a loss that is not finite, or its buffer is."""
    said = []
    for spoiled in (False, True):
        model = built()
        inner = getattr(model, "module", model)
        inner.register_buffer("statistics", torch.zeros(1, dtype=torch.float64))

        class Bad(Shares):
            def __iter__(self, inner=inner, spoiled=spoiled):
                for mean, weight in super().__iter__():
                    bad = self.at == 4 and here().rank == here().count - 1
                    if bad and spoiled:
                        inner.get_buffer("statistics").fill_(torch.nan)
                    yield mean * (torch.nan if bad else 1.0), weight

        kept = Checkpoints(folder / f"not finite, {spoiled}", every=2)
        try:
            train(model, Bad(model, 9), checkpoints=kept, watch="nothing")
        except CourseError as error:
            said.append(str(error))
    return said


def failing():
    """The last process fails in its fourth step; the others wait for it."""
    model = built()

    def losses():
        for at, loss in enumerate(Shares(model, STEPS)):
            if at == 3 and here().rank == here().count - 1:
                raise CourseError("The label 7 is out of range.", "Give another.")
            yield loss

    train(model, losses(), watch="log")


def saved(folder: Path):
    """The file of a trained model, read again; and whether it is a model's own class."""
    model = built()
    trained(model, 2)
    whole = unwrapped(model)
    if here().rank == 0:
        whole.save(folder / "whole.safetensors")
    return [type(model).__name__, type(whole).__name__, whole.training]


WAYS = {
    "data parallel": lambda folder: trained(built()),
    "accumulated": lambda folder: trained(built(), accumulate=2),
    "begun": lambda folder: begun(folder),
    "batches": lambda folder: trained(built(), losses_of=batches),
    "batches, accumulated": lambda folder: trained(built(), losses_of=batches, accumulate=2),
    **{name: lambda folder, name=name: divided(name) for name in every_objective.EVERY},
    "apart": lambda folder: apart(),
    "not finite": lambda folder: not_finite(folder),
    "ended": lambda folder: ended(folder),
    "dropout": lambda folder: dropout(),
    "exchanged": lambda folder: exchanged(),
    "saved": lambda folder: saved(folder),
    "failing": lambda folder: failing(),
    "watched": lambda folder: len(trained(built(), 2, watch="log")["losses"]),
}


def main(folder: Path, ways: list[str]) -> None:
    torch.set_num_threads(1)
    found = {}
    for way in ways:
        found[way] = WAYS[way](folder)
        (folder / f"{here().rank} of {here().count}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
