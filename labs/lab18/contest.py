"""The contest of lab 18: a model in a file of few bytes, what it scores, and the reader's own runs.

A compressed model is a dictionary of forms, one for each tensor of the model:

    a tensor of floats      stored in its own type; a matrix of many zeros as sparse rows
    a tuple (q, scale)      integers, in as few bits as their range needs, and a scale for the
                            matrix or for each row; the tensor is scale * q
    a list of forms         factors; the tensor is their product

`save` writes them as one safetensors file, and `load` reads the tensors back. A form may contain
other forms: `[(q, scale), (p, size)]` are two quantized factors.
"""

import copy
import csv
import json
import math
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import filelock
import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from lmcourse import hub
from lmcourse.corpus import BookWorld
from lmcourse.errors import CourseError
from lmcourse.labs import progress
from lmcourse.models.sampling import evaluating
from lmcourse.tokenizers import words
from lmcourse.training import Masking

LIMIT = 200_000  # bytes
FILE = "lab18-small-models.csv"
Form = Any  # a tensor, (integers, scale), or a list of forms
Batch = dict[str, Tensor]


def save(forms: dict[str, Form], path: Path) -> int:
    """Write a compressed model, and return the size of its file in bytes.

    Raises:
        CourseError: something in ``forms`` is none of the three forms.
    """
    path.write_bytes(_contents(forms))
    return path.stat().st_size


def load(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a compressed model, in float32."""
    with safe_open(path, "pt") as file:
        notes = json.loads(file.metadata()["notes"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    names = {*notes, *tensors}
    top = [name for name in names if ":" not in name and name.rpartition("/")[0] not in notes]
    return {name: _read(name, tensors, notes) for name in top}


def file_size(forms: dict[str, Form]) -> int:
    """Return the size that a compressed model has on disk, in bytes."""
    return len(_contents(forms))


def in_bits(weight: Tensor, bits: int) -> Form:
    """Return a matrix as integers of some bits and one scale for each row, in half precision.

    Raises:
        CourseError: there are fewer than two bits.
    """
    if bits < 2:
        raise CourseError(f"The number of bits is {bits}.", "Choose 2 or more: one is the sign.")
    largest = 2 ** (bits - 1) - 1
    scale = (weight.abs().amax(1) / largest).clamp(min=1e-6).half()
    return (weight / scale.float()[:, None]).round().clamp(-largest, largest), scale


def tensor_of(form: Form) -> Tensor:
    """Return the tensor that a form is loaded back as, in float32."""
    if isinstance(form, list):
        product = tensor_of(form[0])
        for each in form[1:]:
            product = product @ tensor_of(each)
        return product
    if isinstance(form, tuple):
        q, scale = (torch.as_tensor(each).float() for each in form)
        return _scaled(q, scale)
    return torch.as_tensor(form).float()


def _scaled(q: Tensor, scale: Tensor) -> Tensor:
    return q * (scale.reshape(-1, *[1] * (q.ndim - 1)) if scale.ndim else scale)


def _contents(forms: dict[str, Form]) -> bytes:
    tensors: dict[str, Tensor] = {}
    notes: dict[str, list[Any]] = {}
    for name, form in forms.items():
        _write(name, form, tensors, notes)
    return to_bytes(tensors, {"notes": json.dumps(notes, separators=(",", ":"))})


def _write(name: str, form: Form, tensors: dict[str, Tensor], notes: dict[str, list[Any]]) -> None:
    if isinstance(form, list) and form:
        notes[name] = ["product", len(form)]
        for number, each in enumerate(form):
            _write(f"{name}/{number}", each, tensors, notes)
    elif isinstance(form, tuple) and len(form) == 2:
        integers, scale = (torch.as_tensor(each).detach().cpu() for each in form)
        q = integers.double()
        wrong = not q.numel() or not bool(q.isfinite().all() and (q == q.round()).all())
        if wrong or float(q.max() - q.min()) > 255:
            raise CourseError(
                f"The integers of `{name}` are no integers, or need more than 8 bits.",
                "Round them, and choose the scale so that they are in −127 … 127.",
            )
        scale = scale.squeeze(-1) if scale.ndim == 2 else scale
        if scale.ndim > 1 or (scale.ndim == 1 and len(scale) not in (1, len(q))):
            raise CourseError(
                f"`{name}` has a scale of shape {list(scale.shape)}.",
                "Give a scalar, or one scale for each row.",
            )
        low = int(q.min())
        bits = max(1, math.ceil(math.log2(int(q.max()) - low + 1)))
        digits = np.unpackbits((q - low).to(torch.uint8).numpy().reshape(-1, 1), axis=1)[:, -bits:]
        tensors[f"{name}:q"] = torch.from_numpy(np.packbits(digits))
        tensors[f"{name}:s"] = scale.contiguous().clone()
        notes[name] = ["integers", bits, low, *q.shape]
    elif isinstance(form, (Tensor, np.ndarray)) and torch.as_tensor(form).is_floating_point():
        _write_floats(name, torch.as_tensor(form).detach().cpu(), tensors, notes)
    else:
        raise CourseError(
            f"The form of `{name}` is {type(form).__name__}, which the file cannot store.",
            "Give a tensor of floats, a tuple (integers, scale), or a list of forms.",
        )


def _write_floats(
    name: str, tensor: Tensor, tensors: dict[str, Tensor], notes: dict[str, list[Any]]
) -> None:
    if tensor.ndim == 2:
        rows, columns = tensor.nonzero(as_tuple=True)
        parts = {
            "n": torch.bincount(rows, minlength=len(tensor)).short(),
            "c": columns.to(torch.uint8 if tensor.shape[1] <= 256 else torch.int16),
            "v": tensor[rows, columns],
        }
        if sum(part.nbytes for part in parts.values()) < tensor.nbytes:
            notes[name] = ["sparse", *tensor.shape]
            tensors.update({f"{name}:{part}": each for part, each in parts.items()})
            return
    tensors[name] = tensor.clone(memory_format=torch.contiguous_format)


def _read(name: str, tensors: dict[str, Tensor], notes: dict[str, list[Any]]) -> Tensor:
    if name not in notes:
        return tensors[name].float()
    kind, *about = notes[name]
    if kind == "product":
        product = _read(f"{name}/0", tensors, notes)
        for number in range(1, about[0]):
            product = product @ _read(f"{name}/{number}", tensors, notes)
        return product
    if kind == "sparse":
        tensor = torch.zeros(about)
        rows = torch.arange(about[0]).repeat_interleave(tensors[f"{name}:n"].long())
        tensor[rows, tensors[f"{name}:c"].long()] = tensors[f"{name}:v"].float()
        return tensor
    bits, low, *shape = about
    digits = np.unpackbits(tensors[f"{name}:q"].numpy())[: math.prod(shape) * bits]
    values = digits.reshape(-1, bits) @ (1 << np.arange(bits)[::-1])
    q = torch.from_numpy(values).reshape(shape).float() + low
    return _scaled(q, tensors[f"{name}:s"].float())


@cache
def held_out(split: str = "validation", count: int = 100) -> tuple[Batch, ...]:
    """Return padded batches of held-out reviews in which 30% of the words are masked."""
    world = BookWorld()
    masking = Masking(words.MASK, words.size(world), rate=0.3, masked=1.0, random=0.0)
    rows = [torch.tensor(each["input_ids"]) for each in words.examples(world.split(split, count))]
    rows = sorted(rows, key=len)
    batches = []
    for start in range(0, count, 10):
        ids = pad_sequence(rows[start : start + 10], True, words.PAD)
        generator = torch.Generator().manual_seed(start)
        input_ids, labels = masking(ids, ids > words.MASK, generator=generator)
        mask = (ids != words.PAD).long()
        batches.append({"input_ids": input_ids, "attention_mask": mask, "labels": labels})
    return tuple(batches)


@torch.no_grad()
def of_reviews(model: nn.Module, batches: tuple[Batch, ...]) -> Tensor:
    """Return the summed loss, the right predictions and the masked words, [3, review]."""
    rows = []
    device = next(model.parameters()).device
    with evaluating(model):
        for batch in batches:
            ids, mask, labels = (each.to(device) for each in batch.values())
            logits = model(ids, attention_mask=mask).logits
            masked = labels != -100
            loss = F.cross_entropy(logits.mT, labels, reduction="none").sum(1)
            right = (logits.argmax(-1) == labels) & masked
            rows.append(torch.stack([loss, right.sum(1).to(loss), masked.sum(1).to(loss)]).cpu())
    return torch.cat(rows, 1).double()


def score(model: nn.Module, batches: tuple[Batch, ...]) -> tuple[float, float]:
    """Return the mean loss at the masked words in nats, and the share of right predictions."""
    loss, right, count = of_reviews(model, batches).sum(1).tolist()
    return loss / count, right / count


def stored(forms: dict[str, Form], model: nn.Module) -> tuple[int, nn.Module]:
    """Store a compressed model, load it into a copy of ``model``, and return its bytes with it.

    Raises:
        CourseError: a tensor of the model is missing, or there is one that it does not have.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        size, tensors = save(forms, path), load(path)
    expected = model.state_dict()
    for name in sorted({*expected} ^ {*tensors}):
        found = "has no tensor" if name in expected else "has an unknown tensor"
        raise CourseError(f"Your file {found} `{name}`.", "Keep all names of the model's state.")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape:
            raise CourseError(
                f"`{name}` is {list(tensor.shape)} when it is loaded back; the model has "
                f"{list(expected[name].shape)}.",
                "Check the order of the factors, and which axis has the scales. For a model with "
                "other sizes, pass one with its configuration as `model`.",
            )
    restored = copy.deepcopy(model)
    restored.load_state_dict(tensors)
    return size, restored


@dataclass(frozen=True)
class Run:
    """One entry of the contest."""

    date: str
    name: str
    bytes: int
    loss: float  # nats, validation reviews
    right: float


def measure(name: str, forms: dict[str, Form], model: str | nn.Module) -> Run:
    """Store a compressed model, load it back and score it, without an entry; see `enter`."""
    whole = hub.load(model).model if isinstance(model, str) else model
    size, restored = stored(forms, whole)
    loss, right = score(restored, held_out())
    return Run("", " ".join(name.split()), size, round(loss, 4), round(right, 4))


def enter(name: str, forms: dict[str, Form], model: str | nn.Module) -> Run:
    """Measure a compressed model, and add it to the reader's own runs.

    Args:
        name: what the table calls it.
        forms: the compressed model.
        model: the name of a shipped model, or a model of your own: the class and sizes into which
            the tensors are loaded.
    """
    run = measure(name, forms, model)
    run = replace(run, date=datetime.now(UTC).isoformat(timespec="seconds"))
    _append(run)
    return run


_here: list[Run] = []  # of this session, where no file can be written


def _file() -> Path | None:
    folder = progress.folder()
    return None if folder is None else folder / FILE


def _append(run: Run) -> None:
    """Add a line to the file, which is only ever appended to; the same run is kept once."""
    if any(replace(each, date=run.date) == run for each in runs()):
        return
    file = _file()
    try:
        if file is None:
            _here.append(run)
            return
        lock = file.parent / ".lmcourse" / "lab18.lock"
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with filelock.FileLock(lock, timeout=5):
            new = not file.exists() or not file.stat().st_size
            torn = not new and not file.read_bytes().endswith(b"\n")
            with file.open("a", encoding="utf-8", newline="") as lines:
                lines.write("\n" if torn else "")
                writer = csv.DictWriter(lines, [field.name for field in fields(Run)])
                if new:
                    writer.writeheader()
                writer.writerow(asdict(run))
    except (OSError, filelock.Timeout):
        _here.append(run)


def runs() -> list[Run]:
    """Return the reader's runs, oldest first; a line that cannot be read is left out."""
    file = _file()
    found: list[Run] = []
    if file is not None and file.exists():
        with suppress(OSError), file.open(encoding="utf-8", errors="replace", newline="") as lines:
            for row in csv.DictReader(lines):
                with suppress(KeyError, TypeError, ValueError, AttributeError):
                    numbers = int(row["bytes"]), float(row["loss"]), float(row["right"])
                    found.append(Run(row["date"], row["name"], *numbers))
    return [*found, *_here]


def table(*given: Run, limit: int = LIMIT) -> str:
    """Return the leaderboard as a Markdown table: runs within the limit first, best first.

    Args:
        given: further rows, such as baselines.
    """
    rows = sorted([*given, *runs()], key=lambda run: (run.bytes > limit, run.loss, run.date))
    head = "| | model | bytes | loss (nats) | right | date |\n|--:|---|--:|--:|--:|---|\n"
    places = [str(n) if run.bytes <= limit else "too large" for n, run in enumerate(rows, 1)]
    return head + "\n".join(
        f"| {place} | {run.name.replace('|', '/')} | {run.bytes:,} | {run.loss:.3f} "
        f"| {run.right:.1%} | {run.date[:10] or 'given'} |"
        for place, run in zip(places, rows, strict=True)
    )
