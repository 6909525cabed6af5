"""A model that the `transformers` library saved, as a model of the course.

The library builds its own model first, since it knows what its older versions wrote, and
`lmcourse.models.conversion` converts that one. It gets tensors and the settings that a conversion
knows, and no folder: so it opens no file and imports no code that the folder names.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from logging import CRITICAL
from math import prod
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import msgspec
import torch
from torch import Tensor

from lmcourse import models
from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.conversion import MODULES, conversions
from lmcourse.models.conversion.rules import Conversion
from lmcourse.models.weights import on_meta, read_header, read_tensors

ANEW = "It is damaged, or no model of the transformers library: save or download it again."

LARGEST_CONFIG = 2**20  # bytes; BERT's has 570
MOST_LABELS = 100_000  # transformers lists their names before a model is built
SPARE = 10_000_000  # parameters that may be missing from the files before a model is built


def read_model(
    config: Path, weights: Sequence[Path], wanted: type[Model] | None, source: str
) -> tuple[Model, tuple[str, ...], tuple[str, ...]]:
    """The course's model of these files, in float32 and in evaluation mode.

    Args:
        config: the path of a config.json.
        weights: safetensors files, which share the tensors among them.
        wanted: its class; None: the one that the configuration names.
        source: what to call the folder or repository in an error.

    Returns:
        The model, the names of its classes if they have names, and the tensors that it leaves out.
    """
    import transformers

    written = _read(config)
    kind, conversion = _kind(written, wanted, source)
    shapes = [(name, shape) for path in weights for name, shape in read_header(path)[1].items()]
    with _quiet():
        settings, parts = _settings(conversion, written, dict(shapes), source)
        state: dict[str, Tensor] = {}
        for path in weights:
            state |= read_tensors(path)[1]
        if len(state) < len(shapes):
            raise CourseError(f"{source} has a tensor in two files.", ANEW)
        reference, report = getattr(transformers, conversion.architecture).from_pretrained(
            None,
            config=settings,
            state_dict=state,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,  # they are reported, and refused below
            output_loading_info=True,
            **parts,
        )
    _check_report(report, kind, source, wanted is not None)
    _check_layers(report["unexpected_keys"], reference.state_dict(), source)
    labels = tuple(str(name) for _, name in sorted(settings.id2label.items()))
    if all(name == f"LABEL_{number}" for number, name in enumerate(labels)):
        labels = ()
    unused = (name for name in report["unexpected_keys"] if not name.endswith("position_ids"))
    return conversion.to_ours(kind, reference), labels, tuple(sorted(unused))


def class_named(name: str) -> type[Model] | None:
    """The course's class of this name, wherever in `lmcourse.models` it is."""
    modules = [module.name for module in iter_modules(models.__path__) if not module.ispkg]
    likely = tuple(of for beginning, of in MODULES.items() if name.startswith(beginning))
    # Those that share the beginning of its name come first, since each import takes time.
    for module in sorted(modules, key=lambda module: not module.startswith(likely)):
        found = getattr(import_module(f"{models.__name__}.{module}"), name, None)
        if isinstance(found, type) and issubclass(found, Model) and hasattr(found, "Config"):
            return found
    return None


def _kind(
    config: Mapping[str, Any], wanted: type[Model] | None, source: str
) -> tuple[type[Model], Conversion]:
    """The course's class for a configuration of the library, and the conversion."""
    import transformers

    named = config.get("architectures")
    architecture = named[0] if isinstance(named, list) and named else None
    kind = str(config.get("model_type"))
    known = [
        (getattr(transformers, one.config).model_type, name, one)
        for name, several in conversions().items()
        for one in several
    ]
    for model_type, name, one in known:
        fits = name in MODULES if architecture is None else one.architecture == architecture
        if kind == model_type and (name == wanted.__name__ if wanted else fits):
            found = wanted or class_named(name)
            assert found is not None  # a test checks each of them
            return found, one
    what = f"a model of the type {kind!r}" + (f" ({architecture})" if architecture else "")
    which = (
        f"which {wanted.__name__} cannot load" if wanted else "which is none of the course's models"
    )
    ours = list(dict.fromkeys(name for model_type, name, _ in known if model_type == kind))
    remedy = f"Load it as one of {', '.join(ours)}."
    if not ours:
        remedy = f"Give a model of the type {', '.join(sorted({each[0] for each in known}))}."
    raise CourseError(f"{source} holds {what}, {which}.", remedy)


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_CONFIG:
            raise ValueError(f"it has more than {LARGEST_CONFIG:,} bytes")
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, ValueError, RecursionError) as error:
        raise CourseError(f"{path} cannot be read: {error}.", ANEW) from error


def _settings(
    conversion: Conversion,
    config: dict[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    source: str,
) -> tuple[Any, dict[str, bool]]:
    """The library's configuration, and the arguments that say which parts its model has.

    Only settings that the computation depends on are kept; others may name code to fetch.
    """
    import transformers

    if config.get("quantization_config") is not None:
        raise CourseError(
            f"The weights of {source} are quantized.",
            "Load the model it was made from; lmcourse.compression quantizes the course's models.",
        )
    labels = config.get("num_labels", 0)
    if isinstance(labels, int) and labels > MOST_LABELS:
        raise CourseError(f"{source} has num_labels={labels}, as no model has.", ANEW)
    kind = getattr(transformers, conversion.config)
    names = {*conversion.settings.values(), *conversion.fixed, *conversion.old}
    names |= {*kind.attribute_map, "id2label", "label2id", "num_labels"}
    kept = {name: config[name] for name in names if name in config}
    parts = {
        argument: any(f"{part}." in name for name in shapes)
        for part, argument in conversion.parts.values()
    }
    architecture = getattr(transformers, conversion.architecture)
    empty = on_meta(lambda: architecture(kind(**kept), **parts), len(shapes), source)
    if (layers := empty.config.num_hidden_layers) < 1:
        raise CourseError(f"{source} has num_hidden_layers={layers}, as no model has.", ANEW)
    size = sum(parameter.numel() for parameter in empty.parameters())
    there = sum(map(prod, shapes.values()))
    if size > 2 * there + SPARE:
        cause = f"The configuration of {source} has {size:,} parameters, and its weights {there:,}."
        raise CourseError(cause, ANEW)
    return empty.config, parts


def _check_report(report: dict[str, Any], kind: type[Model], source: str, chosen: bool) -> None:
    """Check that every weight comes from the files: the library initializes what is missing.

    Args:
        chosen: whether the caller chose the class, and not the configuration.
    """
    for name, there, here in sorted(report["mismatched_keys"]):
        raise CourseError(
            f"{name} of {source} has shape {tuple(there)}, and its configuration {tuple(here)}.",
            ANEW,
        )
    if missing := sorted(report["missing_keys"]):
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        remedy = f"Its config.json names {kind.__name__}, which has more weights. {ANEW}"
        if chosen:
            remedy = "Load it without a class"
            if hasattr(kind, "on_top_of"):
                remedy += f"; {kind.__name__}.on_top_of(hub.load(…).model) adds a new head to it"
            remedy += "."
        raise CourseError(
            f"{source} has no weights for {', '.join(missing[:3])}{more} of {kind.__name__}.",
            remedy,
        )


def _check_layers(unused: Iterable[str], names: Iterable[str], source: str) -> None:
    """Check that no layer is left over; a head may be."""

    def general(name: str) -> str:
        return re.sub(r"\.\d+(?=\.)", ".N", name)

    known = {general(name) for name in names}
    known |= {name.partition(".")[2] for name in known}  # files may omit the base model's name
    for name in sorted(unused):
        pattern = general(name)
        if pattern != name and not known.isdisjoint({pattern, pattern.partition(".")[2]}):
            raise CourseError(
                f"{source} has layers left over, such as {name}: its files hold more of them than "
                "its config.json says.",
                ANEW,
            )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the library: missing weights are reported here, and progress is of no interest."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(CRITICAL)
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
