"""The widget Anatomy draws what a model computes: against a second, independent trace.

The second trace knows nothing of functions. It replays a pass with the recorded output of every
module of PyTorch, except one that gets noise: whatever receives another input reads that module.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor, nn

import lmcourse.models
from lmcourse.errors import CourseError
from lmcourse.evaluation.anatomy import anatomy
from lmcourse.models.albert import Albert, AlbertConfig
from lmcourse.models.attention import AdditiveAttention, MultiHeadAttention
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.checkpoint import Model
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.models.sampling import evaluating
from lmcourse.models.weights import Unrandom
from lmcourse.widgets.anatomy_data import Drawing
from tests.device.pretend import NAMES, entered
from tests.models.subject import Subject
from tests.models.subjects import SUBJECTS
from tests.parity.comparing import shaken
from tests.parity.word_vectors import CBOW, GloVe, SkipGram

ROOT = Path(lmcourse.models.__file__).parents[2]
TRANSPARENT = (nn.Dropout, nn.Identity)
Edge = tuple[int, int]


def inputs_of(subject: Subject, model: nn.Module) -> dict[str, Any]:
    """One sequence of the subject's batch, without masks where it has no padding."""
    batch = {name: it[:1] for name, it in subject.batch().items()}
    spelled: dict[str, Any] = {}

    def keep(*_: Any, **given: Any) -> Any:
        spelled.update(given)

    subject.call(keep, batch)  # type: ignore[arg-type]
    if "ELECTRA's two" in subject.name:
        return {name: it for name, it in spelled.items() if "mask" not in name}
    unmasked = subject.name.startswith("K-BERT")
    return {k: v for k, v in spelled.items() if unmasked or not re.search("mask|label", k)}


@dataclass
class Pass:
    """The calls of PyTorch's modules in one pass, in order, and the outputs by name."""

    names: list[str] = field(default_factory=list)
    inputs: list[list[Tensor]] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)
    results: dict[str, Tensor] = field(default_factory=dict)


def run(
    model: nn.Module, inputs: dict[str, Any], known: Pass | None = None, noisy: int = -1
) -> Pass:
    """Run the model; with a known pass, replay its modules' outputs, one of them with noise."""
    found = Pass()
    torch.manual_seed(5)

    def hook(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        found.names.append(names[module])
        found.inputs.append([it.clone() for it in args if it.is_floating_point()])
        at = len(found.outputs)
        if known is not None:
            output = known.outputs[at]
            generator = torch.Generator().manual_seed(at)
            noise = torch.randn(output.shape, generator=generator, dtype=output.dtype)
            output = output + noise * (at == noisy)
        found.outputs.append(output.clone())
        return output

    names = {part: name for name, part in [*model.named_modules(), *teachers(model)]}
    parts = [it for it in names if is_leaf(it)]
    handles = [it.register_forward_hook(hook) for it in parts]
    try:
        result = model(**inputs)
    finally:
        for handle in handles:
            handle.remove()
    items = result.items() if hasattr(result, "items") else [("output", first(result))]
    found.results = {name: it for name, it in items if isinstance(it, Tensor)}
    return found


def is_leaf(module: nn.Module) -> bool:
    containers = (nn.ModuleList, nn.Sequential, *TRANSPARENT)
    return type(module).__module__.startswith("torch.") and not isinstance(module, containers)


def teachers(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The modules of a frozen teacher, which are no submodules, by name."""
    for path, part in model.named_modules():
        if hasattr(getattr(part, "teacher", None), "model"):
            for name, it in part.teacher.model.named_modules():
                yield f"{path}.teacher.{name}", it


def expected(
    model: nn.Module, inputs: dict[str, Any], drawing: Drawing
) -> tuple[Pass, set[tuple[int, int | str]]]:
    """The pass, and which call each call reads, directly or through functions; outputs by name."""
    known = run(model, inputs)
    edges: set[tuple[int, int | str]] = set()
    for at in range(len(known.names)):
        noisy = run(model, inputs, known, at)
        edges |= {(at, end) for end in changed(known, noisy)}
    paths = {it.path for it in drawing.blocks}
    everything = [*model.named_modules(), *teachers(model)]
    tables = [
        (name, part)
        for name, part in everything
        if isinstance(part, nn.Embedding) and name not in known.names and name in paths
    ]  # others are the matrix of a product, and counted among its parameters
    for name, part in tables:
        at = len(known.names)
        known.names.append(name)
        weight = part.weight.data
        try:
            part.weight.data = weight + torch.randn_like(weight)
            noisy = run(model, inputs, known)
        finally:
            part.weight.data = weight
        edges |= {(at, end) for end in changed(known, noisy)}
    return known, edges


def changed(known: Pass, other: Pass) -> Iterator[int | str]:
    for at, (before, after) in enumerate(zip(known.inputs, other.inputs, strict=True)):
        if not all(torch.equal(a, b) for a, b in zip(before, after, strict=True)):
            yield at
    for name, before in known.results.items():
        if not torch.equal(before, other.results[name]):
            yield name


def general(name: str) -> str:
    """A module's name without the numbers of layers."""
    return re.sub(r"\d+", "#", name)


def blocks_of(drawing: Drawing, names: list[str]) -> list[int | None]:
    """The block that stands for each call of a module, by the order of calls of one name."""
    waiting: dict[str, list[int]] = {}
    for i, block in enumerate(drawing.blocks):
        if block.what[0].isupper() and not drawing.children(i):
            times = 1
            for outer in drawing.lineage(i):
                times *= drawing.blocks[outer].count
            waiting.setdefault(general(block.path), []).extend([i] * times)
    return [
        waiting.get(general(name), []).pop(0) if waiting.get(general(name)) else None
        for name in names
    ]


def drawn(drawing: Drawing, modules: set[int]) -> set[tuple[int, int | str]]:
    """Which module's block each module's block reads, through those of functions."""
    before: dict[int, set[int]] = {}
    for start, end, *_ in drawing.arrows:
        before.setdefault(end, set()).add(start)

    def reach(index: int, seen: set[int]) -> set[int]:
        found: set[int] = set()
        for it in before.get(index, set()) - seen:
            seen.add(it)
            found |= {it} if it in modules else reach(it, seen)
        return found

    edges: set[tuple[int, int | str]] = {(a, b) for b in modules for a in reach(b, set())}
    for name, index in drawing.outputs.items():
        ends = {index} if index in modules else reach(index, set())
        edges |= {(a, name) for a in ends}
    return edges


def doubles(drawing: Drawing) -> dict[int, int]:
    """Tables that are drawn once more, where another module reads them, and their first block."""
    tables = [i for i, it in enumerate(drawing.blocks) if it.what == "Embedding" and not it.inputs]
    first = {drawing.blocks[i].path: i for i in reversed(tables)}
    return {i: first[drawing.blocks[i].path] for i in tables if i != first[drawing.blocks[i].path]}


def in_one_loop(drawing: Drawing, a: int, b: int) -> bool:
    both = set(drawing.lineage(a)) & set(drawing.lineage(b))
    return any(drawing.blocks[i].count > 1 for i in both)


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_a_drawing_is_what_the_model_computes(subject: Subject):
    torch.manual_seed(0)
    model = subject.made(torch.float64)
    check(model, inputs_of(subject, model))


def word_vectors() -> list[tuple[nn.Module, dict[str, Any]]]:
    ids = torch.arange(4)
    glove = {"words": ids, "contexts": ids + 1, "counts": torch.rand(4) * 9 + 1}
    return [
        (SkipGram(SkipGram.Config(9, 5)), {"centers": ids, "contexts": ids + 1}),
        (CBOW(CBOW.Config(9, 5)), {"centers": ids, "contexts": ids.repeat(2, 1).T}),
        (GloVe(GloVe.Config(9, 5)), glove),
        (AdditiveAttention(4, 5, 6), {"query": torch.rand(1, 3, 4), "key": torch.rand(1, 2, 5)}),
        (MultiHeadAttention(8, 2), {"hidden": torch.rand(1, 3, 8), "need_weights": True}),
    ]


@pytest.mark.parametrize("number", range(len(word_vectors())))
def test_a_module_alone_is_drawn(number: int):
    torch.manual_seed(0)
    model, inputs = word_vectors()[number]
    check(shaken(model), inputs)


def check(model: nn.Module, inputs: dict[str, Any]) -> None:
    """Compare a drawing with an independent trace: calls, connections, shapes, parameters."""
    torch.manual_seed(5)
    drawing = anatomy(model, **inputs)
    assert drawing.outputs
    with evaluating(model), torch.no_grad():
        known, edges = expected(model, inputs, drawing)
    blocks = blocks_of(drawing, known.names)
    twice = doubles(drawing)
    lost = [
        known.names[i] for i, it in enumerate(blocks) if it is None and leads_to(edges, i, drawing)
    ]
    assert lost == []
    modules = {
        i for i, it in enumerate(drawing.blocks) if it.what[0].isupper() and not drawing.children(i)
    }
    assert modules - twice.keys() == {it for it in blocks if it is not None}
    wanted = set()
    for a, b in edges:
        one, other = blocks[a], b if isinstance(b, str) else blocks[b]
        if one is None or other is None or (isinstance(b, str) and b not in drawing.outputs):
            continue
        if isinstance(other, int) and other <= one:  # the next layer
            assert in_one_loop(drawing, one, other)
        else:
            wanted.add((one, other))
    assert {(twice.get(a, a), b) for a, b in drawn(drawing, modules)} == wanted
    batch = len(next(it for it in inputs.values() if isinstance(it, Tensor)))
    for at, i in enumerate(blocks):
        if i is not None and at < len(known.outputs):
            shape = tuple(known.outputs[at].shape)
            assert drawing.blocks[i].shape == (shape[1:] if shape[0] == batch else shape)
    parts = dict(model.named_modules())
    for i in modules:
        block = drawing.blocks[i]
        if block.path in parts:
            own = sum(it.numel() for it in parts[block.path].parameters())
            assert block.parameters == own, block.path
    whole = next(it for i, it in enumerate(drawing.blocks) if drawing.children(i))
    assert whole.total == trained(model, inputs, drawing)


def leads_to(edges: set[tuple[int, int | str]], start: int, drawing: Drawing) -> bool:
    """Whether an output that is drawn depends on a call."""
    seen, stack = set(), [start]
    while stack:
        at = stack.pop()
        for a, b in edges:
            if a == at and b not in seen:
                seen.add(b)
                if isinstance(b, str):
                    if b in drawing.outputs:
                        return True
                else:
                    stack.append(b)
    return False


def trained(model: nn.Module, inputs: dict[str, Any], drawing: Drawing) -> int:
    """The number of parameters that get a gradient from the outputs that are drawn."""
    torch.manual_seed(5)
    with evaluating(model):
        result = model(**inputs)
    items = dict(result.items()) if hasattr(result, "items") else {"output": first(result)}
    model.zero_grad()
    sum(items[name].sum() * 1.0 for name in drawing.outputs).backward()
    return sum(it.numel() for it in model.parameters() if it.grad is not None)


def first(result: Any) -> Tensor:
    return result if isinstance(result, Tensor) else result[0]


def test_every_class_of_models_is_covered():
    for it in pkgutil.iter_modules(lmcourse.models.__path__):
        importlib.import_module(f"lmcourse.models.{it.name}")
    torch.manual_seed(0)
    known = {type(it.build()) for it in SUBJECTS} | {SkipGram, CBOW, GloVe}
    forwards = {it.forward for it in known}
    abstract = {"BertHead", "PreTrainingHeads", "Word2Vec"}
    own = {it for it in subclasses(Model) if it.__module__.startswith("lmcourse.models")}
    assert [it for it in own if it.forward not in forwards and it.__name__ not in abstract] == []


def subclasses(kind: type) -> Iterator[Any]:
    for it in kind.__subclasses__():
        yield it
        yield from subclasses(it)


def small(kind: Any = Bert, config: Any = BertConfig, **changes: Any) -> Any:
    torch.manual_seed(0)
    return kind(
        config(
            **(
                {
                    "vocab_size": 30,
                    "hidden_size": 8,
                    "num_hidden_layers": 2,
                    "num_attention_heads": 2,
                    "intermediate_size": 12,
                }
                | changes
            )
        )
    )


IDS = torch.arange(5)[None]


def named(drawing: Drawing, path: str) -> int:
    return [it.path for it in drawing.blocks].index(path)


def without(drawing: Drawing, start: str, end: str) -> None:
    (index,) = (
        i
        for i, (a, b, *_) in enumerate(drawing.arrows)
        if drawing.blocks[a].path.endswith(start) and drawing.blocks[b].path.endswith(end)
    )
    del drawing.arrows[index]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda it: without(it, "attention.key", "matmul"),
        lambda it: it.arrows.append((named(it, "embeddings.word"), len(it.blocks) - 1, False, "")),
        lambda it: setattr(it.blocks[-1], "parameters", 1),
        lambda it: setattr(it.blocks[1], "total", 1),
        lambda it: setattr(it.blocks[-1], "shape", (5, 9)),
        lambda it: setattr(it.blocks[-1], "path", "nowhere"),
        lambda it: [setattr(block, "count", 1) for block in it.blocks],
        lambda it: it.outputs.clear(),
    ],
    ids=["arrow lost", "arrow more", "parameters", "sum", "shape", "block", "layers", "outputs"],
)  # fmt: skip
def test_the_comparison_notices_a_wrong_drawing(wrong: Any):
    model = shaken(small(add_pooling_layer=False))
    drawing = anatomy(model, input_ids=IDS)
    wrong(drawing)
    with patch(f"{__name__}.anatomy", lambda *_, **__: drawing), pytest.raises(AssertionError):
        check(model, {"input_ids": IDS})


CELLS = {
    "rnn": "U x + b > +, W h > +, + > tanh, tanh ~> W h",
    "lstm": (
        "U x + b > +, W h > +, + > i = σ, + > f = σ, + > g = tanh, + > o = σ, f = σ > ×, "
        "i = σ > ×, g = tanh > ×, × > +, × > +, + > tanh, tanh > ×, o = σ > ×, + ~> ×, × ~> W h"
    ),
    "gru": (
        "U x + b > +, U x + b > +, U x + b > +, W h > +, W h > +, W h > +, + > r = σ, "
        "+ > z = σ, r = σ > ×, + > ×, × > +, + > n = tanh, z = σ > 1 −, 1 − > ×, n = tanh > ×, "
        "z = σ > ×, × > +, × > +, + ~> ×, + ~> W h"
    ),
}


@pytest.mark.parametrize("cell", CELLS)
def test_a_recurrent_step_is_its_equations(cell: Any):
    torch.manual_seed(0)
    drawing = anatomy(RNNLanguageModel(RNNConfig(20, 4, 6, cell)), input_ids=IDS)
    (step,) = (i for i, it in enumerate(drawing.blocks) if it.in_time)
    assert drawing.blocks[step].count == 5
    labels = [it.label for it in drawing.blocks]
    found = [
        f"{labels[a]} {'~' * back}> {labels[b]}"
        for a, b, back, _ in drawing.arrows
        if step in drawing.lineage(b)
    ]
    assert sorted(found) == sorted(CELLS[cell].split(", "))


def test_layers_are_drawn_once_and_shared_ones_said_to_be():
    own, shared = (
        anatomy(small(), input_ids=IDS),
        anatomy(small(Albert, AlbertConfig), input_ids=IDS),
    )
    (layer,) = (it for it in own.blocks if it.path == "encoder.layers.0")
    assert layer.count == 2 and not layer.shared and layer.total == 2 * layer.parameters
    (layer,) = (it for it in shared.blocks if it.count > 1)
    assert layer.label == "Layer" and layer.shared and layer.total == layer.parameters


def subject_drawing(name: str) -> Drawing:
    (subject,) = (it for it in SUBJECTS if it.name == name)
    torch.manual_seed(0)
    model = subject.made(torch.float32)
    return anatomy(model, **inputs_of(subject, model))


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        *[("BERT", 1), ("DeBERTa", 1), ("GPT-2", 1), ("ALBERT sharing attention", 1)],
        *[("RoBERTa for masked LM", 1), ("Transformer's target, pre-norm", 2)],
    ],
)
def test_equal_layers_are_folded(name: str, layers: int):
    drawing = subject_drawing(name)
    folded = [it for it in drawing.blocks if it.count > 1 and not it.in_time]
    assert [it.count for it in folded] == [2] * layers


def test_layers_that_others_read_too_are_not_folded():
    drawing = subject_drawing("ELMo over words")
    assert all(it.count == 1 or it.in_time for it in drawing.blocks)
    layers = [i for i, it in enumerate(drawing.blocks) if it.what == "LSTM" and not it.in_time]
    assert len(layers) == 4
    for first, second in (layers[:2], layers[2:]):  # of each direction
        reads = [
            {layer for layer in layers if layer in drawing.lineage(start)}
            for end, it in enumerate(drawing.blocks)
            if it.path == "add" and it.parent == drawing.blocks[second].parent
            for start in [a for a, b, *_ in drawing.arrows if b == end]
        ]
        assert sorted(map(min, reads)) == [first, second]  # output + x


def test_a_state_comes_from_its_own_layer():
    drawing = subject_drawing("seq2seq's target, additive")

    def inside(name: str) -> set[int]:
        outer = named(drawing, name)
        return {i for i in range(len(drawing.blocks)) if outer in drawing.lineage(i)}

    encoder, decoder = (
        [inside(f"{it}.layers.{n}") for n in (0, 1)] for it in ("encoder", "decoder")
    )
    for n in (0, 1):
        starts = {a for a, b, *_ in drawing.arrows if b in decoder[n]}
        assert starts & encoder[n] and not starts & encoder[1 - n]


def test_tied_parameters_are_found():
    drawing = anatomy(small(BertForMaskedLM), input_ids=IDS)
    (word,) = (it for it in drawing.blocks if it.path == "bert.embeddings.word")
    assert word.tied == ("linear",) and drawing.blocks[-1].tied == ("bert.embeddings.word",)


def test_parameters_at_the_published_size_are_exact():
    drawing = anatomy(small(), input_ids=IDS)
    sizes = {it.path: it.paper for it in drawing.blocks}
    assert sizes[""] == (109_482_240, 109_482_240)
    assert sizes["encoder.layers.0"] == (7_087_872, 12 * 7_087_872)
    large = anatomy(small(), input_ids=IDS, paper=BertConfig.large())
    assert {it.path: it.paper for it in large.blocks}[""] == (335_141_888,) * 2
    assert anatomy(nn.Linear(3, 4), input=torch.ones(1, 3)).paper == ""


def test_a_published_size_is_built_on_any_device_whatever_its_memory_holds():
    with Unrandom():  # `trunc_normal_` repeats its draws until all are in range
        weight = nn.init.trunc_normal_(torch.full((3, 2), 5.0), std=0.02)
    assert torch.equal(weight, torch.zeros(3, 2))


NUMBERS = ("BERT", "DeBERTa", "ELMo over characters", "seq2seq's target, additive")
NUMBERS += ("GRU language model", "Transformer's target, pre-norm", "RoBERTa for masked LM")


@pytest.mark.parametrize("subject", [it for it in SUBJECTS if it.name in NUMBERS], ids=str)
def test_numbers_are_what_they_are_computed_from(subject: Subject):
    torch.manual_seed(0)
    model = subject.made(torch.float32)
    drawing = anatomy(model, **inputs_of(subject, model))
    values = drawing.values

    def array(ref: list[int]) -> Any:
        return torch.tensor(values[ref[0] :][: torch.Size(ref[1:]).numel()]).reshape(ref[1:])

    seen = set()
    for block in drawing.blocks:
        for kept in block.numbers:
            it = {k: v if k == "op" else array(v) for k, v in kept.items()}
            found = compute(it)
            if found is not None:
                seen.add(it["op"])
                torch.testing.assert_close(it["y"], found, rtol=1e-4, atol=1e-4)
    assert len(seen) >= 5
    if subject.name == "BERT":
        assert seen == {"linear", "matmul", "softmax", "norm", "add", "mul", "tanh", "gelu"}
        assert sum(len(it.numbers) == 2 for it in drawing.blocks) >= 10  # both layers'


def compute(it: dict[str, Any]) -> Tensor | None:
    """What y is, as the page computes it."""
    op = it.get("op")
    if op == "linear":
        return it["x"] @ it["w"].T + it.get("bias", 0)
    if op == "matmul":
        return it["a"] @ it["b"].mT
    if op == "norm":
        return (it["x"] - it["mean"]) / it["sd"] * it["w"] + it["bias"]
    if op == "softmax":
        return it["a"].softmax(-1)[..., : it["y"].shape[-1]]
    if op in ("add", "mul"):
        return it["a"] + it["b"] if op == "add" else it["a"] * it["b"]
    if op == "sub":
        return it["a"] - it["b"]
    functions = {"tanh": torch.tanh, "gelu": nn.functional.gelu, "sigmoid": torch.sigmoid}
    return functions[op](it["a"]) if op in functions else None


def test_the_code_shown_is_the_code_that_ran():
    drawing = anatomy(small(), input_ids=IDS)
    (softmax,) = (it for it in drawing.blocks if it.label == "softmax")
    file, line, text = drawing.sources[softmax.sources[0]]
    assert file == "lmcourse/models/attention.py" and text.strip() == "return scores.softmax(-1)"
    assert (ROOT / file).read_text(encoding="utf-8").splitlines()[line - 1].strip() == text.strip()
    for file, line, text in drawing.sources:
        assert '"""' not in text
        code = (ROOT / file).read_text(encoding="utf-8").splitlines()
        assert code[line - 1].strip() == text.splitlines()[0].strip()


def test_what_a_pass_left_behind_is_nothing():
    model = small().train()
    before = {name: it.clone() for name, it in model.state_dict().items()}
    call = nn.Module.__call__
    anatomy(model, input_ids=IDS)
    assert model.training and nn.Module.__call__ is call and not model._forward_hooks
    assert all(torch.equal(it, before[name]) for name, it in model.state_dict().items())


@pytest.mark.parametrize("where", NAMES)
@pytest.mark.parametrize("name", ["BERT", "seq2seq's target, additive", "ELMo over characters"])
def test_a_model_on_a_device_is_drawn_the_same(where: str, name: str):
    (subject,) = (it for it in SUBJECTS if it.name == name)
    torch.manual_seed(0)
    model = subject.made(torch.float32)
    inputs = inputs_of(subject, model)
    here = anatomy(model, **inputs)
    with entered(where) as device:  # which also finds tensors that are still held
        there = anatomy(model.to(device), **{key: it.to(device) for key, it in inputs.items()})
    assert [it.label for it in there.blocks] == [it.label for it in here.blocks]
    assert there.arrows == here.arrows
    assert there.values == pytest.approx(here.values, abs=1e-4)


def test_numbers_are_kept_within_a_limit():
    sizes = [anatomy(small(), input_ids=IDS, most=most).values.nbytes for most in (100_000, 4_000)]
    assert sizes[0] > sizes[1] and sizes[1] <= 8_000


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (small(), {}, "no input"),
        (small(), {"input_ids": IDS, "tokens": "a story"}, "not a list of strings"),
    ],
)
def test_bad_inputs_have_a_remedy(model: Any, inputs: Any, message: str):
    with pytest.raises(CourseError, match=message) as caught:
        anatomy(model, **inputs)
    assert caught.value.remedy
