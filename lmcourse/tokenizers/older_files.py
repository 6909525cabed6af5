"""What older versions of the ``tokenizers`` library wrote, as this version writes it."""

from typing import Any

from lmcourse.errors import CourseError

Json = Any  # what json.loads gives

MODEL_KEYS = (  # a model without "type", from before version 0.9, is the first that has these
    ("BPE", {"vocab", "merges"}),
    ("WordPiece", {"vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"}),
    ("WordLevel", {"vocab", "unk_token"}),
    ("Unigram", {"vocab"}),
)
RIGHT_FILE = "Give the tokenizer.json that the tokenizers library writes (version 1.0)."


def upgraded_metaspace(part: dict[str, Json], place: str) -> dict[str, Json]:
    """Before version 0.19, ``add_prefix_space`` said what ``prepend_scheme`` says now."""
    prefix = part.get("add_prefix_space", True)
    scheme = part.get("prepend_scheme", "always" if prefix else "never")
    if not prefix and scheme != "never":
        raise CourseError(
            f"{place} has add_prefix_space false, but prepend_scheme {scheme!r}.",
            'Set prepend_scheme to "never", or take add_prefix_space out.',
        )
    return {**part, "prepend_scheme": scheme}


def upgraded_model(part: dict[str, Json], place: str) -> dict[str, Json]:
    """Early versions wrote no type; until version 0.20, a merge was the string "left right"."""
    kind = part.get("type") or next((kind for kind, keys in MODEL_KEYS if keys <= part.keys()), "")
    missing = sorted(next((keys for name, keys in MODEL_KEYS if name == kind), set()) - part.keys())
    if missing:
        raise CourseError(f"{place} ({kind}) has no {missing[0]}.", RIGHT_FILE)
    part = {**part, "type": kind} if kind else part
    if kind == "BPE" and isinstance(part["merges"], list):
        part["merges"] = split_merges(part["merges"], f"{place}, merges")
    return part


def split_merges(merges: list[Json], place: str) -> list[Json]:
    """Merges as pairs. A merge that is a string holds its two parts with a space between.

    Raises:
        CourseError: a merge has not two parts.
    """
    pairs: list[Json] = []
    for position, merge in enumerate(merges, start=1):
        if isinstance(merge, str) and merge.startswith("#version"):
            continue
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list) or len(pair) != 2:
            raise CourseError(
                f"{place}: merge {position} is {merge!r}, which is not two tokens.",
                'Write each merge as ["left", "right"], or as "left right" with one space.',
            )
        pairs.append(pair)
    return pairs
