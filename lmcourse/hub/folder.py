"""A model from a configuration and weights that the `transformers` library wrote.

The library makes its own model of them first, since it knows what older versions of it wrote;
`lmcourse.models.conversion` then makes ours of that one. It is given numbers and settings by us,
and no folder: it opens no file, so no pickle, and gets no setting that could make it run code.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from logging import CRITICAL
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.hub.kinds import kind_for
from lmcourse.hub.parts import ANEW, Parts, read_object
from lmcourse.hub.undrawn import Undrawn
from lmcourse.models.checkpoint import Model, read_tensors
from lmcourse.models.conversion import Conversion

MOST = {  # of what takes memory before any weight is looked at
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_hidden_groups"), 1000),
    **dict.fromkeys(("inner_group_num", "summary_num"), 1000),
    "num_labels": 100_000,
}
SPARE = 10_000_000  # numbers that may be missing before a model is made of what there is


@dataclass(frozen=True)
class Read:
    """A model, the names of its classes if it has names for them, and the tensors it left."""

    model: Model
    labels: tuple[str, ...]
    unused: tuple[str, ...]


def read_model(parts: Parts, wanted: type[Model] | None, place: str) -> Read:
    """Our model of these files, in float32 and in evaluation mode.

    Args:
        wanted: its class; None: what the configuration names.
        place: what to call the folder or repository in an error.

    Raises:
        CourseError: a file cannot be read or is damaged; it is no model of ours, or has a setting
            that ours lacks; weights are missing or do not fit, or there are more layers of them.
    """
    config = read_object(parts.config)
    kind, conversion = kind_for(config, wanted, place)
    state = _tensors(parts.weights)
    with _quiet():
        settings, added = _settings(conversion, config, state, place)
        _check_size(conversion, settings, added, state, place)
        import transformers

        reference, report = getattr(transformers, conversion.architecture).from_pretrained(
            None,
            config=settings,
            state_dict=state,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,  # which are told below
            output_loading_info=True,
            **added,
        )
    _check_whole(report, kind, place, wanted is not None)
    _check_layers(report["unexpected_keys"], reference.state_dict(), place)
    with Undrawn():
        model = conversion.to_ours(kind, reference)
    unused = (name for name in report["unexpected_keys"] if not name.endswith("position_ids"))
    return Read(model, _labels(settings), tuple(sorted(unused)))


def _tensors(paths: tuple[Path, ...]) -> dict[str, Tensor]:
    """The tensors of all files together."""
    state: dict[str, Tensor] = {}
    for path in paths:
        _, tensors = read_tensors(path)
        twice = next((name for name in tensors if name in state), None)
        if twice:
            raise CourseError(f"{path} has the tensor {twice}, as a file before it has.", ANEW)
        state |= tensors
    return state


def _settings(
    conversion: Conversion, config: dict[str, Any], state: Mapping[str, Tensor], place: str
) -> tuple[Any, dict[str, bool]]:
    """The library's configuration, and the arguments that say which parts a model has.

    Only what decides about the computation goes in. Others could name code to be fetched.
    """
    import transformers

    if config.get("quantization_config") is not None:
        raise CourseError(
            f"The weights of {place} are quantized.",
            "Load the model it was made from; lmcourse.compression quantizes ours.",
        )
    large = [
        name
        for name, most in MOST.items()
        if isinstance(value := config.get(name), int) and not 0 <= value <= most
    ]
    if large:
        value = config[large[0]]
        raise CourseError(f"{place} claims {large[0]}={value!r}, which no model has.", ANEW)
    kind = getattr(transformers, conversion.config)
    names = {*conversion.settings.values(), *conversion.fixed, *conversion.old}
    names |= {*kind.attribute_map, "id2label", "label2id", "num_labels"}
    added = {
        argument: any(f"{part}." in name for name in state)
        for part, argument in conversion.parts.values()
    }
    try:
        return kind(**{name: config[name] for name in names if name in config}), added
    except Exception as error:  # each version of the library has its own for each wrong setting
        raise _unusable(place, error) from error


def _check_size(
    conversion: Conversion,
    settings: Any,
    added: dict[str, bool],
    state: Mapping[str, Tensor],
    place: str,
) -> None:
    """See that no model is made that is many times larger than what is in the files.

    Raises:
        CourseError: it would be, or these settings make none.
    """
    import transformers

    try:
        with torch.device("meta"):
            empty: nn.Module = getattr(transformers, conversion.architecture)(settings, **added)
    except Exception as error:  # as above
        raise _unusable(place, error) from error
    needed = sum(parameter.numel() for parameter in empty.parameters())
    there = sum(tensor.numel() for tensor in state.values())
    if needed > 2 * there + SPARE:
        raise CourseError(
            f"The configuration of {place} is of a model with {needed:,} numbers, and its weights "
            f"are {there:,}.",
            ANEW,
        )


def _check_whole(report: dict[str, Any], kind: type[Model], place: str, asked: bool) -> None:
    """See that every weight of the model came out of the files.

    Args:
        asked: whether the reader named the class, or else the configuration.

    Raises:
        CourseError: one is missing, or has another shape; the library would have drawn it anew.
    """
    if report["mismatched_keys"]:
        name, there, here = sorted(report["mismatched_keys"])[0]
        raise CourseError(
            f"{name} of {place} has the shape {tuple(there)}, and its configuration makes it "
            f"{tuple(here)}.",
            ANEW,
        )
    missing = sorted(report["missing_keys"])
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        through = f"{kind.__name__}.on_top_of(hub.load(…).model) puts a new one on it"
        cause = f"{place} has no weights for {', '.join(missing[:3])}{more} of {kind.__name__}."
        if not asked:
            raise CourseError(
                cause,
                f"Its config.json names {kind.__name__}, and asks for more than there is. {ANEW}",
            )
        raise CourseError(
            cause,
            "Load it as what it is, without a class"
            + (f"; if a head is missing, {through}." if hasattr(kind, "on_top_of") else "."),
        )


def _check_layers(unused: Iterable[str], names: Iterable[str], place: str) -> None:
    """See that no layer of the files is left over, of those that the model repeats.

    A head that a class has no place for may be left; half of the layers make another model.

    Raises:
        CourseError: one is.
    """
    known = {_of_any_layer(name) for name in names}
    known |= {name.partition(".")[2] for name in known}  # files may leave out the base's name
    for name in sorted(unused):
        general = _of_any_layer(name)
        if general != name and (general in known or general.partition(".")[2] in known):
            raise CourseError(
                f"{place} has layers left over, such as {name}: its files hold more of them than "
                "its config.json says.",
                ANEW,
            )


def _of_any_layer(name: str) -> str:
    return re.sub(r"\.\d+(?=\.)", ".N", name)


def _labels(settings: Any) -> tuple[str, ...]:
    """The names of the classes, unless they are numbers."""
    names = tuple(str(name) for _, name in sorted(settings.id2label.items()))
    usual = all(name == f"LABEL_{number}" for number, name in enumerate(names))
    return () if usual else names


def _unusable(place: str, error: Exception) -> CourseError:
    why = str(error).strip().split("\n")[-1].strip()
    return CourseError(f"The configuration of {place} makes no model: {why}.", ANEW)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library from writing what is looked at here: missing weights, and how fast it is."""
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
