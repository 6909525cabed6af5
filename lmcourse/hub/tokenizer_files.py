"""The tokenizer that was saved with a model, ready to make batches for it."""

import inspect
from pathlib import Path
from typing import Any

from lmcourse.errors import CourseError
from lmcourse.hub.parts import LARGEST_TEXT, TOKENIZER_CONFIG, read_object
from lmcourse.models.checkpoint import Model
from lmcourse.tokenizers import Tokenizer, from_vocab_json, from_vocab_txt
from lmcourse.tokenizers.tokenizer import PAD_TOKENS
from lmcourse.tokenizers.well_known import BERT_TOKENS, frame_as_bert


def read_tokenizer(files: dict[str, Path], model: Model) -> Tokenizer | None:
    """The tokenizer in these files; None if there is none.

    Raises:
        CourseError: a file cannot be read, or has tokens that the model does not know.
    """
    for path in files.values():
        if path.stat().st_size > LARGEST_TEXT:
            raise CourseError(
                f"{path} has {path.stat().st_size:,} bytes, as no tokenizer has.",
                "Save or download it again.",
            )
    config = read_object(files[TOKENIZER_CONFIG]) if TOKENIZER_CONFIG in files else {}
    tokenizer = _read(files, config)
    return None if tokenizer is None else fitted(tokenizer, model, str(next(iter(files.values()))))


def fitted(tokenizer: Tokenizer, model: Model, place: str) -> Tokenizer:
    """A tokenizer, made ready for its model.

    It fills up batches if its vocabulary has a token for that, and gives the columns that the
    model takes: ``model(**tokenizer([…]))`` is understood.

    Args:
        place: what to call the tokenizer in an error.

    Raises:
        CourseError: it has tokens that the model does not know.
    """
    check_known(tokenizer, model, place)
    for token in PAD_TOKENS:
        id_ = tokenizer.token_to_id(token)
        if tokenizer.padding is None and id_ is not None:
            tokenizer.enable_padding(pad_id=id_, pad_token=token)
    _keep_columns(tokenizer, model)
    return tokenizer


def _read(files: dict[str, Path], config: dict[str, Any]) -> Tokenizer | None:
    if "tokenizer.json" in files:
        return Tokenizer.from_file(files["tokenizer.json"])
    if "vocab.txt" in files:
        return from_vocab_txt(
            files["vocab.txt"], lowercase=config.get("do_lower_case") is not False
        )
    if "vocab.json" in files:
        tokenizer = from_vocab_json(files["vocab.json"], files["merges.txt"])
        if all(tokenizer.token_to_id(token) is not None for token in BERT_TOKENS):
            tokenizer.add_special_tokens(BERT_TOKENS)  # DeBERTa's: GPT-2's pieces, BERT's frame
            frame_as_bert(tokenizer)
        return tokenizer
    return None


def check_known(tokenizer: Tokenizer, model: Model, place: str) -> None:
    """See that a model knows all tokens of a tokenizer.

    Raises:
        CourseError: it knows fewer.
    """
    size = getattr(model.config, "vocab_size", None)
    vocab = tokenizer.get_vocab()
    last = max(vocab, key=lambda token: vocab[token], default=None)
    if size is not None and last is not None and vocab[last] >= size:
        raise CourseError(
            f"{place} gives {last!r} the id {vocab[last]}, and the "
            f"{type(model).__name__} beside it knows {size} tokens.",
            "Put the tokenizer beside it that the model was trained with.",
        )


def _keep_columns(tokenizer: Tokenizer, model: Model) -> None:
    """Leave out what the model does not take, as DistilBERT no segments."""
    parameters = inspect.signature(model.forward).parameters.values()
    names = list(tokenizer.model_input_names)
    if "input_ids" not in {parameter.name for parameter in parameters}:
        return  # word vectors' pairs of words, say, are no tokenizer's columns
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        names = [name for name in names if name in {parameter.name for parameter in parameters}]
    if getattr(model.config, "type_vocab_size", None) == 0 and "token_type_ids" in names:
        names.remove("token_type_ids")
    if names != list(tokenizer.model_input_names):
        tokenizer.model_input_names = names
