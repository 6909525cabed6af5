"""The tokenizer of a model: a `tokenizers.Tokenizer`, and the inputs that the model takes of it."""

import inspect
from pathlib import Path

from tokenizers import Tokenizer

from lmcourse.errors import CourseError
from lmcourse.hub.contents import CONFIG, SETTINGS, VOCABULARIES
from lmcourse.models.checkpoint import Model

COLUMNS = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
"""The inputs that the course makes, by the attribute of an encoding."""
UNREAD = {
    "do_basic_tokenize": True,
    "never_split": [],
    "clean_text": True,
    "wordpieces_prefix": "##",
    "remove_space": True,
    "sp_model_kwargs": {},
}
"""Settings that `transformers` no longer reads, and the values that it computes with."""
REMEDY = "Save or download it again, or load a copy of the folder that has no tokenizer files."


def from_file(path: Path, model: Model) -> tuple[Tokenizer, tuple[str, ...]]:
    """The tokenizer of a tokenizer.json, and the names of the model's inputs.

    It pads batches if its vocabulary has ``[PAD]`` or ``<pad>``.

    Raises:
        CourseError: the file cannot be read, or has tokens that the model does not know.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise CourseError(f"{path} cannot be read: {error}.", REMEDY) from error
    for token in ("[PAD]", "<pad>"):
        if tokenizer.padding is None and (id_ := tokenizer.token_to_id(token)) is not None:
            tokenizer.enable_padding(pad_id=id_, pad_token=token)
    # Only a post-processor that gives the second text a type of its own distinguishes the two.
    types = ["token_type_ids"] * (1 in tokenizer.encode("", "").type_ids)
    return tokenizer, _inputs(["input_ids", *types, "attention_mask"], tokenizer, model, str(path))


def from_folder(
    folder: Path, files: list[str], model: Model
) -> tuple[Tokenizer | None, tuple[str, ...]]:
    """The tokenizer that ``transformers.AutoTokenizer`` reads, with the folder's settings.

    A tokenizer.json without settings beside it is complete, and read as it is.

    Raises:
        CourseError: it cannot be read, exists in Python only, has a setting that has no effect,
            makes inputs that the course does not, or has tokens that the model does not know.
    """
    if "tokenizer.json" in files and not {*SETTINGS} & {*files}:
        return from_file(folder / "tokenizer.json", model)
    if not {"tokenizer.json", *VOCABULARIES} & {*files}:
        return None, ()
    from transformers import AutoTokenizer
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    named = None
    try:
        settings = get_tokenizer_config(folder, local_files_only=True)
        named = settings.get("tokenizer_class")
        if named is None and CONFIG not in files:
            raise ValueError("tokenizer_config.json names no tokenizer_class")
        for name, value in UNREAD.items():
            if settings.get(name) not in (None, value):
                raise ValueError(f"{name}={settings[name]!r} has no effect there")
        read = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        tokenizer: Tokenizer = read.backend_tokenizer
        if set(tokenizer.get_vocab()) <= set(read.all_special_tokens):
            raise ValueError("it finds no vocabulary among the folder's files")
    except Exception as error:  # a different one for each class and each damage
        why = " ".join(str(error).split())[:200]
        raise CourseError(
            f"The tokenizer of {folder} ({named or 'of the class for its model'}) cannot be read "
            f"with the tokenizers library: {why}",
            REMEDY,
        ) from error
    tokenizer.no_truncation()  # as the library's own calls do
    tokenizer.no_padding()
    if read.pad_token is not None:
        tokenizer.enable_padding(
            direction=read.padding_side,
            pad_id=read.pad_token_id,
            pad_type_id=read.pad_token_type_id,
            pad_token=str(read.pad_token),
        )
    return tokenizer, _inputs(list(read.model_input_names), tokenizer, model, str(folder))


def check_known(tokenizer: Tokenizer, model: Model, source: str) -> None:
    """Check that a model knows all tokens of a tokenizer."""
    size, vocab = getattr(model.config, "vocab_size", None), tokenizer.get_vocab()
    last = max(vocab, key=lambda token: vocab[token], default=None)
    if size is not None and last is not None and vocab[last] >= size:
        raise CourseError(
            f"{source} gives {last!r} the id {vocab[last]}, and the {type(model).__name__} knows "
            f"{size} tokens.",
            "Use the tokenizer that the model was trained with.",
        )


def _inputs(names: list[str], tokenizer: Tokenizer, model: Model, source: str) -> tuple[str, ...]:
    """The inputs among these names that the model takes: DistilBERT takes no token types."""
    check_known(tokenizer, model, source)
    parameters = inspect.signature(model.forward).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        names = [name for name in names if name in {parameter.name for parameter in parameters}]
    if getattr(model.config, "type_vocab_size", None) == 0:
        names = [name for name in names if name != "token_type_ids"]
    if unknown := [name for name in names if name not in COLUMNS]:
        raise CourseError(
            f"The tokenizer of {source} makes the input {unknown[0]}, which the course does not.",
            f"Remove it from model_input_names in a copy's tokenizer_config.json. {REMEDY}",
        )
    return tuple(names)
