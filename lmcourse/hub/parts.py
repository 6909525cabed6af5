"""The files that make up a model: its configuration, its weights, its tokenizer.

It is the layout in which the `transformers` library saves a model into a folder, and in which
repositories on the Hugging Face hub hold one.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmcourse.errors import CourseError
from lmcourse.tokenizers.files import read_json, read_text

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
TOKENIZERS = (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt"))
"""Files of a tokenizer; the first that are all there are taken."""
PICKLES = re.compile(r".*\.(bin|pt|pth|ckpt|pkl|pickle)")
SHARD = re.compile(r"\w[\w.-]*\.safetensors")  # a name beside the index, and no path

LARGEST_CONFIG = 2**20  # bytes; BERT's has 570
LARGEST_TEXT = 2**26  # bytes; the largest tokenizer.json in use has half of that
ANEW = "It is damaged, or no model of the transformers library: save or download it again."


@dataclass(frozen=True)
class Parts:
    """Where a model's files are.

    Attributes:
        weights: one file, or several that share the tensors among them.
        tokenizer: by name; empty if there is none that the course can read.
    """

    config: Path
    weights: tuple[Path, ...]
    tokenizer: dict[str, Path]


def find_parts(names: Collection[str], get: Callable[[str], Path], place: str) -> Parts:
    """Choose among the files of a folder or a repository those that are needed.

    Args:
        names: the files that there are.
        get: where one of them is, fetched if need be.
        place: what to call the folder or repository in an error.

    Raises:
        CourseError: there is no configuration, or there are no weights but pickles.
    """
    if CONFIG not in names:
        raise CourseError(
            f"{place} has no {CONFIG}, so it holds no model of the transformers library.",
            "Give a folder or a repository with config.json and model.safetensors in it.",
        )
    config = get(CONFIG)
    weights = tuple(get(name) for name in _weights(names, get, place))
    chosen = next((kind for kind in TOKENIZERS if all(name in names for name in kind)), ())
    more = (TOKENIZER_CONFIG,) if chosen and TOKENIZER_CONFIG in names else ()
    return Parts(config, weights, {name: get(name) for name in (*chosen, *more)})


def _weights(names: Collection[str], get: Callable[[str], Path], place: str) -> list[str]:
    """The names of the files with the weights."""
    if WEIGHTS in names:
        return [WEIGHTS]
    if INDEX not in names:
        raise _no_weights(names, place)
    index = read_object(get(INDEX), LARGEST_TEXT).get("weight_map")
    shards = sorted({str(name) for name in index.values()}) if isinstance(index, dict) else []
    wrong = next((name for name in shards if not SHARD.fullmatch(name)), None)
    missing = next((name for name in shards if name not in names), None)
    if not shards or wrong or missing:
        why = f"names {wrong or missing!r}" if shards else "names no files"
        end = ", which is no file beside it" if wrong else ", which is not there" * bool(missing)
        raise CourseError(f"The {INDEX} of {place} {why}{end}.", ANEW)
    return shards


def _no_weights(names: Collection[str], place: str) -> CourseError:
    pickles = sorted(name for name in names if PICKLES.fullmatch(name))
    if not pickles:
        return CourseError(
            f"{place} has no {WEIGHTS}.",
            "Give one that has: the course reads weights from safetensors files only.",
        )
    return CourseError(
        f"{place} has its weights as a pickle only ({pickles[0]}), which can run any code when it "
        "is opened; the course does not open it.",
        'Look among the pull requests of its page for "Adding `safetensors` variant of this model" '
        'and load that (revision="refs/pr/1", or what its number is). Or, where you trust who '
        "wrote it, convert it by the transformers library, "
        'AutoModel.from_pretrained(…).save_pretrained("folder"), and load that folder.',
    )


def read_object(path: Path, largest: int = LARGEST_CONFIG) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        CourseError: it is too large, or no JSON object.
    """
    size = path.stat().st_size if path.is_file() else 0
    if size > largest:
        raise CourseError(
            f"{path} has {size:,} bytes, where no such file has more than {largest:,}.", ANEW
        )
    found = read_json(read_text(path, ANEW), str(path), ANEW)
    if not isinstance(found, dict):
        raise CourseError(f"{path} holds no JSON object.", ANEW)
    return found
