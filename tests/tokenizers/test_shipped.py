"""The tokenizers that come with the course's models: the ids of a text are those of its review."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from lmcourse.tokenizers import words
from lmcourse.tokenizers.characters import characters
from research.pretrain.recurrent import alphabet

FILES = sorted((Path(__file__).parents[2] / "data" / "checkpoints").glob("*.tokenizer.json"))
OF_CHARACTERS = {"bookworld-char-lstm", "bookworld-transformer"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_a_shipped_tokenizer_gives_the_ids_that_its_model_learned(path, world, tmp_path):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.save(str(tmp_path / "again.json"))
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    reviews = world.sample(50, seed=9)
    ids = tokenizer.get_vocab()
    for review, example in zip(reviews, words.examples(reviews), strict=True):
        if path.name.split(".")[0] not in OF_CHARACTERS:
            assert tokenizer.encode(review.text).ids == example["input_ids"].tolist()
            continue
        spelled = [ids.get(letter, words.UNKNOWN) for letter in review.text]
        assert tokenizer.encode(review.text).ids == [words.CLS, *spelled, words.SEP]


def test_the_tokenizers_of_today_are_those_that_are_shipped(world):
    shipped = {path.name.split(".")[0]: Tokenizer.from_file(str(path)) for path in FILES}
    assert len(shipped) > 10
    for name, tokenizer in shipped.items():
        if name not in OF_CHARACTERS:
            assert tokenizer.to_str() == words.words(world).to_str()
    assert shipped["bookworld-char-lstm"].to_str() == characters(alphabet(world)).to_str()
