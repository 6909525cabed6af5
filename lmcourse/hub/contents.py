"""The files of a model in a folder, or in a repository of the Hugging Face hub."""

import re
from collections.abc import Collection

from lmcourse.errors import CourseError
from lmcourse.models.conversion.published import ANEW

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
SHARD = re.compile(r"model-\d{5}-of-(\d{5})\.safetensors")
PICKLE = re.compile(r".*\.(bin|pt|pth|ckpt|pkl|pickle)")
SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
VOCABULARIES = ("vocab.txt", "vocab.json", "merges.txt", "spiece.model")


def needed(names: Collection[str], source: str) -> list[str]:
    """The files to load among those of a folder or repository, the weights last.

    Args:
        source: what to call the folder or repository in an error.
    """
    if CONFIG not in names:
        raise CourseError(
            f"{source} has no {CONFIG}, so it holds no model of the transformers library.",
            "Give a folder or a repository with config.json and model.safetensors in it. A folder "
            "hides a model of the hub that has its name: load that from another folder.",
        )
    weights = [WEIGHTS] if WEIGHTS in names else sorted(filter(SHARD.fullmatch, names))
    if not weights:
        pickles = ", ".join(sorted(filter(PICKLE.fullmatch, names)))
        raise CourseError(
            f"{source} has no {WEIGHTS}"
            + (f", but a pickle only ({pickles})." if pickles else "."),
            "The course reads weights from safetensors files only, since a pickle can run any code "
            'when it is opened. Try revision="refs/pr/1", where the hub often has a converted '
            "file; or convert it with save_pretrained of the transformers library.",
        )
    total = SHARD.fullmatch(weights[0])
    if total and len(weights) != int(total[1]):
        raise CourseError(f"{source} has {len(weights)} of {int(total[1])} files of weights.", ANEW)
    vocabulary = ("tokenizer.json",) if "tokenizer.json" in names else VOCABULARIES
    return [CONFIG, *(name for name in (*vocabulary, *SETTINGS) if name in names), *weights]
